"""Laws on an even grid in whole numbers: nothing cancels, no transform adds noise, and every rounding has its side.

Entry i of a law has the mass masses_i / 2^bits at the label (start + i) h. An Upper law dominates: its top goes to
infinite loss, its bottom moves up, products are rounded up. A SampleCells law speaks of events "sum of labels >= c":
P is rounded down, Q up, and labels may be merged.
Guarantee: every function here keeps the side. Proof: docs/proofs/joint.md, section 3, and docs/proofs/lattice.md,
lemmas 1 to 3 and 10.
Reference: Meiser, Mohammadi 2018, Def. 3 and 8 (buckets, squaring).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flint import arb, fmpz, fmpz_poly

from ... import work
from ...errors import Refusal, UnsupportedMechanism
from ...kernels.directed import lowered, raised
from ...kernels.enclosure import FloatArray
from ...pair import Pair
from ..lattice import masses as lattice_masses
from ..lattice.proof import light
from . import tuning

ENTRY_UNITS = 32.0  # roundings of one entry in float64: a difference of tails, and this factor


@dataclass(frozen=True, slots=True)
class Upper:
    """A law that dominates, and its mass of infinite loss."""

    masses: list[fmpz]
    start: int
    infinite: int

    def times(self, other: Upper, bits: int, cut: int) -> Upper:
        """Both together; what holds at most the cut leaves at either end."""
        _pay(len(self.masses) + len(other.masses), bits)
        product = (fmpz_poly(self.masses) * fmpz_poly(other.masses)).coeffs()
        infinite = self.infinite + other.infinite - (self.infinite * other.infinite >> bits)
        return Upper([-(-each >> bits) for each in product], self.start + other.start, infinite)._trimmed(cut)

    def coarser(self, step: float, bits: int) -> Upper:
        """Every second label goes; its mass is split between its neighbours so that P and Q are both kept."""
        scale, fall = arb(2) ** bits, (-arb(step)).exp()
        left, right = _above(scale * fall / (1 + fall)), _above(scale / (1 + fall))
        lead = self.start % 2
        masses = [fmpz(0)] * ((len(self.masses) + lead) // 2 + 1)
        for index, mass in enumerate(self.masses, start=lead):
            if index % 2:
                masses[index // 2] += -(-mass * left >> bits)
                masses[index // 2 + 1] += -(-mass * right >> bits)
            else:
                masses[index // 2] += mass
        return Upper(masses, (self.start - lead) // 2, self.infinite)

    def _trimmed(self, cut: int) -> Upper:
        masses = self.masses
        top = len(masses) - light(reversed(masses), cut)
        if top == 0:
            return self
        infinite = self.infinite + int(sum(masses[top:], fmpz(0)))
        bottom = min(light(masses[:top], cut), top - 1)
        first = sum(masses[: bottom + 1], fmpz(0))
        return Upper([first, *masses[bottom + 1 : top]], self.start + bottom, infinite)


@dataclass(frozen=True, slots=True)
class SampleCells:
    """P-masses rounded down and Q-masses rounded up, on the same labels."""

    p: list[fmpz]
    q: list[fmpz]
    start: int

    def times(self, other: SampleCells, bits: int, cut: int) -> SampleCells:
        """Both together, without the ends where P is light: what Q has at the top stays above every label."""
        _pay(2 * (len(self.p) + len(other.p)), bits)
        p = [each >> bits for each in (fmpz_poly(self.p) * fmpz_poly(other.p)).coeffs()]
        q = [-(-each >> bits) for each in (fmpz_poly(self.q) * fmpz_poly(other.q)).coeffs()]
        size, start = max(len(p), len(q)), self.start + other.start
        p, q = p + [fmpz(0)] * (size - len(p)), q + [fmpz(0)] * (size - len(q))  # a polynomial forgets zeros at its end
        bottom, top = light(p, cut), size - light(reversed(p), cut)
        if bottom >= top:
            return SampleCells(p, q, start)
        q[top - 1] = sum(q[top - 1 :], fmpz(0))
        return SampleCells(p[bottom:top], q[bottom:top], start + bottom)

    def coarser(self, step: float, bits: int) -> SampleCells:
        """Two labels become one; P and Q alike."""
        lead = self.start % 2
        p, q = ([fmpz(0)] * lead + column + [fmpz(0)] for column in (self.p, self.q))
        p, q = ([a + b for a, b in zip(each[::2], each[1::2], strict=False)] for each in (p, q))
        return SampleCells(p, q, (self.start - lead) // 2)


def upper_law(pair: Pair, points: FloatArray, step: float, start: int, median: float, bits: int, proof: bool) -> Upper:
    """Chords on the points, which are (start + i) step exactly."""
    if not proof:
        work.spend(tuning.POINT * len(points))
        found = lattice_masses.above(pair, points, step, median)
        entries = raised(found.masses, ENTRY_UNITS)
        return Upper([_ceil(each, bits) for each in entries], start, int(_ceil(found.infinite, bits)))
    scale, span = arb(2) ** bits, -(-arb(step)).expm1()
    profile = []
    for point in points:
        work.spend(tuning.BALL_POINT)
        profile.append(pair.ball_profile(arb(point)))
    tails = [arb(1), *(here + (before - here) / span for before, here in pairwise(profile)), profile[-1]]
    masses = [max(_above((here - after) * scale), fmpz(0)) for here, after in pairwise(tails)]
    return Upper(masses, start, max(int(_above(profile[-1] * scale)), 0))


def cells_law(pair: Pair, points: FloatArray, step: float, start: int, bits: int, proof: bool) -> SampleCells:
    """Merged cells around the points; the outer ones reach to the ends of the finite losses."""
    if not proof:
        work.spend(tuning.POINT * len(points))
        found = lattice_masses.below(pair, points, step)
        down, up = lowered(found.p, ENTRY_UNITS), raised(found.q, ENTRY_UNITS)
        return SampleCells([_floor(each, bits) for each in down], [_ceil(each, bits) for each in up], start)
    scale, half = arb(2) ** bits, arb(step) / 2
    tails = []
    for point in points[1:]:
        work.spend(tuning.BALL_POINT)
        tails.append(pair.ball_tails(arb(point) - half))
    leaked = pair.infinite_mass()
    p = [1 - leaked, *(each.p_above - leaked for each in tails), arb(0)]
    q = [1 - pair.reversed().infinite_mass(), *(each.q_above for each in tails), arb(0)]
    return SampleCells(
        [max(_below((here - after) * scale), fmpz(0)) for here, after in pairwise(p)],
        [max(_above((here - after) * scale), fmpz(0)) for here, after in pairwise(q)],
        start,
    )


def _pay(length: int, bits: int) -> None:
    if length > tuning.LENGTH_MOST:
        raise UnsupportedMechanism("the law behind one sample needs too long a grid", Refusal.TOO_MUCH_WORK)
    work.hold(length * (bits / 8.0 + 64.0))
    work.spend(length * (tuning.LIMB * bits / 64.0 + tuning.ENTRY))


def _ceil(value: float, bits: int) -> fmpz:
    numerator, denominator = float(value).as_integer_ratio()
    return fmpz(-(-(numerator << bits) // denominator))


def _floor(value: float, bits: int) -> fmpz:
    numerator, denominator = float(value).as_integer_ratio()
    return fmpz((numerator << bits) // denominator)


def _above(ball: arb) -> fmpz:
    return _unique(ball.upper().ceil())


def _below(ball: arb) -> fmpz:
    return _unique(ball.lower().floor())


def _unique(ball: arb) -> fmpz:
    number = ball.unique_fmpz()
    if number is None:
        raise UnsupportedMechanism("its masses cannot be enclosed at this precision")
    return number
