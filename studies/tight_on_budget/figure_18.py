"""Figure 18: the conversation protocol over the rounds."""

from __future__ import annotations

from functools import partial

from studies.figure import Figure
from studies.tight_on_budget.panels import growth
from studies.tight_on_budget.vuvuzela import (
    HIGH,
    LOW,
    MEDIUM,
    NEW_2,
    conversation,
    one_component,
    original_conversation,
)

COUNTS = tuple(2**power for power in range(13, 21))


def figure() -> Figure:
    """Three Laplace noises under the original analysis, one Gaussian noise as it is."""
    return Figure(
        "figure-18",
        "Conversation over the rounds",
        "Conversation protocol. The three recommended Laplace noises under the original analysis, and Gaussian noise "
        "of a tenth of the largest mean, certified: its epsilon at the delta, and its delta at the epsilon, that the "
        "original analysis gives for LP(450k, 20k). With one component the Gaussian noise stays below those bounds, "
        "as the paper has it; with both, as the protocol shows them, it lies above at every number of "
        "rounds.",
        growth(
            {
                f"{NEW_2}, both components": partial(conversation, NEW_2),
                f"{NEW_2}, one component": partial(one_component, NEW_2),
            },
            original_conversation,
            (LOW, MEDIUM, HIGH),
            COUNTS,
        ),
    )
