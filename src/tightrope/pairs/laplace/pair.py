"""The Laplace pair.

With e = times sensitivity / scale the loss lies in [-e, e]: P has atoms 1/2 at e and exp(-e)/2 at -e and the density
exp((l - e)/2)/4 between; Q is its mirror image. For -e <= t < e:
P[l > t] = 1 - exp((t - e)/2)/2,  Q[l > t] = exp(-(t + e)/2)/2,  H(e^t) = 1 - exp((t - e)/2).
Guarantee: exact; float64 with the radius of kernels.enclosure.
Reference: Koskela, Jaelkoe, Honkela 2020, Sec. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cgf import demand_ordinary
from ...facets.concentrated import rho_of_laplace
from ...facets.gaussian import mu_of_laplace
from ...kernels.ball import BITS_START, working_precision
from ...kernels.directed import exact_product
from ...kernels.double_double import DoubleDouble, double_double, double_double_of_count
from ...kernels.enclosure import Enclosure, count_enclosure, enclosing, exact
from ...operators import dominates, sampled_cgf, shifted_pair
from ...pair import BallTails, HockeyStick, Pair, Tails
from ...relation import Direction
from ..bounded_loss import BoundedLossMoments, BoundedLossPair
from .several import LaplaceSum

if TYPE_CHECKING:
    from ...facets.cgf import Cgf

SAMPLED_EDGE_MAX = 30.0  # of a contour


@dataclass(frozen=True, slots=True)
class LaplacePair(BoundedLossPair):
    """Laplace(times sensitivity, scale) against Laplace(0, scale)."""

    atoms_at_edges = 1

    scale: float
    sensitivity: float
    times: int = 1  # more only where their product with the sensitivity is no double

    def tails(self, t: DoubleDouble) -> Tails:
        edge = double_double(self.sensitivity) * double_double_of_count(self.times) / double_double(self.scale)
        with np.errstate(all="ignore"):
            p_below = (t - edge).half().exp_collapsed() / 2.0
            q_above = (-(t + edge)).half().exp_collapsed() / 2.0
        # Inside, both p_below and q_above are at most 1/2: their complements lose nothing.
        return self.bounded_tails(t, edge, Tails(1.0 - p_below, q_above, p_below, 1.0 - q_above))

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """H(e^eps) = max(0, 1 - e^((eps - e)/2), 1 - e^eps); the maximum of intervals, end by end."""
        edge = exact(self.sensitivity) * count_enclosure(self.times) / exact(self.scale)
        middle = -((epsilon - edge) * 0.5).expm1()
        left = -epsilon.expm1()
        low = np.maximum(np.maximum(middle.lower, left.lower), 0.0)
        high = np.maximum(np.maximum(middle.upper, left.upper), 0.0)
        certainly_zero = (middle.upper <= 0.0) & (left.upper <= 0.0)
        return enclosing(low, np.where(certainly_zero, 0.0, high))

    def ball_tails(self, t: arb) -> BallTails:
        edge = self.ball_edge()
        if t >= edge:
            return BallTails(arb(0), arb(0), arb(1), arb(1))
        if t < -edge:
            return BallTails(arb(1), arb(1), arb(0), arb(0))
        p_below, q_above = ((t - edge) / 2).exp() / 2, (-(t + edge) / 2).exp() / 2
        tails = BallTails(1 - p_below, q_above, p_below, 1 - q_above)
        # A ball may reach beyond one end of the losses, or beyond both.
        if not t < edge:
            tails = BallTails(*(one.union(arb(other)) for one, other in zip(tails, (0, 0, 1, 1), strict=True)))
        if not t >= -edge:
            tails = BallTails(*(one.union(arb(other)) for one, other in zip(tails, (1, 1, 0, 0), strict=True)))
        return tails

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        middle = -((epsilon - self.ball_edge()) / 2).expm1()
        return middle.max(-epsilon.expm1()).max(arb(0))

    def hockey_stick_cost(self) -> int:
        return 1

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> HockeyStick | None:
        """A sum over residues, in balls."""
        uses = tuple((pair, count) for pair, count in like if isinstance(pair, LaplacePair))
        return LaplaceSum(uses) if len(uses) == len(like) else None

    def cgf(self) -> Cgf:
        from .cgf import LaplaceCgf

        demand_ordinary(self.ball_edge)
        return LaplaceCgf(self)

    @property
    def edge(self) -> float:
        return self.times * (self.sensitivity / self.scale)

    def ball_edge(self) -> arb:
        return self.times * arb(self.sensitivity) / arb(self.scale)

    def moments(self) -> LaplaceMoments:
        return LaplaceMoments(self)


class LaplaceMoments(BoundedLossMoments):
    def zcdp_rho(self) -> arb:
        """Its divergence of order 1."""
        return rho_of_laplace(self.pair.ball_edge())

    def gdp_mu(self) -> arb:
        """At epsilon 0."""
        return mu_of_laplace(self.pair.ball_edge())


@dominates.register(LaplacePair)
def _(pair: LaplacePair, other: Pair) -> bool:
    """By the larger edge."""
    if isinstance(other, LaplacePair):
        with working_precision(BITS_START):
            return pair == other or bool(pair.ball_edge() >= other.ball_edge())
    return dominates.default(pair, other)


@sampled_cgf.register(LaplacePair)
def _(pair: LaplacePair, rate: float, direction: Direction) -> Cgf:
    from .sampled import SampledLaplaceCgf

    demand_ordinary(pair.ball_edge)
    if not pair.edge < SAMPLED_EDGE_MAX:
        raise UnsupportedMechanism("its losses are too large for a contour; try engine='lattice'")
    return SampledLaplaceCgf(pair, rate, 1 if direction is Direction.REMOVE else -1)


@shifted_pair.register(LaplacePair)
def _(pair: LaplacePair, times: int) -> LaplacePair:
    longer = exact_product(pair.sensitivity, pair.times * times)
    if longer is None:
        return LaplacePair(pair.scale, pair.sensitivity, pair.times * times)
    return LaplacePair(pair.scale, longer)
