"""Smooth marks on a standard normal x: the weight prod Phi(side (x - at)/width) below a hard end, and 0 above it.

Marking a use by its x, with a probability that is the same under both hypotheses, leaves its loss as it is; the cgf of
the marked part is an integral with this weight. The weight is analytic, and off the real axis
|Phi(u + iv)| <= Phi(u) e^{v^2/2}, because Phi(w) = integral over s > 0 of n(w - s) ds, n the normal density.
So a weight costs no more than a narrower bell: |n(x + iy) weight| <= n(x) weight(x) e^{lift y^2/2},
lift = 1 + sum 1/width^2.
numpy is imported where arrays are asked for only: both arithmetics use the rest.
Guarantee: exact in balls. Proof: docs/proofs/contour.md, section 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ...kernels.ball import BITS_START, erfc, lower_float, working_precision
from ...kernels.directed import FEW, round_up

if TYPE_CHECKING:
    from ...kernels.enclosure import Enclosure, FloatArray

ROOT_HALF = math.sqrt(0.5)
PHI_IS_ONE = 9.0  # from here on Phi rounds to 1


def log_phi(u: float) -> float:
    """log Phi(u) in plain floats, to a few digits far out."""
    if u > PHI_IS_ONE:
        return 0.0
    if u > -30.0:
        return math.log(0.5 * math.erfc(-u * ROOT_HALF))
    return -0.5 * u * u - math.log(-u) - 0.5 * math.log(2.0 * math.pi)


def ball_phi(u: arb) -> arb:
    """Phi(u)."""
    return erfc(-u / arb(2).sqrt()) / 2


@dataclass(frozen=True, slots=True)
class Edge:
    """Phi(side (x - at)/width): about 1 on one side of `at`, about 0 on the other."""

    at: float
    width: float
    side: int

    def distance(self, x: float) -> float:
        """How far x lies on the good side, in widths."""
        return self.side * (x - self.at) / self.width

    def ball_weight(self, x: arb) -> arb:
        """The weight at x."""
        return ball_phi(self.side * (x - arb(self.at)) / arb(self.width))

    def ball_missing(self, x: arb) -> arb:
        """1 - weight at x."""
        return ball_phi(self.side * (arb(self.at) - x) / arb(self.width))

    def log_sides(self, points: FloatArray) -> tuple[Enclosure, Enclosure]:
        """log of the weight and of 1 - weight at each point, in float64."""
        from ...kernels.enclosure import exact, log_normal_sides

        return log_normal_sides((exact(points) - self.at) * float(self.side) / self.width)


@dataclass(frozen=True, slots=True)
class SoftWindow:
    """A product of edges below a hard end; without either it is no window at all."""

    edges: tuple[Edge, ...] = ()
    end: float = math.inf

    @property
    def lift(self) -> float:
        """How much faster the integrand grows off the real axis than a bell, at most; 1 without edges."""
        return 1.0 + round_up(sum(edge.width**-2 for edge in self.edges), FEW)

    @property
    def narrowest(self) -> float:
        """The least width of an edge."""
        return min((edge.width for edge in self.edges), default=math.inf)

    def log_weight(self, x: float) -> float:
        """log of the weight below the end, in plain floats."""
        total = 0.0
        for edge in self.edges:
            total += log_phi(edge.distance(x))
        return total

    def ball_weight(self, x: arb) -> arb:
        """The weight at a point below the end."""
        weight = arb(1)
        for edge in self.edges:
            weight *= edge.ball_weight(x)
        return weight

    def ball_missing(self, x: arb) -> arb:
        """1 - weight at a point below the end, precise where it is small."""
        missing = arb(0)
        for edge in self.edges:
            missing += edge.ball_missing(x) * (1 - missing)
        return missing

    def ball_slope_left_of(self, x: arb) -> arb:
        """A lower bound of the slope of the log weight everywhere left of x.

        A rising edge adds at least -u/width, since Phi'(u)/Phi(u) >= -u; a falling one takes away at most what it
        takes away at x, since Phi'/Phi falls. Positive: the weight falls towards the left.
        """
        slope = arb(0)
        for edge in self.edges:
            u = edge.side * (x - arb(edge.at)) / arb(edge.width)
            if edge.side > 0:
                slope += (-u).max(arb(0)) / arb(edge.width)
            else:
                slope -= (-u * u / 2).exp() / (2 * arb.pi()).sqrt() / ball_phi(u) / arb(edge.width)
        return slope

    def slope_left_of(self, x: float) -> float:
        """The same as a double, rounded down."""
        with working_precision(BITS_START):
            return lower_float(self.ball_slope_left_of(arb(x)))

    @property
    def start(self) -> float:
        """A point left of which a bell with these weights surely falls, where the weight vanishes; inf elsewhere.

        The slope of its log is at least -x + (at - x)/width^2 for a rising edge.
        """
        rising = (edge for edge in self.edges if edge.side > 0)
        return min((edge.at / (1.0 + edge.width**2) - 2.0 * edge.width for edge in rising), default=math.inf)


WHOLE = SoftWindow()
