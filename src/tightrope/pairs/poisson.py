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

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from ..facets.atoms import Atoms
from ..kernels.directed import next_down, next_up
from ..kernels.enclosure import Enclosure, enclosing, exact, where
from ..kernels.twofold import Twofold, twofold
from ..kernels.twofold import where as choose
from ..pair import BallTails, LossRange, Pair, Tails
from ..relation import Direction
from .finite.pair import FinitePair, ResponseLaw, SampledAddLaw, SampledRemoveLaw, sampled_loss


def poisson_pair(base: Pair, rate: float, direction: Direction) -> Pair:
    """The sampled pair for a rate below 1; a finite pair stays finite."""
    if rate == 0.0:
        return FinitePair(ResponseLaw(0.0, 0.0, 2))
    remove = direction is Direction.REMOVE
    if isinstance(base, FinitePair):
        return FinitePair(SampledRemoveLaw(base.law, rate) if remove else SampledAddLaw(base.law, rate))
    return PoissonRemove(base, rate) if remove else PoissonAdd(base, rate)


class Inner(NamedTuple):
    """H'(e^epsilon) = factor H(e^u), H the profile of the base."""

    factor: arb
    epsilon: arb | None


def sampled_once(pair: Pair) -> tuple[Pair, Pair]:
    """A sample of a sample is one sample, at the product of the rates: the pairs at the doubles below and above it.

    The first is dominated by the pair, the second dominates it; where there is nothing to join, both are the pair.
    Proof: docs/proofs/poisson.md.
    """
    rate, base = Fraction(1), pair
    while isinstance(base, PoissonRemove | PoissonAdd) and type(base) is type(pair):
        rate, base = rate * Fraction(base.rate), base.base
    if not isinstance(pair, PoissonRemove | PoissonAdd) or base is pair.base or rate < LEAST_RATE:
        return pair, pair
    near = float(rate)
    below = near if Fraction(near) <= rate else next_down(near)
    above = near if Fraction(near) >= rate else next_up(near)
    return tuple(base if each == 1.0 else type(pair)(base, each) for each in (below, above))  # type: ignore[return-value]


LEAST_RATE = 2.0**-1000  # its neighbours are normal doubles


@dataclass(frozen=True, slots=True)
class PoissonRemove(Pair):
    """((1 - rate) Q + rate P, Q) for a base pair (P, Q) and 0 < rate < 1."""

    base: Pair
    rate: float

    def tails(self, t: Twofold) -> Tails:
        above, reach = _inner_loss(t, self.rate)
        inner = self.base.tails(above)
        kept = 1.0 - self.rate
        return Tails(
            p_above=np.where(reach, kept * inner.q_above + self.rate * inner.p_above, 1.0),
            q_above=np.where(reach, inner.q_above, 1.0),
            p_below=np.where(reach, kept * inner.q_below + self.rate * inner.p_below, 0.0),
            q_below=np.where(reach, inner.q_below, 0.0),
        )

    def profile(self, epsilon: Enclosure) -> Enclosure:
        with np.errstate(all="ignore"):
            growth = epsilon.expm1() / self.rate
            inside = growth.lower > -1.0
            near = where(inside, growth, exact(np.zeros_like(growth.value))).log1p()
            kept = 1.0 - exact(self.rate)
            far = epsilon - exact(self.rate).log() + (-(kept * (-epsilon).exp())).log1p()  # e^eps would overflow
            large = epsilon.value > 1.0
            amplified = self.base.profile(where(large, far, near)) * self.rate
            outside = -epsilon.expm1()
            # Where alpha cannot be told from 1 - r: 1 - alpha <= H' <= max(1 - alpha, r).
            edge = enclosing(np.maximum(outside.lower, 0.0), np.maximum(outside.upper, self.rate))
            return where(inside | large, amplified, where(growth.upper < -1.0, outside, edge))

    def ball_tails(self, t: arb) -> BallTails:
        rate, growth = arb(self.rate), t.expm1() / arb(self.rate)
        before = BallTails(arb(1), arb(1), arb(0), arb(0))
        if growth < -1:
            return before
        inner = self.base.ball_tails(growth.log1p())
        after = BallTails(
            (1 - rate) * inner.q_above + rate * inner.p_above,
            inner.q_above,
            (1 - rate) * inner.q_below + rate * inner.p_below,
            inner.q_below,
        )
        return after if growth > -1 else _either(before, after)

    def ball_inner(self, epsilon: arb) -> Inner:
        """rate and u for any epsilon >= 0, without e^epsilon where that is large."""
        rate = arb(self.rate)
        if epsilon > 1:
            return Inner(rate, epsilon - rate.log() + ((rate - 1) * (-epsilon).exp()).log1p())
        return Inner(rate, (epsilon.expm1() / rate).log1p())

    def ball_loss(self, loss: arb) -> arb:
        """What a loss of the base becomes."""
        return sampled_loss(loss, arb(self.rate))

    def ball_profile(self, epsilon: arb) -> arb:
        growth = epsilon.expm1() / arb(self.rate)
        if growth > -1:
            return arb(self.rate) * self.base.ball_profile(growth.log1p())
        outside = -epsilon.expm1()
        if growth < -1:
            return outside
        # alpha cannot be told from 1 - r: 1 - alpha <= H' <= max(1 - alpha, r).
        return outside.union(arb(self.rate))

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
        unbounded = not self.base.reversed().infinite_mass().is_zero() or not lowest.is_finite()
        return LossRange(
            (-rate).log1p() if unbounded else (rate * lowest.expm1()).log1p(),
            (rate * highest.expm1()).log1p() if highest.is_finite() else highest,
        )


