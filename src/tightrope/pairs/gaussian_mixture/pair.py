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

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ... import compute_budget
from ...errors import UnsupportedMechanism
from ...facets.moments import Moments
from ...facets.participation_law import WeightedShifts, quotient
from ...kernels.ball import erfc, least_known
from ...kernels.double_double import DoubleDouble, FloatArray
from ...kernels.enclosure import Enclosure, enclosing, exact, where
from ...kernels.normal import normal_tails
from ...operators import sampled_in_family
from ...pair import BallTails, LossRange, Pair, Tails
from ...relation import Direction
from ..gaussian.pair import GaussianPair
from .ball_root import ball_root
from .excess import excess_above, excess_below
from .numbers import NO_TAIL, MixtureNumbers, mixture_numbers, within

if TYPE_CHECKING:
    from ...facets.cgf import Cgf
    from ...facets.participation_law import ParticipationLaw

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
        enclosure = where(place == -np.inf, _widened(before, numbers.error), enclosure)
        return where(place == np.inf, _widened(beyond, NO_TAIL), enclosure)

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
        from ..gaussian.cgf import mu_value
        from ..sampled_gaussian.cgf import SampledCgf
        from .mixture_likelihood import MixtureLikelihood

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
