"""Losses between two edges -e and e: M(z) = N(s)/N(1/2), N(s) = a cosh(es) + sinh(es)/(2s), s = z + 1/2, at any z.

Tilted by e^{cl} the loss has a density that grows like e^{sx} between, s = c + 1/2, and with a = 1 two atoms at the
edges (Laplace); with a = 0 there are none (logistic). With q = e^{-2es} and D = a (1 + q) + (1 - q)/(2s) its masses are
a/D at e, a q/D at -e and B = (1 - q)/(2sD) between. With A = se the part between has for every t >= R
|f(t)|^2 <= F^2 = (1 + sin^2(min(Re, pi/2))/sinh^2 A)/(1 + (Re/A)^2), so that |phi(t)| <= 1 - B + B F.
Guarantee: exact, upper for decay. Proof: docs/proofs/contour.md, sections 9 and 14.
Reference: Zhu, Dong, Wang 2021, Table 3 (Laplace).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import acb, arb

from ..numerics.balls import BITS_START, complex_log, upper_float, working_precision
from ..numerics.double_double import DoubleDouble
from .capabilities import Moments
from .cgf import CfDecay, Cgf, Cumulants
from .pair import LossRange, Pair, Tails

SERIES_BELOW = 0.05


class TwoEdges(ABC):
    """Two edges -e and e, and whether there are atoms at them: all that M depends on."""

    atoms_at_edges: ClassVar[int]  # a

    @property
    @abstractmethod
    def edge(self) -> float:
        """e, approximately."""

    @abstractmethod
    def ball_edge(self) -> arb:
        """e at the working precision."""

    def log_moment(self, z: acb) -> acb:
        """log N(s)/N(1/2), which has no pole: N(1/2) is e^{e/2} with atoms and sinh(e/2) without."""
        edge, s = self.ball_edge(), z + arb(0.5)
        start = edge / 2 if self.atoms_at_edges else (edge / 2).sinh().log()
        if z.imag.is_zero() and s.real > 0:
            sinh, cosh = (edge * s.real).sinh_cosh()
            return acb((self.atoms_at_edges * cosh + sinh / (2 * s.real)).log() - start)
        x = edge * s
        return complex_log(self.atoms_at_edges * x.cosh() + edge / 2 * (acb(0, 1) * x).sinc()) - start


class BoundedLossPair(TwoEdges, Pair):
    """A pair that is its own reverse, its losses between two edges."""

    def bounded_tails(self, t: DoubleDouble, edge: DoubleDouble, inside: Tails) -> Tails:
        """Tails between the edges, and all or nothing beyond."""
        with np.errstate(all="ignore"):
            over, under = (t - edge).collapse() >= 0.0, (t + edge).collapse() < 0.0
        ends = ((0.0, 1.0), (0.0, 1.0), (1.0, 0.0), (1.0, 0.0))
        found = (np.where(over, top, np.where(under, low, tail)) for tail, (top, low) in zip(inside, ends, strict=True))
        return Tails(*found)

    def reversed(self) -> Pair:
        return self

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        edge = self.ball_edge()
        return LossRange(-edge, edge)

    def moments(self) -> BoundedLossMoments:
        return BoundedLossMoments(self)


class BoundedLossMoments(Moments[BoundedLossPair]):
    """By the formula of its edges."""

    def log_moment(self, z: acb) -> acb:
        return self.pair.log_moment(z)


@dataclass(frozen=True)
class BoundedLossBallTilted:
    """The tilted loss in balls."""

    pair: TwoEdges
    tilt: float

    @property
    def log_mgf(self) -> arb:
        return self.pair.log_moment(acb(self.tilt)).real

    @property
    def growth(self) -> arb:
        """s."""
        return arb(self.tilt) + arb(0.5)

    def shares(self) -> tuple[arb, arb]:
        """(1 - q)/D and q/D."""
        fallen = -2 * self.pair.ball_edge() * self.growth
        q, rest = fallen.exp(), -fallen.expm1()
        total = self.pair.atoms_at_edges * (1 + q) + rest / (2 * self.growth)
        return rest / total, q / total

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        edge, values = self.pair.ball_edge(), []
        for index in range(nodes):
            s = acb(self.growth, arb(step) * index)
            sinh, cosh = (edge * s).sinh_cosh()
            values.append(self.pair.atoms_at_edges * cosh + sinh / (2 * s))
        return [value / values[0].real for value in values]


@dataclass(frozen=True)
class BoundedLossDecay:
    """What the atoms weigh, and how the transform of what lies between falls."""

    law: BoundedLossBallTilted

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            s, turn = self.law.growth, self.law.pair.ball_edge() * arb(radius)
            ripple, slope = turn.min(arb.pi() / 2).sin() / (self.law.pair.ball_edge() * s).sinh(), arb(radius) / s
            fall = ((ripple * ripple).log1p() - (slope * slope).log1p()) / 2
            if self.law.pair.atoms_at_edges:
                fall = (self.law.shares()[0] / (2 * s) * fall.expm1()).log1p()
            return min(0.0, upper_float(fall))


@dataclass(frozen=True)
class BoundedLossCgf(Cgf):
    """K of such a pair, but for its transforms in float64."""

    pair: TwoEdges
    node_points: ClassVar[int]  # points of a sum that take as long as one node

    def cumulants(self, tilt: float) -> Cumulants:
        edge, a = self.pair.edge, self.pair.atoms_at_edges
        rest = -math.expm1(-2.0 * edge * (tilt + 0.5))
        between = 0.5 * rest / (tilt + 0.5)
        total = a * (2.0 - rest) + between
        slope, curve = _slopes(edge * (tilt + 0.5))
        parts = [(a / total, edge, 0.0), (a * (1.0 - rest) / total, -edge, 0.0)]
        parts.append((between / total, edge * slope, edge * edge * curve))
        mean = sum(mass * place for mass, place, _ in parts)
        variance = sum(mass * ((place - mean) ** 2 + own) for mass, place, own in parts)
        return Cumulants(tilt * edge + math.log(total / (2.0 if a else -math.expm1(-edge))), mean, variance)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return self.node_points

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BoundedLossBallTilted:
        return BoundedLossBallTilted(self.pair, tilt)

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return BoundedLossDecay(BoundedLossBallTilted(self.pair, tilt))


def _slopes(x: float) -> tuple[float, float]:
    """The first two derivatives of log(sinh(x)/x), approximately, for x > 0."""
    square = x * x
    if x < SERIES_BELOW:
        return x * (1 / 3 - square / 45), 1 / 3 - square / 15
    small = math.exp(-2.0 * x)
    rest = -math.expm1(-2.0 * x)
    return (1.0 + small) / rest - 1.0 / x, 1.0 / square - 4.0 * small / (rest * rest)
