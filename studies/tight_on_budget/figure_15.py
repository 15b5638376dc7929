"""Figure 15: the dialing protocol over the rounds."""

from __future__ import annotations

from functools import partial

from studies.figure import Figure
from studies.tight_on_budget.panels import growth
from studies.tight_on_budget.vuvuzela import GS_4K1, LP_8K, LP_13K, LP_20K, dialing, original_dialing

COUNTS = tuple(2**power for power in range(8, 15))


def figure() -> Figure:
    """Three Laplace noises under the original analysis, one Gaussian noise as it is."""
    return Figure(
        "figure-15",
        "Dialing over the rounds",
        "Dialing protocol. The three recommended Laplace noises under the original analysis, and Gaussian noise of a "
        "fifth of the largest mean, certified: its epsilon at the delta, and its delta at the epsilon, that the "
        "original analysis gives for LP(20k, 1130). (The paper's caption prints sigma 320 and gamma 770k in passing; "
        "833 and 770 are meant, as everywhere else.)",
        growth({f"{GS_4K1}, certified": partial(dialing, GS_4K1)}, original_dialing, (LP_8K, LP_13K, LP_20K), COUNTS),
    )
