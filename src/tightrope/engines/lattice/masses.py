"""One use of a pair on a grid: a law that dominates it, and two that speak of merged cells.

Above, chords: the profile H is replaced by its chord between neighbouring points l_0 < l_1 < ..., by a constant after
the last
and by the line to (0, 1) before the first. The mass at l_i and beyond becomes H_i + (H_(i-1) - H_i) / (1 - e^-h), the
mass before
l_i becomes e^(l_(i-1)) (R_i - R_(i-1)) / (1 - e^-h) with R_i the profile of the reversed pair at -l_i.
Below, cells (l_i - h/2, l_i + h/2]: P rounded so that it moves down the labels, Q so that it moves up; an increasing
event of labels
then has at least the P-mass and at most the Q-mass computed.
Masses are differences of tails that were rounded to their side first: nothing is gained or lost, some of it moves.
Guarantee: above dominates; below P down, Q up. Proof: docs/proofs/lattice.md, lemmas 1 to 3.
Reference: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (chords); Meiser, Mohammadi 2018, Def. 3 (buckets).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import compute_budget
from ...facets.finite import Atoms
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.directed import round_down, round_up
from ...kernels.double_double import double_double
from ...kernels.enclosure import UNDERFLOW, Enclosure, FloatArray, exact
from ...kernels.ulps import UNIT
from ...pair import TAIL_ERROR, Pair
from .tuning import HOCKEY_STICK_UNITS, TAILS_UNITS

TAIL_FLOOR = 1e-312  # absolute error of a tail below 1e-300


class Above(NamedTuple):
    """Masses at the points that dominate the pair, and the mass that went to infinite loss."""

    masses: FloatArray
    infinite: float


class Below(NamedTuple):
    """P-masses and Q-masses of the cells around the points."""

    p: FloatArray
    q: FloatArray


def above(pair: Pair, points: FloatArray, step: float, median: float) -> Above:
    """Chords on the points l_0 + i step, exact doubles; the median only tells which tails to use where."""
    compute_budget.spend(HOCKEY_STICK_UNITS * len(points))
    listed = pair.atoms()
    if listed is not None:
        return _split_atoms(listed, points, step)
    pivot = int(np.clip(np.searchsorted(points, median), 0, len(points) - 1))
    span = -exact(-step).expm1()
    profile = pair.hockey_stick(exact(points[pivot:]))
    infinite = min(float(profile.upper[-1]), 1.0)
    suffix = rounded_chord(profile[1:] + (profile[:-1] - profile[1:]) / span, upward=True)
    mirror = pair.reversed().hockey_stick(exact(-points[: pivot + 1]))
    prefix = rounded_chord(exact(points[:pivot]).exp() * (mirror[1:] - mirror[:-1]) / span, upward=False)
    suffix = np.minimum(np.maximum.accumulate(np.append(suffix, infinite)[::-1])[::-1], 1.0)
    prefix = np.minimum.accumulate(np.append(prefix, np.inf)[::-1])[::-1][:-1]
    prefix = np.insert(np.clip(prefix, 0.0, max(1.0 - suffix[0], 0.0)), 0, 0.0)
    middle = max(1.0 - prefix[-1] - suffix[0], 0.0) + 4.0 * UNIT
    return Above(np.concatenate([np.diff(prefix), [middle], -np.diff(suffix)]), infinite)


def rounded_chord(tail: Enclosure, upward: bool) -> FloatArray:
    """The end of the chord's own error: the difference of two profiles cancels to a few units over h."""
    return tail.upper if upward else tail.lower


def below(pair: Pair, points: FloatArray, step: float) -> Below:
    """Merged cells around the points; the first and the last one reach to the ends of the finite losses."""
    compute_budget.spend(TAILS_UNITS * len(points))
    with working_precision(BITS_START):
        leaked = upper_float(pair.infinite_mass())
    edges = np.concatenate([[-np.inf], points[1:] - step / 2.0])
    tails = pair.tails(double_double(edges))
    p = _cells(
        _lower(tails.p_above[1:]) - leaked,
        _upper(tails.p_below[1:]),
        round_down(1.0 - leaked, 1.0),  # the difference is exact below 1/2, and off by half a unit above
        upward=False,
    )
    hidden = tails.q_below[0]  # Q where P = 0: outside of every event
    q = _cells(
        _upper(tails.q_above[1:]),
        _lower(tails.q_below[1:]) - (_upper(hidden) if hidden else 0.0),
        float(_upper(tails.q_above[0])),
        upward=True,
    )
    return Below(p, q)


