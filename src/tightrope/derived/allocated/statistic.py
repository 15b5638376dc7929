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

from ... import compute_budget
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.directed import THOUSANDS, round_up
from ...kernels.double_double import double_double
from ...kernels.enclosure import Enclosure, FloatArray, around, enclosing, exact
from ...kernels.fft_mixture import WeightedTerm, uncertain_spectrum, weighted_sum
from ...kernels.normal import normal_tails
from ...kernels.normal_cells import cell_masses
from ...kernels.overlaps import coverings

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
