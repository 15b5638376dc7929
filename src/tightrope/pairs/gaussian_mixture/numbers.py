"""The numbers of a mixture of shifts in float64, and where its likelihood ratio takes a value.

g(x) = sum w_j e^{s_j x - s_j^2/2} = w_0 + e^{G(x)}, s_0 = 0 and s_j the shifts, j mu for whole hits. G, the log of a
sum of exponentials, is convex, and its slope lies between the least shift s_1 and the largest, s_D. So G(x) = T has one
root, at or below x0 = min over j of (T - c_j)/s_j, c_j = log w_j - s_j^2/2, where G is at most T + log D: Newton's
steps from there fall to it, and are few. The last step takes its residual in two doubles, so that the root is as good
as they are; where the shifts are of very different sizes there are two such steps.
Guarantee: places err by at most 2^-80 (1 + |x| + 1/s_1), and by what t - log w_0 costs (`places_beside`).
Proof: docs/proofs/gaussian_mixture.md, section 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...facets.hits import quotient, resolved
from ...kernels.ball import BITS_START, working_precision
from ...kernels.enclosure import Enclosure, enclosed
from ...kernels.twofold import FloatArray, Twofold, twofold, where

if TYPE_CHECKING:
    from ...facets.hits import HitLaw
    from ..gaussian.pair import GaussianPair

NUMBER_BITS = 256
RATIO_PLAIN = 1024.0  # of the largest shift to the least, up to which the root needs one last step
ROOT_STEPS = 40  # five or six do, and each falls
SETTLED, SETTLED_UNEVEN = 1e-7, 3e-9  # of a residual: the step from there squares it, times the ratio of the shifts
LOG_NOTHING = -90.0  # of a term that is left out: all of them are below 2^-110
LOG_SMALL = -22.0  # of a term of a sum that is one: below, a double has digits enough
PLACE_MOST = 1e9  # no place so far out has a tail
NO_TAIL = 1e-300  # more than what lies beyond any place that is not looked for


@dataclass(frozen=True, slots=True, eq=False)
class MixtureNumbers:
    """log w_0 (None: there is none), c_1, ..., c_D and s_0, ..., s_D in two doubles; w_j and s_j as enclosures."""

    log_none: Twofold | None
    logs: tuple[Twofold, ...]
    moves: tuple[Twofold, ...]
    weights: Enclosure
    shifts: Enclosure

    @property
    def most(self) -> int:
        """D."""
        return len(self.logs)

    @property
    def least(self) -> float:
        """s_1, about."""
        return float(self.moves[1].hi)

    @property
    def error(self) -> float:
        """More than what t - log w_0 errs by where it is small, and than what lies beyond any place."""
        return NO_TAIL if self.log_none is None else NO_TAIL - (2.0**-95) * float(self.log_none.hi)

    def log_excess(self, t: Twofold) -> Twofold:
        """T = log(e^t - w_0) = t + log(1 - e^(log w_0 - t)), -inf where t is not above log w_0."""
        if self.log_none is None:
            return t
        with np.errstate(all="ignore"):
            above = t - self.log_none
            reach = above.collapse() > 0.0
            return where(reach, t + (-(-above).expm1()).log(), twofold(np.where(np.isnan(t.hi), np.nan, -np.inf)))

    def places(self, t: Twofold) -> Twofold:
        """x with log g(x) = t; -inf where t is not above log w_0, and inf where t is."""
        target = self.log_excess(t)
        heads: FloatArray = np.array([float(log.hi) for log in self.logs])
        with np.errstate(all="ignore"):
            x = np.full_like(target.hi, np.inf)
            for move, head in zip(self.moves[1:], heads, strict=True):
                np.minimum(x, (target.hi - head) / float(move.hi), out=x)
            inside, outside = abs(x) < PLACE_MOST, np.where(x < 0.0, -np.inf, np.inf)
            x = np.where(inside, x, 0.0)
            level = np.where(inside, target.hi, heads[0])
            uneven = float(self.moves[-1].hi) > RATIO_PLAIN * self.least
            settled = SETTLED_UNEVEN if uneven else SETTLED
            for _ in range(ROOT_STEPS):
                total, slope = self._sums(heads, level, x)
                residual = np.log(total)
                x = x - residual * total / slope
                if not np.any(inside & (abs(residual) > settled)):
                    break
            polished = where(inside, target, self.logs[0])
            found = self._polished(polished, twofold(x), *self._sums(heads, level, x))
            if uneven:
                found = self._polished(polished, found, *self._sums(heads, level, found.hi))
        return where(inside, found, twofold(np.where(np.isnan(target.hi), np.nan, outside)))

    def places_beside(self, t: FloatArray, side: float) -> FloatArray:
        """Doubles at or below (side -1) or at or above (side 1) the place of t; -inf where there is none.

        T errs by the error of t - log w_0 divided by it, at most, and the place by that divided by s_1.
        """
        with np.errstate(all="ignore"):
            error = 0.0 if self.log_none is None else self.error / (twofold(t) - self.log_none).collapse()
            return beside(self.places(twofold(t)), error, self.least, side)

    def _sums(self, heads: FloatArray, level: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """sum e^{c_j + j mu x - T} and its slope, in plain doubles."""
        total, slope = np.zeros_like(x), np.zeros_like(x)
        for move, head in zip(self.moves[1:], heads, strict=True):
            shift = float(move.hi)
            term = np.exp((head - level) + shift * x)
            total += term
            slope += shift * term
        return total, slope

    def _polished(self, target: Twofold, x: Twofold, total: FloatArray, slope: FloatArray) -> Twofold:
        """One step more, its residual sum - 1 in two doubles; the slope of the log of the sum is slope/total."""
        rest = twofold(np.full_like(x.hi, -1.0))
        for move, log in zip(self.moves[1:], self.logs, strict=True):
            seen = (float(log.hi) - target.hi) + float(move.hi) * x.hi > LOG_NOTHING
            exponent = move * x[seen] + (log - target[seen])
            term = twofold(exponent.exp_collapsed())
            heavy = exponent.hi > LOG_SMALL
            sharp = exponent[heavy].exp()
            term.hi[heavy], term.lo[heavy] = sharp.hi, sharp.lo
            more = rest[seen] + term
            rest.hi[seen], rest.lo[seen] = more.hi, more.lo
        return x + -np.log1p(rest.collapse()) * total / slope


def within(base: GaussianPair, counts: Sequence[Fraction]) -> bool:
    """Whether so many shifts of this noise, from the least to the largest, are neither too small nor too large."""
    with working_precision(BITS_START):
        mu = base.ball_mu()
        return resolved(mu * quotient(counts[0]), mu * quotient(counts[-1]))


def beside(place: Twofold, error: FloatArray | float, mu: float, side: float) -> FloatArray:
    """Doubles at or below (side -1) or at or above (side 1) a place whose T errs by so much."""
    near = place.collapse()
    margin = 2.0**-52 * abs(near) + (error + 2.0**-78) / mu + 2.0**-78
    return np.where(np.isfinite(near), near + side * margin, near)


def mixture_numbers(base: GaussianPair, hits: HitLaw) -> MixtureNumbers:
    """All of them, read off balls."""
    with working_precision(NUMBER_BITS):
        mu, weights = base.ball_mu(), hits.weights()
        shifts = [mu * quotient(count) for count in hits.counts()]
        logs = [weight.log() - shift * shift / 2 for weight, shift in zip(weights[1:], shifts[1:], strict=True)]
        return MixtureNumbers(
            None if hits.sure else ball_twofold(hits.log_none()),
            tuple(ball_twofold(log) for log in logs),
            tuple(ball_twofold(shift) for shift in shifts),
            enclosed(weights),
            enclosed(shifts),
        )


def ball_twofold(ball: arb) -> Twofold:
    """The two doubles next to a ball; its radius is far below them."""
    hi = float(ball.mid())
    return twofold(hi) + float((ball - arb(hi)).mid())
