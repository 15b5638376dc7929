"""Figure 19: the conversation protocol after 65,536 and 524,288 rounds."""

from __future__ import annotations

from studies.asking import deltas
from studies.figure import Figure, Panel
from studies.tight_on_budget.panels import FACTORS, curves, graph
from studies.tight_on_budget.vuvuzela import (
    HIGH,
    LOW,
    NEW_1,
    NEW_2,
    TALK_FEW,
    TALK_MANY,
    Noise,
    conversation,
    conversation_cut,
    one_component,
    original_conversation,
)


def figure() -> Figure:
    """Proposed Gaussian noise, recommended Laplace noise, and Gauss of its variance."""
    return Figure(
        "figure-19",
        "Conversation",
        "Conversation protocol. The proposed Gaussian noise with both components and with one; the recommended "
        "Laplace noise clamped and cut at 0; Gaussian noise of its variance, far below the axis after e^epsilon = "
        "1.5.",
        [_panel(NEW_1, LOW, TALK_FEW), _panel(NEW_2, HIGH, TALK_MANY)],
    )


def _panel(new: Noise, old: Noise, rounds: int) -> Panel:
    lines = [
        *curves(conversation, (new, old, old.gaussian()), rounds),
        deltas(f"{old}, cut instead of clamped", conversation_cut(old, rounds), FACTORS),
        deltas(f"{new}, one component", one_component(new, rounds), FACTORS),
    ]
    return graph(f"{rounds:,} rounds", lines, old, original_conversation(old, rounds), floor=1e-14)
