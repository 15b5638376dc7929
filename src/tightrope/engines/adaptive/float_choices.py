"""The game of choices.py in float64: the same recursion, every sum moved to its side by what its roundings may cost.

A sum of m products of nonnegative doubles is off by at most m roundings of each term, in whatever order it is added;
what underflow hides is far below CHOICE_UNDERFLOW, which is taken from W and added to T at each use.
Guarantee: lower, under kernels.fp_environment. Proof: docs/proofs/adaptive.md, section 4.
Reference: Higham 2002, Sec. 3.1 (sums in any order).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ... import compute_budget
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.directed import FEW, round_down, round_up
from ...kernels.double_double import double_double
from ...kernels.enclosure import FloatArray
from ...kernels.ulps import EXP
from ...pair import TAIL_ERROR, Pair
from ..lattice.masses import TAIL_FLOOR
from ..lattice.tuning import TAILS_UNITS
from .choices import Event, Window, spans
from .tuning import PRODUCT_UNITS, USE_UNITS

CHOICE_UNDERFLOW = 1e-300


@dataclass(frozen=True, slots=True)
class FloatCells:
    """As choices.Cells: p_i at or below, e^(i h) q_i at or above, the first label, the P-mass of infinite loss."""

    p: FloatArray
    tilted: FloatArray
    start: int
    infinite: float

    @property
    def stop(self) -> int:
        """The label of the last cell."""
        return self.start + len(self.p) - 1


def float_merged(pair: Pair, first: int, last: int, step: float) -> FloatCells:
    """The cells with these labels; the outer ones reach to the ends of the finite losses."""
    compute_budget.spend(TAILS_UNITS * (last - first))
    with working_precision(BITS_START):
        leaked, lost = pair.infinite_mass(), pair.reversed().infinite_mass()
        infinite, most = lower_float(leaked), upper_float(leaked)
        ends_p = (1.0, lower_float(1 - leaked)), (max(infinite, 0.0), most)
        ends_q = (upper_float(1 - lost), 1.0), (0.0, max(lower_float(lost), 0.0))
    tails = pair.tails(double_double((np.arange(first, last, dtype=np.float64) + 0.5) * step))
    p_low, p_high = _around(tails.p_above)
    below_low, below_high = _around(tails.p_below)
    p = np.maximum(
        np.append(1.0, p_low) - np.append(p_high, most),
        np.append(below_low, ends_p[0][1]) - np.append(0.0, below_high),
    )
    q_low, q_high = _around(tails.q_above)
    below_low, below_high = _around(tails.q_below)
    q = np.minimum(
        np.append(ends_q[0][0], q_high) - np.append(q_low, 0.0),
        np.append(below_high, 1.0) - np.append(ends_q[1][1], below_low),
    )
    x = np.arange(first, last + 1, dtype=np.float64) * step
    with np.errstate(under="ignore"):
        tilted = round_up(np.maximum(q, 0.0), FEW) * np.exp(x) + CHOICE_UNDERFLOW
        return FloatCells(
            np.maximum(round_down(p, FEW) - CHOICE_UNDERFLOW, 0.0),
            round_up(tilted, FEW + EXP + 2.0 * abs(x)),
            first,
            max(infinite, 0.0),
        )


def _around(tail: FloatArray) -> tuple[FloatArray, FloatArray]:
    """At or below, and at or above."""
    slack = 1.01 * TAIL_ERROR * tail + TAIL_FLOOR
    return np.maximum(tail - slack, 0.0), np.minimum(tail + slack, 1.0)


def float_events(stages: Sequence[Sequence[FloatCells]], window: Window, step: float) -> list[Event]:
    """One for each state where the game may begin, in units of 1."""
    reached = spans(stages, window)
    first = reached[-1][0]
    p, tilted = _accepted(*reached[-1], step)
    for stage, (low, high) in zip(reversed(stages), reversed(reached[:-1]), strict=True):
        beyond = _accepted(first + len(p), high + max(cells.stop for cells in stage), step)
        after = np.append(p, beyond[0]), np.append(tilted, beyond[1])
        p, tilted = _before(stage, after, first, low, high)
        first = low
    return [Event(first + index, float(p[index]), float(tilted[index])) for index in range(len(p))]


def _accepted(first: int, last: int, step: float) -> tuple[FloatArray, FloatArray]:
    """Accept where u > 0, and end there."""
    u = np.arange(first, last + 1, dtype=np.float64)
    x = np.maximum(u, 0.0) * step
    with np.errstate(under="ignore"):
        cost = round_up(np.exp(-x), FEW + EXP + 2.0 * x) + CHOICE_UNDERFLOW
    return np.where(u > 0.0, 1.0, 0.0), np.where(u > 0.0, cost, 0.0)


def _before(
    stage: Sequence[FloatCells], after: tuple[FloatArray, FloatArray], first: int, low: int, high: int
) -> tuple[FloatArray, FloatArray]:
    """The states low to high one use earlier; after begins with the state first."""
    size = high - low + 1
    best_p, best_tilted, best = np.zeros((3, size))
    for cells in stage:
        compute_budget.spend(2.0 * PRODUCT_UNITS * size * len(cells.p) + USE_UNITS)
        reach = low + cells.start - first  # of the first state's first label, from where after begins
        rows = [_row(column, reach, size + len(cells.p) - 1) for column in after]
        with np.errstate(under="ignore"):
            units = 1.01 * len(cells.p) + FEW
            p = np.maximum(
                round_down(np.correlate(rows[0], cells.p, "valid") + cells.infinite, units) - CHOICE_UNDERFLOW, 0.0
            )
            tilted = round_up(np.correlate(rows[1], cells.tilted, "valid") + CHOICE_UNDERFLOW, units)
        worth = p - tilted
        better = worth > best
        best_p, best_tilted = np.where(better, p, best_p), np.where(better, tilted, best_tilted)
        best = np.where(better, worth, best)
    return best_p, best_tilted


def _row(column: FloatArray, place: int, size: int) -> FloatArray:
    """Entries from place on, so many of them; those outside are 0."""
    row = np.zeros(size)
    start, stop = max(place, 0), min(place + size, len(column))
    if stop > start:
        row[start - place : stop - place] = column[start:stop]
    return row
