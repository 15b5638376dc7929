"""Probabilistic DP is not closed under post-processing (section 2.5), on three outputs in exact fractions.

P = (8, 12, 12)/32 and Q = (4, 3, 25)/32 have the ratios 2, 4 and 12/25. At epsilon 1 only the second loss, log 4, is
above, so P[loss > 1] = 3/8. Forgetting which of the first two came up makes (20, 12)/32 and (7, 25)/32, with the ratio
20/7 > e: P[loss > 1] = 5/8. delta falls, as it must: from (12 - 3e)/32 to (20 - 7e)/32.
In the other direction no loss is above 1, before or after: Q/P is at most 25/12 < e.
"""

from __future__ import annotations

from studies.claim import Claim
from tightrope import Bound, Finite

EPSILON = 1.0
TOLD = Finite(p=[8 / 32, 12 / 32, 12 / 32], q=[4 / 32, 3 / 32, 25 / 32])
MERGED = Finite(p=[20 / 32, 12 / 32], q=[7 / 32, 25 / 32])
PDP, DELTA = "P[loss > 1]", "delta(1)"


def grows(numbers: dict[str, Bound]) -> bool:
    """Whether P[loss > epsilon] is larger after merging while delta is smaller, for certain."""
    return (
        numbers[f"{PDP}, told apart"].upper < numbers[f"{PDP}, merged"].lower
        and numbers[f"{DELTA}, merged"].upper < numbers[f"{DELTA}, told apart"].lower
    )


CLAIMS = (
    Claim(
        "pdp-post-processing",
        "2.5",
        "probabilistic DP is not closed under post-processing",
        {
            f"{PDP}, told apart": lambda: TOLD.pdp(EPSILON),
            f"{PDP}, merged": lambda: MERGED.pdp(EPSILON),
            f"{DELTA}, told apart": lambda: TOLD.delta(EPSILON),
            f"{DELTA}, merged": lambda: MERGED.delta(EPSILON),
        },
        lambda n: grows(dict(n)),
        "P = (8, 12, 12)/32 against Q = (4, 3, 25)/32: who merges the first two outputs raises P[loss > 1] from 3/8 to "
        "5/8, and lowers delta(1)",
    ),
)
