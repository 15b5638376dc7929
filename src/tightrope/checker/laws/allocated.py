"""One epoch in which a record takes part in one of t steps, chosen by itself at random (random allocation).

Y_i = dP/dQ of step i, independent under Q, L their mean. Removed: H(a) = E(L - a)_+ = 1 - a + E(a - L)_+; added:
H(a) = E(1 - aL)_+ = a E(1/a - L)_+. Above, the law of Y is split to the points of an even grid so that its mass and
mean stay; below, the event is that rounded values sum to little, whose chance with the record is that of one step which
has it. Sums beyond the place count for nothing, so that polynomials are cut there. Proof: docs/proofs/checker_laws.md,
"Allocation".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from flint import arb, fmpz, fmpz_poly

from ..law import CheckedLaw, precision

ALLOCATED_BITS = 160
CELLS = (1 << 9, 1 << 11, 1 << 13, 1 << 14)
ALLOCATED_STEPS_MAX = 1 << 20


@dataclass(frozen=True)
class AllocatedEpochLaw(CheckedLaw):
    """The base, with a record that is removed, at one of so many steps."""

    base: CheckedLaw
    steps: int
    added: bool = False

    def reversed(self) -> AllocatedEpochLaw:
        return AllocatedEpochLaw(self.base, self.steps, not self.added)

    def at(self, epsilon: arb) -> Iterator[tuple[arb, arb]]:
        """Enclosures of delta at an epsilon of 0 or more, from finer and finer grids."""
        with precision(ALLOCATED_BITS + 64):
            alpha = epsilon.exp()
            place = self.steps * (1 / alpha if self.added else alpha)
            for cells in CELLS:
                yield self._enclosed(alpha, place, cells)

    def _enclosed(self, alpha: arb, place: arb, cells: int) -> tuple[arb, arb]:
        step = place / cells
        over, events = self._split(step, cells), self._rounded(step, cells)
        unit = arb(2) ** -ALLOCATED_BITS
        total = _power(over, self.steps, cells, up=True)
        short = sum((value * (cells - n) for n, value in enumerate(total)), fmpz(0)) * unit * step / self.steps
        q_least, q_most, p_most = events
        q = _power(q_least, self.steps, cells, up=False)
        p = _product(_power(q_most, self.steps - 1, cells, up=True), p_most, cells, up=True)
        best, with_it, without = arb(0), fmpz(0), fmpz(0)
        for least, most in zip(q, p, strict=True):  # the chances of sums up to n
            without, with_it = without + least, with_it + most
            if self.added:
                best = best.max(without * unit - alpha * (with_it * unit))
            else:  # the event is all others
                best = best.max(1 - with_it * unit - alpha * (1 - without * unit))
        return best.lower(), (alpha * short if self.added else 1 - alpha + short).upper()

    def _tails(self, y: arb) -> tuple[arb, arb]:
        """P and Q of {Y > y}."""
        return self.base.tails(y.log()) or (arb("nan"), arb("nan"))

    def _split(self, step: arb, cells: int) -> list[fmpz]:
        """Mass and mean of each cell go to its two ends; rounded up."""
        found = [arb(0)] * (cells + 1)
        p, q = arb(1), arb(1)
        for j in range(cells):
            less_p, less_q = self._tails(step * (j + 1))
            mass, mean = q - less_q, (p - less_p) / step - j * (q - less_q)
            found[j] += mass - mean
            found[j + 1] += mean
            p, q = less_p, less_q
        return [_whole(value, up=True) for value in found[:cells]]

    def _rounded(self, step: arb, cells: int) -> tuple[list[fmpz], list[fmpz], list[fmpz]]:
        """Of what is next to each point: Q rounded down, Q and P rounded up."""
        q_masses, p_masses = [], []
        p, q = arb(1), arb(1)
        for j in range(cells):
            less_p, less_q = self._tails(step * (2 * j + 1) / 2)
            q_masses.append(q - less_q)
            p_masses.append(p - less_p)
            p, q = less_p, less_q
        least, most = ([_whole(mass, up) for mass in q_masses] for up in (False, True))
        return least, most, [_whole(mass, up=True) for mass in p_masses]


def _whole(value: arb, up: bool) -> fmpz:
    scaled = value * arb(2) ** ALLOCATED_BITS
    whole = (scaled.upper().ceil() if up else scaled.lower().floor()).unique_fmpz()
    if whole is None:
        raise ValueError("a mass is not known")
    return max(whole, fmpz(0))


def _product(one: list[fmpz], other: list[fmpz], size: int, up: bool) -> list[fmpz]:
    values = (fmpz_poly(one) * fmpz_poly(other)).coeffs()[:size]
    kept = [-(-value >> ALLOCATED_BITS) if up else value >> ALLOCATED_BITS for value in values]
    return kept + [fmpz(0)] * (size - len(kept))


def _power(one: list[fmpz], uses: int, size: int, up: bool) -> list[fmpz]:
    result = [fmpz(1) << ALLOCATED_BITS] + [fmpz(0)] * (size - 1)
    for place in reversed(range(uses.bit_length())):
        result = _product(result, result, size, up)
        result = _product(result, one, size, up) if uses >> place & 1 else result
    return result
