"""The game backwards: at each use the alternative that is worth more, from the last use to the first.

A state u stands for a label: the labels seen so far add up to u - u_0, each in steps of h. With so many uses to go,
    W(u) = P[accept], T(u) = e^(-u h) Q[accept], worth W(u) - T(u),
of the policy that is followed from u on. At the end, accept where u > 0: W = 1, T = e^(-u h). Before it,
    W(u) <- w + sum_x p(x) W(u + x), T(u) <- sum_x e^(x h) q(x) T(u + x)
of the alternative whose worth is larger; nothing is accepted where none is worth anything, below the window, or, by
T = e^(-u h), everything above it. W is rounded down and T up, so whatever was chosen, and why, it is a true event of a
true policy: P(A) >= W(u_0), Q(A) <= e^(u_0 h) T(u_0).
Guarantee: lower. Proof: docs/proofs/adaptive.md, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from flint import arb, fmpz, fmpz_poly

from ..engines.lattice.grid import TAIL_FLOOR
from ..engines.tuning import (
    CHOICE_UNITS,
    COEFFICIENT_SECONDS,
    LIMB_SECONDS,
    MASS_SECONDS,
    PRODUCT_UNITS,
    TAILS_UNITS,
    USE_UNITS,
)
from ..losses.pair import TAIL_ERROR, BallTails, Pair
from ..numerics.balls import BITS_START, integer, lower_float, upper_float, working_precision
from ..numerics.double_double import double_double
from ..numerics.enclosures import FloatArray
from ..numerics.rounding import EXP, FEW, round_down, round_up
from ..values import compute_budget
from ..values.errors import UnsupportedMechanism

# One use of a pair as merged cells in whole numbers, each entry on its side.
#
# The finite losses are merged into cells around the points i h, first <= i <= last; the outer ones reach to the ends.
# Cell i has the P-mass p_i, rounded down, and the Q-mass q_i, of which e^(i h) q_i is kept, rounded up: that is about
# p_i, however far out the cell lies. Both are in units of 2^-bits.
# Guarantee: entry by entry, P at least and Q at most. Proof: docs/proofs/adaptive.md, section 3.
# Reference: Meiser, Mohammadi 2018, Def. 3 (buckets).

Masses = list[fmpz]


class Mesh(NamedTuple):
    """The step, and the bits of a mass."""

    step: float
    bits: int


@dataclass(frozen=True, slots=True)
class Cells:
    """p_i, e^(i h) q_i, the label of the first cell, and the P-mass of infinite loss."""

    p: Masses
    tilted: Masses
    start: int
    infinite: int

    @property
    def stop(self) -> int:
        """The label of the last cell."""
        return self.start + len(self.p) - 1


def whole_merged(pair: Pair, first: int, last: int, mesh: Mesh) -> Cells:
    """The cells with these labels; the working precision is that of the bits and more."""
    edges = [(label + 0.5) * mesh.step for label in range(first, last)]
    inner = _ball_tails(pair, edges, mesh.bits)
    leaked, lost = pair.infinite_mass(), pair.reversed().infinite_mass()
    all_above, none_above = BallTails(arb(1), 1 - lost, arb(0), lost), BallTails(leaked, arb(0), 1 - leaked, arb(1))
    tails = [all_above, *inner, none_above]
    scale = arb(2) ** mesh.bits
    p, tilted = [], []
    for label, (low, high) in enumerate(pairwise(tails), start=first):
        p.append(whole_below(scale * _narrower(low.p_above - high.p_above, high.p_below - low.p_below)))
        mass = _narrower(low.q_above - high.q_above, high.q_below - low.q_below)
        tilted.append(whole_above(scale * (arb(label) * arb(mesh.step)).exp() * mass))
    return Cells(p, tilted, first, int(whole_below(scale * leaked)))


def _ball_tails(pair: Pair, edges: list[float], bits: int) -> list[BallTails]:
    units = 0.5 * MASS_SECONDS * (1.0 + bits / 512.0) * compute_budget.UNITS_PER_SECOND
    found = []
    for edge in edges:
        compute_budget.spend(units)
        found.append(pair.ball_tails(arb(edge)))
    return found


def _narrower(one: arb, other: arb) -> arb:
    """Of two enclosures of one number."""
    return one if one.rad() <= other.rad() else other


def whole_below(ball: arb) -> fmpz:
    """The largest whole number at or below, and not below 0; 0 where none is known."""
    return fmpz(max(integer(ball.lower().floor()) or 0, 0))


def whole_above(ball: arb) -> fmpz:
    """The least whole number at or above."""
    value = integer(ball.upper().ceil())
    if value is None:
        raise UnsupportedMechanism("its masses cannot be enclosed at this precision")
    return fmpz(max(value, 0))


NOTHING = fmpz(0)


class Window(NamedTuple):
    """The states that are looked at, and those where the game may begin."""

    low: int
    high: int
    first: int
    last: int


class Labelled(Protocol):
    """Cells with the labels from start to stop."""

    @property
    def start(self) -> int: ...

    @property
    def stop(self) -> int: ...


class Event(NamedTuple):
    """An event of a policy: P(A) >= p / 2^bits, Q(A) <= e^(u h) tilted / 2^bits."""

    state: int
    p: float
    tilted: float


class _Values(NamedTuple):
    """W and T of the states from the first one on."""

    first: int
    p: Masses
    tilted: Masses


def events(stages: Sequence[Sequence[Cells]], window: Window, mesh: Mesh) -> list[Event]:
    """One for each state where the game may begin; each stage is a use and its alternatives."""
    reached = spans(stages, window)
    values = _Values(reached[-1][0], *_accepted(*reached[-1], mesh))
    for stage, (low, high) in zip(reversed(stages), reversed(reached[:-1]), strict=True):
        top = high + max(cells.stop for cells in stage)
        beyond = _accepted(values.first + len(values.p), top, mesh)
        after = _Values(values.first, values.p + beyond[0], values.tilted + beyond[1])
        values = _before(stage, after, low, high, mesh)
    columns = zip(values.p, values.tilted, strict=True)
    return [Event(state, int(p), int(tilted)) for state, (p, tilted) in enumerate(columns, start=values.first)]


def spans(stages: Sequence[Sequence[Labelled]], window: Window) -> list[tuple[int, int]]:
    """The first and the last state that is reached before each use, and after the last one."""
    found = [(window.first, window.last)]
    for stage in stages:
        low = max(found[-1][0] + min(labelled.start for labelled in stage), window.low)
        high = min(found[-1][1] + max(labelled.stop for labelled in stage), window.high)
        found.append((low, max(high, low)))
    return found


def _accepted(first: int, last: int, mesh: Mesh) -> tuple[Masses, Masses]:
    """Accept where u > 0, and end there."""
    one = fmpz(1) << mesh.bits
    scale, step = arb(one), arb(mesh.step)
    states = range(first, last + 1)
    p = [one if state > 0 else NOTHING for state in states]
    return p, [whole_above(scale * (-arb(state) * step).exp()) if state > 0 else NOTHING for state in states]


def _before(stage: Sequence[Cells], after: _Values, low: int, high: int, mesh: Mesh) -> _Values:
    """The states low to high one use earlier."""
    size = high - low + 1
    best_p, best_tilted, best = [NOTHING] * size, [NOTHING] * size, [NOTHING] * size
    after_p, after_tilted = fmpz_poly(after.p), fmpz_poly(after.tilted)
    for cells in stage:
        length = len(cells.p) + len(after.p)
        compute_budget.hold(length * (mesh.bits / 2.0 + 64.0))
        seconds = 2.0 * length * (LIMB_SECONDS * mesh.bits / 64.0 + COEFFICIENT_SECONDS)
        compute_budget.spend(seconds * compute_budget.UNITS_PER_SECOND + CHOICE_UNITS * size)
        # Entry i of the product is the state i - place.
        place = after.first - low - cells.stop
        p = _read(fmpz_poly(cells.p[::-1]) * after_p, place, size)
        tilted = _read(fmpz_poly(cells.tilted[::-1]) * after_tilted, place, size)
        for index in range(size):
            found_p = (p[index] >> mesh.bits) + cells.infinite
            found_tilted = -(-tilted[index] >> mesh.bits)
            worth = found_p - found_tilted
            if worth > best[index]:
                best_p[index], best_tilted[index], best[index] = found_p, found_tilted, worth
    return _Values(low, best_p, best_tilted)


def _read(product: fmpz_poly, place: int, size: int) -> Masses:
    """Entries from -place on, so many of them; those outside are 0."""
    entries = product.coeffs()
    front = min(max(place, 0), size)
    inner = entries[max(-place, 0) : max(size - place, 0)]
    return [NOTHING] * front + inner + [NOTHING] * (size - front - len(inner))


# The game of choices.py in float64: the same recursion, every sum moved to its side by what its roundings may cost.
#
# A sum of m products of nonnegative doubles is off by at most m roundings of each term, in whatever order it is added;
# what underflow hides is far below CHOICE_UNDERFLOW, which is taken from W and added to T at each use.
# Guarantee: lower, under kernels.fp_environment. Proof: docs/proofs/adaptive.md, section 4.
# Reference: Higham 2002, Sec. 3.1 (sums in any order).

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
    p, tilted = _float_accepted(*reached[-1], step)
    for stage, (low, high) in zip(reversed(stages), reversed(reached[:-1]), strict=True):
        beyond = _float_accepted(first + len(p), high + max(cells.stop for cells in stage), step)
        after = np.append(p, beyond[0]), np.append(tilted, beyond[1])
        p, tilted = _float_before(stage, after, first, low, high)
        first = low
    return [Event(first + index, float(p[index]), float(tilted[index])) for index in range(len(p))]


def _float_accepted(first: int, last: int, step: float) -> tuple[FloatArray, FloatArray]:
    """Accept where u > 0, and end there."""
    u = np.arange(first, last + 1, dtype=np.float64)
    x = np.maximum(u, 0.0) * step
    with np.errstate(under="ignore"):
        cost = round_up(np.exp(-x), FEW + EXP + 2.0 * x) + CHOICE_UNDERFLOW
    return np.where(u > 0.0, 1.0, 0.0), np.where(u > 0.0, cost, 0.0)


def _float_before(
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
