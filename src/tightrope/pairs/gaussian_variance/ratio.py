"""The ratio of two deviations, exactly: two doubles that share no power of two.

Guarantee: exact; balls at the working precision, nothing cancels where the deviations are close.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

CLOSE_RATIO = 0.5  # |r - 1|: up to here a logarithm is taken by what it is off from 1


@dataclass(frozen=True, slots=True)
class VarianceRatio:
    """first/second."""

    first: float
    second: float

    @staticmethod
    def of(first: float, second: float) -> VarianceRatio:
        """By mantissas: the second lies in [1/2, 1); the first must not leave the doubles."""
        _, power = math.frexp(second)
        return VarianceRatio(math.ldexp(first, -power), math.ldexp(second, -power))

    def inverse(self) -> VarianceRatio:
        """second/first."""
        return VarianceRatio.of(self.second, self.first)

    def equals(self, other: VarianceRatio) -> bool:
        """Whether both are the same number."""
        return self == other or self._exact() == other._exact()

    def beyond(self, other: VarianceRatio) -> bool:
        """Whether it is the same, or further from 1 on the same side."""
        mine, theirs = self._exact(), other._exact()
        return mine <= theirs < 1 or mine >= theirs > 1

    def _exact(self) -> Fraction:
        return Fraction(self.first) / Fraction(self.second)

    def ball(self) -> arb:
        """r."""
        return arb(self.first) / arb(self.second)

    def ball_excess(self) -> arb:
        """r - 1."""
        return (arb(self.first) - arb(self.second)) / arb(self.second)

    def ball_log(self) -> arb:
        """log r."""
        excess = self.ball_excess()
        return excess.log1p() if abs(excess) < CLOSE_RATIO else self.ball().log()

    def ball_growth(self) -> arb:
        """r^2 - 1."""
        excess = self.ball_excess()
        return excess * (2 + excess)
