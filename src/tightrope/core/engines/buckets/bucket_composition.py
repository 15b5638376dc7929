"""Inner nodes of a composition tree: composition, squaring, and the trees that reach any number of uses.

Composition (definitions 4 and 7): indices add; sums below -n go to -n, above n to infinity; l(-n) = 0; u = u1 + u2.
Squaring: f becomes f^2, buckets 2i - 1 and 2i become i, u becomes ceil(u/2) + 1.
Two slips of the printed definitions are mended, as lemmas 7 and 11 need it: squaring keeps B(-n), in bucket -n/2, and
l~(-n) of a composition is sum of P_B - f^n P_A, where the printed V subtracts P_A/f^(j + k) >= f^n P_A: with that lemma
11 fails for events capped at -n, and the proof of delta_low with it.
Guarantee: encloses the tree's list if the children enclose theirs.
Reference: Meiser, Mohammadi 2018, Defs. 3, 4, 6, 7, Fig. 10, Sec. 4.6. Proof: docs/proofs/buckets.md, lemmas 2 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...losses.atoms import Atoms
from ...losses.pair import TAIL_ERROR, Pair
from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.convolution import convolve, upper_total
from ...numerics.double_double import double_double
from ...numerics.enclosures import Enclosure, FloatArray, enclosed, exact
from ...numerics.rounding import MILLIONS, THOUSANDS, UNIT, round_down, round_up
from ...values.errors import InvalidParameter, UnsupportedMechanism
from ..tuning import CORNER_NOISE, GROWTH, STEEPER_MOMENTS
from .bucket_list import LOG_2, VANISHED, Falls, Measure, TreeBuckets, check_composable, check_shape

ROUND = 1.0 + 1e-9  # covers the few roundings of a radius
ROW = 256  # a sum of rows errs by the length of a row and the number of rows, not by their product
SLOPE_MAX = 300.0  # so that e^slope stays a double


def compose(one: TreeBuckets, other: TreeBuckets, direct: bool | None = None) -> TreeBuckets:
    """T1 x T2 of definition 3; direct: None for the faster of direct summation and transforms."""
    check_composable(one, other)
    slack = round_up(one.slack + other.slack, 4.0)
    masses, real, alternative = (
        _convolved(x, y, (one.top, other.top), one.step, direct)
        for x, y in ((one.masses, other.masses), (one.real, other.real), (one.alternative, other.alternative))
    )
    masses, alternative = _completed(masses, one.step), _completed(alternative, one.step)
    return TreeBuckets(
        step=one.step,
        u=one.u + other.u,
        leaves=one.leaves + other.leaves,
        squarings=max(one.squarings, other.squarings),
        masses=masses,
        real=with_plain_corner(real, masses, alternative, slack),
        alternative=alternative,
        leaked=max(round_down(one.leaked + other.leaked - one.leaked * other.leaked, 8.0), 0.0),
        bounded=one.bounded and other.bounded and one.top + other.top <= one.n,
        slack=slack,
        top=max(min(one.top + other.top, one.n), -one.n),
        falls=one.falls.with_other(other.falls, one.n * one.step),
        shift=one.shift + other.shift,
        tree=one.tree.composed(other.tree, one is other),
    )


def square(child: TreeBuckets) -> TreeBuckets:
    """The squaring node: factor f^2, indices ceil(i/2)."""
    if child.alternative.slope > SLOPE_MAX:
        raise InvalidParameter("the tilt is too steep for buckets this wide: take a smaller tilt or more buckets")
    return TreeBuckets(
        step=2.0 * child.step,
        u=-(-child.u // 2) + 1,
        leaves=child.leaves,
        squarings=child.squarings + 1,
        masses=_merged(child.masses, child.step),
        real=_merged(child.real, child.step),
        alternative=_merged(child.alternative, child.step),
        leaked=child.leaked,
        bounded=child.bounded,
        slack=child.slack,
        top=-(-child.top // 2),
        falls=child.falls,
        shift=child.shift,
        tree=child.tree.squared(),
    )


def compose_adaptively(
    one: TreeBuckets, other: TreeBuckets, free: float = 0.0, direct: bool | None = None, both_ends: bool = False
) -> TreeBuckets:
    """Composes after making factors equal, and after squaring where what lies beyond n would grow too much.

    The rule of Fig. 10, B_TxT(infinity) > 2.2 B_T(infinity), for two lists: more than 1.1 times the sum of both.
    free is free_infinity_budget (Sec. 4.6): below it B(infinity) may grow as it likes.
    both_ends: the same for what falls below -n (bucket_list.py), and of B(infinity) only what was moved there counts.
    One squaring is enough: after it no sum lies beyond n.
    """
    same = one is other
    while one.step < other.step:
        one = square(one)
    while other.step < one.step:
        other = square(other)
    before = one.masses.infinity + other.masses.infinity
    if both_ends:
        before = max(before - one.leaked - other.leaked, 0.0)
    grows = _grows(before, before + _expected_over(one, other), free)
    if both_ends and not grows:
        after = one.falls.with_other(other.falls, one.n * one.step).cost
        grows = _grows(one.falls.cost + other.falls.cost, after, free)
    if grows:
        one = square(one)
        other = one if same else square(other)
    return compose(one, other, direct)


def repeat(
    leaf: TreeBuckets, count: int, free: float = 0.0, direct: bool | None = None, both_ends: bool = False
) -> TreeBuckets:
    """The count-fold composition of one list with itself, by repeated doubling (Fig. 10), any count >= 1."""
    if count < 1:
        raise InvalidParameter(f"a list is composed with itself 1 or more times, not {count}")
    power, result = leaf, None
    while True:
        if count & 1:
            result = power if result is None else compose_adaptively(result, power, free, direct, both_ends)
        count >>= 1
        if not count:
            assert result is not None
            return result
        power = compose_adaptively(power, power, free, direct, both_ends)


def compose_sequence(
    parts: Sequence[tuple[TreeBuckets, int]], free: float = 0.0, direct: bool | None = None, both_ends: bool = False
) -> TreeBuckets:
    """Lists of one n and one initial factor, each with its count, composed in the order given (corollary 1)."""
    total: TreeBuckets | None = None
    for leaf, count in parts:
        power = repeat(leaf, count, free, direct, both_ends)
        total = power if total is None else compose_adaptively(total, power, free, direct, both_ends)
    if total is None:
        raise InvalidParameter("a sequence of buckets needs at least one list")
    return total


def with_plain_corner(real: Measure, masses: Measure, alternative: Measure, slack: float) -> Measure:
    """C(-n) = f^n B(-n), since l(-n) = 0: in tilted numbers the same number, but for the scales.

    The new sum from -n on errs by what the one from -n + 1 on does and by the error of B(-n), at most two of B's sums.
    Where B(-n) is hardly more than noise, C(-n) = 0 is taken: less than the published C, which keeps delta_up an upper
    bound, and free of that noise. C <= e^slack Q bounds the moments.
    """
    n, values = real.n, real.values.copy()
    log_moments = alternative.log_moments + (round_up(slack, THOUSANDS) + 1e-15)
    # Numbers are noise where they may err by twice the whole mass, which C exceeds by e^slack at most.
    known, radius = _first_known(real) if slack < 0.5 else -n, real.radius
    values[: max(known + n, 1)] = 0.0
    noise = masses.radius + masses.flat * _inverse_weight(masses.slope, masses.scale, -n)
    if masses.values[0] > CORNER_NOISE * noise and known == -n:
        shift = 2.0 ** (masses.scale - real.scale)
        values[0] = masses.values[0] * shift
        flat = 2.0 * masses.floor * _inverse_weight(masses.slope, real.scale, -n)
        radius = max(radius, radius * math.exp(-real.slope) + 2.0 * masses.radius * shift + flat) * ROUND
    return replace(real, values=values, radius=radius, log_moments=log_moments)


def _convolved(x: Measure, y: Measure, tops: tuple[int, int], step: float, direct: bool | None) -> Measure:
    """The composition of two measures; bucket -n still lacks the sums below it.

    With D_x, D_y their errors, the error is D_x * Y + X^ * D_y, Y exact and X^ as computed: each adds the radius of the
    one times the moment of the other, and, where closed, the floor of the one times the size of the other.
    """
    n, (x_top, y_top) = x.n, tops
    left = x.values[: x_top + n + 1]
    with np.errstate(over="ignore", invalid="ignore"):
        row = convolve(left, left if y is x else y.values[: y_top + n + 1], x.slope, direct)
    if not (row.noise < math.inf and math.isfinite(float(np.sum(row.values)))):
        row = row._replace(values=np.zeros(len(row.values)), noise=math.inf)  # beyond the doubles nothing is known
    scale, top = x.scale + y.scale, x_top + y_top
    infinity = x.infinity + y.infinity - x.infinity * y.infinity
    values = np.zeros(2 * n + 1)
    last = max(min(top, n), -n - 1)  # -n - 1: every sum lies below -n
    values[: last + n + 1] = row.values[n : last + 2 * n + 1]
    # sum_{k >= m} X^(k) + |1 - X^(inf) - sum_{k >= m} X^(k)| for any m
    flat = round_up(max(1.0, 2.0 * x.total - 1.0), THOUSANDS) if x.closed else 1.0
    radius = x.radius * y.moment + y.radius * upper_total(left) + row.noise
    floor = x.floor + y.floor * flat + 8.0 * UNIT * infinity
    log_whole = x.log_whole + y.log_whole
    whole_doubt = x.whole_doubt + y.whole_doubt + 2.0 * UNIT * abs(log_whole)
    log_moments, over = _added_moments(x, y), 0.0
    if top > n:
        over, doubt = _weighted_sum(row.values[3 * n + 1 :], x.slope, scale, n + 1)
        weight, units = _weight(x.slope, scale, n + 1)
        known = doubt + radius * weight * (1.0 + units) + 2.0 * floor
        # What is above n is bounded twice: by these numbers, and by the exact moments. The smaller error counts.
        most_over = _most_above(log_moments, x.rates, step, n)
        inverse = _inverse_weight(x.slope, scale, n)
        if not x.closed:
            # The sums lose what lies above n, whose error is that of the sum from n + 1 on, or at most all of it.
            radius += min(radius * math.exp(-x.slope), max(over + doubt, most_over) * inverse)
        if known <= most_over:
            floor += _share(known, log_whole - whole_doubt)
        else:
            # The sums from s <= n on change by what is cut off here, the error at infinity does not.
            radius += (max(over - most_over, 0.0) + doubt) * inverse if x.closed else 0.0
            floor += _share(most_over, log_whole - whole_doubt)
            over = min(over, most_over)
        over = _share(over, log_whole)
        floor += over * ((0.0 if log_whole == 0.0 else 1e-9) + 2.0 * whole_doubt)
    total = float(np.sum(values))
    shift = max(math.frexp(total)[1], -1000) if total > 0.0 else 0  # 2^-shift is a double
    factor = 2.0**-shift
    return Measure(
        values=values * factor,
        infinity=infinity + over,
        slope=x.slope,
        scale=scale + shift,
        radius=radius * factor * ROUND + VANISHED,
        floor=floor * ROUND,
        total=math.inf,
        rates=x.rates,
        log_moments=log_moments,
        closed=x.closed,
        log_whole=log_whole,
        whole_doubt=whole_doubt,
    )


def _added_moments(x: Measure, y: Measure) -> FloatArray:
    """At or above the log moments of the composition, inf where the two know other rates."""
    added = (x.log_moments + y.log_moments) + 1e-15 * np.abs(x.log_moments)
    return added if y.rates is x.rates else np.where(x.rates == y.rates, added, np.inf)


def _share(value: float, log_whole: float) -> float:
    """value / whole, rounded up unless the whole is 1; at most 1, as every share of a mass is."""
    if value <= 0.0 or log_whole == 0.0:
        return value
    return round_up(math.exp(min(math.log(value) - log_whole, 0.0)), MILLIONS / 4.0) if value < math.inf else 1.0


def _completed(measure: Measure, step: float) -> Measure:
    """Puts into bucket -n what the others and infinity leave of the whole mass (lemma 8).

    Where the radius allows the whole mass to be wrong, entries hold nothing but noise: they go to bucket -n too.
    """
    n, values, floor = measure.n, measure.values.copy(), measure.floor
    values[: max(_first_known(measure) + n, 1)] = 0.0
    # All in the weight of -n: nothing overflows that is not huge there.
    exponent = measure.log_whole - measure.slope * n - measure.scale * LOG_2
    whole = math.exp(exponent) if exponent < 700.0 else math.inf
    units = (4.0 * (abs(measure.log_whole) + measure.slope * n + abs(measure.scale)) + 32.0) * UNIT
    units += measure.whole_doubt * 1.01 if measure.whole_doubt < 0.01 else math.inf
    others, doubt = _weighted_sum(values, measure.slope, 0, 0)
    values[0] = max(whole * (1.0 - measure.infinity) - others, 0.0) if whole < math.inf else 0.0
    # What infinity is wrong by is in closed sums anyway; in others it is missing or too much here.
    radius = measure.radius + doubt + whole * (units + (0.0 if measure.closed else floor)) + VANISHED
    radius = radius * ROUND if radius < math.inf else math.inf
    log_moments = _lifted(measure, float(values[0]), radius, step)
    seen = _moment_of(values, radius, measure.flat, measure.slope, measure.scale)
    log_moments[0] = min(log_moments[0], _log(seen) + measure.scale * LOG_2 + 1e-14 * (1.0 + abs(measure.scale)))
    total = measure.total
    if measure.closed:
        summed, doubt = _weighted_sum(values, measure.slope, measure.scale, -n)
        total = round_up(max(1.0, summed + doubt + measure.infinity), THOUSANDS)
    return replace(measure, values=values, radius=radius, total=total, log_moments=log_moments)


def _lifted(measure: Measure, corner: float, radius: float, step: float) -> FloatArray:
    """The product of two moments lacks what capping lifts to -n: at most X(-n), in its own weight."""
    n = measure.n
    most = corner + 2.0 * radius + 2.0 * measure.flat * _inverse_weight(measure.slope, measure.scale, -n)
    log_most = math.inf
    if most < math.inf:
        log_most = math.log(round_up(most, MILLIONS) + VANISHED) + measure.slope * n + measure.scale * LOG_2
        log_most += 1e-14 * (1.0 + measure.slope * n + abs(measure.scale))
    log_most = min(log_most, measure.log_whole + measure.whole_doubt)
    with np.errstate(all="ignore"):
        lift = log_most - measure.rates * round_down(n * step, THOUSANDS)
        log_moments = np.logaddexp(measure.log_moments, lift)
    return np.asarray(log_moments + 1e-14 * (1.0 + np.abs(log_moments)))


def _log(value: float) -> float:
    """Rounded up."""
    return math.log(value) + 1e-14 if value < math.inf else math.inf


def _moment_of(values: FloatArray, radius: float, floor: float, slope: float, scale: int) -> float:
    """2^-scale times the moment at most: by partial summation the numbers are off by the terms after their sum."""
    n = len(values) // 2
    rise = radius * (1.0 - 2.0 * n * math.expm1(-slope)) + 2.0 * floor * _inverse_weight(slope, scale, n)
    return round_up(upper_total(values) + rise, MILLIONS)


def _first_known(measure: Measure) -> int:
    """The first index s with 2^scale e^(-slope s) radius < 2 whole: from there on the numbers mean something."""
    if not measure.radius < math.inf:
        return measure.n
    exponent = math.log(measure.radius) + (measure.scale - 1) * LOG_2 - measure.log_whole
    if measure.slope == 0.0:
        return -measure.n if exponent < 0.0 else measure.n
    return int(min(max(math.ceil(exponent / measure.slope), -measure.n), measure.n))


def _inverse_weight(slope: float, scale: int, index: int) -> float:
    """2^-scale e^(slope index), rounded up; inf where it leaves the doubles."""
    exponent = slope * index - scale * LOG_2
    if exponent > 700.0:
        return math.inf
    return round_up(math.exp(exponent), 4.0 * (abs(exponent) + abs(scale)) + 8.0) + VANISHED


def _weight(slope: float, scale: int, index: int) -> tuple[float, float]:
    """2^scale e^(-slope index), and its relative error."""
    exponent = scale * LOG_2 - slope * index
    return math.exp(exponent) if exponent < 700.0 else math.inf, (4.0 * (abs(exponent) + abs(scale)) + 8.0) * UNIT


def _weighted_sum(tail: FloatArray, slope: float, scale: int, first: int) -> tuple[float, float]:
    """2^scale sum of tail_i e^(-slope (first + i)), and its rounding; a weight is one per row times one per place."""
    rows = np.pad(tail, (0, -len(tail) % ROW)).reshape(-1, ROW)
    exponent = scale * LOG_2 - slope * np.arange(first, first + rows.size, ROW, dtype=np.float64)
    with np.errstate(all="ignore"):
        sums = rows @ np.exp(-slope * np.arange(ROW, dtype=np.float64))
        # A weight beyond the doubles may have a sum next to nothing.
        parts = np.where(exponent < 690.0, sums * np.exp(exponent), np.exp(np.log(sums) + exponent))
        total = float(np.sum(np.where(sums > 0.0, parts, 0.0)))
    if not math.isfinite(total):
        return 1.0, math.inf
    ends = max(abs(float(exponent[0])), abs(float(exponent[-1]))) if len(tail) else 0.0
    units = len(rows) + ROW + 4.0 * (ends + slope * ROW + abs(scale)) + (32.0 if ends < 690.0 else 4000.0)
    return total, total * units * UNIT * 1.01 + VANISHED


def _merged(measure: Measure, step: float) -> Measure:
    """Squaring: x'(i) = x(2i - 1) + x(2i), in tilted numbers e^slope x(2i - 1) + x(2i).

    A sum from s on is one from 2 s - 1 on before; above n/2 only the error at infinity is left, which is in the floor.
    """
    n, half = measure.n, measure.n // 2
    lift = math.exp(measure.slope)
    values = np.zeros(2 * n + 1)
    values[half : half + n + 1] = measure.values[0::2]
    values[half + 1 : half + n + 1] += lift * measure.values[1::2]
    radius = lift * measure.radius + (16.0 + 4.0 * measure.slope) * UNIT * upper_total(values)
    # A label rises by less than one old step.
    log_moments = measure.log_moments + measure.rates * round_up(step, THOUSANDS)
    return replace(
        measure,
        values=values,
        slope=2.0 * measure.slope,
        radius=radius * ROUND + VANISHED,
        log_moments=log_moments + 1e-15 * np.abs(log_moments),
    )


def _grows(before: float, after: float, free: float) -> bool:
    """The rule of Fig. 10 for two lists."""
    return after > free and after > 0.5 * GROWTH * before


def _expected_over(one: TreeBuckets, other: TreeBuckets) -> float:
    """About what a composition would add to B(infinity), noise kept out by the moments: steers, proves nothing."""
    x, y = one.masses, other.masses
    if one.top + other.top <= one.n:
        return 0.0
    b1 = _untilted_top(x)
    b2 = b1 if y is x else _untilted_top(y)
    # Entry j - 1 is index j; B1(j) meets all B2(k) with k > n - j.
    over = float(np.dot(b1, np.cumsum(b2[::-1])))
    return min(over, _most_above(x.log_moments + y.log_moments, x.rates, one.step, one.n))


def _most_above(log_moments: FloatArray, rates: FloatArray, step: float, n: int) -> float:
    """Chernoff's bound on the mass above n, from the moments of a composition."""
    reached = log_moments - rates * round_down(step * (n + 1), THOUSANDS)
    return round_up(math.exp(min(float(np.min(reached)), 0.0)), MILLIONS)


def _untilted_top(measure: Measure) -> FloatArray:
    with np.errstate(all="ignore"):
        return np.asarray(measure.values[measure.n + 1 :] * measure.weights(1, measure.n)[0])


# Leaves of a composition tree: the buckets of one pair of distributions.
#
# An event x of loss l = log(P_A(x)/P_B(x)) has the index i with (i - 1) step < l <= i step, infinity above n step, and
# -n
# at or below -n step (definition 6); then B(i) = sum P_A(x), l~(i) = sum P_B(x) - P_A(x)/f^i, l(i) = l~(i) except
# l(-n) = 0 (definitions 4, 7), u = 1. A loss that floating point cannot tell from i step gets index i, and the slack
# grows by the doubt.
# Guarantee: encloses the leaf of definitions 4 and 7 for the factor e^step, up to the slack.
# Reference: Meiser, Mohammadi 2018, Defs. 4, 6, 7, Secs. 5.1 and 5.2. Proof: docs/proofs/buckets.md, lemmas 2, 6 and 8.

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
