"""Leaves of a composition tree: the buckets of one pair of distributions.

An event x of loss l = log(P_A(x)/P_B(x)) has the index i with (i - 1) step < l <= i step, infinity above n step, and -n
at or below -n step (definition 6); then B(i) = sum P_A(x), l~(i) = sum P_B(x) - P_A(x)/f^i, l(i) = l~(i) except
l(-n) = 0 (definitions 4, 7), u = 1. A loss that floating point cannot tell from i step gets index i, and the slack
grows by the doubt.
Guarantee: encloses the leaf of definitions 4 and 7 for the factor e^step, up to the slack.
Reference: Meiser, Mohammadi 2018, Defs. 4, 6, 7, Secs. 5.1 and 5.2. Proof: docs/proofs/buckets.md, lemmas 2, 6 and 8.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...errors import InvalidParameter, UnsupportedMechanism
from ...facets.finite import Atoms
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.convolution import upper_total
from ...kernels.directed import MILLIONS, THOUSANDS, round_up
from ...kernels.double_double import double_double
from ...kernels.enclosure import Enclosure, FloatArray, enclosed, exact
from ...kernels.ulps import UNIT
from ...pair import TAIL_ERROR, Pair
from .bucket_list import LOG_2, Measure, TreeBuckets, check_shape
from .compose import with_plain_corner
from .falls import Falls
from .tuning import STEEPER_MOMENTS

TAIL_UNDERFLOW = 1e-300  # covers the absolute error of tails below 1e-300, and sums of it
REACH_MAX = 340.0  # so that no weight of a leaf leaves the doubles
TIE = 16.0 * UNIT  # relative distance at which a loss counts as lying on a boundary
DOUBT_MAX = 0.01  # error of a loss beyond which nothing is claimed


def pair_leaf(
    pair: Pair, step: float, n: int, slope: float = 0.0, shift: float = 0.0, keep_lost: bool = True
) -> TreeBuckets:
    """The leaf of any pair: atom by atom where all of them are listed, from its tails otherwise.

    shift, keep_lost: the leaf of P_A and e^shift P_B, whose losses are less by shift; keep_lost=False leaves out the
    events with P_A = 0, which have no part in delta. As published: 0 and True.
    """
    listed = pair.atoms()
    if listed is None or listed.left_out:
        return _tails_leaf(pair, step, n, slope, keep_lost)
    return events_leaf(listed, step, n, slope, shift, keep_lost)


def events_leaf(
    events: Atoms, step: float, n: int, slope: float, shift: float = 0.0, keep_lost: bool = True
) -> TreeBuckets:
    """The leaf of a list of events that leaves none out."""
    _check(step, n, slope)
    if not np.all(np.isfinite(events.loss.value)):
        raise UnsupportedMechanism("its losses are beyond doubles")
    events, whole = _laid(events, shift, keep_lost)
    infinite = events.infinite_ends()
    doubt = events.loss.radius + TIE * np.abs(events.loss.value)
    index = np.ceil((events.loss.value - doubt) / step)
    beyond = index > n
    above_p, above_q = events.p[beyond].sum(), events.q[beyond].sum() / whole
    p, loss, doubt = events.p[~beyond], events.loss.value[~beyond], doubt[~beyond] * 2.0
    if not np.all(doubt <= DOUBT_MAX):
        raise UnsupportedMechanism("its losses are not known well enough in float64; try another engine")
    place = np.clip(index[~beyond], -n, n).astype(np.int64)
    # Distance to the top of the bucket; outside of [0, step] by rounding only, which the slack covers.
    gap = place * step - loss
    outside = np.maximum(-gap, np.where(place > -n, gap - step, 0.0))
    slack = float(np.max(outside + doubt, initial=0.0)) if np.any(outside + doubt > 0.0) else 0.0
    if np.any(gap > 600.0):
        raise UnsupportedMechanism("one of its losses lies 600 below the lowest bucket; try another engine")
    scale = _scale(p.value, place.astype(np.float64) * slope)
    weight = np.exp(place * slope - scale * LOG_2)
    units = (4.0 * (np.abs(place * slope) + abs(scale)) + 40.0) * UNIT
    # e^x - 1 <= 1.01 x up to x = 0.0198: that is what DOUBT_MAX is for.
    b, b_error = p.value * weight, (p.radius * 1.01 + units * p.value) * weight
    rise = np.exp(gap)
    q, q_error = b * rise, (b_error + b * (doubt * 1.01 + 8.0 * UNIT * (1.0 + np.abs(gap)))) * rise * 1.01
    masses, masses_error, alternative, alternative_error = (
        np.bincount(place + n, weights=each, minlength=2 * n + 1).astype(np.float64)
        for each in (b, b_error, q, q_error)
    )
    # Every sum has at most this many terms, rounded as often.
    crowd = 1.01 * (int(np.max(np.bincount(place + n), initial=0)) + 4) * UNIT
    masses_error += crowd * masses
    alternative_error += crowd * alternative
    lowest = math.exp(-(slope + step) * n - scale * LOG_2)
    lost, lost_error = float(events.lost.value) * lowest, float(events.lost.radius) * lowest
    alternative[0] += lost
    alternative_error[0] += lost_error * 1.01 + lost * (8.0 * ((slope + step) * n + abs(scale)) + 64.0) * UNIT
    infinity = (float(above_p.value) + infinite[0], float(above_q.value))
    doubts = (
        float(above_p.radius) + (infinite[1] - infinite[0]) + 4.0 * UNIT * infinity[0],
        float(above_q.radius) + 4.0 * UNIT * infinity[1],
    )
    filled = np.flatnonzero(masses > 0.0)
    other = _measure(alternative, _sums_from(alternative_error), infinity[1], doubts[1], slope + step, scale, step)
    leaf = _leaf(
        step=step,
        slack=round_up(slack, MILLIONS),
        top=int(filled[-1]) - n if len(filled) else -n,
        bounded=not beyond.any() and infinite[1] == 0.0,
        leaked=infinite[0],
        masses=_measure(masses, _sums_from(masses_error), infinity[0], doubts[0], slope, scale, step),
        alternative=_open(other, whole, shift),
    )
    return replace(leaf, shift=Fraction(shift))


def _laid(events: Atoms, shift: float, keep_lost: bool) -> tuple[Atoms, Enclosure]:
    """The events with losses less by shift, and the P_B-mass of all of them; q stays as it was.

    What is lost can be left out where an event with P_A > 0 is left.
    """
    whole = exact(1.0)
    if not keep_lost and float(events.lost.upper) > 0.0 and float(events.q.sum().lower) > 0.0:
        events, whole = events._replace(lost=exact(0.0)), events.q.sum()
    if shift:
        events = events._replace(loss=events.loss - shift, lost=events.lost * exact(shift).exp())
    return events, whole


def _open(measure: Measure, whole: Enclosure, shift: float) -> Measure:
    """The measure of e^shift P_B, whose mass at infinity is never read."""
    log_whole = whole.log()
    doubt = float(log_whole.radius) + UNIT * abs(shift)
    return replace(measure, closed=False, log_whole=float(log_whole.value) + shift, whole_doubt=doubt)


def _tails_leaf(pair: Pair, step: float, n: int, slope: float, keep_lost: bool) -> TreeBuckets:
    """Differences of the tails at the boundaries, pushed up a little so that an atom on a boundary lies below it."""
    _check(step, n, slope)
    index = np.arange(-n, n + 1, dtype=np.float64)
    tails = pair.tails(double_double(index) * double_double(step) + double_double(8.0 * UNIT * step * np.abs(index)))
    with working_precision(BITS_START):
        leaked = max(lower_float(pair.infinite_mass()), 0.0)
        lost = exact(0.0) if keep_lost else enclosed([pair.reversed().infinite_mass()])[0]
        lost = lost if float(lost.upper) < 1.0 else exact(0.0)
    scale, measures = 0, []
    for above, below, rate in (
        (tails.p_above, tails.p_below, slope),
        (tails.q_above, tails.q_below, slope + step),
    ):
        mass, error = _cells(above, below)
        if rate != slope:
            # Only sums from -n on hold what is lost.
            mass[0] = max(mass[0] - float(lost.value), 0.0)
            error[0] += float(lost.radius) + 4.0 * UNIT * (float(lost.value) + mass[0])
        if rate == slope:
            scale = _scale(mass, index * slope)
        weight = np.exp(rate * index - scale * LOG_2)
        units = (4.0 * (np.abs(rate * index) + abs(scale)) + 40.0) * UNIT
        values = mass * weight
        sums = round_up(error * weight, MILLIONS) + _sums_from(units * values)
        end = float(above[-1])
        measures.append(_measure(values, sums, end, end * TAIL_ERROR * 1.01 + TAIL_UNDERFLOW, rate, scale, step))
    whole = 1.0 - lost
    share = measures[1].infinity / float(whole.value)
    doubt = (measures[1].floor + share * (float(whole.radius) + 8.0 * UNIT)) / float(whole.lower)
    alternative = _open(replace(measures[1], infinity=share, floor=round_up(doubt, THOUSANDS)), whole, 0.0)
    with working_precision(BITS_START):
        bounded = bool(pair.infinite_mass().is_zero() and pair.loss_range().highest <= step * n)
    return _leaf(step, 16.0 * UNIT * step * n, _top(pair, step, n), bounded, leaked, measures[0], alternative)


def _leaf(
    step: float, slack: float, top: int, bounded: bool, leaked: float, masses: Measure, alternative: Measure
) -> TreeBuckets:
    return TreeBuckets(
        step=step,
        u=1,
        leaves=1,
        squarings=0,
        masses=masses,
        real=with_plain_corner(alternative, masses, alternative, slack),
        alternative=alternative,
        leaked=leaked,
        bounded=bounded,
        slack=slack,
        top=top,
        falls=Falls.of(masses, step),
    )


def _sums_from(errors: FloatArray) -> FloatArray:
    """Sums from each index on: in a falling weight they bound the weighted sums of the errors."""
    return round_up(np.cumsum(errors[::-1])[::-1], MILLIONS)


def _measure(
    values: FloatArray, sums: FloatArray, infinity: float, infinity_error: float, slope: float, scale: int, step: float
) -> Measure:
    """sums[s]: bound on the error of all finite mass from s on, in the tilt of index s."""
    n = len(values) // 2
    floor = round_up(infinity_error, MILLIONS)
    rates = slope / step + np.concatenate(([0.0], np.geomspace(0.5, REACH_MAX, STEEPER_MOMENTS) / (n * step)))
    log_moments = np.empty(len(rates))
    for j, rate in enumerate(rates):
        # By partial summation the exact numbers add (1 - e^(-rate step)) e^(rate s step) times the error from s on.
        exponent = (rate * step - slope) * np.arange(-n, n + 1.0)
        most = float(np.max(exponent))
        grown = values - math.expm1(-rate * step) * sums
        grown[0] += sums[0]
        total = upper_total(grown * np.exp(exponent - most))
        log_moments[j] = math.log(total + 1e-300) + most + scale * LOG_2
        log_moments[j] += 1e-13 * (1.0 + abs(log_moments[j]) + abs(most) + abs(scale)) + 1e-9
    radius = float(np.max(sums)) + 1e-290
    total = upper_total(values * np.exp(scale * LOG_2 - slope * np.arange(-n, n + 1.0))) + infinity
    return Measure(values, infinity, slope, scale, radius, floor, total, rates, log_moments)


def _cells(above: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Masses of the cells (-inf, t_0], (t_0, t_1], ..., and the error of the mass from each cell on up to t_n.

    Below the median differences of `below`, above it of `above`: a sum of them telescopes, so that only the tails at
    its ends and at the change-over err.
    """
    change = int(np.argmax(below[1:] >= above[1:])) if np.any(below[1:] >= above[1:]) else len(below) - 1
    mass = np.concatenate((below[:1], np.diff(below)[:change], -np.diff(above)[change:]))
    near = np.minimum(below, above)
    # Mass from cell i on starts at t_(i-1); the first cell starts at -inf, where nothing is cut off.
    error = np.concatenate(([0.0], near[:-1]))
    error[: change + 2] += below[change] + above[change]
    error = (error + above[-1]) * (TAIL_ERROR * 1.01) + TAIL_UNDERFLOW
    negative = np.minimum(mass, 0.0)  # a cell below 0 comes from the errors of its two tails
    return mass - negative, error + np.cumsum(-negative[::-1])[::-1]


def _top(pair: Pair, step: float, n: int) -> int:
    """No finite loss has an index above."""
    with working_precision(BITS_START):
        highest = upper_float(pair.loss_range().highest)
    return n if not highest < (n - 1) * step else max(math.ceil(round_up(highest / step, 4.0)), -n)


def _scale(p: FloatArray, exponent: FloatArray) -> int:
    """The power of two next to the tilted total."""
    with np.errstate(divide="ignore"):
        logs = np.where(p > 0.0, np.log(p) + exponent, -np.inf)
    top = float(np.max(logs, initial=-np.inf))
    return round((top + math.log(float(np.sum(np.exp(logs - top))))) / LOG_2) if top > -np.inf else 0


def _check(step: float, n: int, slope: float) -> None:
    check_shape(step, n)
    if not slope >= 0.0 or not (slope + step) * n <= REACH_MAX:
        raise InvalidParameter(
            f"buckets up to a loss of {step * n:g} with a tilt of {slope / step:g} leave the range of doubles: "
            f"(1 + tilt) n log(factor) may be at most {REACH_MAX:g}"
        )
