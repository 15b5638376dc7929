"""Many uses of laws on one lattice: powers of polynomials with balls as coefficients, then a plain sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly

from .precision import Number, ball


@dataclass(frozen=True)
class Row:
    """P-masses at shift + (start + i) step, in units that the whole composition shares; what is missing is `lost`."""

    start: int
    masses: tuple[arb, ...]
    shift: arb
    infinite: arb
    lost: arb


def discrete_gaussian(sigma: Number, sensitivity: int, bits: int) -> tuple[Row, arb]:
    """Outputs within reach around the shift, and the step."""
    variance = ball(Fraction(sigma) ** 2)
    reach = 2 + int((2 * variance * bits).sqrt().upper().ceil().unique_fmpz())
    weights = [(-ball(x * x) / (2 * variance)).exp() for x in range(-reach, reach + 1)]
    ratio = (-ball(reach) / variance).exp()
    beyond = 2 * weights[-1] * ratio / (1 - ratio)
    total = sum(weights, arb(0)) + beyond.union(arb(0))
    step = ball(sensitivity) / variance
    masses = tuple(weight / total for weight in weights)
    return Row(sensitivity - reach, masses, -step * sensitivity / 2, arb(0), beyond / total), step


def atoms(losses: dict[int, arb], shift: arb, infinite: arb) -> Row:
    """A finite law by its places."""
    start = min(losses)
    masses = tuple(losses.get(place, arb(0)) for place in range(start, max(losses) + 1))
    return Row(start, masses, shift, infinite, arb(0))


@dataclass(frozen=True)
class Fold:
    """The composed law: masses at shift + (start + i) step, the infinite mass, and what was lost on the way."""

    masses: list[arb]
    base: arb
    step: arb
    infinite: arb
    lost: arb

    def delta(self, epsilon: Number) -> arb:
        """w + sum over losses above epsilon of P (1 - e^{epsilon - loss}), between nothing and all of what was lost."""
        at = ball(Fraction(epsilon))
        first = ((at - self.base) / self.step).lower().floor().unique_fmpz()
        start = max(0, int(first) - 1)
        total, gap, ratio = arb(0), (at - self.base - start * self.step).exp(), (-self.step).exp()
        for mass in self.masses[start:]:
            total += mass * (1 - gap).max(arb(0))
            gap *= ratio
        return self.infinite + total + self.lost.union(arb(0))


def fold(uses: Sequence[tuple[Row, int]], step: arb) -> Fold:
    """All uses together."""
    product, base, kept, lost = arb_poly([1]), arb(0), arb(1), arb(0)
    for row, count in uses:
        product *= arb_poly(list(row.masses)) ** count
        base += count * (row.shift + row.start * step)
        kept *= (1 - row.infinite) ** count
        lost += count * row.lost
    return Fold(product.coeffs(), base, step, 1 - kept, lost)


def response(epsilon: Number, delta: Number) -> tuple[Row, arb]:
    """Leaky randomized response with two answers, and the step."""
    odds, kept = ball(Fraction(epsilon)).exp(), ball(1 - Fraction(delta))
    row = atoms({0: kept / (1 + odds), 1: kept * odds / (1 + odds)}, -ball(Fraction(epsilon)), ball(Fraction(delta)))
    return row, 2 * ball(Fraction(epsilon))
