"""The numbers of a mixture of shifts in float64, and where its likelihood ratio takes a value.

g(x) = sum w_j e^{j mu x - j^2 mu^2/2} = w_0 + e^{G(x)}. G, the log of a sum of exponentials, is convex, and its slope
lies between mu and D mu, D the most hits. So G(x) = T has one root, at or below x0 = min over j of (T - c_j)/(j mu),
c_j = log w_j - j^2 mu^2/2, where G is at most T + log D: Newton's steps from there fall to it, and are few.
The last step takes its residual in two doubles, so that the root is as good as they are.
Guarantee: places err by at most 2^-80 (1 + |x| + 1/mu), and by what t - log w_0 costs (`places_beside`).
Proof: docs/proofs/gaussian_mixture.md, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...kernels.ball import BITS_START, working_precision
from ...kernels.enclosure import Enclosure, enclosed
from ...kernels.twofold import FloatArray, Twofold, twofold, where

if TYPE_CHECKING:
    from ...facets.hits import HitLaw
    from ..gaussian.pair import GaussianPair

NUMBER_BITS = 256
SHIFT_LEAST, SHIFT_MOST = 1e-8, 1e4  # of mu, and of D mu: within, all of this holds with much to spare
ROOT_STEPS = 40  # five or six do, and each falls
SETTLED = 1e-7  # of a residual: the step from there squares it
LOG_NOTHING = -90.0  # of a term that is left out: all of them are below 2^-110
LOG_SMALL = -22.0  # of a term of a sum that is one: below, a double has digits enough
PLACE_MOST = 1e9  # no place so far out has a tail


@dataclass(frozen=True, slots=True, eq=False)
class MixtureNumbers:
    """mu, log w_0 and c_1, ..., c_D in two doubles; w_j and j mu as enclosures, from j = 0 on."""

    mu: Twofold
    log_none: Twofold
    logs: tuple[Twofold, ...]
    weights: Enclosure
    shifts: Enclosure

    @property
    def most(self) -> int:
        """D."""
        return len(self.logs)

    @property
    def error(self) -> float:
        """More than what t - log w_0 errs by where it is small."""
        return -(2.0**-95) * float(self.log_none.hi)

    def shift(self, hits: int) -> Twofold:
        """j mu."""
        return self.mu * float(hits)

    def log_excess(self, t: Twofold) -> Twofold:
        """T = log(e^t - w_0) = t + log(1 - e^(log w_0 - t)), -inf where t is not above log w_0."""
        with np.errstate(all="ignore"):
            above = t - self.log_none
            reach = above.collapse() > 0.0
            return where(reach, t + (-(-above).expm1()).log(), twofold(np.where(np.isnan(t.hi), np.nan, -np.inf)))

    def places(self, t: Twofold) -> Twofold:
        """x with log g(x) = t; -inf where t is not above log w_0, and inf where t is."""
        target = self.log_excess(t)
        heads: FloatArray = np.array([float(log.hi) for log in self.logs])
        counts, mu = np.arange(1.0, self.most + 1.0), float(self.mu.hi)
        with np.errstate(all="ignore"):
            x = np.full_like(target.hi, np.inf)
            for count, head in zip(counts, heads, strict=True):
                np.minimum(x, (target.hi - head) / (count * mu), out=x)
            inside, outside = abs(x) < PLACE_MOST, np.where(x < 0.0, -np.inf, np.inf)
            x = np.where(inside, x, 0.0)
            level = np.where(inside, target.hi, heads[0])
            for _ in range(ROOT_STEPS):
                total, slope = self._sums(heads, level, x)
                residual = np.log(total)
                x = x - residual * total / slope
                if not np.any(inside & (abs(residual) > SETTLED)):
                    break
            found = self._polished(where(inside, target, self.logs[0]), x, *self._sums(heads, level, x))
        return where(inside, found, twofold(np.where(np.isnan(target.hi), np.nan, outside)))

    def places_beside(self, t: FloatArray, side: float) -> FloatArray:
        """Doubles at or below (side -1) or at or above (side 1) the place of t; -inf where there is none.

        T errs by the error of t - log w_0 divided by it, at most, and the place by that divided by mu.
        """
        with np.errstate(all="ignore"):
            error = self.error / (twofold(t) - self.log_none).collapse()
            return beside(self.places(twofold(t)), error, float(self.mu.hi), side)

    def _sums(self, heads: FloatArray, level: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """sum e^{c_j + j mu x - T} and its slope, in plain doubles."""
        mu = float(self.mu.hi)
        total, slope = np.zeros_like(x), np.zeros_like(x)
        for index, head in enumerate(heads):
            shift = (index + 1.0) * mu
            term = np.exp((head - level) + shift * x)
            total += term
            slope += shift * term
        return total, slope

    def _polished(self, target: Twofold, x: FloatArray, total: FloatArray, slope: FloatArray) -> Twofold:
        """One step more, its residual sum - 1 in two doubles; the slope of the log of the sum is slope/total."""
        rest = twofold(np.full_like(x, -1.0))
        for index, log in enumerate(self.logs):
            seen = (float(log.hi) - target.hi) + float(self.shift(index + 1).hi) * x > LOG_NOTHING
            exponent = self.shift(index + 1) * twofold(x[seen]) + (log - target[seen])
            term = twofold(exponent.exp_collapsed())
            heavy = exponent.hi > LOG_SMALL
            sharp = exponent[heavy].exp()
            term.hi[heavy], term.lo[heavy] = sharp.hi, sharp.lo
            more = rest[seen] + term
            rest.hi[seen], rest.lo[seen] = more.hi, more.lo
        return twofold(x) + -np.log1p(rest.collapse()) * total / slope


def within(base: GaussianPair, most: int) -> bool:
    """Whether up to so many shifts of this noise are neither too small nor too large for doubles."""
    with working_precision(BITS_START):
        mu = base.ball_mu()
        return bool(mu > SHIFT_LEAST and mu * most < SHIFT_MOST)


def beside(place: Twofold, error: FloatArray | float, mu: float, side: float) -> FloatArray:
    """Doubles at or below (side -1) or at or above (side 1) a place whose T errs by so much."""
    near = place.collapse()
    margin = 2.0**-52 * abs(near) + (error + 2.0**-78) / mu + 2.0**-78
    return np.where(np.isfinite(near), near + side * margin, near)


def mixture_numbers(base: GaussianPair, hits: HitLaw) -> MixtureNumbers:
    """All of them, read off balls."""
    with working_precision(NUMBER_BITS):
        mu, weights = base.ball_mu(), hits.weights()
        logs = [weight.log() - mu * mu * (j * j) / 2 for j, weight in enumerate(weights)]
        return MixtureNumbers(
            ball_twofold(mu),
            ball_twofold(hits.log_none()),
            tuple(ball_twofold(log) for log in logs[1:]),
            enclosed(weights),
            enclosed([mu * j for j in range(len(weights))]),
        )


def ball_twofold(ball: arb) -> Twofold:
    """The two doubles next to a ball; its radius is far below them."""
    hi = float(ball.mid())
    return twofold(hi) + float((ball - arb(hi)).mid())
