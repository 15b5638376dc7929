"""Pairs under Poisson sampling, by the map that the mixture makes on losses.

REMOVE, ((1 - r) Q + r P, Q): a loss l becomes log(1 + r (e^l - 1)), so with u(t) = log(1 + (e^t - 1)/r)
q'(t) = q(u), p'(t) = (1 - r) q(u) + r p(u) and H'(alpha) = r H(1 + (alpha - 1)/r) for alpha > 1 - r, 1 - alpha below.
ADD, (P, (1 - r) P + r Q) of the base pair of that direction: a loss l becomes -log(1 + r (e^-l - 1)), so with
u(t) = -log(1 + (e^-t - 1)/r), p'(t) = p(u), q'(t) = (1 - r) p(u) + r q(u) and
H'(alpha) = (1 - (1 - r) alpha) H(r alpha / (1 - (1 - r) alpha)) for alpha < 1/(1 - r), 0 above.
Both profiles are products: nothing cancels.
Guarantee: exact; float64 with the radius of kernels.enclosure. Proof: docs/proofs/poisson.md.
Reference: Zhu, Dong, Wang 2021, Thm 11.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from flint import arb

from ...numerics.balls import least_known
from ...numerics.double_double import DoubleDouble
from ...numerics.enclosures import Enclosure, enclosing, exact, where
from ...numerics.mixture import mixed, mixed_enclosure, reaches, unmixed, unmixed_double_double, unmixed_enclosure
from ...numerics.rounding import next_down, next_up
from ...values.question import Direction
from ..atoms import Atoms
from ..capabilities import Moments, ParameterBinning
from ..cgf import cumulant_above
from ..pair import BallTails, LossRange, Pair, Sampling, Tails, VisibleParticipation
from .product import ProductPair
from .registered import (
    bin_parameters,
    bin_sampled,
    dominates,
    has_bracket_only,
    is_opaque,
    remake,
    sampled_cgf,
    sampled_in_family,
    sampling_of,
    visible_participation,
)

if TYPE_CHECKING:
    from ..cgf import Cgf


LEAST_RATE = 2.0**-1000  # its neighbours are normal doubles


def poisson_pair(base: Pair, rate: float, direction: Direction) -> Pair:
    """The sampled pair for a rate between 0 and 1: of the family of its base where that is one, else the mixture."""
    known = sampled_in_family(base, rate, direction)
    if known is not None:
        return known
    base = ProductPair(((base, 1),)) if is_opaque(base) else base
    return PoissonRemove(base, rate) if direction is Direction.REMOVE else PoissonAdd(base, rate)


def sampled_once(pair: Pair) -> tuple[Pair, Pair]:
    """A sample of a sample is one sample, at the product of the rates: the pairs at the doubles below and above it.

    The first is dominated by the pair, the second dominates it; where there is nothing to join, both are the pair.
    Proof: docs/proofs/poisson.md.
    """
    outer = sampling_of(pair)
    rate, base, layers = Fraction(1), pair, 0
    while outer is not None and (inner := sampling_of(base)) is not None and inner.direction is outer.direction:
        rate, base, layers = rate * Fraction(inner.rate), inner.base, layers + 1
    if outer is None or layers == 1 or rate < LEAST_RATE:
        return pair, pair
    found = [base if end == 1.0 else poisson_pair(base, end, outer.direction) for end in rate_ends(rate)]
    return found[0], found[1]


def rate_ends(rate: Fraction) -> tuple[float, float]:
    """The doubles at or below and at or above a rate: the pair at the first is dominated, that at the second dominates.

    Proof: docs/proofs/poisson.md.
    """
    near = float(rate)
    below = near if Fraction(near) <= rate else next_down(near)
    return below, near if Fraction(near) >= rate else next_up(near)


class Inner(NamedTuple):
    """H'(e^epsilon) = factor H(e^u), H the profile of the base; without a u the factor encloses H' itself."""

    factor: arb
    epsilon: arb | None


def ball_inner(sampling: Sampling, epsilon: arb) -> Inner:
    """What the profile of a sample is in that of its base."""
    rate = arb(sampling.rate)
    if sampling.direction is Direction.REMOVE:
        reach = reaches(epsilon, rate)
        if reach:
            return Inner(rate, unmixed(epsilon, rate))
        outside = -epsilon.expm1()
        # Where alpha cannot be told from 1 - r: 1 - alpha <= H' <= max(1 - alpha, r).
        return Inner(outside if reach is False else outside.union(rate), None)
    reach = reaches(-epsilon, rate)
    if reach is False:
        return Inner(arb(0), None)
    factor = epsilon.exp() * rate * (1 + (-epsilon).expm1() / rate)
    # Next to the supremum 0 <= H' <= factor, because the base profile lies in [0, 1].
    return Inner(factor, -unmixed(-epsilon, rate)) if reach else Inner(arb(0).union(factor), None)


def ball_loss(sampling: Sampling, loss: arb) -> arb:
    """What a loss of the base becomes."""
    rate = arb(sampling.rate)
    return mixed(loss, rate) if sampling.direction is Direction.REMOVE else -mixed(-loss, rate)


@dataclass(frozen=True, slots=True)
class PoissonPair(Pair):
    """A mixture of the laws of a base pair, 0 < rate < 1: what both directions share."""

    base: Pair
    rate: float
    direction: ClassVar[Direction]

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        factor, inner = ball_inner(Sampling(self.base, self.rate, self.direction), epsilon)
        return factor if inner is None else factor * self.base.ball_hockey_stick(inner)

    def hockey_stick_cost(self) -> int:
        return self.base.hockey_stick_cost()

    def cgf(self) -> Cgf | None:
        return sampled_cgf(self.base, self.rate, self.direction)

    def moments(self) -> PoissonMoments:
        return PoissonMoments(self)


@remake.register(PoissonPair)
def _(pair: PoissonPair, bases: tuple[Pair, ...]) -> Pair:
    return poisson_pair(bases[0], pair.rate, pair.direction)


class PoissonMoments(Moments[PoissonPair]):
    def zcdp_rho(self) -> arb | None:
        return least_known(self.pair.base.moments().zcdp_rho(), super().zcdp_rho())

    def gdp_mu(self) -> arb | None:
        """That of the base at most, which dominates it."""
        return least_known(self.pair.base.moments().gdp_mu(), super().gdp_mu())

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """That of the base: a share `rate` of the mixture is its law."""
        return self.pair.base.moments().gdp_mu_lower(direction) if direction is self.pair.direction else None


@visible_participation.register(PoissonPair)
def _(pair: PoissonPair) -> VisibleParticipation | None:
    """From a base whose loss is normal: hits where it exceeds l0 = log((1 - r)/r)."""
    base, rate = visible_participation(pair.base), arb(pair.rate)
    if base is None or base.chance < 1.0:
        return None
    tails = pair.base.ball_tails(((1 - rate) / rate).log())
    missed, mistaken = tails.p_below, tails.q_above
    if pair.direction is Direction.REMOVE:
        return VisibleParticipation(pair.rate, base.variance, arb(0), rate * missed + (1 - rate) * mistaken, arb(0))
    blur = (rate * missed / ((1 - rate) * (1 - mistaken))).log1p()
    return VisibleParticipation(0.0, arb(0), -(-rate).log1p(), mistaken, blur)


@bin_parameters.register(PoissonPair)
def _(pair: PoissonPair, like: Sequence[tuple[Pair, int]], cells: int, mixed: bool) -> ParameterBinning | None:

    return bin_sample_parameters(like, cells, mixed)


@dominates.register(PoissonPair)
def _(pair: PoissonPair, other: Pair) -> bool:
    """More of a base that dominates."""
    like = sampling_of(other)
    if like is not None and like.direction is pair.direction and pair.rate >= like.rate:
        return dominates(pair.base, like.base)
    return False


@has_bracket_only.register(PoissonPair)
def _(pair: PoissonPair) -> bool:
    return has_bracket_only(pair.base)


@sampling_of.register(PoissonPair)
def _(pair: PoissonPair) -> Sampling:
    return Sampling(pair.base, pair.rate, pair.direction)


@dataclass(frozen=True, slots=True)
class PoissonRemove(PoissonPair):
    """((1 - rate) Q + rate P, Q)."""

    direction = Direction.REMOVE

    def tails(self, t: DoubleDouble) -> Tails:
        loss, reach = unmixed_double_double(t, self.rate)
        inner, kept = self.base.tails(loss), 1.0 - self.rate
        return Tails(
            p_above=np.where(reach, kept * inner.q_above + self.rate * inner.p_above, 1.0),
            q_above=np.where(reach, inner.q_above, 1.0),
            p_below=np.where(reach, kept * inner.q_below + self.rate * inner.p_below, 0.0),
            q_below=np.where(reach, inner.q_below, 0.0),
        )

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        with np.errstate(all="ignore"):
            loss, inside, below = unmixed_enclosure(epsilon, self.rate)
            amplified = self.base.hockey_stick(loss) * self.rate
            outside = -epsilon.expm1()
            # Where alpha cannot be told from 1 - r: 1 - alpha <= H' <= max(1 - alpha, r).
            edge = enclosing(np.maximum(outside.lower, 0.0), np.maximum(outside.upper, self.rate))
            return where(inside, amplified, where(below, outside, edge))

    def ball_tails(self, t: arb) -> BallTails:
        rate = arb(self.rate)
        reach = reaches(t, rate)
        before = BallTails(arb(1), arb(1), arb(0), arb(0))
        if reach is False:
            return before
        inner = self.base.ball_tails(unmixed(t, rate))
        after = BallTails(
            (1 - rate) * inner.q_above + rate * inner.p_above,
            inner.q_above,
            (1 - rate) * inner.q_below + rate * inner.p_below,
            inner.q_below,
        )
        return after if reach else BallTails(*(a.union(b) for a, b in zip(before, after, strict=True)))

    def reversed(self) -> Pair:
        return PoissonAdd(self.base.reversed(), self.rate)

    def atoms(self) -> Atoms | None:
        base = self.base.atoms()
        return None if base is None else _mixed(base, self.rate)

    def infinite_mass(self) -> arb:
        return arb(self.rate) * self.base.infinite_mass()

    def loss_range(self) -> LossRange:
        lowest, highest = self.base.loss_range()
        rate = arb(self.rate)
        return LossRange(
            _end((-rate).log1p(), mixed(lowest, rate), self.base.reversed().infinite_mass()),
            mixed(highest, rate) if highest.is_finite() else highest,
        )

    def moments(self) -> PoissonRemoveMoments:
        return PoissonRemoveMoments(self)


class PoissonRemoveMoments(PoissonMoments):
    def log_moment_above(self, order: float) -> arb | None:
        return _by_convexity(self.pair.base, arb(self.pair.rate), order, arb(0))


@dataclass(frozen=True, slots=True)
class PoissonAdd(PoissonPair):
    """(P, (1 - rate) P + rate Q) for the base pair (P, Q) of the add direction."""

    direction = Direction.ADD

    def tails(self, t: DoubleDouble) -> Tails:
        loss, reach = unmixed_double_double(-t, self.rate)
        reach &= loss.hi > -np.inf
        inner, kept = self.base.tails(-loss), 1.0 - self.rate
        return Tails(
            p_above=np.where(reach, inner.p_above, 0.0),
            q_above=np.where(reach, kept * inner.p_above + self.rate * inner.q_above, 0.0),
            p_below=np.where(reach, inner.p_below, 1.0),
            q_below=np.where(reach, kept * inner.p_below + self.rate * inner.q_below, 1.0),
        )

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        with np.errstate(all="ignore"):
            loss, inside, beyond = unmixed_enclosure(-epsilon, self.rate)
            factor = 1.0 - (1.0 - exact(self.rate)) * epsilon.exp()
            better = epsilon.exp() * self.rate * (1.0 + (-epsilon).expm1() / self.rate)  # precise next to its zero
            factor = where(better.radius < factor.radius, better, factor)
            # Next to the supremum 0 <= H' <= factor, because the base profile lies in [0, 1].
            edge = enclosing(np.zeros_like(factor.value), np.clip(factor.upper, 0.0, 1.0))
            nothing = exact(np.zeros_like(factor.value))
            return where(inside, factor * self.base.hockey_stick(-loss), where(beyond, nothing, edge))

    def ball_tails(self, t: arb) -> BallTails:
        rate = arb(self.rate)
        reach = reaches(-t, rate)
        if reach is False:
            return BallTails(arb(0), arb(0), arb(1), arb(1))
        if reach is None:
            # t cannot be told from the supremum: all that is known is the order of the tails.
            return BallTails(*[arb(0).union(arb(1))] * 4)
        inner = self.base.ball_tails(-unmixed(-t, rate))
        return BallTails(
            inner.p_above,
            (1 - rate) * inner.p_above + rate * inner.q_above,
            inner.p_below,
            (1 - rate) * inner.p_below + rate * inner.q_below,
        )

    def reversed(self) -> Pair:
        return PoissonRemove(self.base.reversed(), self.rate)

    def atoms(self) -> Atoms | None:
        base = self.base.atoms()
        return None if base is None else _mixed(base.reversed(), self.rate).reversed()

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        lowest, highest = self.base.loss_range()
        rate = arb(self.rate)
        return LossRange(
            -mixed(-lowest, rate) if lowest.is_finite() else lowest,
            _end(-(-rate).log1p(), -mixed(-highest, rate), self.base.infinite_mass()),
        )

    def moments(self) -> PoissonAddMoments:
        return PoissonAddMoments(self)


class PoissonAddMoments(PoissonMoments):
    def log_moment_above(self, order: float) -> arb | None:
        """The base's infinite mass w is an atom of the finite loss -log(1 - rate)."""
        rate = arb(self.pair.rate)
        atom = self.pair.base.infinite_mass() * ((1 - rate) ** -arb(order) - (1 - rate))
        return _by_convexity(self.pair.base, rate, order, atom)


