"""The likelihood ratio of a group of records, as the cgf of a sampled Gaussian needs it.

The number of hits given an output x has the law e^{c_j + j mu x}/g(x), c_j = log w_j - j^2 mu^2/2, with the mean S(x)
and the variance V(x) = S'(x)/mu. c_j is concave in j, so in plain floats a few terms next to the largest are enough.
Guarantee: as each function of Likelihood says. Proof: docs/proofs/gaussian_mixture.md, sections 2 and 3.
"""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from flint import arb, ctx

from ...kernels.ball import BITS_START, working_precision
from ...kernels.directed import MILLIONS, raised
from ..sampled_gaussian.decay import MixedCell
from ..sampled_gaussian.likelihood import LOWEST, SHARE_EXPONENT_MOST, Likelihood, LikelihoodPoint
from ..sampled_gaussian.window import ball_phi, log_phi

if TYPE_CHECKING:
    from ...facets.hits import HitLaw
    from ...kernels.enclosure import Enclosure, FloatArray
    from ..sampled_gaussian.decay import Cell, Mark
    from ..sampled_gaussian.decay_float import CellTable
    from .centre import ManyHitsCentre

LOG_UNSEEN = -42.0  # of a term of a sum
FAR_STEP, FAR_TERMS = 0.5, 4000  # of mu x: pieces on which a density is bounded, at most 1 long; how many at most
POINTS_KEPT = 20_000
FAR_SLACK = 1e-6  # of an exponent: more than its rounding
FAR_EXPONENT = 1e8
HEIGHT_MOST = 700.0  # of an exponent


