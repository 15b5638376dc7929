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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...facets.participation_law import quotient, resolved
from ...kernels.ball import BITS_START, working_precision
from ...kernels.double_double import DoubleDouble, FloatArray, double_double, where
from ...kernels.enclosure import Enclosure, enclosed

if TYPE_CHECKING:
    from ...facets.participation_law import ParticipationLaw
    from ..gaussian.pair import GaussianPair

NUMBER_BITS = 256
RATIO_PLAIN = 1024.0  # of the largest shift to the least, up to which the root needs one last step
ROOT_STEPS = 40  # five or six do, and each falls
SETTLED, SETTLED_UNEVEN = 1e-7, 3e-9  # of a residual: the step from there squares it, times the ratio of the shifts
LOG_NOTHING = -90.0  # of a term that is left out: all of them are below 2^-110
LOG_SMALL = -22.0  # of a term of a sum that is one: below, a double has digits enough
PLACE_MAX = 1e9  # no place so far out has a tail
MANY_TERMS, AT_ONCE = 32, 1 << 14  # terms that are worth an array of their own, and numbers in one
NO_TAIL = 1e-300  # more than what lies beyond any place that is not looked for


@dataclass(frozen=True, slots=True, eq=False)
class MixtureNumbers:
    """log w_0 (None: there is none), c_1, ..., c_D and s_0, ..., s_D in two doubles; w_j and s_j as enclosures."""

    log_none: DoubleDouble | None
    logs: DoubleDouble
    moves: DoubleDouble
    weights: Enclosure
    shifts: Enclosure

    @property
    def most(self) -> int:
        """D."""
        return int(self.logs.hi.size)

    @property
    def least(self) -> float:
        """s_1, about."""
        return float(self.moves.hi[1])

    @property
    def uneven(self) -> bool:
        """Whether the shifts are of very different sizes."""
        return float(self.moves.hi[-1]) > RATIO_PLAIN * self.least

    def rows(self, columns: int) -> Iterator[slice]:
        """Terms that are taken at once where there are so many places: one by one unless there are many of few."""
        size = max(1, AT_ONCE // max(columns, 1)) if self.most > MANY_TERMS else 1
        return (slice(start, min(start + size, self.most)) for start in range(0, self.most, size))

    @property
    def error(self) -> float:
        """More than what t - log w_0 errs by where it is small, and than what lies beyond any place."""
        return NO_TAIL if self.log_none is None else NO_TAIL - (2.0**-95) * float(self.log_none.hi)

    def log_excess(self, t: DoubleDouble) -> DoubleDouble:
        """T = log(e^t - w_0) = t + log(1 - e^(log w_0 - t)), -inf where t is not above log w_0."""
        if self.log_none is None:
            return t
        with np.errstate(all="ignore"):
            above = t - self.log_none
            reach = above.collapse() > 0.0
            return where(reach, t + (-(-above).expm1()).log(), double_double(np.where(np.isnan(t.hi), np.nan, -np.inf)))

    def places(self, t: DoubleDouble) -> DoubleDouble:
        """x with log g(x) = t; -inf where t is not above log w_0, and inf where t is."""
        target = self.log_excess(t)
        shape, target = target.hi.shape, DoubleDouble(target.hi.ravel(), target.lo.ravel())
        heads = self.logs.hi
        with np.errstate(all="ignore"):
            x = np.full_like(target.hi, np.inf)
            for row in self.rows(x.size):
                highest = (target.hi - heads[row, None]) / self.moves.hi[1:][row, None]
                np.minimum(x, np.min(highest, axis=0), out=x)
            inside, outside = abs(x) < PLACE_MAX, np.where(x < 0.0, -np.inf, np.inf)
            x = np.where(inside, x, 0.0)
            level = np.where(inside, target.hi, heads[0])
            settled = SETTLED_UNEVEN if self.uneven else SETTLED
            for _ in range(ROOT_STEPS):
                total, slope = self._sums(heads, level, x)
                residual = np.log(total)
                x = x - residual * total / slope
                if not np.any(inside & (abs(residual) > settled)):
                    break
            polished = where(inside, target, self.logs[0])
            number = self._polished(polished, double_double(x), *self._sums(heads, level, x))
            if self.uneven:
                number = self._polished(polished, number, *self._sums(heads, level, number.hi))
        number = where(inside, number, double_double(np.where(np.isnan(target.hi), np.nan, outside)))
        return DoubleDouble(number.hi.reshape(shape), number.lo.reshape(shape))

    def places_beside(self, t: FloatArray, side: float) -> FloatArray:
        """Doubles at or below (side -1) or at or above (side 1) the place of t; -inf where there is none.

        T errs by the error of t - log w_0 divided by it, at most, and the place by that divided by s_1.
        """
        with np.errstate(all="ignore"):
            error = 0.0 if self.log_none is None else self.error / (double_double(t) - self.log_none).collapse()
            return beside(self.places(double_double(t)), error, self.least, side)

    def _sums(self, heads: FloatArray, level: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """sum e^{c_j + j mu x - T} and its slope, in plain doubles."""
        total, slope = np.zeros_like(x), np.zeros_like(x)
        for row in self.rows(x.size):
            shift = self.moves.hi[1:][row, None]
            term = np.exp((heads[row, None] - level) + shift * x)
            total += np.sum(term, axis=0)
            slope += np.sum(shift * term, axis=0)
        return total, slope

    def _polished(self, target: DoubleDouble, x: DoubleDouble, total: FloatArray, slope: FloatArray) -> DoubleDouble:
        """One step more, its residual sum - 1 in two doubles; the slope of the log of the sum is slope/total."""
        rest = double_double(np.full_like(x.hi, -1.0))
        for row in self.rows(x.hi.size):
            moves, logs = self.moves[1:][row], self.logs[row]
            seen = (logs.hi[:, None] - target.hi) + moves.hi[:, None] * x.hi > LOG_NOTHING
            which, where_seen = np.nonzero(seen)
            exponent = moves[which] * x[where_seen] + (logs[which] - target[where_seen])
            term = double_double(exponent.exp_collapsed())
            heavy = exponent.hi > LOG_SMALL
            sharp = exponent[heavy].exp()
            term.hi[heavy], term.lo[heavy] = sharp.hi, sharp.lo
            terms = double_double(np.zeros(seen.shape))
            terms.hi[seen], terms.lo[seen] = term.hi, term.lo
            rest = rest + _added(terms)
        return x + -np.log1p(rest.collapse()) * total / slope


def _added(terms: DoubleDouble) -> DoubleDouble:
    """The sum over the rows, half of them onto the other half."""
    while terms.hi.shape[0] > 1:
        half = terms.hi.shape[0] // 2
        more = terms[:half] + terms[half : 2 * half]
        odd = terms[2 * half :]
        terms = DoubleDouble(np.concatenate([more.hi, odd.hi]), np.concatenate([more.lo, odd.lo]))
    return terms[0]


def within(base: GaussianPair, counts: Sequence[Fraction]) -> bool:
    """Whether so many shifts of this noise, from the least to the largest, are neither too small nor too large."""
    with working_precision(BITS_START):
        mu = base.ball_mu()
        return resolved(mu * quotient(counts[0]), mu * quotient(counts[-1]))


def beside(place: DoubleDouble, error: FloatArray | float, mu: float, side: float) -> FloatArray:
    """Doubles at or below (side -1) or at or above (side 1) a place whose T errs by so much."""
    near = place.collapse()
    margin = 2.0**-52 * abs(near) + (error + 2.0**-78) / mu + 2.0**-78
    return np.where(np.isfinite(near), near + side * margin, near)


def mixture_numbers(base: GaussianPair, hits: ParticipationLaw) -> MixtureNumbers:
    """All of them, read off balls."""
    with working_precision(NUMBER_BITS):
        mu, weights = base.ball_mu(), hits.weights()
        shifts = [mu * quotient(count) for count in hits.counts()]
        logs = [weight.log() - shift * shift / 2 for weight, shift in zip(weights[1:], shifts[1:], strict=True)]
        return MixtureNumbers(
            None if hits.sure else ball_double_double(hits.log_none()),
            _stacked([ball_double_double(log) for log in logs]),
            _stacked([ball_double_double(shift) for shift in shifts]),
            enclosed(weights),
            enclosed(shifts),
        )


def _stacked(numbers: list[DoubleDouble]) -> DoubleDouble:
    return DoubleDouble(
        np.array([float(number.hi) for number in numbers]), np.array([float(number.lo) for number in numbers])
    )


def ball_double_double(ball: arb) -> DoubleDouble:
    """The two doubles next to a ball; its radius is far below them."""
    hi = float(ball.mid())
    return double_double(hi) + float((ball - arb(hi)).mid())
