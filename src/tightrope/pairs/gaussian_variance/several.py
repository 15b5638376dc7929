"""Several uses of one ratio of deviations: the sum of the losses is affine in a chi-square.

Guarantee: exact, in balls. Proof: docs/proofs/gaussian_variance.md, sections 1 and 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ...pair import BallTails

if TYPE_CHECKING:
    from .pair import GaussianVariancePair

SUM_COST, COST_PER_ROOT = 400, 200  # of a profile: its series takes terms like the root of the count


@dataclass(frozen=True, slots=True)
class GaussianVarianceSum:
    """So many uses of a pair."""

    pair: GaussianVariancePair
    count: int

    def hockey_stick_cost(self) -> int:
        return SUM_COST + COST_PER_ROOT * math.isqrt(self.count)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        return self.pair.summed_hockey_stick(epsilon, self.count)

    def ball_tails(self, t: arb) -> BallTails:
        return self.pair.summed_tails(t, self.count)