@dataclass(frozen=True, slots=True)
class PoissonAdd(Pair):
    """(P, (1 - rate) P + rate Q) for the base pair (P, Q) of the add direction and 0 < rate < 1."""

    base: Pair
    rate: float

    def tails(self, t: Twofold) -> Tails:
        below, reach = _inner_loss(-t, self.rate)
        reach &= below.hi > -np.inf
        inner = self.base.tails(-below)
        kept = 1.0 - self.rate
        return Tails(
            p_above=np.where(reach, inner.p_above, 0.0),
            q_above=np.where(reach, kept * inner.p_above + self.rate * inner.q_above, 0.0),
            p_below=np.where(reach, inner.p_below, 1.0),
            q_below=np.where(reach, kept * inner.p_below + self.rate * inner.q_below, 1.0),
        )

    def profile(self, epsilon: Enclosure) -> Enclosure:
        with np.errstate(all="ignore"):
            growth = (-epsilon).expm1() / self.rate  # in (-1, inf) where the loss can exceed eps
            factor = 1.0 - (1.0 - exact(self.rate)) * epsilon.exp()
            better = epsilon.exp() * self.rate * (1.0 + growth)  # the same number, precise next to its zero
            factor = where(better.radius < factor.radius, better, factor)
            inside = growth.lower > -1.0
            mapped = -(where(inside, growth, exact(np.zeros_like(growth.value))).log1p())
            reduced = factor * self.base.profile(mapped)
            # Next to the supremum 0 <= H' <= factor, because the base profile lies in [0, 1].
            edge = enclosing(np.zeros_like(factor.value), np.clip(factor.upper, 0.0, 1.0))
            certain = growth.upper <= -1.0
            return where(inside, reduced, where(certain, exact(np.zeros_like(growth.value)), edge))

    def ball_tails(self, t: arb) -> BallTails:
        rate, growth = arb(self.rate), (-t).expm1() / arb(self.rate)
        after = BallTails(arb(0), arb(0), arb(1), arb(1))
        if growth <= -1:
            return after
        if not growth > -1:
            # t cannot be told from the supremum: all that is known is the order of the tails.
            return BallTails(*(arb(0).union(arb(1)) for _ in after))
        inner = self.base.ball_tails(-growth.log1p())
        return BallTails(
            inner.p_above,
            (1 - rate) * inner.p_above + rate * inner.q_above,
            inner.p_below,
            (1 - rate) * inner.p_below + rate * inner.q_below,
        )

    def ball_inner(self, epsilon: arb) -> Inner:
        """1 - (1 - rate) alpha and u; without u the factor is an enclosure of H' itself."""
        growth = (-epsilon).expm1() / arb(self.rate)
        if growth <= -1:
            return Inner(arb(0), None)
        factor = epsilon.exp() * arb(self.rate) * (1 + growth)
        return Inner(factor, -growth.log1p()) if growth > -1 else Inner(arb(0).union(factor), None)

    def ball_loss(self, loss: arb) -> arb:
        """What a loss of the base becomes."""
        return -sampled_loss(-loss, arb(self.rate))

    def ball_profile(self, epsilon: arb) -> arb:
        factor, inner = self.ball_inner(epsilon)
        return factor if inner is None else factor * self.base.ball_profile(inner)

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
        unbounded = not self.base.infinite_mass().is_zero() or not highest.is_finite()
        return LossRange(
            -(rate * (-lowest).expm1()).log1p() if lowest.is_finite() else lowest,
            -(-rate).log1p() if unbounded else -(rate * (-highest).expm1()).log1p(),
        )


def _inner_loss(t: Twofold, rate: float) -> tuple[Twofold, npt.NDArray[np.bool_]]:
    """u = log(1 + (e^t - 1)/r) and where it exists, -inf elsewhere; e^t may overflow where u does not."""
    growth = t.expm1() / rate
    reach = (growth + 1.0).collapse() >= 0.0
    loss = choose(reach, growth, twofold(-1.0)).log1p()
    large = t.hi > 1.0
    if large.any():
        loss = choose(large, t - twofold(rate).log() + ((twofold(rate) - 1.0) * (-t).exp()).log1p(), loss)
    return loss, np.asarray(reach)


def _mixed(base: Atoms, rate: float) -> Atoms:
    """(p, q, l) -> ((1 - r) q + r p, q, log(1 + r (e^l - 1))); what was lost is an atom at log(1 - r)."""
    kept = 1.0 - exact(rate)
    near = (base.loss.expm1() * rate).log1p()
    far = base.loss + exact(rate).log() + (kept / rate * (-base.loss).exp()).log1p()  # e^l would overflow
    p, q, loss = kept * base.q + base.p * rate, base.q, where(base.loss.value > FAR, far, near)
    if base.lost.upper > 0.0:
        p, q, loss = _after(kept * base.lost, p), _after(base.lost, q), _after((-exact(rate)).log1p(), loss)
    infinite = base.infinite * rate if base.infinite.upper > 0.0 else base.infinite
    return Atoms(p, q, loss, infinite, exact(0.0), base.left_out)


def _after(first: Enclosure, others: Enclosure) -> Enclosure:
    return Enclosure(np.append(first.value, others.value), np.append(first.radius, others.radius))


FAR = 600.0  # loss; the doubles end at 709


def _either(one: BallTails, other: BallTails) -> BallTails:
    return BallTails(*(a.union(b) for a, b in zip(one, other, strict=True)))
