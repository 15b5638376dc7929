"""The likelihood ratio of a mixture of shifts, as the cgf of a sampled Gaussian needs it.

The number of hits k given an output x has the law e^{c_k + k mu x}/g(x), c_k = log w_k - k^2 mu^2/2, with the mean S(x)
and the variance V(x) = S'(x)/mu. Of a group k is 0, 1, ..., D and c_k is concave, so that in plain floats a few terms
next to the largest are enough. Of any other shifts k are parts of the largest, mu, and D is 1.
Guarantee: as each function of Likelihood says. Proof: docs/proofs/gaussian_mixture.md, sections 2, 3 and 6.
"""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.enclosures import Enclosure, FloatArray, around, enclosed, enclosing, exact
from ...numerics.rounding import MILLIONS, UNIT, round_down, round_up
from ...values import compute_budget
from ..participation_law import quotient
from ..sampled_gaussian.cf_decay import DECAY_SLACK, EXPONENT_ERROR, CellTable
from ..sampled_gaussian.likelihood import (
    LOWEST,
    SHARE_EXPONENT_MAX,
    Likelihood,
    LikelihoodPoint,
    MixedCell,
    UnevenCell,
    ball_phi,
    log_phi,
)
from ..sampled_gaussian.mixture_quadrature import CENTRE_BITS

if TYPE_CHECKING:
    from ..participation_law import ParticipationLaw
    from ..sampled_gaussian.likelihood import Cell, EdgeWeight


LOG_UNSEEN = -42.0  # of a term of a sum
FAR_STEP, FAR_TERMS = 0.5, 4000  # of mu x: pieces on which a density is bounded, at most 1 long; how many at most
POINTS_KEPT = 20_000
PLAIN_TERM = 100.0  # units of work for a term at a point
FAR_SLACK = 1e-6  # of an exponent: more than its rounding
FAR_EXPONENT = 1e8
HEIGHT_MAX = 700.0  # of an exponent


