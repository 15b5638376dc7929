"""Gaussian noise whose deviation depends on the data: two centred Gaussians.

Pair: N(0, sigma1^2) with the record against N(0, sigma2^2) without it; the loss is affine in x^2.
Guarantee: tight, also under composition, for data sets with these deviations; neighbours whose deviations are closer,
on the same side, are dominated.
Reference: Zhu, Dong, Wang 2021, Example 15; Nissim, Raskhodnikova, Smith 2007 (smooth sensitivity).
Proof: docs/proofs/gaussian_variance.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive

DEVIATIONS_APART_MAX = 10**150  # squares of ratios stay within doubles


@dataclass(frozen=True, slots=True, repr=False)
class GaussianVariance(Leaf):
    """Gaussian noise of deviation sigma1 with the record and sigma2 without it, around the same answer."""

    example = "GaussianVariance(sigma1=1.2, sigma2=1) * 10"
    section = "noise"
    formula = (
        "P = N(0, sigma1^2), Q = N(0, sigma2^2); r = sigma1/sigma2: the loss of k uses is -k log r + (r^2 - 1) X, X a "
        "gamma variable of shape k/2 under P"
    )
    theorem = "Zhu, Dong, Wang 2021, Example 15: [proof](proofs/gaussian_variance.md)"
    tightness = (
        "Tight, also under composition: two data sets with exactly these deviations attain it. Neighbours whose ratio "
        "lies between 1 and sigma1/sigma2 are dominated."
    )
    relations = (
        "Noise whose deviation depends on the data (smooth sensitivity) around an answer that does not: where the "
        "answer moves as well this says nothing. Either relation; sigma1 is that of the data set with the record, or "
        "before it is replaced. Where a record may raise the deviation and may lower it, this covers one of both; an "
        "output of d coordinates is d uses."
    )
    sigma1: float
    sigma2: float

    def __post_init__(self) -> None:
        first, second = positive("sigma1", self.sigma1), positive("sigma2", self.sigma2)
        object.__setattr__(self, "sigma1", first)
        object.__setattr__(self, "sigma2", second)
        if not 1 <= Fraction(max(first, second)) / Fraction(min(first, second)) <= DEVIATIONS_APART_MAX:
            raise InvalidParameter(f"sigma1/sigma2 must lie between 1e-150 and 1e150, not {first!r}/{second!r}")

    def pair(self, direction: Direction) -> Pair:
        if self.sigma1 == self.sigma2:
            from ..pairs.finite.laws import ResponseLaw
            from ..pairs.finite.pair import FinitePair

            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        from ..pairs.gaussian_variance.pair import GaussianVariancePair
        from ..pairs.gaussian_variance.ratio import VarianceRatio

        ratio = VarianceRatio.of(self.sigma1, self.sigma2)
        return GaussianVariancePair(ratio if direction is Direction.REMOVE else ratio.inverse())
