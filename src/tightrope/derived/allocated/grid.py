"""Grids of positive values in blocks, the spacing of each a power of two, coarser to the right.

A point of a piece is (start + i) 2^exponent; exponents rise from piece to piece, and each begins where the one before
ends. A row of numbers moves to a grid twice as coarse in one of two ways.
    split   what lies between two points goes to both, half each: sums of masses and of values are kept
    merge   two cells become one
Guarantee: points are exact; numbers have the rounding that is counted in laws.py.
Proof: docs/proofs/allocation.md, section 8.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...kernels.enclosure import FloatArray

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
