"""Skellam noise: masses e^-v I_k(v) by Arb's Bessel functions, added up one by one; the rest by a geometric series.

Beyond k the masses fall by at least v/(2k + 2) at each step, as I_k - I_{k+2} = (2k + 2)/v I_{k+1}.
Heads of coins are fractions: a histogram.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

from flint import arb, ctx

from .continuous import ALL, NONE, Rising
from .finite import FiniteLaw, Histogram, Output
from .precision import Number, Real, ball, precision
from .truth import Choice, Masses, Ratio


@dataclass(frozen=True)
class Skellam(Rising):
    """Noise around the integer sensitivity against noise around 0."""

    variance: Number
    sensitivity: int = 1

    def right(self, choice: Choice) -> Masses:
        first = self._first(choice)
        if first is None:
            return ALL if choice.takes(Ratio(Fraction(1))) == choice.remove else NONE
        starts = (first - self.sensitivity, first, 1 - first + self.sensitivity, 1 - first)
        return Masses(*(suffix(self.variance, start, ctx.prec) for start in starts))

    def _ratio(self, x: int) -> Ratio:
        if 2 * x == self.sensitivity:
            return Ratio(Fraction(1))
        return Ratio(_quotient(self.variance, x - self.sensitivity, x))

    def _first(self, choice: Choice) -> int | None:
        """The least integer in the set (remove), or the least one past it (add); None where nobody can see it."""
        high = int(8 * self.variance) + 4000 + self.sensitivity
        low = self.sensitivity - high
        if choice.takes(self._ratio(low)) == choice.takes(self._ratio(high)):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if choice.takes(self._ratio(middle)) == choice.remove else (middle, high)
        return high


@lru_cache(maxsize=1 << 16)
def _quotient(variance: Number, above: int, below: int) -> Real:
    return Real(lambda: mass(variance, abs(above), ctx.prec) / mass(variance, abs(below), ctx.prec))


@lru_cache(maxsize=1 << 16)
def mass(variance: Number, k: int, bits: int) -> arb:
    """e^-v I_k(v) for k >= 0."""
    with precision(bits + 64):
        return ball(variance).bessel_i(arb(k), scaled=True)


@lru_cache(maxsize=1 << 16)
def suffix(variance: Number, start: int, bits: int) -> arb:
    """sum over x >= start."""
    if start <= 0:
        return 1 - suffix(variance, 1 - start, bits)
    with precision(bits):
        total, k = arb(0), start
        while True:
            term, fall = mass(variance, k, bits), ball(variance) / (2 * k + 2)
            if fall < 0.5 and term < total * arb(2) ** -bits:
                return total + (2 * term).union(arb(0))
            total, k = total + term, k + 1


@dataclass(frozen=True)
class Coins(FiniteLaw):
    """Heads among so many tosses, and as many more as the sensitivity."""

    trials: int
    sensitivity: int = 1

    def outputs(self) -> tuple[Output, ...]:
        return self._histogram.outputs()

    def alone(self) -> tuple[Fraction, Fraction]:
        return self._histogram.alone()

    @property
    def _histogram(self) -> Histogram:
        heads = [comb(self.trials, k) for k in range(self.trials + 1)]
        return Histogram((*[0] * self.sensitivity, *heads), (*heads, *[0] * self.sensitivity))
