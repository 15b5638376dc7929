"""The trapezoid rule for a sampled normal in balls.

The formulas of quadrature_float without their detours: balls carry every rounding.
Guarantee: every ball contains the truth. Proof: docs/proofs/contour.md, section 5.
Reference: Trefethen, Weideman 2014, Thm 5.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb

from ... import compute_budget
from ...kernels.ball import upper_float
from ...kernels.quadrature_ball import BallLaw, total_mass
from .grid import SHARE_LIFT, SHARE_TURN, Grid, choose_grid, error_modes, mode_heights
from .likelihood import Chance, Likelihood, likelihood
from .window import WHOLE, SoftWindow

NODE_BYTES, NODE = 1024.0, 4e3  # bytes and units of work for a node in balls


@dataclass(frozen=True, slots=True)
class StripError:
    """The relative error of a trapezoid sum at t, e^{lift y^2/2 + t mu s y} 2 kappa/(e^{2 pi y/h} - 1), and its ends.

    edge: twice the integrand at the hard end of a window, divided by its integral.
    """

    mu: arb
    law: Likelihood
    power: float
    grid: Grid
    ends: arb
    window: SoftWindow
    edge: arb

    def at(self, t: float) -> arb:
        """An upper bound at t >= 0, without the ends."""
        mu, grid = float(self.mu.mid()), self.grid
        heights = mode_heights(mu, grid.step, grid.strip)
        if not heights:
            return arb.pos_inf()
        modes = error_modes(mu, self.power, grid.step, grid.strip)
        best = min(range(len(modes)), key=lambda index: modes[index][0] + modes[index][1] * t)
        y = arb(heights[best])
        turn = self.mu * y
        # At the hard end, where that is below 1/2.
        at_end = arb(self.law.most) if grid.end == math.inf else self.law.ball_share(self.mu, arb(grid.end))
        share = self.law.ball_turning(at_end)
        if not turn < arb.pi():
            return arb.pos_inf()
        lift, kappa = 1 + sum((1 / arb(edge.width) ** 2 for edge in self.window.edges), arb(0)), arb(1)
        if self.power < 0.0 and grid.strip.has_kappa:
            if not (at_end < 0.5 and at_end * turn * turn <= SHARE_TURN):
                return arb.pos_inf()
            lift += arb(SHARE_LIFT) * -arb(self.power) * at_end * self.mu * self.mu
        elif self.power < 0.0:
            kappa = (turn / 2).cos() ** (arb(self.power) * self.law.most)
        growth = lift * y * y / 2 + turn * share * t
        if not growth <= 2 * arb.pi() * y / grid.step:
            return arb.pos_inf()  # what a hard end costs is known below only
        return 2 * kappa * growth.exp() / (2 * arb.pi() * y / grid.step).expm1() + self.edge * y


def sampled_normal_ball(
    mu: arb, rate: Chance, sign: int, tilt: float, reach: float, log_tolerance: float, marked: SoftWindow = WHOLE
) -> BallLaw:
    """The loss sign log g of a sampled normal, tilted by e^{tilt loss}; the marked part of it if there is a window."""
    power = 1.0 + tilt if sign > 0 else -tilt  # rounded: it chooses the grid only
    exact_power = 1 + arb(tilt) if sign > 0 else -arb(tilt)
    law = likelihood(float(mu.mid()), rate)
    grid = choose_grid(float(mu.mid()), law, power, reach, log_tolerance, marked)
    compute_budget.hold(NODE_BYTES * grid.size)
    compute_budget.spend(NODE * grid.size)

    def loss_and_weight(x: arb) -> tuple[arb, arb]:
        log = law.ball_g(mu, x).log()
        return log, (exact_power * log - x * x / 2).exp() * marked.ball_weight(x)

    nodes = [arb(grid.centre + index * grid.step) for index in range(-grid.left, grid.right + 1)]
    logs, weights = zip(*(loss_and_weight(x) for x in nodes), strict=True)
    mass = sum(weights, arb(0))
    ends, edge = _ends(mu, grid, exact_power, law, marked, weights, mass), arb(0)
    if grid.end < math.inf:
        # Relative to the sum, which is the integral up to a factor of 2, or else everything is lost anyway.
        edge = 4 * loss_and_weight(arb(grid.end))[1] / (mass * arb(grid.step))
        if marked is WHOLE:  # what lies beyond the end: the density falls at the rate e - a mu pi(e) at least
            falls = arb(grid.end) - exact_power * mu * law.ball_share(mu, arb(grid.end))
            ends = ends + edge / (4 * falls) if falls > 0 and exact_power < 0 else arb.pos_inf()
    error = StripError(mu, law, power, grid, ends, marked, edge)
    log_mgf = (total_mass(weights, error) * arb(grid.step) / (2 * arb.pi()).sqrt()).log()
    return BallLaw(tuple(sign * log for log in logs), weights, log_mgf, error)


def _ends(
    mu: arb, grid: Grid, power: arb, law: Likelihood, marked: SoftWindow, weights: tuple[arb, ...], mass: arb
) -> arb:
    """Mass beyond the nodes relative to the mass on them, by a geometric series; on the left if there is a hard end."""
    step, first = arb(grid.step), arb(grid.centre - grid.left * grid.step)
    left = -first + mu * power.min(arb(0)) * law.ball_share(mu, first)
    left += marked.ball_slope_left_of(first)
    if not left > 0:
        return arb.pos_inf()
    ends = weights[0] / -(-step * left).expm1()
    if grid.end == math.inf:
        last = grid.centre + grid.right * grid.step
        right = arb(last) - mu * power.max(arb(0)) * law.most
        if law.many and not right > 1:
            ends += weights[-1] / step * arb(law.beyond(upper_float(mu), upper_float(power), last, grid.step))
        elif right > 0:
            ends += weights[-1] / -(-step * right).expm1()
        else:
            return arb.pos_inf()
    return ends / mass