def _end(far: arb, near: arb, mass: arb) -> arb:
    """The last loss: far where the base has mass beyond all finite losses or no end, the hull where that is open.

    Where nothing is known of the base's last loss (NaN), nothing is of this.
    """
    told = near.is_finite() or near.is_nan()
    if mass.is_zero() and told:
        return near
    return far if mass > 0 or not told else far.union(near)


def _mixed(base: Atoms, rate: float) -> Atoms:
    """(p, q, l) -> ((1 - r) q + r p, q, log(1 + r (e^l - 1))); what was lost is an atom at log(1 - r)."""
    kept = 1.0 - exact(rate)
    p, q, loss = kept * base.q + base.p * rate, base.q, mixed_enclosure(base.loss, rate)
    if base.lost.upper > 0.0:
        p, q, loss = _after(kept * base.lost, p), _after(base.lost, q), _after((-exact(rate)).log1p(), loss)
    infinite = base.infinite * rate if base.infinite.upper > 0.0 else base.infinite
    return Atoms(p, q, loss, infinite, exact(0.0), base.left_out)


def _after(first: Enclosure, others: Enclosure) -> Enclosure:
    return Enclosure(np.append(first.value, others.value), np.append(first.radius, others.radius))


def _by_convexity(base: Pair, rate: arb, order: float, atom: arb) -> arb | None:
    """E[e^(c l')] <= 1 - r + r E[e^(c l)], by convexity of the f-divergence x^(c+1), and what an atom adds.

    Proof: docs/proofs/classic.md, section 4.
    """
    above = cumulant_above(base, order)
    return (rate * arb(above).expm1() + atom).log1p() if math.isfinite(above) else None