@dataclass(frozen=True)
class ManyHits(Likelihood):
    """g = sum w_j e^{j mu x - j^2 mu^2/2}, mu about."""

    mu: float
    hits: HitLaw
    _points: dict[float, tuple[float, float, float]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def most(self) -> int:
        return self.hits.most

    @cached_property
    def logs(self) -> list[float]:
        """c_j, about."""
        with working_precision(BITS_START):
            mu = arb(self.mu)
            return [float((weight.log() - mu * mu * (j * j) / 2).mid()) for j, weight in enumerate(self.hits.weights())]

    @cached_property
    def turns(self) -> list[float]:
        """Where term j + 1 becomes larger than term j."""
        return [(one - other) / self.mu for one, other in zip(self.logs, self.logs[1:], strict=False)]

    def plain_point(self, x: float) -> tuple[float, float, float]:
        """Worked out once for each x: saddles, ends and bounds far out share theirs."""
        found = self._points.get(x)
        if found is None:
            if len(self._points) >= POINTS_KEPT:
                self._points.clear()
            found = self._points[x] = self._plain_point(x)
        return found

    def _plain_point(self, x: float) -> tuple[float, float, float]:
        """log g, S and V, about.

        Terms fall on both sides of the largest, the faster the further. Where that is the first, S is small itself, and
        terms count against the second.
        """
        logs, rise, exp = self.logs, self.mu * x, math.exp
        peak = bisect(self.turns, x)
        top, total, mean, square = logs[peak], 1.0, 0.0, 0.0
        least = LOG_UNSEEN if peak else LOG_UNSEEN + min(logs[1] - top + rise, 0.0)
        for direction in (1, -1):
            j = peak + direction
            while 0 <= j < len(logs):
                exponent = logs[j] - top + (j - peak) * rise
                if exponent < least:
                    break
                term, away = exp(min(exponent, 0.0)), j - peak
                total, mean, square = total + term, mean + away * term, square + away * away * term
                j += direction
        mean /= total
        return top + peak * rise + math.log(total), peak + mean, square / total - mean * mean

    @property
    def share_of_hits(self) -> float:
        return -math.expm1(self.logs[0])

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
        return level / self.mu + self.turns[-1]

    def log_beyond(self, x: float, spread: float) -> float:
        shifts = [j * self.mu for j in range(len(self.logs))]
        found = [
            log + shift * shift / 2.0 + log_phi((shift - x) / spread)
            for shift, log in zip(shifts, self.logs, strict=True)
        ]
        top = max(found)
        return top + math.log(sum(math.exp(each - top) for each in found))

    def share_above(self, x: float) -> float:
        size = self.most * abs(self.mu * x) + max(map(abs, self.logs)) + (self.most * self.mu) ** 2
        return raised(self.share(x), MILLIONS) if size < SHARE_EXPONENT_MOST else float(self.most)

    def highest(self, power: float, width: float) -> float:
        last = power * self.mu * self.most
        step = max(min(FAR_STEP / self.mu, 1.0), last / FAR_TERMS)
        nodes = [index * step for index in range(math.ceil(last / step) + 1)]
        found = [self.log_density(power, x) for x in nodes]
        least = max(found) - 0.5 * width * width
        end = max(x for x, log in zip(nodes, found, strict=True) if log >= least) + step
        return end + width if end > last else end

    def beyond(self, mu: float, power: float, x: float, step: float) -> float:
        """Piece by piece: log g is convex, so a log g lies below its chord, and the log density below a parabola.

        From a mu D + 1 on it falls at the rate 1 at least.
        """
        last = max(x, power * mu * self.most + 1.0)
        wide = max(min(FAR_STEP / mu, 1.0), (last - x) / FAR_TERMS)
        if not (power >= 0.0 and power * (abs(self.logs[-1]) + self.most * mu * last) + last * last < FAR_EXPONENT):
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
            if highest > HEIGHT_MOST:
                return math.inf
            total += (wide + step) * math.exp(highest)
            left, at_left = right, at_right
        if at_left - 0.5 * left * left - start > HEIGHT_MOST:
            return math.inf
        total += (1.0 + step) * math.exp(at_left - 0.5 * left * left - start)
        return raised(total, MILLIONS) * math.exp(FAR_SLACK)

    def _ball_weights(self) -> list[tuple[arb, arb]]:
        """w_j and their logs at the working precision, worked out once for each."""
        kept: dict[int, list[tuple[arb, arb]]] = self.__dict__.setdefault("_weights", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = [(weight, weight.log()) for weight in self.hits.weights()]
        return kept[ctx.prec]

    def ball_terms(self, mu: arb, x: arb) -> tuple[arb, list[arb]]:
        """m and e^{c_j + j mu x - m}, the largest about 1."""
        half = mu * mu / 2
        exponents = [log + (mu * x - half * j) * j for j, (_, log) in enumerate(self._ball_weights())]
        top = max(exponents, key=lambda exponent: float(exponent.mid())).mid()
        return top, [(exponent - top).exp() for exponent in exponents]

    def ball_g(self, mu: arb, x: arb) -> arb:
        top, terms = self.ball_terms(mu, x)
        return sum(terms, arb(0)) * top.exp()

    def ball_share(self, mu: arb, x: arb) -> arb:
        _, terms = self.ball_terms(mu, x)
        return sum((j * term for j, term in enumerate(terms)), arb(0)) / sum(terms, arb(0))

    def ball_tail(self, mu: arb, x: arb, spread: arb) -> arb:
        weights = self._ball_weights()
        return sum((weight * ball_phi((mu * j - x) / spread) for j, (weight, _) in enumerate(weights)), arb(0))

    def ball_point(self, mu: arb, x: arb) -> LikelihoodPoint:
        top, terms = self.ball_terms(mu, x)
        total = sum(terms, arb(0))
        share = sum((j * term for j, term in enumerate(terms)), arb(0)) / total
        near = share.mid()
        off = share - near  # a ball around 0 has a product with itself, and no power
        variance = sum(((j - near) * (j - near) * term for j, term in enumerate(terms)), arb(0)) / total - off * off
        return LikelihoodPoint(top + total.log(), share, variance)

    def ball_cell(
        self,
        mu: arb,
        ends: tuple[arb, arb],
        points: tuple[LikelihoodPoint | None, LikelihoodPoint | None],
        marks: tuple[Mark, ...],
    ) -> Cell:
        """V changes by at most e^{mu width}, and is at most S, D - S and D/4."""
        left, right = points
        low, high = left.share if left else arb(0), right.share if right else arb(self.most)
        least, most = arb(0), high.min(self.most - low).min(arb(self.most) / 4)
        if left and right:
            growth = (mu * (ends[1] - ends[0])).exp()
            least = left.other.max(right.other) / growth
            most = most.min(left.other.min(right.other) * growth)
        return MixedCell(*ends, low, high, least, most, marks)

    def float_cells(self, mu: float, power: float, edges: FloatArray) -> CellTable | None:
        from .centre import many_hits_cells

        return many_hits_cells(self, mu, power, edges)

    def centre(self, mu: Enclosure, x: float) -> ManyHitsCentre:
        from .centre import many_hits_centre

        return many_hits_centre(self, mu, x)
