"""What a sum of labels tells of k steps out of t of Gaussian noise: masses and moments of each of its values.

Y_i = exp(mu Z_i - mu^2/2), Z_i standard normal under Q; L = e_k(Y)/C(t, k), the mean of the products over all k-sets;
T = sum of lab(Z_i), lab a whole number that is constant between the points of a row. T is exact: no law is put on a
grid. E_Q[Y^r g(Z)] = e^(r(r-1) mu^2/2) E g(Z + r mu), so with n(nu) the number of ways in which m k-sets cover nu_r
steps r times each,
    E_Q[L^m; T = n] = C(t, k)^-m sum over nu of n(nu) e^(mu^2 sum of nu_r r(r-1)/2) P[T = n | nu_r steps moved by r mu].
Labels are near (log(1 + x Y) + c x Y/(1 + x Y))/step, any x > 0 and c >= 0. From e_k(x Y) <= prod (1 + x Y_i)
    log L <= n step + t slack - k log x - log C(t, k), slack >= log(1 + x Y) - step lab(Z) below the last point.
The laws are multiplied by e^(tau T) before they are transformed, with several tau, and each value is read where its
radius is least. Outcomes with a Z beyond the last point, or with T outside of a window, are counted apart.
Guarantee: every number enclosed. Proof: docs/proofs/allocation.md, sections 11 to 13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ....numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ....numerics.convolution import WeightedTerm, uncertain_spectrum, upper_sum, weighted_sum
from ....numerics.counting import coverings
from ....numerics.double_double import double_double
from ....numerics.enclosures import Enclosure, FloatArray, around, enclosing, exact
from ....numerics.normal import cell_masses, normal_tails
from ....numerics.rounding import THOUSANDS, UNIT, round_down, round_up
from ....values import compute_budget
from ....values.question import Direction

HIDDEN = 1e-300  # absolute: more than what products of doubles below the normal ones can hide
LOG_MAX = 700.0  # of a mass that a double can hold
LOG_SLACK = 1e-3  # absolute: more than the roundings of a logarithm of a sum over 2^24 steps (section 4)
GUARD_TILTS = (
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    16.0,
    32.0,
    64.0,
)  # strides: where Chernoff's bound of what is outside the window is taken
COUNT_UNITS = 2e4  # of work: one of the ways to cover


class Labels(NamedTuple):
    """lab = first + i between points[i] and points[i + 1], of which the first is -inf; step has few bits."""

    points: FloatArray
    first: int
    step: float
    x: float

    @property
    def size(self) -> int:
        return len(self.points) - 1

    @property
    def values(self) -> FloatArray:
        return self.first + np.arange(self.size, dtype=np.float64)


class SumWindow(NamedTuple):
    """Values of T from start on, 2^levels of them, and the tilts of Q under which its transforms are taken.

    slope: about d log L/dT, which moves the tilts of higher moments. stride: between tilts that differ.
    """

    start: int
    length: int
    tilts: tuple[float, ...]
    slope: float
    stride: float


@dataclass(frozen=True)
class SeveralSteps:
    """k of t steps of noise at mu."""

    mu: arb
    steps: int
    uses: int

    @cached_property
    def mu_between(self) -> Enclosure:
        return enclosing(lower_float(self.mu), upper_float(self.mu))

    @cached_property
    def log_choices(self) -> arb:
        """log C(t, k)."""
        return arb(math.comb(self.steps, self.uses)).log()

    def weights(self, order: int) -> Mapping[tuple[int, ...], arb]:
        """The logarithm of what each nu weighs in E L^order."""
        found = {}
        counts = coverings(self.steps, self.uses, order)
        compute_budget.spend(COUNT_UNITS * len(counts))
        half_square = self.mu * self.mu / 2
        for covered, ways in counts.items():
            pairs = sum(nu * r * (r - 1) for r, nu in enumerate(covered))
            found[covered] = arb(ways).log() - order * self.log_choices + pairs * half_square
        return found


@dataclass(frozen=True)
class Values:
    """E_Q[L^m; T = n, all Z below the last point] for n = start, start + 1, ...: moments[m], m = 0, 1 and maybe more.

    log_most: L is at most e to it. p_outside, q_outside: what P and Q have elsewhere, at most.
    """

    moments: Mapping[int, Enclosure]
    log_most: FloatArray
    p_outside: float
    q_outside: float


def values_of(law: SeveralSteps, labels: Labels, window: SumWindow, orders: Sequence[int]) -> Values:
    """The moments of these orders, 0 and 1 among them."""
    compute_budget.hold(16.0 * window.length * (4.0 * law.uses + 16.0))
    with working_precision(BITS_START):
        masses = [cell_masses(labels.points, law.mu_between * float(r)) for r in range(max(orders) + 1)]
        masses = [mass.clip_below(0.0) for mass in masses]
        moments, outside = {}, {}
        for order in orders:
            moment = _Moment(labels, window, order, masses[: order + 1], law.weights(order))
            moments[order] = moment.values()
            if order < 2:
                outside[order] = moment.outside()
        top = np.asarray(labels.points[-1])
        beyond = [
            float(round_up(normal_tails(double_double(top) - float((law.mu_between * float(r)).upper))[0], THOUSANDS))
            for r in (0, 1)
        ]
        q_top = round_up(law.steps * beyond[0], THOUSANDS) + HIDDEN
        p_top = round_up(law.uses * beyond[1] + (law.steps - law.uses) * beyond[0], THOUSANDS) + HIDDEN
        return Values(
            moments,
            _log_most(law, labels, window),
            round_up(outside[1] + p_top, THOUSANDS),
            round_up(outside[0] + q_top, THOUSANDS),
        )


def _log_most(law: SeveralSteps, labels: Labels, window: SumWindow) -> FloatArray:
    """At or above log L where T = n and all Z are below the last point."""
    mu = law.mu_between
    ratio = (mu * exact(labels.points[1:]) - mu * mu * 0.5).exp() * labels.x
    slack = float(np.max((ratio.log1p() - labels.values * labels.step).upper))
    rest = arb(law.steps) * arb(slack) - law.uses * arb(labels.x).log() - law.log_choices
    n = window.start + np.arange(window.length, dtype=np.float64)
    return (exact(n * labels.step) + upper_float(rest)).upper


class _Moment:
    """One order: the law of T under L^m dQ, whose mass may be any number."""

    def __init__(
        self,
        labels: Labels,
        window: SumWindow,
        order: int,
        masses: Sequence[Enclosure],
        weights: Mapping[tuple[int, ...], arb],
    ) -> None:
        self.labels, self.window, self.order = labels, window, order
        self.masses, self.weights = masses, weights
        self.covered = np.array(list(weights), dtype=np.float64)
        self.logs = np.array([upper_float(weight) for weight in weights.values()])
        with np.errstate(all="ignore"):
            self.log_masses = [np.log(mass.upper + HIDDEN) for mass in masses]

    def values(self) -> Enclosure:
        """Each value of T, from the tilt that leaves the least radius."""
        n = self.window.start + np.arange(self.window.length, dtype=np.float64)
        best, radius = np.zeros_like(n), np.full_like(n, np.inf)
        for tilt in self.window.tilts:
            enclosure = self._tilted(_few_bits(tilt - self.order * self.window.slope), n)
            closer = enclosure.radius < radius
            best, radius = np.where(closer, enclosure.value, best), np.where(closer, enclosure.radius, radius)
        return around(np.where(np.isfinite(radius), best, 0.0), radius)

    def _tilted(self, tilt: float, n: FloatArray) -> Enclosure:
        """By the transforms of e^(tilt lab) times the cells; what wraps around is at most what lies outside."""
        length, at = self.window.length, int(self.labels.first)
        weight = exact(tilt * self.labels.values).exp()
        factors, totals = [], []
        for mass in self.masses:
            cells = mass * weight
            total = float(np.sum(cells.value))
            if not 0.0 < total < math.inf:
                return around(np.zeros_like(n), np.full_like(n, np.inf))
            shares = cells / total
            row, spread = np.zeros(length), np.zeros(length)
            row[: shares.value.size], spread[: shares.value.size] = shares.value, shares.radius
            factors.append(uncertain_spectrum(around(np.roll(row, at), np.roll(spread, at)), length))
            totals.append(arb(total).log())
        logs = [
            log + sum((nu * total for nu, total in zip(covered, totals, strict=True)), arb(0))
            for covered, log in self.weights.items()
        ]
        scale = max(upper_float(log) for log in logs)
        terms = [
            WeightedTerm(float((log - arb(scale)).exp().mid()), covered)
            for log, covered in zip(logs, self.weights, strict=True)
        ]
        made = weighted_sum(factors, terms)
        log_wrapped = self._log_outside(tilt) - scale + LOG_SLACK
        if not log_wrapped < LOG_MAX:  # more than a double can say, so this tilt says nothing
            return around(np.zeros_like(n), np.full_like(n, np.inf))
        wrapped = math.exp(log_wrapped)
        inside = np.roll(made.masses, -self.window.start)
        enclosure = around(inside, np.full_like(inside, round_up(made.radius + wrapped, THOUSANDS)))
        enclosure = enclosure * (exact(-tilt * n) + scale).exp()
        # An exponential that is not finite says nothing; one that is 0 hides less than this.
        spoilt = ~(np.isfinite(enclosure.value) & np.isfinite(enclosure.radius))
        return around(np.where(spoilt, 0.0, enclosure.value), np.where(spoilt, np.inf, enclosure.radius + HIDDEN))

    def outside(self) -> float:
        """The mass of T outside of the window, with no tilt."""
        return math.exp(min(self._log_outside(0.0) + LOG_SLACK, 0.0))

    def _log_outside(self, tilt: float) -> float:
        """At or above log E[L^m e^(tilt T); T outside of the window], by other tilts (Chernoff), up to LOG_SLACK/2."""
        above, below = self.window.start + self.window.length, self.window.start - 1
        ends = []
        for side, edge in ((1.0, above), (-1.0, below)):
            others = (_few_bits(tilt + side * value * self.window.stride) for value in GUARD_TILTS)
            ends.append(min(self._log_total(other) - (other - tilt) * edge for other in others))
        return float(np.logaddexp(ends[0], ends[1]))

    def _log_total(self, tilt: float) -> float:
        """log E[L^m e^(tilt T)] over all Z below the last point, from above."""
        with np.errstate(all="ignore"):
            exponents = tilt * self.labels.values
            parts = []
            for mass in self.log_masses:
                logs = exponents + mass
                top = float(np.max(logs))
                parts.append(top + math.log(float(np.sum(np.exp(logs - top)))))
            sums = self.logs + self.covered @ np.array(parts)
            top = float(np.max(sums))
            return top + math.log(float(np.sum(np.exp(sums - top))))


def _few_bits(tilt: float) -> float:
    """A number near it whose products with labels and values of T are doubles."""
    mantissa, exponent = math.frexp(tilt)
    return math.ldexp(round(math.ldexp(mantissa, 24)), exponent - 24)


# Bounds on a profile by the moments of the ratio given a statistic.
#
# q_n = Q[T = n], M_m = E_Q[L^m; T = n]; M_0 = q_n and M_1 = P[T = n]. Every inequality that follows holds for each L in
# [0, U], so its mean holds for whatever law L has given T = n. For y = L - a (and y = a - L with the signs of odd
# powers
# of y changed), any d > 0 and any e:
#     y_+ <= (y + d)^2/(4 d),     y_+ <= K (L - e)^4 where e < a,     y_+ <= y + K (L - e)^4 where e > a,
#     K = 27/(256 |a - e|^3),     (L - a)_+ <= L (1 - a/U)_+,     (a - L)_+ <= a,     (L - a)_+ <= L.
# d and e are chosen per value of T, from the moments themselves; no bound rests on the choice.
# Below, the sum over all n of (M_1 - a M_0)_+ is what the statistic alone shows.
# Guarantee: above is upper, events are real. Proof: docs/proofs/allocation.md, section 10.
# Reference: Scarf 1958 (the square); ours.

QUARTIC = 27.0 / 256.0
COEFFICIENT_UNITS = 64.0  # roundings of a coefficient, of its product with a moment, and of the sum of five of these
CELL_POINT_UNITS = 40.0  # of work: one value of T at one point
LEAST_SPREAD = 1e-9  # relative: a law that looks narrower is treated as this wide
EVENT_UNITS = 2.0**20  # roundings of a sum over all values of T
EVENTS_MAX = 4000
COMMON_SHARE = 1e-4  # of both laws: what is not common


class _Cells:
    """The values of T that count, and at most what the others have; bounds of what they add to a mean."""

    def __init__(self, values: Values, kept: NDArray[np.intp], rest: float) -> None:
        self.rest = rest
        self.moments = {order: enclosure[kept] for order, enclosure in values.moments.items()}
        self.log_most = values.log_most[kept]
        with np.errstate(all="ignore"):
            self.upper = {order: _above(moment) for order, moment in self.moments.items()}
            middle = {order: moment.value for order, moment in self.moments.items()}
            # A radius, and what coefficients and sums may round.
            self.spread = {
                order: moment.radius + COEFFICIENT_UNITS * UNIT * (abs(moment.value) + moment.radius)
                for order, moment in self.moments.items()
            }
            # About the mean and the variance of L given T; what is no number is left alone.
            self.mean = middle[1] / middle[0]
            self.variance = middle[2] / middle[0] - self.mean**2 if 2 in middle else np.full_like(self.mean, np.nan)

    def calls(self, a: float) -> float:
        """At or above E_Q(L - a)_+."""
        p = self.upper[1]
        compute_budget.spend(CELL_POINT_UNITS * p.size)
        with np.errstate(all="ignore"):
            share = round_down(a * np.exp(-self.log_most), 64.0 + 2.0 * abs(self.log_most))
            values = np.fmin(p, round_up(p * np.maximum(1.0 - share, 0.0), 8.0))
            for bound in self._polynomials(a, calls=True):
                values = np.fmin(values, bound)
        return round_up(upper_sum(np.maximum(values, 0.0)) + self.rest, 8.0)

    def puts(self, a: float) -> float:
        """At or above E_Q(a - L)_+."""
        q = self.upper[0]
        compute_budget.spend(CELL_POINT_UNITS * q.size)
        with np.errstate(all="ignore"):
            values = round_up(a * q, 4.0)
            for bound in self._polynomials(a, calls=False):
                values = np.fmin(values, bound)
        return round_up(upper_sum(np.maximum(values, 0.0)) + round_up(a * self.rest, 4.0), 8.0)

    def _polynomials(self, a: float, calls: bool) -> list[FloatArray]:
        """Means of what is above, each a polynomial of L; nan where it says nothing."""
        if 2 not in self.upper:
            return []
        gap = self.mean - a
        d = np.sqrt(gap * gap + np.maximum(self.variance, (LEAST_SPREAD * a) ** 2))
        # (y + d)^2 / (4 d), y = +-(L - a): the square of L - (a -+ d).
        centre = a - d if calls else a + d
        scale = 0.25 / d
        found = [self._mean([scale * centre * centre, -2.0 * scale * centre, scale])]
        if 4 in self.upper:
            e = self.mean
            square = e * e
            k = QUARTIC / (abs(gap) * gap * gap)
            power = [k * square * square, -4.0 * k * square * e, 6.0 * k * square, -4.0 * k * e, k]
            beyond = gap > 0.0 if calls else gap < 0.0  # where y itself is added
            side = np.where(beyond, 1.0 if calls else -1.0, 0.0)
            found.append(self._mean(power, constant=-side * a, slope=side))
        return found

    def _mean(
        self, coefficients: list[FloatArray], constant: FloatArray | float = 0.0, slope: FloatArray | float = 0.0
    ) -> FloatArray:
        """At or above the sum of coefficients times moments; those of y are added to the first two as they are.

        Moments are >= 0, so that a coefficient which is off by a share moves the sum by that share of its own term.
        """
        total, size = np.zeros_like(self.mean), np.zeros_like(self.mean)
        for order, extra in enumerate((np.asarray(constant), np.asarray(slope))):
            total = total + extra * self.moments[order].value
            size = size + abs(extra) * self.spread[order]
        for order, coefficient in enumerate(coefficients):
            total = total + coefficient * self.moments[order].value
            size = size + abs(coefficient) * self.spread[order]
        made = total + round_up(size, 64.0)
        return np.where(np.isfinite(made), made, np.nan)


class Conditional:
    """The bounds that values of a statistic give at any a > 0; tail: what may be counted with what is outside."""

    def __init__(self, values: Values, tail: float) -> None:
        self.q, self.p = values.moments[0], values.moments[1]
        self._by_p = _counting(values, self.p, values.p_outside, tail)
        self._by_q = _counting(values, self.q, values.q_outside, tail)

    def hockey_stick(self, a: float, direction: Direction) -> float:
        """At or above H(a) of (P', Q') for REMOVE, of (Q', P') for ADD."""
        if direction is Direction.ADD:  # E(1 - a L)_+ = a E(1/a - L)_+ = 1 - a + a E(L - 1/a)_+
            if a >= 1.0:
                value = a * self._by_q.puts(1.0 / a * (1.0 + 4.0 * UNIT))
            else:
                value = (1.0 - a) + a * self._by_p.calls(1.0 / a * (1.0 - 4.0 * UNIT))
        elif a >= 1.0:  # E(L - a)_+ = 1 - a + E(a - L)_+
            value = self._by_p.calls(a)
        else:
            value = (1.0 - a) + self._by_q.puts(a)
        return min(round_up(value, 8.0), 1.0)

    def losses(self, direction: Direction) -> tuple[float, float, float, float]:
        """About where the losses of nearly all outcomes lie, and, between, those of the common ones."""
        cells = self._by_p if direction is Direction.REMOVE else self._by_q
        with np.errstate(all="ignore"):
            sure = (cells.moments[0].lower > 0.0) & (cells.moments[1].lower > 0.0)
            losses = np.log(cells.mean[sure])
        if not losses.size:
            return -1.0, -0.5, 0.5, 1.0
        losses = losses if direction is Direction.REMOVE else -losses
        order = np.argsort(losses)
        both = (cells.moments[0].value + cells.moments[1].value)[sure][order]
        share = np.cumsum(both) / both.sum()
        common, rare = (
            losses[order][int(np.searchsorted(share, value))] for value in (COMMON_SHARE, 1.0 - COMMON_SHARE)
        )
        return float(losses.min()), float(common), float(rare), float(losses.max())

    def events(self, direction: Direction) -> list[tuple[float, float]]:
        """(probability of the first law, of the second one) of the sets of values where the ratio is largest.

        At least the one, at most the other; the largest masses come first in neither.
        """
        with np.errstate(all="ignore"):
            p = (np.maximum(-_above(-self.p), 0.0), _above(self.p))
            q = (np.maximum(-_above(-self.q), 0.0), _above(self.q))
            first, second = (p[0], q[1]) if direction is Direction.REMOVE else (q[0], p[1])
            kept = np.flatnonzero((first > 0.0) & np.isfinite(second))
            order = kept[np.argsort(-first[kept] / second[kept], kind="stable")]
        ones = round_down(np.cumsum(first[order]), EVENT_UNITS)
        others = round_up(np.cumsum(second[order]), EVENT_UNITS)
        places = _spread(ones, others)
        return [(float(ones[i]), float(others[i])) for i in places]


def _counting(values: Values, mass: Enclosure, outside: float, tail: float) -> _Cells:
    """The values that have more of a mass than the tail, all others together."""
    most = _above(mass)
    order = np.argsort(most, kind="stable")
    with np.errstate(all="ignore"):
        few = int(np.searchsorted(np.cumsum(most[order]), tail))
    return _Cells(values, np.sort(order[few:]), round_up(upper_sum(most[order[:few]]) + outside, 8.0))


def _spread(ones: FloatArray, others: FloatArray) -> list[int]:
    """Places of events that tell: where either law has grown by a share, and evenly between."""
    if len(ones) <= EVENTS_MAX:
        return list(range(len(ones)))
    with np.errstate(all="ignore"):
        length = np.log(ones / ones[0]) + np.cumsum(np.diff(ones, prepend=0.0)) * 20.0
        length = length + np.log(others / others[0]) + others * 20.0
    wanted = np.linspace(length[0], length[-1], EVENTS_MAX)
    return sorted({int(i) for i in np.searchsorted(length, wanted).clip(0, len(ones) - 1)})


def _above(moment: Enclosure) -> FloatArray:
    """At or above, as far as it is known."""
    return np.where(np.isfinite(moment.radius), moment.upper, np.inf)


def point_row(losses: Sequence[tuple[float, float, float, float]], near: Sequence[float], count: int) -> list[float]:
    """Rising ratios where a profile is asked: over all losses, more where outcomes are common, most next to some.

    losses: of each statistic the least and the largest, and between them those between which outcomes are common.
    """
    low, common, rare, high = (
        side(each) for side, each in zip((min, min, max, max), zip(*losses, strict=True), strict=True)
    )
    third = count // 3
    rows = [np.linspace(low, high, third), np.linspace(common, max(rare, *near), third)]
    for value in near:
        reach = 0.25 * max(abs(value), math.log(2.0))
        rows.append(value + np.linspace(-1.0, 1.0, third // len(near)) ** 3 * reach)
    values: list[float] = np.exp(np.unique(np.concatenate(rows))).tolist()
    return values
