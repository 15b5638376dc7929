"""Poisson-sampled Laplace shifts in either direction: two atoms and a Gauss-Legendre rule between them.

The base loss x lies in [-e, e], e = sensitivity/scale; Q has atoms e^-e/2 at e and 1/2 at -e and the density
e^{-(x+e)/2}/4 between. With g(x) = 1 - rate + rate e^x: remove has the loss log g(x) and the P-law g Q; add has the
loss -log g(-x) and the P-law e^x Q.
On an ellipse of semi-axes (major, minor), minor < pi: |g| <= 1 - rate + rate e^major, |g(-x)| is at least
cos(minor/2) (1 - rate + rate e^-major), |arg g| <= minor, and the density of P is at most e^{(major - e)/2}/4, times
|g| for remove.
Atoms make the transform return: nothing is known of its decay.
Guarantee: upper error of the rule relative to the heaviest atom. Proof: docs/proofs/contour.md, section 5.
Reference: Zhu, Dong, Wang 2021, Table 3 (Laplace), Thm 11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cgf import BallTilted, Cgf, Cumulants, Tilted, point_cumulants
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.directed import next_up
from ...kernels.mixture import mixed, mixed_plain
from ...kernels.quadrature_ball import Ellipse, EllipseError, choose_rule, point_law_ball, rule, rule_error
from .pair import LaplacePair

MIDPOINTS_MIN, MIDPOINTS_MAX = 8, 64  # of the coarse rule: as many per e-fold of the integrand


@dataclass(frozen=True)
class SampledLaplaceCgf(Cgf):
    """K of a Laplace pair sampled with the given rate; sign 1 for remove, -1 for add."""

    base: LaplacePair
    rate: float
    sign: int

    def cumulants(self, tilt: float) -> Cumulants:
        """By the midpoint rule, coarse but good enough to choose a contour."""
        edge = self.base.edge
        cells = min(max(MIDPOINTS_MIN, math.ceil(MIDPOINTS_MIN * edge * (1.0 + abs(tilt)))), MIDPOINTS_MAX)
        points = [(edge, 0.5 * math.exp(-edge)), (-edge, 0.5)]
        for index in range(cells):
            x = edge * (2 * index + 1 - cells) / cells
            points.append((x, 0.5 * edge / cells * math.exp(-0.5 * (x + edge))))
        if self.sign > 0:
            losses = [(mixed_plain(x, self.rate), mass) for x, mass in points]
            sampled = [(mass * math.exp(loss), loss) for loss, mass in losses]
        else:
            sampled = [(mass * math.exp(x), -mixed_plain(-x, self.rate)) for x, mass in points]
        return point_cumulants(sampled, tilt)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        with working_precision(BITS_START):
            return self._rule(tilt, reach, log_tolerance)[1] + 2

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        from ...kernels.enclosure import enclosed, exact
        from ...kernels.quadrature import QuadratureError, point_law

        centre = self.cumulants(tilt).mean
        with working_precision(BITS_START):
            losses, masses, error = self._points(tilt, reach, log_tolerance)
            constant = next_up(math.log(upper_float(error.size) + 1e-300))
            floats = enclosed(masses), enclosed([loss - arb(centre) for loss in losses])
        quadrature = QuadratureError(0.0, ((constant, error.minor),))
        return point_law(*floats, centre, exact(0.0), tilt, quadrature)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        losses, masses, error = self._points(tilt, reach, log_tolerance)
        return point_law_ball(losses, masses, tilt, error)

    def _points(
        self, tilt: float, reach: float, log_tolerance: float
    ) -> tuple[tuple[arb, ...], tuple[arb, ...], EllipseError]:
        """Losses, P-masses, and the error of the rule relative to M(tilt), which is at least its top atom."""
        edge = self.base.ball_edge()
        top = self._top(tilt)
        ellipse, nodes = self._rule(tilt, reach, log_tolerance)
        # The untilted masses are summed too: the larger of both errors covers both sums.
        size = (self._size(ellipse, tilt) / top).max(self._size(ellipse, 0.0))
        points = [(edge, (-edge).exp() / 2), (-edge, arb(0.5))]
        points += [(x, weight * (-(x + edge) / 2).exp() / 4) for x, weight in rule(edge, nodes)]
        losses = tuple(self._loss(x) for x, _ in points)
        masses = tuple(mass * self._likelihood(x) for x, mass in points)
        return losses, masses, rule_error(ellipse, nodes, size)

    def _rule(self, tilt: float, reach: float, log_tolerance: float) -> tuple[Ellipse, int]:
        edge, top = self.base.ball_edge(), self._top(tilt)
        chosen = choose_rule(
            edge, lambda ellipse: float((self._size(ellipse, tilt) / top).log().mid()), reach, log_tolerance
        )
        if chosen is None:
            raise UnsupportedMechanism("its quadrature needs too many nodes; try engine='lattice'")
        return chosen

    def _top(self, tilt: float) -> arb:
        """The tilted mass of the top atom."""
        edge = self.base.ball_edge()
        return (-edge).exp() / 2 * self._likelihood(edge) * (arb(tilt) * self._loss(edge)).exp()

    def _loss(self, x: arb) -> arb:
        rate = arb(self.rate)
        return mixed(x, rate) if self.sign > 0 else -mixed(-x, rate)

    def _likelihood(self, x: arb) -> arb:
        """dP/dQ of the base output x, Q the base law."""
        return 1 + arb(self.rate) * x.expm1() if self.sign > 0 else x.exp()

    def _size(self, ellipse: Ellipse, tilt: float) -> arb:
        """A bound of the tilted density of P on the ellipse, at t = 0."""
        density = ((ellipse.major - ellipse.half) / 2).exp() / 4
        rate = arb(self.rate)
        if self.sign > 0:
            return density * (1 + rate * ellipse.major.expm1()) ** (1 + arb(tilt))
        if tilt < 0.0:
            return density * (1 + rate * ellipse.major.expm1()) ** arb(-tilt)
        least = (arb(ellipse.minor) / 2).cos() * (1 + rate * (-ellipse.major).expm1())
        return density * least ** arb(-tilt)
