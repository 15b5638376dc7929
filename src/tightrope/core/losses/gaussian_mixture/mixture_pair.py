"""Mixtures of Gaussian shifts: P = sum w_j N(s_j, 1), Q = N(0, 1), or the reverse; shifts s_j >= 0.

With the weights of BinomialParticipation and s_j = j mu this is a group of records under Poisson sampling, with those
of HypergeometricParticipation one under sampling of a fixed batch without replacement (facets.participation_law); one
record is a sampled Gaussian. WeightedShifts are shifts and weights of any size.
The ratio g(x) = sum w_j e^{s_j x - s_j^2/2} rises with x, so that tails are normal tails beyond g(x) = e^t, and
H(e^eps) = sum w_j [Phi(s_j - x) - e^{s_j x - s_j^2/2} Phi(-x)] at g(x) = e^eps: every term is the profile of one
Gaussian shift at its own epsilon, none is negative.
Guarantee: exact; float64 with the radii of kernels. A group is k records added, or k removed: neighbours of which some
records are added and others removed are not covered. Proof: docs/proofs/gaussian_mixture.md.
Reference: Ganesh 2024, Tight group-level DP guarantees for DP-SGD with sampling via mixture of Gaussians mechanisms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx

from ...numerics.balls import BITS_START, erfc, least_known, working_precision
from ...numerics.double_double import DoubleDouble, FloatArray, double_double, where
from ...numerics.enclosures import Enclosure, enclosed, enclosing, exact, mills
from ...numerics.enclosures import FloatArray as enclosure_FloatArray
from ...numerics.enclosures import where as enclosure_where
from ...numerics.normal import normal_tails
from ...numerics.rounding import MILLIONS, round_up
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ...values.question import Direction
from ..capabilities import Moments
from ..gaussian import INVERSE_ROOT_TWO_PI, GaussianPair, mu_value
from ..operators.registered import sampled_in_family
from ..pair import BallTails, LossRange, Pair, Tails
from ..participation_law import WeightedShifts, quotient, resolved
from ..sampled_gaussian.mixture_cgf import SampledCgf
from .mixture_likelihood import MixtureLikelihood

if TYPE_CHECKING:
    from ..cgf import Cgf
    from ..participation_law import ParticipationLaw


# The numbers of a mixture of shifts in float64, and where its likelihood ratio takes a value.
#
# g(x) = sum w_j e^{s_j x - s_j^2/2} = w_0 + e^{G(x)}, s_0 = 0 and s_j the shifts, j mu for whole hits. G, the log of a
# sum of exponentials, is convex, and its slope lies between the least shift s_1 and the largest, s_D. So G(x) = T has
# one
# root, at or below x0 = min over j of (T - c_j)/s_j, c_j = log w_j - s_j^2/2, where G is at most T + log D: Newton's
# steps from there fall to it, and are few. The last step takes its residual in two doubles, so that the root is as good
# as they are; where the shifts are of very different sizes there are two such steps.
# Guarantee: places err by at most 2^-80 (1 + |x| + 1/s_1), and by what t - log w_0 costs (`places_beside`).
# Proof: docs/proofs/gaussian_mixture.md, section 1.

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


# Profiles of mixtures of Gaussian shifts in float64, at a place x: sums of profiles of single shifts.
#
# With s = j mu, e = s x - s^2/2, n the normal density and R the Mills ratio, n(x) e^e = n(x - s), so that
# A_j = Phi(s - x) - e^e Phi(-x) = n(x - s) [R(x - s) - R(x)] from x = s on, 1 - n(x - s) [R(s - x) + R(x)] from 0 to s,
# B_j = e^e Phi(x) - Phi(x - s)  = n(x - s) [R(-x) - R(s - x)] up to x = 0, e^e - n(x - s) [R(x) + R(s - x)] up to s,
# and A_j = B_j + 1 - e^e on both sides. No term is negative, and no large factor meets a small one.
# Guarantee: the radius of kernels.enclosure. Proof: docs/proofs/gaussian_mixture.md, section 1.

TERM_FOLDS = 48.0  # e-folds below the largest bound of a term
EXPONENT_SURE = 1e12  # of a bound: larger ones err by too much
BOUNDS_MAX = 1 << 23  # numbers that are held at once


def excess_above(numbers: MixtureNumbers, x: Enclosure) -> Enclosure:
    """H(g(x)) = sum w_j A_j of the pair (mixture, normal)."""
    return _by_place(numbers, x, 0) if _wide(numbers, x) else _summed(numbers, x, 0)


def excess_below(numbers: MixtureNumbers, x: Enclosure) -> Enclosure:
    """H(1/g(x)) = sum w_j B_j / g(x) of the pair (normal, mixture)."""
    if _wide(numbers, x):
        return _by_place(numbers, x, 1)
    ratio = numbers.weights[0] + exact(np.zeros_like(x.value))
    for hits in range(1, numbers.most + 1):
        shift = numbers.shifts[hits]
        ratio = ratio + (shift * (x - shift * 0.5)).exp() * numbers.weights[hits]
    return _summed(numbers, x, 1) / ratio


def _wide(numbers: MixtureNumbers, x: Enclosure) -> bool:
    """Whether there are many terms, and fewer places."""
    return numbers.most > max(MANY_TERMS, x.value.size)


def _by_place(numbers: MixtureNumbers, x: Enclosure, which: int) -> Enclosure:
    """The same, place by place, from all terms at once."""
    shifts, weights = numbers.shifts[1:], numbers.weights[1:]
    found = []
    for value, radius in zip(x.value.ravel(), x.radius.ravel(), strict=True):
        place = Enclosure(np.full(numbers.most, value), np.full(numbers.most, radius))
        total = (excesses(place, mills(sized(place)), shifts)[which] * weights).sum()
        if which:
            total = total / (numbers.weights[0] + ((shifts * (place - shifts * 0.5)).exp() * weights).sum())
        found.append(total)
    values, radii = (np.array([float(getattr(enclosure, part)) for enclosure in found]) for part in ("value", "radius"))
    return Enclosure(values.reshape(x.value.shape), radii.reshape(x.value.shape))


def _summed(numbers: MixtureNumbers, x: Enclosure, which: int) -> Enclosure:
    """All terms but those that are nothing beside the largest: at most so many times the bound of one is added."""
    total, near = exact(np.zeros_like(x.value)), mills(sized(x))
    bounds = [_log_bound(numbers, hits, x.value, which) for hits in range(1, numbers.most + 1)] if x.value.ndim else []
    least = np.max(bounds, axis=0) - TERM_FOLDS if _few(bounds) else -np.inf
    for hits in range(1, numbers.most + 1):
        shift, weight = numbers.shifts[hits], numbers.weights[hits]
        seen = bounds[hits - 1] > least if np.ndim(least) else np.True_
        if seen.all():
            total = total + excesses(x, near, shift)[which] * weight
            continue
        more = total[seen] + excesses(x[seen], near[seen], shift)[which] * weight
        total.value[seen], total.radius[seen] = more.value, more.radius
    return Enclosure(total.value, round_up(total.radius + 2.0 * numbers.most * np.exp(least), MILLIONS))


def _log_bound(numbers: MixtureNumbers, hits: int, x: enclosure_FloatArray, which: int) -> enclosure_FloatArray:
    """Of w_j A_j <= w_j e^{-(x - s)_+^2/2}, or of w_j B_j <= w_j e^{s x - s^2/2 - (-x)_+^2/2}; about."""
    shift, log = float(numbers.shifts[hits].value), math.log(max(float(numbers.weights[hits].value), 5e-324))
    if which:
        return log + shift * (x - 0.5 * shift) - 0.5 * np.fmin(x, 0.0) ** 2
    return log - 0.5 * np.fmax(x - shift, 0.0) ** 2


def _few(bounds: list[enclosure_FloatArray]) -> bool:
    """Whether terms may be left out: roundings of the bounds are far below 1, and they fit."""
    if len(bounds) < 2 or len(bounds) * bounds[0].size > BOUNDS_MAX:
        return False
    return bool(max(float(np.max(abs(bound), initial=0.0)) for bound in bounds) < EXPONENT_SURE)


def excesses(x: Enclosure, near: Enclosure, shift: Enclosure) -> tuple[Enclosure, Enclosure]:
    """A and B of one shift; near is R(|x|)."""
    away = x - shift
    growth = shift * (x - shift * 0.5)
    density = ((away * away) * -0.5).exp() * INVERSE_ROOT_TWO_PI
    far, right, left = mills(sized(away)), away.value >= 0.0, x.value <= 0.0
    gap = density * enclosure_where(right, far - near, near - far)
    both = density * (near + far)
    above = enclosure_where(right, gap, enclosure_where(left, gap - growth.expm1(), 1.0 - both))
    below = enclosure_where(left, gap, enclosure_where(right, gap + growth.expm1(), growth.exp() - both))
    return above, below


def sized(x: Enclosure) -> Enclosure:
    """|x|."""
    return Enclosure(abs(x.value), x.radius)


# Where the likelihood ratio of a mixture of shifts takes a value, in balls.
#
# With G and T as in numbers, G(x) - T = (x - root) s for some slope s between the least shift, a mu, and the largest,
# D mu: whatever x is tried, the root lies in x - (G(x) - T) [1/(D mu), 1/(a mu)].
# Guarantee: the ball contains the root. Proof: docs/proofs/gaussian_mixture.md, section 1.

GUESS_STEPS = 60
FIRST_BITS = 40  # that steps in doubles find


def ball_root(mu: arb, hits: ParticipationLaw, t: arb) -> arb | None:
    """x with log g(x) = t, -inf where t is below log w_0; None where that cannot be told."""
    target = _log_excess(hits, t)
    if target is None or not target.is_finite():
        return target
    shifts = [mu * quotient(count) for count in hits.counts()[1:]]
    logs = [weight.log() - shift * shift / 2 for weight, shift in zip(hits.weights()[1:], shifts, strict=True)]
    plain = [(float(log.mid()), float(shift.mid())) for log, shift in zip(logs, shifts, strict=True)]
    x = arb(_guess(plain, float(target.mid())))
    middle, bits = target.mid(), FIRST_BITS
    while bits < ctx.prec:
        value, slope = _value_and_slope(shifts, logs, x)
        x = (x - (value - middle) / slope).mid()
        bits *= 2
    rest = _value_and_slope(shifts, logs, x)[0] - target
    return x - (rest / shifts[0]).union(rest / shifts[-1])


def _log_excess(hits: ParticipationLaw, t: arb) -> arb | None:
    """T = log(e^t - w_0) = t + log(1 - e^(log w_0 - t))."""
    if hits.sure:
        return t
    above = t - hits.log_none()
    if above > 0:
        return t + (-(-above).expm1()).log()
    return arb.neg_inf() if above < 0 else None


def _value_and_slope(shifts: list[arb], logs: list[arb], x: arb) -> tuple[arb, arb]:
    """G(x), and about its slope."""
    exponents = [log + shift * x for log, shift in zip(logs, shifts, strict=True)]
    top = max(exponents, key=lambda exponent: float(exponent.mid())).mid()
    terms = [(exponent - top).exp() for exponent in exponents]
    total = sum(terms, arb(0))
    slope = sum((term.mid() * shift.mid() for term, shift in zip(terms, shifts, strict=True)), arb(0)) / total.mid()
    return top + total.log(), slope.mid()


def _guess(known: list[tuple[float, float]], target: float) -> float:
    """The root in plain floats, by steps that fall to it; known: the log of each term at 0, and its shift."""
    x = min((target - log) / shift for log, shift in known)
    for _ in range(GUESS_STEPS):
        exponents = [log - target + shift * x for log, shift in known]
        top = max(exponents)  # far from 0 where doubles cannot tell T from its neighbours
        terms = [(math.exp(exponent - top), shift) for exponent, (_, shift) in zip(exponents, known, strict=True)]
        total = math.fsum(term for term, _ in terms)
        step = (top + math.log(total)) * total / math.fsum(term * shift for term, shift in terms)
        x -= step
        if abs(step) <= 2.0**-FIRST_BITS * (1.0 + abs(x)):
            break
    return x


CONTOUR_MAX = 64  # hits: a cgf with more is slower than a lattice
COST = 8  # of a term of a profile, in evaluations of a Gaussian's
BALL_TERM = 4e4  # units of a term, in balls: its weight, its place and its tails
SUMMED_AT_ONCE = 32  # terms of a sum


@dataclass(frozen=True)
class GaussianMixturePair(Pair):
    """(mixture, normal) for REMOVE, (normal, mixture) for ADD; base is one shift."""

    base: GaussianPair
    hits: ParticipationLaw
    direction: Direction

    def __post_init__(self) -> None:
        if not within(self.base, self.hits.counts()[1:]):
            raise UnsupportedMechanism("its shifts are too small or too large for its noise")

    @cached_property
    def numbers(self) -> MixtureNumbers:
        """In float64."""
        return mixture_numbers(self.base, self.hits)

    @property
    def removes(self) -> bool:
        """Whether the mixture comes first."""
        return self.direction is Direction.REMOVE

    def tails(self, t: DoubleDouble) -> Tails:
        place = self.numbers.places(t if self.removes else -t)
        above, below = self._mixed_tails(place)
        plain_above, plain_below = normal_tails(place)
        if self.removes:
            return Tails(above, plain_above, below, plain_below)
        return Tails(plain_below, below, plain_above, above)

    def _mixed_tails(self, place: DoubleDouble) -> tuple[FloatArray, FloatArray]:
        """P[x > place] and P[x <= place] of the mixture."""
        above, below = np.zeros_like(place.hi), np.zeros_like(place.hi)
        numbers = self.numbers
        terms = [(numbers.moves[index], weight) for index, weight in enumerate(numbers.weights.value) if weight]
        for start in range(
            0, len(terms), SUMMED_AT_ONCE
        ):  # sums of sums: of n terms fewer than SUMMED_AT_ONCE + n/SUMMED_AT_ONCE roundings
            more, less = np.zeros_like(place.hi), np.zeros_like(place.hi)
            for move, weight in terms[start : start + SUMMED_AT_ONCE]:
                one_above, one_below = normal_tails(place - move)
                more += weight * one_above
                less += weight * one_below
            above += more
            below += less
        return above, below

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """From places on either side of the root: H falls with epsilon."""
        with np.errstate(all="ignore"):
            most, least = self._near(epsilon.lower, -1.0), self._near(epsilon.upper, 1.0)
            floor = (-epsilon.expm1()).lower
            return enclosing(np.fmax(np.fmax(least.lower, floor), 0.0), np.fmin(most.upper, 1.0))

    def _near(self, epsilon: FloatArray, side: float) -> Enclosure:
        """H at a loss as close as doubles are, at or below epsilon (side -1) or at or above it (side 1).

        Where e^t is not told from w_0, or lies below, H is 1 - e^eps, or 0, up to the error of e^t - w_0.
        """
        numbers = self.numbers
        sign = 1.0 if self.removes else -1.0
        place = numbers.places_beside(sign * epsilon, sign * side)
        # Nothing is as far out as a place at inf, and nothing before one at -inf.
        whole, nothing = -exact(epsilon).expm1(), exact(np.zeros_like(epsilon))
        before, beyond = (whole, nothing) if self.removes else (nothing, whole)
        inside = exact(np.where(np.isfinite(place), place, 0.0))
        enclosure = (excess_above if self.removes else excess_below)(numbers, inside)
        enclosure = enclosure_where(place == -np.inf, _widened(before, numbers.error), enclosure)
        return enclosure_where(place == np.inf, _widened(beyond, NO_TAIL), enclosure)

    def ball_tails(self, t: arb) -> BallTails:
        place = self.ball_place(t if self.removes else -t)
        return BallTails(*[arb(0).union(arb(1))] * 4) if place is None else self._ball_tails_at(place)

    def _ball_tails_at(self, place: arb) -> BallTails:
        mu = self.base.ball_mu()
        terms = [
            (weight, mu * quotient(count))
            for weight, count in zip(self.hits.weights(), self.hits.counts(), strict=True)
        ]
        above = sum((weight * _sf(place - shift) for weight, shift in terms), arb(0))
        below = sum((weight * _sf(shift - place) for weight, shift in terms), arb(0))
        if self.removes:
            return BallTails(above, _sf(place), below, _sf(-place))
        return BallTails(_sf(-place), below, _sf(place), above)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """P[l > eps] - e^eps Q[l > eps].

        Where e^eps is not told from the least likelihood ratio, 1 - e^eps <= H <= max(1 - e^eps, 1 - w_0); where it is
        not told from the largest, 1/w_0, 0 <= H <= 1 - w_0 e^eps.
        """
        place = self.ball_place(epsilon if self.removes else -epsilon)
        if place is None:
            log_none = self.hits.log_none()
            if self.removes:
                return (-epsilon.expm1()).union(-log_none.expm1())
            return arb(0).union(-(log_none + epsilon).expm1())
        if not place.is_finite():
            return -epsilon.expm1() if self.removes else arb(0)
        tails = self._ball_tails_at(place)
        return tails.p_above - epsilon.exp() * tails.q_above

    def ball_place(self, t: arb) -> arb | None:
        """x with log g(x) = t, -inf where t is below log w_0; None where that cannot be told."""
        compute_budget.spend(BALL_TERM * len(self.hits.counts()))
        return ball_root(self.base.ball_mu(), self.hits, t)

    def reversed(self) -> GaussianMixturePair:
        return GaussianMixturePair(self.base, self.hits, self.direction.opposite)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        none = self.hits.log_none()
        return LossRange(none, arb.pos_inf()) if self.removes else LossRange(arb.neg_inf(), -none)

    def hockey_stick_cost(self) -> int:
        return COST * len(self.hits.counts())

    def cgf(self) -> Cgf | None:

        if self.hits.most > CONTOUR_MAX:
            return None
        return SampledCgf(self.base, MixtureLikelihood(mu_value(self.base), self.hits), 1 if self.removes else -1)

    def moments(self) -> GaussianMixtureMoments:
        return GaussianMixtureMoments(self)


class GaussianMixtureMoments(Moments[GaussianMixturePair]):
    def zcdp_rho(self) -> arb | None:
        """That of the largest shift: Renyi divergences are quasi-convex (van Erven, Harremoes 2014, Thm 13)."""
        return least_known(self.pair.base.moments().zcdp_rho() * self.pair.hits.most**2, super().zcdp_rho())

    def gdp_mu(self) -> arb:
        """The largest shift dominates the others, and the mixture with each of them shown."""
        return self.pair.base.moments().gdp_mu() * self.pair.hits.most

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """A share w_most of the mixture is the largest shift."""
        return self.gdp_mu() if direction is self.pair.direction else None


@sampled_in_family.register(GaussianMixturePair)
def _(pair: GaussianMixturePair, rate: float, direction: Direction) -> Pair | None:
    """Of uneven shifts: one more share of 0."""
    if isinstance(pair.hits, WeightedShifts) and direction is pair.direction:
        return GaussianMixturePair(pair.base, pair.hits.sampled(Fraction(rate)), direction)
    return None


def _widened(value: Enclosure, error: float) -> Enclosure:
    return Enclosure(value.value, value.radius + error)


def _sf(z: arb) -> arb:
    if not z.is_finite() and not z.is_nan():
        return arb(0) if z > 0 else arb(1)
    return erfc(z / arb(2).sqrt()) / 2
