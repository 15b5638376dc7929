"""The pair of a record that takes part in one of t steps, chosen uniformly: one of t copies of Q is replaced by P.

With Y_i = dP/dQ of step i under Q and L = (Y_1 + ... + Y_t)/t,
    REMOVE   (mean over i of Q^(i-1) P Q^(t-i), Q^t):  H(a) = w + E(L - a)_+, w = P[Y = inf]
    ADD      (Q^t, the same mean):                      H(a) = E(1 - a L)_+
Both grow with the law of Y in convex order, so one law above and one below give two finite pairs (laws.py, ends.py).
The base of ADD is of that direction, (without the record, with it): there Y = dQ/dP under P.
Guarantee: `bracket` is lower and upper. Proof: docs/proofs/allocation.md.
Reference: Chua et al. 2025, "Balls-and-bins sampling for DP-SGD"; Feldman, Shenfeld 2025, "Privacy amplification by
random allocation".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cumulant import cumulant_above
from ...facets.moments import Moments
from ...facets.resolution import Resolution
from ...kernels.ball import BITS_START, working_precision
from ...operators import allocated_pair_of, has_bracket_only, hidden_participation, is_opaque, remake, simpler_ends
from ...pair import LossRange, Pair
from ...relation import Direction
from ..poisson import poisson_pair, rate_ends
from ..product import ProductPair

if TYPE_CHECKING:
    from .smooth import Tables


@dataclass(frozen=True)
class AllocatedPair(Pair):
    """One of so many steps, two or more; the base is the pair of one step, of this direction."""

    base: Pair
    steps: int
    direction: Direction

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of one of many steps is not known by itself; engine='joint' composes it")

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> AllocatedPair:
        return AllocatedPair(self.base.reversed(), self.steps, self.direction.opposite)

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def infinite_mass(self) -> arb:
        """The chosen step has it, or for ADD every step."""
        mass = self.base.infinite_mass()
        return mass if self.direction is Direction.REMOVE else mass**self.steps

    def loss_range(self) -> LossRange:
        """A mean lies between the least and the largest; with zeros among its terms it may be less by 1/t."""
        lowest, highest = self.base.loss_range()
        if self.direction is Direction.REMOVE:
            lost = not self.base.reversed().infinite_mass().is_zero()
            return LossRange(lowest - arb(self.steps).log() if lost else lowest, highest)
        lost = not self.base.infinite_mass().is_zero()
        return LossRange(lowest, highest + arb(self.steps).log() if lost else highest)

    def _moments_below_base(self) -> bool:
        """Whether finite losses have no larger moments than those of the base, which dominates it.

        Not where what the base has at infinite loss becomes finite: for ADD, means of zeros and others.
        Proof: docs/proofs/allocation.md, section 2.
        """
        return self.direction is Direction.REMOVE or bool(self.base.infinite_mass().is_zero())

    @cached_property
    def _tables(self) -> Tables:
        return {}

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        from .power import mean_pairs
        from .smooth import smooth_pairs

        step = self.base if self.direction is Direction.REMOVE else self.base.reversed()
        smooth = smooth_pairs(step, self.steps, self.direction, fine, self._tables)
        if smooth is not None:
            return smooth
        if fine.proof:
            raise UnsupportedMechanism("its law is computed in float64; ask without proof")
        with working_precision(BITS_START):
            return mean_pairs(step, self.steps, self.direction, fine)

    def moments(self) -> AllocatedMoments:
        return AllocatedMoments(self)


@remake.register(AllocatedPair)
def _(pair: AllocatedPair, bases: tuple[Pair, ...]) -> Pair:
    return allocated_pair(bases[0], pair.steps, pair.direction)


class AllocatedMoments(Moments[AllocatedPair]):
    def log_moment_above(self, order: float) -> arb | None:
        return arb(cumulant_above(self.pair.base, order)) if self.pair._moments_below_base() else None

    def zcdp_rho(self) -> arb | None:
        return self.pair.base.moments().zcdp_rho() if self.pair._moments_below_base() else None

    def gdp_mu(self) -> arb | None:
        return self.pair.base.moments().gdp_mu()

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """Of the record in one step at least: L >= Y_1/t, so that H(a) >= H_base(t a)/t, whatever the others show."""
        return self.pair.base.moments().gdp_mu_lower(direction) if direction is self.pair.direction else None


@simpler_ends.register(AllocatedPair)
def _(own: AllocatedPair) -> tuple[tuple[Pair, ...], Pair]:
    """What the first step alone shows, or the largest or the sum of all; and one step, the base.

    Proof: docs/proofs/allocation.md, section 2.
    """
    first = poisson_pair(own.base, rate_ends(Fraction(1, own.steps))[0], own.direction)
    if own.direction is Direction.REMOVE:
        return (*hidden_participation(own.base, own.steps, 1), first), own.base
    return (
        *(pair.reversed() for pair in hidden_participation(own.base.reversed(), own.steps, 1)),
        first,
    ), own.base


@has_bracket_only.register(AllocatedPair)
def _(pair: AllocatedPair) -> bool:
    return True


def allocated_pair(base: Pair, steps: int, direction: Direction) -> Pair:
    """One of so many steps, each of which has this base pair, of this direction; one step is the base."""
    if steps == 1:
        return base
    if isinstance(base, AllocatedPair) and base.direction is direction:  # a mean of means
        return allocated_pair(base.base, base.steps * steps, direction)
    known = allocated_pair_of(base, steps, direction)
    if known is not None:
        return known
    return AllocatedPair(ProductPair(((base, 1),)) if is_opaque(base) else base, steps, direction)
