"""Figure 3: what a tight analysis saves in the conversation protocol."""

from __future__ import annotations

from studies.asking import deltas
from studies.figure import Figure, Panel
from studies.tight_on_budget.panels import FACTORS, graph
from studies.tight_on_budget.vuvuzela import (
    HIGH,
    LOW,
    NEW_1,
    NEW_2,
    TALK_FEW,
    TALK_MANY,
    Noise,
    conversation,
    one_component,
    original_conversation,
)


def figure() -> Figure:
    """The recommended Laplace noise against a tenth of it as Gaussian noise."""
    return Figure(
        "figure-03",
        "A tenth of the noise",
        "Conversation protocol: the recommended Laplace noise, as its authors analysed it (dot) and as it is, "
        "against Gaussian noise of a tenth of the mean. With one of the two components alone the Gaussian noise "
        "meets the target (grey: e^epsilon <= 2, delta <= 1e-4); with both, as the protocol sends them, it does not.",
        [_panel(LOW, NEW_1, TALK_FEW), _panel(HIGH, NEW_2, TALK_MANY)],
    )


def _panel(old: Noise, new: Noise, rounds: int) -> Panel:
    lines = [
        deltas(f"{new}, both components", conversation(new, rounds), FACTORS),
        deltas(f"{new}, one component", one_component(new, rounds), FACTORS),
        deltas(f"{old}, both components", conversation(old, rounds), FACTORS),
    ]
    return graph(f"{rounds:,} rounds", lines, old, original_conversation(old, rounds))
