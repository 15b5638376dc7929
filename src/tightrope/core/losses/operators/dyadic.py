"""Pairs of many atoms whose masses are whole numbers over a power of two.

Rows (p_i, q_i) by falling ratio, either may be 0; both columns sum to 2^bits. With P_c, Q_c the sums of the first c
rows, H(alpha) = P_c - alpha Q_c for the c rows with p_i > alpha q_i. Sums and mixtures of whole numbers are
exact, so that thousands of atoms cost no digits and no balls.
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Zhu, Dong, Wang 2021, Lemma 9, Thm 11.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, cmp_to_key
from itertools import accumulate

import numpy as np
from flint import arb, fmpz

from ...numerics.double_double import DoubleDouble
from ...numerics.enclosures import Enclosure, FloatArray, enclosing, exact
from ...numerics.rounding import UNIT
from ...values.errors import UnsupportedMechanism
from ...values.question import Direction
from ..atoms import Atoms, listed_hockey_stick
from ..pair import BallTails, LossRange, Pair, Tails
from .registered import sampled_in_family, subsampled_fixed_size

Row = tuple[int, int]


@dataclass(frozen=True)
class DyadicPair(Pair):
    """Masses p_i / 2^bits and q_i / 2^bits, by falling p_i / q_i."""

    rows: tuple[Row, ...]
    bits: int

    def tails(self, t: DoubleDouble) -> Tails:
        index = np.searchsorted(self._atoms.loss.value, t.collapse(), side="right")
        return Tails(*(column[index] for column in self._tails))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        return listed_hockey_stick(self._atoms.p, self._atoms.loss, self._atoms.infinite, epsilon)

    def ball_tails(self, t: arb) -> BallTails:
        first, last = (self._sums[place] for place in self._place(t.exp()))
        ends, one = list(zip(first, last, strict=True)), 1 << self.bits
        above = (self._ball(least).union(self._ball(most)) for least, most in ends)
        below = (self._ball(one - least).union(self._ball(one - most)) for least, most in ends)
        return BallTails(*above, *below)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        alpha = epsilon.exp()
        first, last = self._place(alpha)
        p, q = self._sums[first]
        total = self._ball(p) - alpha * self._ball(q)
        for p, q in self.rows[first:last]:
            total += (self._ball(p) - alpha * self._ball(q)).max(arb(0))
        return total

    def reversed(self) -> DyadicPair:
        return DyadicPair(tuple((q, p) for p, q in reversed(self.rows)), self.bits)

    def atoms(self) -> Atoms:
        return self._atoms

    def infinite_mass(self) -> arb:
        return self._ball(sum(p for p, q in self.rows if not q))

    def loss_range(self) -> LossRange:
        finite = [row for row in self.rows if row[0] and row[1]]
        return LossRange(_loss(finite[-1]), _loss(finite[0])) if finite else LossRange(arb(0), arb(0))

    def _ball(self, mass: int) -> arb:
        return arb(fmpz(mass)) * arb(2) ** -self.bits

    @cached_property
    def _sums(self) -> list[Row]:
        """P_c and Q_c."""
        return list(accumulate(self.rows, lambda sums, row: (sums[0] + row[0], sums[1] + row[1]), initial=(0, 0)))

    def _place(self, alpha: arb) -> tuple[int, int]:
        """first <= c <= last, c the number of rows with p > alpha q; they differ where that cannot be told."""
        ends = []
        for unsure in (False, True):
            low, high = 0, len(self.rows)
            while low < high:
                middle = (low + high) // 2
                p, q = self.rows[middle]
                rest = arb(fmpz(p)) - alpha * arb(fmpz(q))
                counted = not rest <= 0 if unsure else bool(rest > 0)
                low, high = (middle + 1, high) if counted else (low, middle)
            ends.append(low)
        return ends[0], max(ends)

    @cached_property
    def _atoms(self) -> Atoms:
        """Each number is rounded from whole ones a few times, and enclosed."""
        rising = [row for row in reversed(self.rows) if row[0] and row[1]]
        p, q = (self._read([row[side] for row in rising]) for side in (0, 1))
        alone = self._read([sum(p for p, q in self.rows if not q), sum(q for p, q in self.rows if not p)])
        return Atoms(p, q, _losses(rising), alone[0], alone[1])

    @cached_property
    def _tails(self) -> Tails:
        """After 0, 1, ... atoms."""
        finite = [each for each, row in zip(self._sums[1:], self.rows, strict=True) if row[0] and row[1]]
        above, one = [(sum(p for p, q in self.rows if not q), 0), *finite][::-1], 1 << self.bits
        return Tails(
            *(self._read([each[side] for each in above]).value for side in (0, 1)),
            *(self._read([one - each[side] for each in above]).value for side in (0, 1)),
        )

    def _read(self, masses: Sequence[int]) -> Enclosure:
        value: FloatArray = np.array([_quotient(mass, self.bits) for mass in masses], dtype=np.float64)
        exactly = np.array([mass == 0 for mass in masses], dtype=np.bool_)
        return Enclosure(value, np.where(exactly, 0.0, 4.0 * UNIT * value + 5e-324))


@subsampled_fixed_size.register(DyadicPair)
def _(pair: DyadicPair, rate: float) -> DyadicPair:
    """Whole numbers still; the base is its own reverse, or what is left for the loss 0 may be less than nothing."""
    taken, one = rate.as_integer_ratio()
    above = [((one - taken) * q + taken * p, one * q) for p, q in pair.rows if p > q]
    rest = (one << pair.bits) - sum(p + q for p, q in above)
    if rest < 0:
        raise UnsupportedMechanism("its two directions differ")
    below = [(q, p) for p, q in reversed(above)]
    middle = [(rest, rest)] if rest else []
    return DyadicPair((*above, *middle, *below), pair.bits + one.bit_length() - 1)


@sampled_in_family.register(DyadicPair)
def _(pair: DyadicPair, rate: float, direction: Direction) -> DyadicPair:
    """Whole numbers still."""
    taken, one = rate.as_integer_ratio()
    left = one - taken
    if direction is Direction.REMOVE:
        rows = tuple((left * q + taken * p, one * q) for p, q in pair.rows)
    else:
        rows = tuple((one * p, left * p + taken * q) for p, q in pair.rows)
    return DyadicPair(rows, pair.bits + one.bit_length() - 1)


def dyadic_pair(rows: Iterable[Row], bits: int) -> DyadicPair:
    """Rows in any order; those without mass are left out."""

    def falling(one: Row, other: Row) -> int:
        gap = one[0] * other[1] - other[0] * one[1]
        return (gap < 0) - (gap > 0)

    return DyadicPair(tuple(sorted((row for row in rows if row[0] or row[1]), key=cmp_to_key(falling))), bits)


def _quotient(mass: int, bits: int) -> float:
    """mass / 2^bits to one unit; the top 60 bits say it all."""
    shift = max(mass.bit_length() - 60, 0)
    return math.ldexp(float(mass >> shift), shift - bits)


def _loss(row: Row) -> arb:
    """log(p / q), with relative precision next to 0."""
    p, q = row
    return (arb(fmpz(p - q)) / arb(fmpz(q))).log1p() if 2 * p > q else (arb(fmpz(p)) / arb(fmpz(q))).log()


def _losses(rows: Sequence[Row]) -> Enclosure:
    """The same in float64: next to 0 from the difference, elsewhere from the quotient's mantissa and exponent."""
    near = np.zeros(len(rows))
    far_log, far_power = np.ones(len(rows)), np.zeros(len(rows))
    close = np.zeros(len(rows), dtype=np.bool_)
    for index, (p, q) in enumerate(rows):
        if 2 * p > q and p < 2 * q:
            close[index] = True
            near[index] = _ratio(abs(p - q), q) * (1.0 if p >= q else -1.0)
        else:
            power = p.bit_length() - q.bit_length()
            up, down = (p, q << power) if power >= 0 else (p << -power, q)
            far_log[index], far_power[index] = _ratio(up, down), float(power)
    quotient = Enclosure(near, 4.0 * UNIT * abs(near) + 5e-324 * (near != 0.0)).log1p()
    mantissa = Enclosure(far_log, 4.0 * UNIT * far_log).log()
    far = mantissa + exact(far_power) * LOG_2_BETWEEN
    return Enclosure(np.where(close, quotient.value, far.value), np.where(close, quotient.radius, far.radius))


LOG_2_BETWEEN = enclosing(0.6931471805599453, 0.6931471805599454)


def _ratio(one: int, other: int) -> float:
    """one / other to 2 units."""
    if not one:
        return 0.0
    shift = max(64 - one.bit_length() + other.bit_length(), 0)
    return math.ldexp(float((one << shift) // other), -shift)
