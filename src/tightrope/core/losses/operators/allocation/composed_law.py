"""Laws of sums of independent values >= 0: one above in convex order, one below, each entry with a relative rounding.

Above, `SplitLaw`: masses at points; whatever falls between two points is split to them so that its mean is kept. Beyond
the last point a mass goes to that point, and the value that it loses to `beyond`, value without mass.
Below, `MergedLaw`: cells of outcomes with their mass m and their value v = E[value; cell]; cells are merged.
A sum convolves piece by piece: of two pieces the finer one is first brought to the spacing of the coarser, so that all
products are direct sums of numbers >= 0.
    E(S - c)_+ <= sum of m (x - c)_+ + beyond          for a SplitLaw, and E(c - S)_+ <= sum of m (c - x)_+
    m and v of a MergedLaw are those of a partition       of the outcomes of some law below
Each number is within `units` roundings of such a law, or, where it underflows, was raised by what that may hide.
Guarantee: above and below, in convex order. Proof: docs/proofs/allocation.md, sections 7 to 9.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from ....numerics.convolution import upper_sum
from ....numerics.enclosures import FloatArray
from ....numerics.rounding import TINIEST, round_up
from ....values import compute_budget

# Grids of positive values in blocks, the spacing of each a power of two, coarser to the right.
#
# A point of a piece is (start + i) 2^exponent; exponents rise from piece to piece, and each begins where the one before
# ends. A row of numbers moves to a grid twice as coarse in one of two ways.
#     split   what lies between two points goes to both, half each: sums of masses and of values are kept
#     merge   two cells become one
# Guarantee: points are exact; numbers have the rounding that is counted in laws.py.
# Proof: docs/proofs/allocation.md, section 8.

FARTHEST_LEFT = 64.0  # deviations: no law is taken for narrower than that
NARROWEST_SHARE = 1e-9  # of the centre


class GradedRow(NamedTuple):
    """Columns of numbers at (start + i) 2^exponent."""

    exponent: int
    start: int
    columns: FloatArray  # one row for each column

    @property
    def size(self) -> int:
        """How many points."""
        return int(self.columns.shape[1])

    @property
    def points(self) -> FloatArray:
        """As doubles, exact below 2^53 steps."""
        return np.ldexp(np.arange(self.start, self.start + self.size, dtype=np.float64), self.exponent)


class Fine(NamedTuple):
    """Points per deviation, per doubling far above, deviations that are kept even, and the side that counts."""

    near: float
    far: float
    reach: float
    left: bool


class Block(NamedTuple):
    """Where a piece lies."""

    exponent: int
    start: int
    size: int


class Extent(NamedTuple):
    """What is known of a law roughly: a bad value costs width."""

    low: float
    high: float
    centre: float
    scale: float


def blocks(shape: Extent, fine: Fine) -> list[Block]:
    """From low to high: x/near up to the scale, even around the centre, (x - centre)/far beyond."""
    scale = max(shape.scale, (shape.centre - shape.low) / FARTHEST_LEFT, shape.centre * NARROWEST_SHARE)
    even_to = shape.centre + fine.reach * scale

    def spacing(x: float) -> float:
        return max(min(x, scale) / fine.near, (x - even_to) / fine.far)

    exponent = math.floor(math.log2(spacing(shape.low)))
    start = math.floor(math.ldexp(shape.low, -exponent))
    found = []
    while True:
        coarser = math.ldexp(2.0, exponent)
        # The first x whose spacing is twice as large.
        until = max(
            min(coarser * fine.near if coarser * fine.near <= scale else math.inf, even_to + coarser * fine.far), 0
        )
        stop = math.ceil(math.ldexp(min(until, shape.high), -exponent))
        if until >= shape.high:
            found.append(Block(exponent, start, max(stop - start, 1) + 1))
            return found
        stop = max(stop + stop % 2, start + start % 2)
        if stop > start:
            found.append(Block(exponent, start, stop - start))
        exponent, start = exponent + 1, stop // 2


def grid_points(places: Sequence[Block]) -> FloatArray:
    """All of them."""
    rows = (np.arange(start, start + size, dtype=np.float64) for _, start, size in places)
    return np.concatenate([np.ldexp(row, place.exponent) for row, place in zip(rows, places, strict=True)])


def halved(piece: GradedRow, split: bool) -> GradedRow:
    """On the grid of the next exponent."""
    lead = piece.start % 2
    rest = (piece.size + lead) % 2
    padded = np.zeros((len(piece.columns), lead + piece.size + rest))
    padded[:, lead : lead + piece.size] = piece.columns
    even, odd, start = padded[:, 0::2], padded[:, 1::2], (piece.start - lead) // 2
    if not split and piece.exponent % 2:  # odd cells go left and right by turns, so that labels do not drift
        return GradedRow(piece.exponent + 1, start, even + odd)
    here, there = (even + 0.5 * odd, 0.5 * odd) if split else (even, odd)
    coarse = np.zeros((len(here), here.shape[1] + 1 - rest))  # the last odd one is padding, or has a neighbour
    coarse[:, : here.shape[1]] = here
    coarse[:, 1:] += there[:, : there.shape[1] - rest]
    return GradedRow(piece.exponent + 1, start, coarse)


def coarsened(piece: GradedRow, exponent: int, split: bool) -> GradedRow:
    """On the grid of a larger exponent."""
    while piece.exponent < exponent:
        piece = halved(piece, split)
    return piece


def cut(piece: GradedRow, first: int, last: int) -> GradedRow:
    """Points first <= index < last, in its own steps."""
    begin, end = max(first - piece.start, 0), min(last - piece.start, piece.size)
    return GradedRow(piece.exponent, piece.start + begin, piece.columns[:, begin : max(end, begin)])


def in_steps(value: int, exponent: int, other: int) -> int:
    """value 2^exponent in steps of 2^other, rounded up."""
    return value << (exponent - other) if exponent >= other else -((-value) >> (other - exponent))


def added(one: GradedRow, other: GradedRow) -> GradedRow:
    """Both on one piece; they have one exponent."""
    start = min(one.start, other.start)
    stop = max(one.start + one.size, other.start + other.size)
    columns = np.zeros((len(one.columns), stop - start))
    for row in (one, other):
        columns[:, row.start - start : row.start - start + row.size] += row.columns
    return GradedRow(one.exponent, start, columns)


class Regridded:
    """Takes pieces of any exponent in and gives them back on its own blocks."""

    def __init__(self, shape: Sequence[Block], columns: int, split: bool) -> None:
        self._blocks, self._split = tuple(shape), split
        self._rows = [np.zeros((columns, block.size + 1)) for block in shape]
        self._starts = [math.ldexp(block.start, block.exponent) for block in shape]

    def add(self, piece: GradedRow) -> None:
        """Points must lie between the first and the last point of the target."""
        if not piece.size:
            return
        low, high = (math.ldexp(end, piece.exponent) for end in (piece.start, piece.start + piece.size - 1))
        for index in range(max(bisect_right(self._starts, low) - 1, 0), bisect_right(self._starts, high)):
            (exponent, start, size), row = self._blocks[index], self._rows[index]
            part = cut(piece, *(in_steps(value, exponent, piece.exponent) for value in (start, start + size)))
            if exponent <= piece.exponent:
                stride = 1 << (piece.exponent - exponent)
                place = part.start * stride - start
                row[:, place : place + part.size * stride : stride] += part.columns
            else:
                part = coarsened(part, exponent, self._split)
                row[:, part.start - start : part.start - start + part.size] += part.columns

    def pieces(self) -> tuple[GradedRow, ...]:
        """What was added; the end of a block is the start of the next."""
        for row, after in zip(self._rows, self._rows[1:], strict=False):
            after[:, 0] += row[:, -1]
        return tuple(
            GradedRow(block.exponent, block.start, row[:, : block.size])
            for block, row in zip(self._blocks, self._rows, strict=True)
        )


SUM_PRODUCT, SUM_ROW = 0.15, 5e4  # of work: one product of a direct sum, one piece of a grid
PRODUCTS_AT_ONCE = 2e7  # between two looks at the clock; BLAS sums rows as short as these in one thread, always alike
LEAST_MASS = 1e-280  # so many products of 5e-324 as there are do not change it
QUANTILE = 0.16  # of the mass: what lies outside on either side says how wide a law is


class Light(NamedTuple):
    """Mass that may leave at the lower end, and value at the upper end."""

    mass: float
    value: float


@dataclass(frozen=True)
class SumLaw(ABC):
    """zero: what lies at the value 0, which no piece has."""

    pieces: tuple[GradedRow, ...]
    zero: FloatArray
    beyond: float
    units: float

    split: ClassVar[bool]

    @property
    def points(self) -> FloatArray:
        """Of all pieces."""
        return np.concatenate([piece.points for piece in self.pieces])

    @property
    def columns(self) -> FloatArray:
        """Of all pieces."""
        return np.concatenate([piece.columns for piece in self.pieces], axis=1)

    def plus(self, other: Self, fine: Fine, light: Light) -> Self:
        """The sum of two that are independent."""
        shape = _sum_shape(self, other, fine.left, light)
        places = blocks(shape, fine)
        many = sum(piece.size for law in (self, other) for piece in law.pieces)
        compute_budget.hold(64.0 * (many + sum(block.size for block in places)))
        target = Regridded(places, len(self.zero), self.split)
        zero, beyond = self._product(self.zero[:, None], other.zero[:, None])[:, 0], 0.0
        for piece in (*_scaled(self, other.zero), *_scaled(other, self.zero), *_products(self, other)):
            ends = _placed(piece, places, self.split)
            zero, beyond = zero + ends.zero, beyond + ends.beyond
            for row in ends.inside:
                target.add(row)
        spans = places[-1].exponent - min(law.pieces[0].exponent for law in (self, other))
        units = self.units + other.units + 2.0 * many + 16.0 * (spans + len(places)) + 64.0
        more = round_up((self.beyond * other.total + other.beyond * self.total) + beyond, units)
        return self._made(target.pieces(), *self._hidden(zero, more, many, places), units).trimmed(light)

    def trimmed(self, light: Light) -> Self:
        """Without points at either end that hold next to nothing: they go to the first and the last that are left."""
        points, columns = self.points, self.columns
        mass = columns[0]
        below = np.cumsum(mass)
        first = int(np.searchsorted(below, light.mass))
        value = np.cumsum((mass * points)[::-1])[::-1]  # more than what the last point takes away
        last = int(np.searchsorted(-value, -light.value)) - 1
        last = min(max(last, first + 1), len(points) - 1)
        first = min(first, last - 1)
        if first == 0 and last == len(points) - 1:
            return self
        kept, at = [], 0
        for piece in self.pieces:
            begin, end = max(first - at, 0), min(last + 1 - at, piece.size)
            if begin < end:
                kept.append(Block(piece.exponent, piece.start + begin, end - begin))
            at += piece.size
        target, zero, beyond = Regridded(kept, len(self.zero), self.split), self.zero, self.beyond
        for piece in self.pieces:
            ends = _placed(piece, kept, self.split)
            zero, beyond = zero + ends.zero, beyond + ends.beyond
            for row in ends.inside:
                target.add(row)
        units = self.units + 2.0 * len(points) + 16.0
        return self._made(target.pieces(), zero, round_up(beyond, units), units)

    @property
    def total(self) -> float:
        """At or above the mass, up to the rounding of `units`."""
        return upper_sum(self.columns[0]) + float(self.zero[0])

    def shape(self, left: bool) -> Extent:
        """About where it lies, and how wide it is on one side."""
        points, mass = self.points, self.columns[0]
        share = np.cumsum(mass) + self.zero[0]
        levels = (QUANTILE if left else 1.0 - QUANTILE, 0.5)
        outer, middle = (
            float(points[min(int(np.searchsorted(share, level * share[-1])), len(points) - 1)]) for level in levels
        )
        return Extent(float(points[0]), float(points[-1]), middle, abs(outer - middle))

    def _made(self, pieces: tuple[GradedRow, ...], zero: FloatArray, beyond: float, units: float) -> Self:
        return replace(self, pieces=pieces, zero=zero, beyond=beyond, units=units)

    def _hidden(self, zero: FloatArray, beyond: float, many: int, places: Sequence[Block]) -> tuple[FloatArray, float]:
        """What stands for numbers below the smallest double: fewer than many^2 products and splits."""
        return zero, beyond

    @staticmethod
    @abstractmethod
    def _product(one: FloatArray, other: FloatArray) -> FloatArray:
        """The columns of all sums of two pieces."""


class SplitLaw(SumLaw):
    """Above: one column of masses."""

    split = True

    def _hidden(self, zero: FloatArray, beyond: float, many: int, places: Sequence[Block]) -> tuple[FloatArray, float]:
        """Mass at 0, and as much value as if it were at the last point."""
        lost = TINIEST * (many + sum(place.size for place in places)) ** 2
        last = places[-1]
        return zero + lost, beyond + lost * float(np.ldexp(float(last.start + last.size), last.exponent))

    @staticmethod
    def _product(one: FloatArray, other: FloatArray) -> FloatArray:
        compute_budget.spend(SUM_PRODUCT * one.size * other.size)
        with np.errstate(under="ignore"):
            return _convolved(one[0], other[0])[None, :]


class MergedLaw(SumLaw):
    """Below: masses and values."""

    split = False

    @staticmethod
    def _product(one: FloatArray, other: FloatArray) -> FloatArray:
        """Cells that underflow could matter to are left out of every event."""
        compute_budget.spend(SUM_PRODUCT * one.size * other.size)
        (m, v), (n, w) = one, other
        with np.errstate(under="ignore"):
            value = 2.0 * _convolved(m, v) if one is other else _convolved(m, w) + _convolved(v, n)
            values = np.stack([_convolved(m, n), value])
        # Without a value only where no factor has one: what a product hides would look like infinite loss.
        valued = v.any() or w.any()
        values[:, (values[0] < LEAST_MASS) | (valued & (values[1] < LEAST_MASS))] = 0.0
        return values


def _convolved(one: FloatArray, other: FloatArray) -> FloatArray:
    """The direct sum, in blocks of a row where it is long: no entry adds up more numbers than it would at once."""
    rows = max(int(PRODUCTS_AT_ONCE / other.size), 1)
    if rows >= one.size:
        return np.convolve(one, other)
    values = np.zeros(one.size + other.size - 1)
    for at in range(0, one.size, rows):
        compute_budget.spend(0.0)  # paid for already: a look at the clock
        block = np.convolve(one[at : at + rows], other)
        values[at : at + block.size] += block
    return values


def _sum_shape(one: SumLaw, other: SumLaw, left: bool, light: Light) -> Extent:
    """Central widths of independent summands add up like deviations at least."""
    first, second = one.shape(left), other.shape(left)
    low = first.low + second.low
    low = min(low, second.low) if one.zero[0] > light.mass else low
    low = min(low, first.low) if other.zero[0] > light.mass else low
    scale = float(np.hypot(first.scale, second.scale))
    return Extent(low, first.high + second.high, first.centre + second.centre, scale)


def _scaled(law: SumLaw, factor: FloatArray) -> list[GradedRow]:
    """Beside a summand that is 0."""
    if not factor.any():
        return []
    return [piece._replace(columns=law._product(piece.columns, factor[:, None])) for piece in law.pieces]


def _products(one: SumLaw, other: SumLaw) -> list[GradedRow]:
    """All pairs of pieces, gathered by the coarser exponent."""
    same = one is other
    rows = [{piece.exponent: piece for piece in law.pieces} for law in ((one,) if same else (one, other))]
    exponents = sorted({exponent for row in rows for exponent in row})
    finer: list[GradedRow | None] = [None] * len(rows)
    found = []
    for exponent in range(exponents[0], exponents[-1] + 1):
        compute_budget.spend(SUM_ROW)
        here = [row.get(exponent) for row in rows]
        for first, second in ((0, 0),) if same else ((0, 1), (1, 0)):
            piece, rest = here[first], finer[second]
            if piece is not None and rest is not None:
                columns = one._product(piece.columns, rest.columns)
                found.append(GradedRow(exponent, piece.start + rest.start, 2.0 * columns if same else columns))
        if here[0] is not None and here[-1] is not None:
            columns = one._product(here[0].columns, here[-1].columns)
            found.append(GradedRow(exponent, here[0].start + here[-1].start, columns))
        both = [_both(rest, piece) for rest, piece in zip(finer, here, strict=True)]
        finer = [None if piece is None else halved(piece, one.split) for piece in both]
    return found


def _both(one: GradedRow | None, other: GradedRow | None) -> GradedRow | None:
    if one is None or other is None:
        return one or other
    return added(one, other)


class _Fitted(NamedTuple):
    """What a grid makes of a piece: pieces within it, what goes to the value 0, and value beyond its last point."""

    inside: tuple[GradedRow, ...]
    zero: FloatArray
    beyond: float


def _placed(piece: GradedRow, places: Sequence[Block], split: bool) -> _Fitted:
    """What lies below goes to 0 and to the first point, or to the first cell; what lies above to the last one."""
    first, last = places[0], places[-1]
    at_top = last.start + last.size - 1
    bottom, top = np.ldexp(float(first.start), first.exponent), np.ldexp(float(at_top), last.exponent)
    begin = in_steps(first.start, first.exponent, piece.exponent)
    end = max(in_steps(at_top, last.exponent, piece.exponent), begin)
    found = [cut(piece, begin, end)]
    zero, beyond = np.zeros(len(piece.columns)), 0.0
    under, over = cut(piece, piece.start, begin), cut(piece, end, piece.start + piece.size)
    if under.size:
        share = under.points / bottom if split else np.ones(under.size)
        zero = under.columns @ ((bottom - under.points) / bottom) if split else zero
        found.append(GradedRow(first.exponent, first.start, (under.columns @ share)[:, None]))
    if over.size:
        found.append(GradedRow(last.exponent, at_top, np.sum(over.columns, axis=1, keepdims=True)))
        beyond = float(over.columns[0] @ (over.points - top))
    return _Fitted(tuple(found), zero, beyond)
