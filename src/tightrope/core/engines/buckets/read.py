"""What a bucket list tells: delta above and below, probabilistic DP, and Renyi divergences.

j is the smallest index with f^j >= e^eps; B, C, Q are the measures of a list, C(i) = B(i)/f^i + l(i) and
Q(i) = B(i)/f^i + l~(i); s is its slack:
    delta_up  = B(inf) + sum_{j <= i < j+u} B(i) (1 - e^(eps-s)/f^i) + sum_{i >= j+u} B(i) - e^(eps-s) C(i),
    delta_low = w + sum_i max(0, B(i) - e^eps Q(i)),   w the P_A-mass where P_B = 0,
which is definition 9 for s = 0, apart from w, which definition 9 leaves out. Where the list has a shift, eps stands for
epsilon - shift.
Guarantee: delta_low <= delta(epsilon) <= delta_up, rounding included. Proof: docs/proofs/buckets.md, lemmas 3, 4 and 8.
Reference: Meiser, Mohammadi 2018, Defs. 5 and 9, Lemma 13, Thm 2, Sec. 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...numerics.enclosures import FloatArray
from ...numerics.rounding import MILLIONS, UNIT, round_down, round_up
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, FrozenMapping, error_lines
from ...values.errors import InvalidParameter, agreed
from .. import tuning
from ..selection import Evaluation
from ..tuning import BUCKET_UNITS
from .bucket_list import VANISHED, Measure, TreeBuckets

WIDER = 1.0 + 16.0 * UNIT


class Integral(NamedTuple):
    """sum of W(i) X(i) over some indices and infinity, and how far rounding may have moved it."""

    value: float
    doubt: float


def integral(
    measure: Measure, first: int, weight: FloatArray, at_infinity: float, moved: FloatArray, lift: float = 0.0
) -> Integral:
    """e^lift times the integral of W = `weight` >= 0 from index `first` on.

    The numbers of W err by 16 units and by `moved` absolutely, which also pays for the rounding of lift.
    By partial summation the error D of the measure adds at most sum over s of |W(s) - W(s - 1)| times the bound on
    the sum of D from s on. NaN where a number leaves the doubles: then nothing is known.
    """
    compute_budget.spend(BUCKET_UNITS * len(weight))
    scale, units = measure.weights(first, first + len(weight), lift)
    values = measure.values[first + measure.n : first + measure.n + len(weight)]
    with np.errstate(all="ignore"):
        masses = np.where(values > 0.0, values * scale[:-1], 0.0)
        terms = masses * weight
        jumps = np.abs(np.diff(weight, prepend=0.0, append=at_infinity))
        allowed = measure.radius * scale * (1.0 + units) + measure.flat
        allowed[-1] = measure.flat  # above the last index only infinity is left
        shaky = moved + 24.0 * UNIT * np.abs(weight)
        doubt = float(np.dot(jumps, allowed) + np.dot(terms, units[:-1]) + np.dot(masses, shaky))
        doubt += 2.0 * float(np.dot(shaky, allowed[:-1]))  # the rounding of W times the error of the measure
    if not np.all(np.isfinite(terms)) or not math.isfinite(doubt):
        return Integral(math.nan, math.nan)
    value = math.fsum(terms.tolist()) + at_infinity * measure.infinity
    return Integral(value, round_up(doubt, MILLIONS) + 8.0 * UNIT * abs(value) + VANISHED)


def delta(buckets: TreeBuckets, epsilon: float) -> Evaluation:
    """delta_low and delta_up at a finite epsilon >= 0, of the direction A || B."""
    low, low_doubt = _lower(buckets, epsilon)
    high, high_doubt, lacking = _upper(buckets, epsilon)
    high = min(high, delta_uncorrected(buckets, epsilon))  # where the rounding of C outweighs what C corrects
    low = min(max(low, buckets.leaked), high)
    return Evaluation(low, high, _budget(buckets, high - low, (low_doubt, high_doubt), lacking))


def delta_above(buckets: TreeBuckets, epsilon: float) -> float:
    """delta_up alone, for searches."""
    return min(_upper(buckets, epsilon)[0], delta_uncorrected(buckets, epsilon))


def delta_below(buckets: TreeBuckets, epsilon: float) -> float:
    """delta_low alone, for searches."""
    return max(_lower(buckets, epsilon)[0], buckets.leaked)


def _budget(buckets: TreeBuckets, width: float, doubts: tuple[float, float], lacking: float) -> ErrorBreakdown:
    """Lines that sum to the width, each at the end that it moves.

    Rounding and truncation take what they may amount to, and discretisation is the rest, above: labels are too high by
    as much as losses were rounded up, while the masses that the lower end is made of are exact.
    """
    # The width where a doubt is NaN.
    rounding_below = doubts[0] if doubts[0] < width else width
    rounding_above = doubts[1] if doubts[1] < width - rounding_below else width - rounding_below
    left = width - rounding_below - rounding_above
    fallen = min(buckets.falls.cost, 0.5 * left)  # may have moved either end
    moved = min(buckets.infinity[1] - buckets.leaked + lacking + fallen, left - fallen)
    return ErrorBreakdown(
        error_lines(discretisation=left - fallen - moved, truncation=moved, rounding=rounding_above),
        error_lines(truncation=fallen, rounding=rounding_below),
    )


def delta_uncorrected(buckets: TreeBuckets, epsilon: float) -> float:
    """delta_T(epsilon) of definition 5, without error correction: never below delta(epsilon) (theorem 1)."""
    first, label, moved, at = _labels(buckets, epsilon)
    ahead = -np.expm1(np.minimum(at - buckets.slack - label, 0.0))
    return _at_most_one(buckets, *integral(buckets.masses, first, ahead, 1.0, moved))


def probabilistic(buckets: TreeBuckets, epsilon: float) -> Evaluation:
    """P_A[loss > epsilon], the delta of probabilistic DP.

    Above: B(inf) + sum of B(i) with i step + s > epsilon. Below: of bucket i at least B(i) - l~(i)/(e^-eps - f^-i) has
    a loss above epsilon, since the rest would need more P_B-mass than the bucket has; that is
    B(i) - (Q(i) f^i - B(i)) c with c = 1/(f^i/e^eps - 1), and l~ grows by s B(i)/f^i where labels have slack.
    """
    first, label, moved, at = _labels(buckets, epsilon)
    above = integral(buckets.masses, first, np.ones(len(label)), 1.0, moved)
    high = _at_most_one(buckets, *above)
    distance = label - at
    far = distance > max(abs(at), buckets.step) * 1e-9
    if not np.any(far):
        low = min(buckets.leaked, high)
        return Evaluation(low, high, _budget(buckets, high - low, (0.0, above.doubt), 0.0))
    start = first + int(np.argmax(far))
    label, distance = label[far], np.minimum(distance[far], 700.0)  # a share of e^-700 for any smaller one
    share = 1.0 / np.expm1(distance)
    with np.errstate(all="ignore"):
        gain = _tilted(buckets.masses, start, len(label)) * (1.0 + (1.0 - buckets.slack) * share)
        gain = gain - _tilted(buckets.alternative, start, len(label)) * np.exp(label) * share
        rise = np.exp(label)
        best = int(np.argmax(np.cumsum(np.nan_to_num(gain)[::-1])[::-1]))
    label, share, rise, start = label[best:], share[best:], rise[best:], start + best
    # expm1 of a distance known to a few units of the label.
    errors = share * (1.0 + share) * 8.0 * UNIT * (np.abs(label) + abs(at)) + 16.0 * UNIT * share
    kept = integral(buckets.masses, start, 1.0 + (1.0 - buckets.slack) * share, 0.0, errors)
    moved = rise * (errors + 4.0 * UNIT * (np.abs(label) + 4.0) * share)
    paid = integral(buckets.alternative, start, rise * share, 0.0, moved)
    rounding = kept.doubt + paid.doubt
    low = round_down(max(kept.value - paid.value - rounding, 0.0) + buckets.leaked, 8.0)
    low = min(max(low, buckets.leaked), high) if math.isfinite(low) else buckets.leaked
    return Evaluation(low, high, _budget(buckets, high - low, (rounding, above.doubt), 0.0))


class RenyiBound(NamedTuple):
    """Doubles around D_order(A || B); upper is inf where B(infinity) may hold mass."""

    lower: float
    upper: float


def renyi(buckets: TreeBuckets, order: float) -> RenyiBound:
    """The Renyi divergence of order a + 1 > 1 (Sec. 5.7): D = (1/a) log sum B(i) f^(a i), made two-sided.

    Above: every loss is at most i step + s. Below: merging events does not increase a divergence, so
    D >= (1/a) log sum B(i)^(1+a) Q(i)^-a; each term is convex and homogeneous in (B, Q), hence at or above its tangent
    plane (1 + a) R^a B - a R^(1+a) Q for any R > 0, taken at R = B/Q as computed. Tightest with a tilt of about a.
    """
    a = order - 1.0
    if not 0.0 < a < math.inf:
        raise InvalidParameter(f"the order of a Renyi divergence must be a finite number above 1, not {order!r}")
    n, first, size = buckets.n, -buckets.n, buckets.top + buckets.n + 1
    label = np.arange(first, buckets.top + 1) * buckets.step
    reach = max(a * float(label[-1]), 0.0)
    with np.errstate(all="ignore"):
        rise = np.exp(a * label - reach)
        above = integral(buckets.masses, first, rise, 0.0, rise * 8.0 * UNIT * (a * np.abs(label) + reach + 2.0))
        # log R in (-inf, label], never above what the bucket allows, so that no tangent overflows.
        ratio = np.log(_tilted(buckets.masses, first, size)) - np.log(_tilted(buckets.alternative, first, size))
        ratio = np.minimum(np.where(np.isnan(ratio), -np.inf, ratio), label)
        # R = 0, whose plane is 0, where a number would vanish: then the plane would not be that of one R.
        kept = np.where((1.0 + a) * ratio - reach > -700.0, 1.0, 0.0)
        steep, flat = kept * (1.0 + a) * np.exp(a * ratio - reach), kept * a * np.exp((1.0 + a) * ratio - reach)
        # The same R in both: rounding of R itself costs nothing, that of the two exponentials this much.
        shaky = 8.0 * UNIT * ((1.0 + a) * np.abs(np.where(steep > 0.0, ratio, 0.0)) + reach + 4.0)
        gain = integral(buckets.masses, first, steep, 0.0, steep * shaky)
        cost = integral(buckets.alternative, first, flat, 0.0, flat * shaky)
    upper, lower, shift = math.inf, 0.0, float(buckets.shift)
    most = above.value + above.doubt
    if buckets.bounded and most > 0.0 and n:
        upper = (math.log(most) + reach) / a + buckets.slack + shift
        upper = max(upper + 8.0 * UNIT * (abs(upper) + abs(shift) + (reach + 1.0) / a), 0.0)
    least = gain.value - gain.doubt - cost.value - cost.doubt
    if least > 0.0:
        lower = (math.log(least) + reach) / a + shift
        lower = max(lower - 8.0 * UNIT * (abs(lower) + abs(shift) + (reach + 1.0) / a), 0.0)
    return RenyiBound(*agreed(lower, upper, "the buckets", "the same buckets"))


def first_index(buckets: TreeBuckets, epsilon: float) -> int:
    """j of definition 9: the smallest integer with f^j >= e^(epsilon - shift), exactly."""
    return math.ceil((Fraction(epsilon) - buckets.shift) / Fraction(buckets.step))


def _upper(buckets: TreeBuckets, epsilon: float) -> tuple[float, float, float]:
    """delta_up, the rounding in it, and about what C lacks of Q beyond the first u buckets: it was capped."""
    first, label, moved, at = _labels(buckets, epsilon)
    start = first_index(buckets, epsilon) + buckets.u
    # Before the first index 1 - e^.. would be negative: such events have no part in delta.
    distance = np.minimum(at - buckets.slack - label, 0.0)
    near = -np.expm1(distance)
    far = np.arange(first, first + len(label)) >= start
    gain = integral(buckets.masses, first, np.where(far, 1.0, near), 1.0, moved)
    back = integral(buckets.real, first, np.where(far, 1.0, 0.0), 0.0, np.where(far, moved, 0.0), at - buckets.slack)
    with np.errstate(all="ignore"):
        lacking = _tilted(buckets.alternative, first, len(label), at) - _tilted(buckets.real, first, len(label), at)
        lost = float(np.nansum(np.maximum(lacking[far], 0.0)))
    doubt = gain.doubt + back.doubt
    high = _at_most_one(buckets, max(gain.value - back.value, buckets.masses.infinity), doubt)
    doubt = doubt if doubt < 1.0 else 1.0  # a NaN too
    return high, doubt, lost if math.isfinite(lost) else 1.0


def _lower(buckets: TreeBuckets, epsilon: float) -> tuple[float, float]:
    """delta_low and the rounding in it: true for any set of buckets, so for those that look positive."""
    first, label, moved, at = _labels(buckets, epsilon)
    with np.errstate(all="ignore"):
        gain = _tilted(buckets.masses, first, len(label)) - _tilted(buckets.alternative, first, len(label), at)
        suffix = np.arange(len(label)) >= int(np.argmax(np.cumsum(gain[::-1])[::-1])) if len(label) else gain > 0.0
    best, best_doubt = buckets.leaked, 0.0
    for chosen in (suffix, gain > 0.0):
        weight, errors = np.where(chosen, 1.0, 0.0), np.where(chosen, moved, 0.0)
        kept = integral(buckets.masses, first, weight, 0.0, errors)
        paid = integral(buckets.alternative, first, weight, 0.0, errors, at)
        doubt = kept.doubt + paid.doubt
        low = round_down(buckets.leaked + max(kept.value - paid.value - doubt, 0.0), 8.0)
        if low > best:
            best, best_doubt = low, doubt
    return best, best_doubt


def _labels(buckets: TreeBuckets, epsilon: float) -> tuple[int, FloatArray, FloatArray, float]:
    """The first index whose label i step + s may exceed epsilon - shift, the labels from there on, their rounding, and
    epsilon - shift."""
    if not 0.0 <= epsilon < math.inf:
        raise InvalidParameter(f"epsilon must be a finite number from 0 on, not {epsilon!r}")
    at = float(Fraction(epsilon) - buckets.shift)
    # Quotients of up to 2 n + 1 are off by less than one.
    ratio = max(min((at - buckets.slack) / buckets.step, 2.0 * buckets.n), -2.0 * buckets.n)
    first = min(max(math.floor(ratio) - 1, -buckets.n), buckets.top + 1)
    label = np.arange(first, buckets.top + 1, dtype=np.float64) * buckets.step
    return first, label, 4.0 * UNIT * (np.abs(label) + abs(at) + buckets.slack + 1.0), at


def _tilted(measure: Measure, first: int, size: int, lift: float = 0.0) -> FloatArray:
    """About e^lift X(i) from index `first` on."""
    weight = measure.weights(first, first + size - 1, lift)[0]
    with np.errstate(all="ignore"):
        values: npt.NDArray[np.float64] = measure.values[first + measure.n : first + measure.n + size]
        return np.where(values > 0.0, values * weight, 0.0)


def _at_most_one(buckets: TreeBuckets, value: float, doubt: float) -> float:
    """value + doubt rounded up, never below what is surely leaked; 1 where nothing is known."""
    high = (value + doubt) * WIDER
    return max(min(high, 1.0), buckets.leaked) if math.isfinite(high) else 1.0


# Ways to read delta off a list, with error correction or without, and epsilon by either.
#
# With: definition 9, `read.delta`. Without: definition 5 above (theorem 1), which has no lower end of its own; below
# definition 9 again, since what no correction proves from above does not weaken what the virtual error proves from
# below.
# Guarantee: both ends of either hold, rounding included. Proof: docs/proofs/buckets.md, lemma 3 with no index
# corrected.
# Reference: Meiser, Mohammadi 2018, Defs. 5 and 9, Thms 1 and 2.


def uncorrected(buckets: TreeBuckets, epsilon: float) -> Evaluation:
    """delta_low of definition 9 and delta of definition 5; what correction takes off counts as discretisation."""
    evaluation, high = delta(buckets, epsilon), delta_uncorrected(buckets, epsilon)
    high = max(high, evaluation.upper)
    lines = dict(evaluation.budget.upper)
    lines["discretisation"] += high - evaluation.upper
    return Evaluation(evaluation.lower, high, ErrorBreakdown(FrozenMapping(lines), evaluation.budget.lower))


class Reading(NamedTuple):
    """delta with its budget, and either end of it alone."""

    delta: Callable[[TreeBuckets, float], Evaluation]
    above: Callable[[TreeBuckets, float], float]
    below: Callable[[TreeBuckets, float], float]


CORRECTED = Reading(delta, delta_above, delta_below)
UNCORRECTED = Reading(uncorrected, delta_uncorrected, delta_below)


def epsilon_at(buckets: TreeBuckets, level: float, read: Reading = CORRECTED) -> tuple[float, float]:
    """Doubles around the smallest epsilon with delta(epsilon) <= level; each end is proven by one comparison."""
    highest = buckets.highest
    if buckets.leaked > level:
        return math.inf, math.inf
    most = read.above(buckets, 0.0)
    if most <= level:
        return 0.0, 0.0
    upper, least = math.inf, read.above(buckets, highest)
    if least <= level:
        upper = _crossing(lambda e: read.above(buckets, e), level, (0.0, most), (highest, least))[1]
    # Far from the question rounding may hide delta: come down from the upper end until it shows.
    end = min(upper, highest)
    last = end, 0.0
    for share in tuning.COMING_DOWN:
        place = share * end
        value = read.below(buckets, place)
        if value > level:
            return _crossing(lambda e: read.below(buckets, e), level, (place, value), last)[0], upper
        last = place, value
    return 0.0, upper


def _crossing(
    value: Callable[[float], float], level: float, start: tuple[float, float], end: tuple[float, float]
) -> tuple[float, float]:
    """Two numbers EPSILON_GAP apart, relatively: above the level is the value at the first, not that at the second.

    start and end: such numbers with their values. By secants of log value, which is nearly straight; where one end
    stays, half of its height is taken the next time (Illinois); every fourth step halves.
    """
    (low, at_low), (high, at_high) = start, end
    up, down = _height(at_low, level), _height(at_high, level)
    step = 0
    while high - low > max(tuning.EPSILON_GAP * high, 1e-300):
        step += 1
        middle = low + (high - low) / 2.0
        if step % 4 and up - down < math.inf and up > down:
            margin = 0.25 * max(tuning.EPSILON_GAP * high, 1e-300)
            middle = min(max(low + (high - low) * up / (up - down), low + margin), high - margin)
        found = value(middle)
        if found > level:
            low, up, down = middle, _height(found, level), down / 2.0
        else:
            high, down, up = middle, _height(found, level), up / 2.0
    return low, high


def _height(value: float, level: float) -> float:
    """log(value / level)."""
    return math.log(value) - math.log(level) if value > 0.0 < level else -math.inf if level > 0.0 else math.inf