def _cells(above_edge: FloatArray, below_edge: FloatArray, total: float, upward: bool) -> FloatArray:
    """Cell masses from both tails at the inner edges, already rounded to their side, with at most (least) the total."""
    pivot = int(np.searchsorted(below_edge - above_edge, 0.0))  # the cell that holds the median
    suffix, prefix = above_edge[pivot:], below_edge[:pivot]
    suffix = np.clip(np.maximum.accumulate(np.append(suffix, 0.0)[::-1])[::-1], 0.0, 1.0)
    prefix = np.minimum.accumulate(np.append(prefix, np.inf)[::-1])[::-1][:-1]
    prefix = np.insert(np.clip(prefix, 0.0, 1.0), 0, 0.0)
    # Both tails were rounded apart; the one that was rounded down makes room where they meet.
    if upward:
        prefix = np.minimum(prefix, max(total - suffix[0], 0.0))
    else:
        suffix = np.minimum(suffix, max(total - prefix[-1], 0.0))
    middle = total - prefix[-1] - suffix[0]
    middle = max(middle, 0.0) + 4.0 * UNIT if upward else max(middle - 4.0 * UNIT, 0.0)
    return np.concatenate([np.diff(prefix), [middle], -np.diff(suffix)])


def _upper(tail: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(tail * (1.0 + 1.01 * TAIL_ERROR) + TAIL_FLOOR, 1.0))


def _lower(tail: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(tail * (1.0 - 1.01 * TAIL_ERROR) - TAIL_FLOOR, 0.0))


def _split_atoms(listed: Atoms, points: FloatArray, step: float) -> Above:
    """Chords for a law that is a list of atoms: each is split between its two neighbours, after being rounded up."""
    loss, mass = listed.loss.upper, listed.p.upper
    top = loss > points[-1]
    # What lies beyond the last point is split between it and +inf, as chords that end there are.
    over = loss[top] - points[-1]
    with np.errstate(under="ignore"):
        infinite = round_up(float(np.sum(mass[top] * -np.expm1(-over))), len(mass) + 24.0)
        infinite += float(listed.infinite.upper) + listed.left_out
        at_last = float(np.sum(round_up(mass[top] * np.exp(-over), 24.0 + 2.0 * over) + UNDERFLOW))
    loss, mass = np.maximum(loss[~top], points[0]), mass[~top]
    left = np.clip(((loss - points[0]) / step).astype(np.int64), 0, len(points) - 2)
    left -= points[left] > loss
    left += points[left + 1] < loss
    into, ahead = loss - points[left], points[left + 1] - loss
    # Negative exponents only, so that no step overflows; `into` is rounded, which moves e^-into by as many units.
    with np.errstate(under="ignore"):
        right_share = round_up(np.expm1(-into) / np.expm1(-step), 24.0)
        left_share = round_up(np.exp(-into) * np.expm1(-ahead) / np.expm1(-step), 24.0 + 2.0 * into)
        # A share above 0 stays above 0, whatever underflowed.
        left_parts = np.where((ahead > 0.0) & (mass > 0.0), mass * left_share + UNDERFLOW, 0.0)
        right_parts = np.where((into > 0.0) & (mass > 0.0), mass * right_share + UNDERFLOW, 0.0)
    left_masses = np.bincount(left, left_parts, len(points))
    right_masses = np.bincount(left + 1, right_parts, len(points))
    masses: FloatArray = (left_masses + right_masses).astype(np.float64)
    masses[-1] += at_last
    return Above(round_up(masses, len(listed.p.value) + 8.0), min(round_up(infinite, 8.0), 1.0))
