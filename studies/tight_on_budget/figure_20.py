"""Figure 20: the conversation protocol with a quarter of the Laplace noise."""

from __future__ import annotations

from studies.asking import deltas
from studies.figure import Figure, Panel
from studies.tight_on_budget.panels import FACTORS, curves, graph
from studies.tight_on_budget.vuvuzela import (
    HIGH,
    LOW,
    LP_37K,
    LP_112K,
    TALK_FEW,
    TALK_MANY,
    Noise,
    conversation,
    one_component,
    original_conversation,
)


def figure() -> Figure:
    """A quarter of the Laplace noise, all of it, and Gauss of the same variance."""
    return Figure(
        "figure-20",
        "Conversation with less Laplace noise",
        "Conversation protocol with a quarter of the recommended Laplace noise. As with the Gaussian noise of figure "
        "19, it meets the target with one component alone, and misses it with both.",
        [_panel(LP_37K, LOW, TALK_FEW), _panel(LP_112K, HIGH, TALK_MANY)],
    )


def _panel(new: Noise, old: Noise, rounds: int) -> Panel:
    lines = [
        *curves(conversation, (new, old, old.gaussian()), rounds),
        deltas(f"{new}, one component", one_component(new, rounds), FACTORS),
    ]
    return graph(f"{rounds:,} rounds", lines, old, original_conversation(old, rounds), floor=1e-14)