@dataclass(frozen=True)
class MixtureLikelihood(Likelihood):
    """g = sum w_k e^{k mu x - k^2 mu^2/2}, mu about."""

    mu: float
    hits: ParticipationLaw
    _points: dict[float, tuple[float, float, float]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def most(self) -> int:
        return self.hits.most

    @property
    def many(self) -> bool:
        return len(self.counts) > 2 or self.hits.sure

    @cached_property
    def counts(self) -> tuple[Fraction, ...]:
        """All k with a weight."""
        return self.hits.counts()[1 if self.hits.sure else 0 :]

    @cached_property
    def plain_counts(self) -> list[float]:
        """k, about."""
        return [float(count) for count in self.counts]

    @cached_property
    def logs(self) -> list[float]:
        """c_k, about."""
        with working_precision(BITS_START):
            half = arb(self.mu) ** 2 / 2
            return [
                float((log - half * quotient(count * count)).mid())
                for count, (_, log) in zip(self.counts, self._ball_weights(), strict=True)
            ]

    @cached_property
    def turns(self) -> list[float]:
        """Where a term becomes larger than the one before."""
        known = list(zip(self.plain_counts, self.logs, strict=True))
        return [(one - two) / ((more - less) * self.mu) for (less, one), (more, two) in pairwise(known)]

    @cached_property
    def concave(self) -> bool:
        """Whether terms fall on both sides of the largest."""
        return all(one <= other for one, other in pairwise(self.turns))

    def plain_point(self, x: float) -> tuple[float, float, float]:
        """Worked out once for each x: saddles, ends and bounds far out share theirs."""
        found = self._points.get(x)
        if found is None:
            if len(self._points) >= POINTS_KEPT:
                self._points.clear()
            compute_budget.spend(PLAIN_TERM * len(self.counts))
            found = self._points[x] = self._plain_point(x)
        return found

    def _plain_point(self, x: float) -> tuple[float, float, float]:
        return self._near_the_largest(x) if self.hits.real_rooted or self.concave else self._of_all(x)

    def _of_all(self, x: float) -> tuple[float, float, float]:
        """log g, S and V, about, from all terms; the mean from its terms relative to the least count or the largest."""
        rise = self.mu * x
        exponents = [log + count * rise for log, count in zip(self.logs, self.plain_counts, strict=True)]
        top = max(exponents)
        terms = [math.exp(exponent - top) for exponent in exponents]
        total = sum(terms)
        mean = sum(map(mul, terms, self.plain_counts)) / total
        square = sum(term * (count - mean) ** 2 for term, count in zip(terms, self.plain_counts, strict=True))
        return top + math.log(total), mean, square / total

    def _near_the_largest(self, x: float) -> tuple[float, float, float]:
        """log g, S and V, about.

        Terms fall on both sides of the largest, the faster the further. Where that is the first, S is small itself, and
        terms count against the second.
        """
        logs, rise, exp, counts = self.logs, self.mu * x, math.exp, self.plain_counts
        peak = bisect(self.turns, x)
        top, total, mean, square, middle = logs[peak], 1.0, 0.0, 0.0, counts[peak]
        least = LOG_UNSEEN if peak else LOG_UNSEEN + min(logs[1] - top + (counts[1] - middle) * rise, 0.0)
        for direction in (1, -1):
            j = peak + direction
            while 0 <= j < len(logs):
                away = counts[j] - middle
                exponent = logs[j] - top + away * rise
                if exponent < least:
                    break
                term = exp(min(exponent, 0.0))
                total, mean, square = total + term, mean + away * term, square + away * away * term
                j += direction
        mean /= total
        return top + middle * rise + math.log(total), middle + mean, square / total - mean * mean

    @property
    def participation_share(self) -> float:
        return 1.0 if self.hits.sure else -math.expm1(self.logs[0])

    def log_g(self, x: float) -> float:
        return self.plain_point(x)[0]

    def loss(self, x: float) -> float:
        return self.plain_point(x)[0]

    def share(self, x: float) -> float:
        return self.plain_point(x)[1]

    def place_of(self, loss: float) -> float:
        low, high = LOWEST, 1.0
        if not self.loss(low) < loss:
            return LOWEST
        while self.loss(high) < loss:
            low, high = high, 2.0 * high
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.loss(middle) < loss else (low, middle)
        return high

    def log_odds(self, x: float) -> float:
        share = self.share(x)
        return math.log(max(share, 1e-320)) - math.log(max(self.most - share, 1e-15))

    def place_of_odds(self, level: float) -> float:
        return level / self.mu + max(self.turns)

    def log_beyond(self, x: float, spread: float) -> float:
        shifts = [count * self.mu for count in self.plain_counts]
        values = [
            log + shift * shift / 2.0 + log_phi((shift - x) / spread)
            for shift, log in zip(shifts, self.logs, strict=True)
        ]
        top = max(values)
        return top + math.log(sum(math.exp(value - top) for value in values))

    def share_above(self, x: float) -> float:
        size = self.most * abs(self.mu * x) + max(map(abs, self.logs)) + (self.most * self.mu) ** 2
        return round_up(self.share(x), MILLIONS) if size < SHARE_EXPONENT_MAX else float(self.most)

    def highest(self, power: float, width: float) -> float:
        last = power * self.mu * self.most
        step = max(min(FAR_STEP / self.mu, 1.0), last / FAR_TERMS)
        nodes = [index * step for index in range(math.ceil(last / step) + 1)]
        values = [self.log_density(power, x) for x in nodes]
        least = max(values) - 0.5 * width * width
        end = max(x for x, log in zip(nodes, values, strict=True) if log >= least) + step
        return end + width if end > last else end

    def beyond(self, mu: float, power: float, x: float, step: float) -> float:
        """Piece by piece: log g is convex, so a log g lies below its chord, and the log density below a parabola.

        From a mu D + 1 on it falls at the rate 1 at least.
        """
        last = max(x, power * mu * self.most + 1.0)
        wide = max(min(FAR_STEP / mu, 1.0), (last - x) / FAR_TERMS)
        if not (
            power >= 0.0 and power * (max(map(abs, self.logs)) + self.most * mu * last) + last * last < FAR_EXPONENT
        ):
            return math.inf
        start = power * self.log_g(x) - 0.5 * x * x
        left, at_left, total = x, power * self.log_g(x), 0.0
        while left < last:
            right = (math.floor(left / wide) + 1.0) * wide
            right = right if right > left else left + wide
            at_right = power * self.log_g(right)
            slope = (at_right - at_left) / (right - left)
            peak = min(max(slope, left), right)
            highest = at_left + slope * (peak - left) - 0.5 * peak * peak - start
            if highest > HEIGHT_MAX:
                return math.inf
            total += (wide + step) * math.exp(highest)
            left, at_left = right, at_right
        if at_left - 0.5 * left * left - start > HEIGHT_MAX:
            return math.inf
        total += (1.0 + step) * math.exp(at_left - 0.5 * left * left - start)
        return round_up(total, MILLIONS) * math.exp(FAR_SLACK)

    def _ball_weights(self) -> list[tuple[arb, arb]]:
        """w_k and their logs at the working precision, worked out once for each."""
        kept: dict[int, list[tuple[arb, arb]]] = self.__dict__.setdefault("_weights", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = [(weight, weight.log()) for weight in self.hits.weights()[-len(self.counts) :]]
        return kept[ctx.prec]

    def _ball_counts(self) -> list[arb]:
        """k at the working precision, worked out once for each."""
        kept: dict[int, list[arb]] = self.__dict__.setdefault("_numbers", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = [quotient(count) for count in self.counts]
        return kept[ctx.prec]

    def ball_terms(self, mu: arb, x: arb) -> tuple[arb, list[arb]]:
        """m and e^{c_k + k mu x - m}, the largest about 1."""
        half, known = mu * mu / 2, zip(self._ball_counts(), self._ball_weights(), strict=True)
        exponents = [log + (mu * x - half * count) * count for count, (_, log) in known]
        top = max(exponents, key=lambda exponent: float(exponent.mid())).mid()
        return top, [(exponent - top).exp() for exponent in exponents]

    def ball_g(self, mu: arb, x: arb) -> arb:
        top, terms = self.ball_terms(mu, x)
        return sum(terms, arb(0)) * top.exp()

    def ball_share(self, mu: arb, x: arb) -> arb:
        _, terms = self.ball_terms(mu, x)
        return sum(map(mul, self._ball_counts(), terms), arb(0)) / sum(terms, arb(0))

    def ball_tail(self, mu: arb, x: arb, spread: arb) -> arb:
        known = zip(self._ball_counts(), self._ball_weights(), strict=True)
        return sum((weight * ball_phi((mu * count - x) / spread) for count, (weight, _) in known), arb(0))

    def ball_point(self, mu: arb, x: arb) -> LikelihoodPoint:
        top, terms = self.ball_terms(mu, x)
        total, counts = sum(terms, arb(0)), self._ball_counts()
        share = sum(map(mul, counts, terms), arb(0)) / total
        near = share.mid()
        off = share - near  # a ball around 0 has a product with itself, and no power
        squares = [(count - near) * (count - near) for count in counts]
        variance = sum(map(mul, squares, terms), arb(0)) / total - off * off
        return LikelihoodPoint(top + total.log(), share, variance)

    def ball_cell(
        self,
        mu: arb,
        ends: tuple[arb, arb],
        points: tuple[LikelihoodPoint | None, LikelihoodPoint | None],
        marks: tuple[EdgeWeight, ...],
    ) -> Cell:
        """V changes by at most e^{mu width}, and is at most S, D - S and D/4."""
        left, right = points
        low, high = left.share if left else arb(0), right.share if right else arb(self.most)
        least, most = arb(0), high.min(self.most - low).min(arb(self.most) / 4)
        if left and right:
            growth = (mu * (ends[1] - ends[0])).exp()
            least = left.other.max(right.other) / growth
            most = most.min(left.other.min(right.other) * growth)
        return self.cell(*ends, low, high, least, most, marks)

    @property
    def cell(self) -> type[MixedCell]:
        """By what is known of the zeros of g."""
        return MixedCell if self.hits.real_rooted else UnevenCell

    def turning(self, share: float) -> float:
        return Likelihood.turning(self, share) if self.hits.real_rooted else min(float(self.most), 2.0 * share)

    def ball_turning(self, share: arb) -> arb:
        return Likelihood.ball_turning(self, share) if self.hits.real_rooted else (2 * share).min(arb(self.most))

    def float_cells(self, mu: float, power: float, edges: FloatArray) -> CellTable | None:

        return mixture_cells(self, mu, power, edges)

    def centre(self, mu: Enclosure, x: float) -> MixtureCentre:

        return mixture_centre(self, mu, x)


# The likelihood ratio of a mixture of shifts next to a point x0, in float64.
#
# With p_k the law of the hits given x0, log g(x)/g(x0) = log sum p_k e^{k rise}, rise = mu (x - x0): log1p of
# sum p_k expm1(k rise), terms of one sign, where that is small, so that the error is one of the ratio and not of 1.
# The mean S and the variance V of the hits given x follow from the same terms.
# Guarantee: the radius of kernels.enclosure. Proof: docs/proofs/gaussian_mixture.md, section 3.

TERM_BYTES, TERM_WORK = 64.0, 40.0  # bytes and units of work for a term at a node
NEAR_RISE = 0.5  # of log g: up to here log1p is the better one
NEAR_EXPONENT = 30.0  # of j mu (x - x0) for terms that count: below, nothing overflows
MU_ERROR = 8.0 * UNIT  # of a mu that is nearly the true one
NO_COUNT = 1e-300  # roundings of smaller ones are below UNIT times this


@dataclass(frozen=True, slots=True, eq=False)
class MixtureCentre:
    """log g(x0), and the law of the hits there."""

    law: MixtureLikelihood
    place: float
    log_g: Enclosure
    logs: Enclosure  # of p_k
    chances: Enclosure  # p_k
    counts: Enclosure  # k, in rows

    def _terms(self, rise: Enclosure) -> tuple[FloatArray, Enclosure]:
        """Rows of e^{log p_k + k rise - m}, and m, for every rise."""
        size = self.logs.value.size * rise.value.size
        compute_budget.hold(TERM_BYTES * size)
        compute_budget.spend(TERM_WORK * size)
        exponents = Enclosure(self.logs.value[:, None], self.logs.radius[:, None]) + self.counts * rise
        top = np.max(exponents.value, axis=0)
        return top, (exponents - top).exp()

    def log_ratios(self, rise: Enclosure) -> Enclosure:
        """log g(x)/g(x0)."""
        top, terms = self._terms(rise)
        far = _column_sums(terms).log() + top
        near = (abs(far.value) < NEAR_RISE) & (abs(rise.value) * self.law.most < NEAR_EXPONENT)
        if not near.any():
            return far
        small = rise[near]
        chances = Enclosure(self.chances.value[:, None], self.chances.radius[:, None])
        sums = _column_sums(chances * (self.counts * small).expm1()).log1p()
        value, radius = far.value.copy(), far.radius.copy()
        value[near], radius[near] = sums.value, sums.radius
        return Enclosure(value, radius)

    def hits(self, rise: Enclosure) -> tuple[Enclosure, Enclosure]:
        """S and V."""
        _, terms = self._terms(rise)
        total = _column_sums(terms)
        share = _column_sums(terms * self.counts) / total
        # The mean of (k - s)^2 is V + (S - s)^2.
        away = self.counts - exact(share.value)
        square = _column_sums(terms * (away * away)) / total
        return share, Enclosure(square.value, round_up(square.radius + share.radius * share.radius, MILLIONS))

    def share_above(self, mu: float, before: float) -> float:
        return self._share(mu, self.place - before, 1)

    def share_below(self, mu: float, after: float) -> float:
        return self._share(mu, self.place + after, -1)

    def _share(self, mu: float, x: float, side: int) -> float:
        with working_precision(CENTRE_BITS):
            share = self.law.ball_share(arb(mu, mu * MU_ERROR), arb(x))
            return upper_float(share) if side > 0 else lower_float(share)


def mixture_centre(law: MixtureLikelihood, mu: Enclosure, place: float) -> MixtureCentre:
    """By balls."""
    with working_precision(CENTRE_BITS):
        ball = arb(float(mu.value), float(mu.radius))
        top, terms = law.ball_terms(ball, arb(place))
        total = sum(terms, arb(0))
        log_g = top + total.log()
        logs, chances = enclosed([(term / total).log() for term in terms]), enclosed([term / total for term in terms])
        enclosure = enclosing(lower_float(log_g), upper_float(log_g))
        return MixtureCentre(law, place, enclosure, logs, chances, _rows(law.counts))


def _rows(counts: tuple[Fraction, ...]) -> Enclosure:
    near = np.array([float(count) for count in counts])
    off = [0.0 if Fraction(value) == count else UNIT for value, count in zip(near.tolist(), counts, strict=True)]
    return Enclosure(near[:, None], np.array(off)[:, None] * (near[:, None] + NO_COUNT))


def mixture_cells(law: MixtureLikelihood, mu: float, power: float, edges: FloatArray) -> CellTable | None:
    """The cells of a decay bound."""
    points = np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])])
    heights = [law.log_density(power, float(x)) for x in edges[:: max(1, edges.size // 64)]]
    place = float(edges[:: max(1, edges.size // 64)][int(np.argmax(heights))])
    ball_mu = around(mu, mu * MU_ERROR)
    centre = mixture_centre(law, ball_mu, place)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rise = ball_mu * (exact(points) - place)
        logs = centre.log_ratios(rise) * power - exact(points) * exact(points) * 0.5
        share, variance = centre.hits(rise[: edges.size])
        if not (np.all(np.isfinite(logs.radius)) and np.all(np.isfinite(variance.radius))):
            return None
        left, right, count, most = edges[:-1], edges[1:], edges.size, float(law.most)
        width = right - left
        low, high = np.fmax(share.lower, 0.0), np.fmin(share.upper, most)
        growth = round_up(np.exp(mu * width), MILLIONS)  # inf where no double holds it: 0 and the caps are left
        # V changes by at most e^{mu width}, and is at most S, D - S and D/4.
        least = round_down(np.fmax(np.fmax(variance.lower[:-1], variance.lower[1:]), 0.0) / growth, MILLIONS)
        caps = np.fmin(np.fmin(high[1:], round_up(most - low[:-1], MILLIONS)), 0.25 * most)
        spread = np.fmin(caps, round_up(np.fmin(variance.upper[:-1], variance.upper[1:]) * growth, MILLIONS))
    inner = law.cell(left, right, low[:-1], high[1:], least, spread)
    whole = law.cell(
        left=np.append(left, [-np.inf, edges[-1]]),
        right=np.append(right, [edges[0], np.inf]),
        share_left=np.append(low[:-1], [0.0, low[-1]]),
        share_right=np.append(high[1:], [high[0], most]),
        least=np.append(least, [0.0, 0.0]),
        most=np.append(spread, [min(high[0], 0.25 * most), min(most, round_up(most - low[-1], MILLIONS), 0.25 * most)]),
    )
    at_ends = logs.radius[:count]
    of_cell = np.fmax(np.fmax(at_ends[:-1], at_ends[1:]), logs.radius[count:])
    sizes = np.fmax(abs(logs.value[:-1][: count - 1]), abs(logs.value[1:][: count - 1]))
    parts = sizes + (abs(power) * mu * most + abs(left) + abs(right)) * width
    slack = np.full(count + 1, DECAY_SLACK)
    error = round_up(of_cell + EXPONENT_ERROR * parts, MILLIONS)
    return CellTable(inner, whole, logs.value[:count], logs.value[count:], at_ends, error, slack)


def _column_sums(terms: Enclosure) -> Enclosure:
    """Sums over the rows; n - 1 additions err by at most 1.01 n u times the sum of the sizes."""
    with np.errstate(all="ignore"):
        rounding = (terms.value.shape[0] + 2.0) * UNIT * np.sum(abs(terms.value), axis=0)
        return Enclosure(
            np.sum(terms.value, axis=0), round_up(np.sum(terms.radius, axis=0) + 1.01 * rounding, MILLIONS)
        )
