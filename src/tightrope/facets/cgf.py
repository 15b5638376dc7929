"""Cumulant generating functions: K(z) = log E_P[e^{z l}; l < inf] of a pair, tilted and transformed.

Composition adds cgfs, so one of these per distinct pair is all that a contour needs. The phi-function is the value at
z = i t; the Renyi divergence of order a is K(a - 1)/(a - 1).
Each quantity comes twice: in float64 with radii, and in balls without numpy. `cumulants` is neither: plain floats that
only choose where the contour runs.
Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..errors import UnsupportedMechanism
from ..kernels.ball import BITS_START, working_precision

if TYPE_CHECKING:
    from flint import acb, arb

    from ..kernels.contour_sum import Factor
    from ..kernels.enclosure import Enclosure
    from ..pair import Pair
    from .lattice import Lattice, LatticeStep
    from .partition import Partitionable

ORDINARY = (1e-150, 1e150)  # squares of a shift stay within doubles
# Inner quadrature aims at this relative error, times the count: far below the rounding of a double.
LOG_TOLERANCE = 42.0
WALL = 1e100  # how steeply K rises beyond the strip where it is finite, for searches: they turn back


def demand_ordinary(shift: Callable[[], arb]) -> None:
    """Refuses a pair whose shift, in units of its noise, is beyond float64."""
    with working_precision(BITS_START):
        if not ORDINARY[0] < shift() < ORDINARY[1]:
            raise UnsupportedMechanism("its scale is beyond float64; try engine='lattice'")


class Cumulants(NamedTuple):
    """K(c), K'(c) and K''(c), approximately."""

    value: float
    mean: float
    variance: float


def beyond_pole(tilt: float, pole: float) -> Cumulants:
    """A wall from the last tilt on where K is finite, on either side of 0."""
    return Cumulants(WALL * abs(tilt - pole), math.copysign(WALL, tilt - pole), WALL)


def point_cumulants(points: Sequence[tuple[float, float]], tilt: float) -> Cumulants:
    """K, K' and K'' of (mass, loss) points."""
    top = max(tilt * loss for _, loss in points)
    weights = [(mass * math.exp(tilt * loss - top), loss) for mass, loss in points]
    total = math.fsum(weight for weight, _ in weights)
    mean = math.fsum(weight * loss for weight, loss in weights) / total
    variance = math.fsum(weight * (loss - mean) ** 2 for weight, loss in weights) / total
    return Cumulants(top + math.log(total), mean, variance)


class Tilted(Protocol):
    """The loss under the law tilted by e^{c l}, in float64."""

    @property
    def log_mgf(self) -> Enclosure:
        """K(c)."""

    @property
    def drift(self) -> Enclosure:
        """m such that phi(t) = e^{i t m} times what `factor` gives."""

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """(phi(t) e^{-i t m})^count at t = 0, step, ..., (nodes - 1) step."""


class BallTilted(Protocol):
    """The loss under the law tilted by e^{c l}, in balls at the working precision."""

    @property
    def log_mgf(self) -> arb:
        """K(c)."""

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        """phi(t) at t = 0, step, ..., (nodes - 1) step; a step that is no double only for losses on a lattice."""


class CfDecay(Protocol):
    """How |phi(t)| falls under the law tilted by e^{c l}."""

    def log_bound(self, radius: float) -> float:
        """At or above log |phi(t)| for every t >= radius >= 0; 0 where nothing is known."""


class NoCfDecay:
    """|phi| <= 1 is all that is known: atoms make a transform return."""

    def log_bound(self, radius: float) -> float:
        return 0.0


class Cgf(ABC):
    """K of one pair."""

    @abstractmethod
    def cumulants(self, tilt: float) -> Cumulants:
        """K, K' and K'' at tilt, approximately, in plain Python."""

    def log_mgf_above(self, tilt: float) -> float:
        """An upper bound of K(tilt) in float64, close, and as cheap as there is: it only weighs aliases."""
        return float(self.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf.upper)

    @abstractmethod
    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        """How many points a transform up to |t| = reach sums over."""

    @abstractmethod
    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        """The tilted law for transforms up to |t| = reach, quadrature errors near e^-log_tolerance."""

    @abstractmethod
    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        """The same in balls."""

    def cf_decay(self, tilt: float) -> CfDecay:
        """Bounds of |phi| in float64; those proven in balls unless there are cheaper ones."""
        return self.ball_cf_decay(tilt)

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        """Bounds of |phi| proven in balls; nothing is known of laws with atoms."""
        return NoCfDecay()

    def horizon(self) -> float:
        """Up to when the bounds of |phi| hold; beyond, outcomes that are nearly on a lattice may make it return."""
        return math.inf

    def partition(self) -> Partitionable | None:
        """How its outputs can be marked, to sum the law in parts; None where that is not known."""
        return None


class LatticeCgf(Cgf):
    """K of a pair whose losses may lie on a lattice; its transforms hold at times known up to TIME_ERROR."""

    pair: Pair

    def period_cf_decay(self, tilt: float, step: LatticeStep) -> CfDecay:
        """Bounds of |phi(t)|, in balls, for every t from the radius on up to pi/step."""
        own = self.pair.lattice()
        return self.own_period_cf_decay(tilt, own) if own is not None and own.step == step else NoCfDecay()

    @abstractmethod
    def own_period_cf_decay(self, tilt: float, own: Lattice) -> CfDecay:
        """The same for the step of its own lattice."""


Terms = Sequence[tuple[Cgf, int]]
