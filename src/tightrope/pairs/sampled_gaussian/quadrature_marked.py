"""The marked part of a sampled normal, tilted, in float64: the law of quadrature_float times a window.

M(z) = E[weight e^{z loss}] for remove, loss = log g. With d = log(g(x)/g(x0)) as there, and P[x > end] cut away,
log M(c) = c log g(x0) + log1p(E[weight expm1(c d) - (1 - weight)]) where nearly all is marked.
The weights of the window are computed in balls: they are few.
Guarantee: weights, offsets and log M(c) enclose the truth up to `error`. Proof: docs/proofs/contour.md, section 10.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from ... import work
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.directed import MILLIONS, THOUSANDS, lowered, raised
from ...kernels.enclosure import Enclosure, FloatArray, enclosed, exact
from ...kernels.quadrature import QuadratureError, TiltedLaw, widened
from .grid import Grid, choose_grid, error_modes, mode_heights
from .quadrature_float import ROOT_TWO_PI, centre_values, log_ratios, log_sum, scaled
from .window import MarkWindow, ball_phi

BALL_BYTES, MARK = 1024.0, 2e4  # bytes of a node with its weights; units of work for those of one edge at a node


def marked_normal(
    mu: Enclosure, rate: float, tilt: float, reach: float, log_tolerance: float, marked: MarkWindow
) -> TiltedLaw:
    """The marked law tilted by e^{tilt loss}, for transforms up to |t| = reach."""
    nodes = _Nodes(mu, rate, tilt, reach, log_tolerance, marked)
    return TiltedLaw(nodes.log_g, nodes.log_mgf, nodes.offsets[:-1], nodes.weights[:-1], nodes.error)


def log_mgf_above(mu: Enclosure, rate: float, tilt: float, log_tolerance: float, marked: MarkWindow) -> float:
    """At or above log E[weight e^{tilt loss}], of use even where much lies next to the hard end.

    M <= sum + ends sum + strip M, with the errors of the quadrature at t = 0.
    """
    nodes = _Nodes(mu, rate, tilt, 0.0, log_tolerance, marked)
    ends = nodes.error.fixed
    strip = float(QuadratureError(0.0, nodes.error.modes).at(np.zeros(1))[0])
    if not (strip < 0.5 and ends < np.inf):
        return np.inf
    return float(nodes.log_total.upper) + math.log1p(ends) - math.log1p(-strip) + 1e-12


class _Nodes:
    """The nodes of the rule, their weights, and the errors of the sums over them."""

    def __init__(
        self, mu: Enclosure, rate: float, tilt: float, reach: float, log_tolerance: float, marked: MarkWindow
    ) -> None:
        mu_up = float(mu.upper)
        grid = choose_grid(mu_up, rate, 1.0 + tilt, reach, log_tolerance, marked)
        work.hold(BALL_BYTES * grid.size)
        work.spend(MARK * len(marked.edges) * grid.size)
        # The last point is the hard end, half a step beyond the last node.
        places = np.append(np.arange(-grid.left, grid.right + 1, dtype=np.float64), grid.right + 0.5)
        steps: FloatArray = places * grid.step
        points = exact(steps + grid.centre)
        self.log_g, log_odds = centre_values(mu, rate, grid.centre)
        self.offsets = log_ratios(mu * exact(steps), log_odds)
        log_weight, missing = _marks(marked, points.value)
        plain_log, growth = points * points * -0.5 + self.offsets, self.offsets * tilt
        tilted_log = plain_log + growth + log_weight
        self.weights = scaled(tilted_log)
        height = max(mode_heights(mu_up, grid.step, grid.strip), default=np.inf)
        left = float(-points.value[0])
        ends = _ends(grid, self.weights, left + marked.slope_left_of(-left), height)
        self.error = QuadratureError(ends, error_modes(mu_up, 1.0 + tilt, grid.step, grid.strip))
        log_unit = self.log_g + exact(grid.step).log() - ROOT_TWO_PI.log()
        self.log_total = self.log_g * tilt + log_sum(tilted_log[:-1]) + log_unit
        self.log_mgf = widened(self.log_total, float(self.error.at(np.zeros(1))[0]))
        # M (at zero) for the tilted sum, 1 (at zero + beyond) for the plain one, and M >= 1/2.
        beyond = _ends(grid, scaled(plain_log), left, height) + _beyond(mu_up, rate, marked.end)
        slack = 5.0 * float(self.error.at(np.zeros(1))[0]) + 2.0 * beyond
        if slack < 1e-3:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                each = plain_log.exp() * (log_weight.exp() * growth.expm1() - missing)
                rise = each[:-1].sum() * log_unit.exp()
            if np.isfinite(rise.radius) and float(rise.lower) > -0.5 and float(rise.upper) < 1.0:
                self.log_mgf = self.log_g * tilt + widened(rise.log1p(), slack)


def _marks(marked: MarkWindow, points: FloatArray) -> tuple[Enclosure, Enclosure]:
    """log weight and 1 - weight at points up to the end."""
    with working_precision(BITS_START):
        logs = [marked.ball_weight(arb(float(x))).log() for x in points]
        missing = [marked.ball_missing(arb(float(x))) for x in points]
        return enclosed(logs), enclosed(missing)


def _ends(grid: Grid, values: Enclosure, slope: float, height: float) -> float:
    """What the sum over the nodes misses, relative to it: the left end by a geometric series, and the hard end.

    Beyond the first node the log density falls at least at the rate `slope`; the hard end adds at most
    2 height values[-1].
    """
    if not slope > 0.0:
        return np.inf
    left = values.upper[0] / -np.expm1(-grid.step * slope)
    edge = 2.0 * height / grid.step * values.upper[-1]
    mass = lowered(float(np.sum(values.lower[:-1].clip(0.0))), THOUSANDS)
    return float(raised((left + edge) / mass, MILLIONS)) if mass > 0.0 else np.inf


def _beyond(mu: float, rate: float, end: float) -> float:
    """P[x > end], from above."""
    with working_precision(BITS_START):
        return upper_float((1 - arb(rate)) * ball_phi(-arb(end)) + arb(rate) * ball_phi(arb(mu) - arb(end)))
