"""Figure 18: the conversation protocol over the rounds."""

from __future__ import annotations

from studies.figure import Figure
from studies.tight_on_budget.panels import growth
from studies.tight_on_budget.vuvuzela import HIGH, LOW, MEDIUM, NEW_2, conversation, original_conversation

COUNTS = tuple(2**power for power in range(13, 21))


def figure() -> Figure:
    """Three Laplace noises under the original analysis, one Gaussian noise as it is."""
    return Figure(
        "figure-18",
        "Conversation over the rounds",
        "Conversation protocol, both components. The three recommended Laplace noises under the original analysis, and "
        "Gaussian noise of a tenth of the largest mean, certified: its epsilon at the delta, and its delta at the epsilon, "
        "that the original analysis gives for LP(450k, 20k). The Gaussian noise stays below up to about 200,000 rounds "
        "and then crosses: with both components it does not outperform the original bounds everywhere.",
        growth(conversation, original_conversation, NEW_2, (LOW, MEDIUM, HIGH), COUNTS),
    )
