"""Gaussian noise on the integers: plain sums of exp(-x^2 / (2 sigma^2)), the tail bounded by a geometric series."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from .continuous import Rising
from .precision import START, Number, ball, precision
from .truth import Choice, Masses, Ratio


@dataclass(frozen=True)
class DiscreteGaussian(Rising):
    """Noise around the integer sensitivity against noise around 0."""

    sigma: Number
    sensitivity: int = 1

    def right(self, choice: Choice) -> Masses:
        first = self._first(choice)
        total = _suffix(self.sigma, 1, ctx.prec) + _suffix(self.sigma, 0, ctx.prec)
        return Masses(
            *(
                _suffix(self.sigma, start, ctx.prec) / total
                for start in (first - self.sensitivity, first, 1 - first + self.sensitivity, 1 - first)
            )
        )

    def _ratio(self, x: int) -> Ratio:
        return Ratio(Fraction(1), self.sensitivity * (2 * x - self.sensitivity) / (2 * Fraction(self.sigma) ** 2))

    def _first(self, choice: Choice) -> int:
        """The least integer in the set (remove), or the least one past it (add)."""
        bits, first = START, None
        while first is None:
            with precision(bits):
                shift = ball(self.sensitivity)
                cut = shift / 2 + ball(Fraction(self.sigma) ** 2) / shift * choice.crossing().log()
                if cut.rad() < 1:
                    first = int(cut.mid().floor().unique_fmpz())
            bits *= 2
        while choice.takes(self._ratio(first)) != choice.remove:
            first += 1
        while choice.takes(self._ratio(first - 1)) == choice.remove:
            first -= 1
        return first


@lru_cache(maxsize=1 << 16)
def _suffix(sigma: Number, start: int, bits: int) -> arb:
    """sum over x >= start of exp(-x^2 / (2 sigma^2))."""
    if start <= 0:
        # The full sum, without the part beyond: sum over all x = 1 + 2 sum over x >= 1.
        return 1 + 2 * _suffix(sigma, 1, bits) - _suffix(sigma, 1 - start, bits)
    with precision(bits):
        rate = ball(1 / (2 * Fraction(sigma) ** 2))
        term, step = (-rate * start * start).exp(), (-rate * (2 * start + 1)).exp()
        shrink, total, first = (-2 * rate).exp(), arb(0), term
        # The terms fall faster and faster; once one is below 2^-bits of the first, a geometric series bounds the rest.
        while not term < first * arb(2) ** -bits:
            total += term
            term, step = term * step, step * shrink
        return total + (term / (1 - step)).union(arb(0))