# Poisson samples of many kinds between fewer: bases of one rate as their family pools them, rates by the next ones.
#
# A sample at a higher rate dominates one at a lower rate of the same base, so each of many rates is replaced by one of
# fewer on either side.
# Guarantee: as facets.parameter_binning says. Proof: docs/proofs/poisson.md and docs/proofs/pools.md, section 4.

Samples = list[tuple[Sampling, int]]
BINNING_RATES_MAX = 8  # that are kept as they are


def bin_sample_parameters(like: Sequence[tuple[Pair, int]], cells: int, mixed: bool) -> ParameterBinning | None:
    """Pools of samples of one direction; None where they would be no fewer."""
    samples: Samples = [(known, count) for pair, count in like if (known := sampling_of(pair)) is not None]
    if len(like) <= 2 * cells or len(samples) < len(like):
        return None
    rates = sorted({sample.rate for sample, _ in samples})
    if len(rates) <= BINNING_RATES_MAX:
        return _by_rate(samples, cells, mixed)
    bases = len({sample.base for sample, _ in samples})
    kinds = cells if bases == 1 else min(len(rates), 2 * math.isqrt(cells))
    kept = sorted({rates[index * (len(rates) - 1) // kinds] for index in range(kinds + 1)})
    below = [
        (sampling._replace(rate=kept[bisect_right(kept, sampling.rate) - 1]), count) for sampling, count in samples
    ]
    above = [(sampling._replace(rate=kept[bisect_left(kept, sampling.rate)]), count) for sampling, count in samples]
    return ParameterBinning(_by_rate(below, cells, mixed).below, _by_rate(above, cells, mixed).above)


def _by_rate(samples: Samples, cells: int, mixed: bool) -> ParameterBinning:
    """The bases of each rate by themselves."""
    groups: dict[tuple[float, Direction, type[Pair]], dict[Pair, int]] = {}
    for sample, count in samples:
        group = groups.setdefault((sample.rate, sample.direction, type(sample.base)), {})
        group[sample.base] = group.get(sample.base, 0) + count
    pools = ParameterBinning([], [])
    for (rate, direction, _), bases in groups.items():
        make = partial(poisson_pair, rate=rate, direction=direction)
        uses = list(bases.items())
        pooled = bin_sampled(uses[0][0], uses, make, max(1, cells // len(groups)), mixed)
        same = [(make(base), count) for base, count in uses]
        pools.below.extend(same if pooled is None else pooled.below)
        pools.above.extend(same if pooled is None else pooled.above)
    return pools
