"""The tilted law of a sampled normal in float64, as nodes of a trapezoid rule.

x is standard normal, g(x) = 1 - rate + rate e^{mu x - mu^2/2}; the loss is sign log g, with the density n g^base,
(sign, base) = (1, 1) for remove and (-1, 0) for add. With a node x0 as centre, pi0 the share of the shifted component
there and d(x) = log(g(x)/g(x0)) = log1p(pi0 expm1(mu (x - x0))),
M(z) = g(x0)^{sign z} E[e^{sign z d}],  log M(c) = sign c log g(x0) + log1p(E[expm1(sign c d)]).
Nothing cancels: the errors are proportional to E|d|, not to 1. A marked part, M(z) = E[weight e^{z loss}] with
P[x > end] cut away, has log1p(E[weight expm1(c d) - (1 - weight)]) in its place where nearly all is marked.
Guarantee: weights, offsets and log M(c) enclose the truth up to `error`.
Proof: docs/proofs/contour.md, sections 5, 7 and 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from flint import arb

from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.enclosures import Enclosure, FloatArray, enclosing, exact, where
from ...numerics.quadrature import BallLaw, QuadratureError, TiltedLaw, total_mass, widened
from ...numerics.rounding import MILLIONS, THOUSANDS, round_down, round_up
from ...values import compute_budget
from .likelihood import WHOLE, Chance, Likelihood, SoftWindow, likelihood
from .node_grid import SHARE_LIFT, SHARE_TURN, Grid, choose_grid, error_modes, mode_heights

LOG_ROOT_TWO_PI = Enclosure(np.asarray(0.9189385332046727), np.asarray(5.6766759927222e-16))
FLOAT_NODE_BYTES, RESTRICTED_BYTES = 512.0, 1024.0  # a node in some thirty arrays of doubles, and with its weights
MARK = 1e3  # units of work for the weights of one edge at a node
CANCELLED = 1e-15  # more than the rounding of a power, of mu and of their product, where a difference of such is small
CENTRE_BITS = 160  # 1 - rate is 2^-53 or more
OFFSET_SPLIT = 30.0  # above this exponent expm1 is traded for logs, far below overflow


def sampled_normal(
    mu: Enclosure, rate: Chance, sign: int, tilt: float, reach: float, log_tolerance: float, marked: SoftWindow = WHOLE
) -> TiltedLaw:
    """The law tilted by e^{tilt loss}, for transforms up to |t| = reach; the marked part of it if there is a window."""
    nodes = _Nodes(mu, rate, sign, tilt, reach, log_tolerance, marked)
    offsets, weights = nodes.offsets[nodes.inside] * float(sign), nodes.weights[nodes.inside]
    return TiltedLaw(nodes.log_g * float(sign), nodes.log_mgf, offsets, weights, nodes.error)


def log_mgf_above(mu: Enclosure, rate: Chance, tilt: float, log_tolerance: float, marked: SoftWindow) -> float:
    """At or above log E[weight e^{tilt loss}], of use even where much lies next to the hard end.

    M <= sum + ends sum + strip M, with the errors of the quadrature at t = 0.
    """
    nodes = _Nodes(mu, rate, 1, tilt, 0.0, log_tolerance, marked)
    ends = nodes.error.fixed
    strip = QuadratureError(0.0, nodes.error.modes).at_zero
    if not (strip < 0.5 and ends < np.inf):
        return np.inf
    total = nodes.log_lift + nodes.log_total()
    return float(total.upper) + math.log1p(ends) - math.log1p(-strip) + 1e-12


class _Nodes:
    """The nodes of the rule, the hard end as one more, their weights, and the errors of the sums over them.

    log M(c) is log_lift, c times the loss at the centre, plus the log of a sum.
    """

    def __init__(
        self,
        mu: Enclosure,
        rate: Chance,
        sign: int,
        tilt: float,
        reach: float,
        log_tolerance: float,
        marked: SoftWindow,
    ) -> None:
        base = 1.0 if sign > 0 else 0.0
        power, mu_up = base + sign * tilt, float(mu.upper)
        law = likelihood(mu_up, rate)
        grid = choose_grid(mu_up, law, power, reach, log_tolerance, marked)
        compute_budget.hold((RESTRICTED_BYTES if marked.edges else FLOAT_NODE_BYTES) * grid.size)
        compute_budget.spend(MARK * len(marked.edges) * grid.size)
        steps: FloatArray = np.arange(-grid.left, grid.right + 1, dtype=np.float64) * grid.step
        if grid.end < math.inf:
            steps = np.append(steps, (grid.right + 0.5) * grid.step)
        self.inside = slice(0, grid.size)
        nodes = exact(steps + grid.centre)
        centre = law.centre(mu, grid.centre)
        self.log_g, self.offsets = centre.log_g, centre.log_ratios(mu * exact(steps))
        bell, growth = nodes * nodes * -0.5, self.offsets * (sign * tilt)
        plain_log = bell + self.offsets if base else bell
        tilted_log = plain_log + growth  # base + tilt in one double would be rounded
        if marked.edges:
            log_weight, missing = _marks(marked, nodes.value)
            tilted_log = tilted_log + log_weight
        self.weights = scaled(tilted_log)
        place = _Place(law, centre, mu_up, grid)
        ends = _ends(place, self.weights, power, marked)
        self.error = QuadratureError(ends, error_modes(mu_up, power, grid.step, grid.strip))
        at_zero = self.error.at_zero
        log_unit = self.log_g * base + exact(grid.step).log() - LOG_ROOT_TWO_PI
        self.log_lift, self.kept, self.log_unit = self.log_g * (sign * tilt), tilted_log[self.inside], log_unit
        plain_ends = math.inf
        if grid.end == marked.end:
            plain_ends = _ends(place, scaled(plain_log), base, SoftWindow(end=marked.end))
            plain_ends += _beyond(mu_up, law, marked.end) if marked.end < math.inf else 0.0
        # M (at zero) for the tilted sum, 1 (at zero + beyond) for the plain one, and M >= 1/2.
        slack = 5.0 * at_zero + 2.0 * plain_ends
        if slack < 1e-3:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                change = log_weight.exp() * growth.expm1() - missing if marked.edges else growth.expm1()
                rise = (plain_log.exp() * change)[self.inside].sum() * log_unit.exp()
            if np.isfinite(rise.radius) and float(rise.lower) > -0.5 and float(rise.upper) < 1.0:
                self.log_mgf = self.log_lift + widened(rise.log1p(), slack)
                return
        self.log_mgf = self.log_lift + widened(self.log_total(), at_zero)

    def log_total(self) -> Enclosure:
        """log of the sum over the nodes."""
        return scaled(self.kept).sum().log() + exact(float(np.max(self.kept.value))) + self.log_unit


class Centre(Protocol):
    """g next to a node x0."""

    @property
    def log_g(self) -> Enclosure:
        """log g(x0)."""

    def log_ratios(self, rise: Enclosure) -> Enclosure:
        """log g(x)/g(x0) at mu (x - x0) = rise, with a relative precision."""

    def share_above(self, mu: float, before: float) -> float:
        """At or above S at x0 - before."""

    def share_below(self, mu: float, after: float) -> float:
        """At or below S at x0 + after."""


@dataclass(frozen=True, slots=True)
class SubsampledCentre:
    """By the log odds of the shifted component there."""

    log_g: Enclosure
    odds: Enclosure

    def log_ratios(self, rise: Enclosure) -> Enclosure:
        return log_ratios(rise, self.odds)

    def share_above(self, mu: float, before: float) -> float:
        """At most the odds."""
        odds = float(self.odds.exp().upper)
        return min(1.0, round_up(odds * math.exp(-round_down(mu, MILLIONS) * before), MILLIONS))

    def share_below(self, mu: float, after: float) -> float:
        odds = float(self.odds.exp().upper) * math.exp(min(700.0, mu * after)) * (1.0 - 1e-6)
        return odds / (1.0 + odds)


def subsampled_centre(mu: Enclosure, rate: float, centre: float) -> SubsampledCentre:
    """log g and the log odds of the shifted component, at the centre."""
    with working_precision(CENTRE_BITS):
        ball, share = arb(float(mu.value), float(mu.radius)), arb(rate)
        shift = ball * (arb(centre) - ball / 2)
        found = (share * shift.expm1()).log1p(), shift + share.log() - (-share).log1p()
        return SubsampledCentre(*(enclosing(lower_float(value), upper_float(value)) for value in found))


def log_ratios(rise: Enclosure, log_odds: Enclosure) -> Enclosure:
    """log(1 - pi + pi e^rise), pi the share with these log odds: log1p(pi expm1(rise)) where that neither
    overflows nor cancels.
    """
    if float(log_odds.value) > 0.0:
        return rise + log_ratios(-rise, -log_odds)
    odds = log_odds.exp()
    share, steep = odds / (1.0 + odds), rise.value > OFFSET_SPLIT
    if not steep.any():
        return (rise.expm1() * share).log1p()
    near = (where(~steep, rise, exact(np.zeros_like(rise.value))).expm1() * share).log1p()
    # log(1 - pi) + log(1 + e^w), w the log odds at the node
    at_node = where(steep, rise, exact(np.zeros_like(rise.value))) + log_odds
    above = at_node.value > 0.0
    size = where(above, at_node, -at_node)
    far = where(above, at_node, exact(np.zeros_like(rise.value))) + (-size).exp().log1p() - odds.log1p()
    return where(steep, far, near)


def scaled(log: Enclosure) -> Enclosure:
    """e^log divided by its largest value."""
    with np.errstate(under="ignore"):
        return (log - float(np.max(log.value))).exp()


@dataclass(frozen=True, slots=True)
class _Place:
    """A likelihood ratio, next to the centre of a grid."""

    law: Likelihood
    centre: Centre
    mu: float
    grid: Grid


def _ends(place: _Place, weights: Enclosure, power: float, marked: SoftWindow) -> float:
    """Mass beyond the nodes relative to the mass on them, by a geometric series on both sides.

    The log density falls at least at the rate d beyond the last node: on the right d = x - a mu D (x for a < 0), on
    the left d = -x (-x + a mu S(x) for a < 0), and the slope of a window more. A hard end e adds 2 y f(e) at most;
    where it is none of a window, a < 0, at most f(e)/d is beyond it, d = e - a mu S(e).
    """
    law, centre, mu, grid = place.law, place.centre, place.mu, place.grid
    left = grid.left * grid.step - grid.centre
    if marked.edges:
        left += marked.slope_left_of(-left)
    if power < 0.0:
        pull = power * mu * centre.share_above(mu, grid.left * grid.step)
        left += pull - CANCELLED * (abs(pull) + abs(left))
    if marked.edges and marked.end == math.inf:
        return np.inf  # a rising edge has to end
    if marked.end < math.inf:
        right = math.inf
    elif grid.end < math.inf:
        right = grid.end - power * mu * centre.share_below(mu, (grid.right + 0.5) * grid.step)
    else:
        last, pull = grid.centre + grid.right * grid.step, max(power, 0.0) * mu * law.most
        right = last - pull - CANCELLED * (abs(last) + pull)
    mass = round_down(float(np.sum(weights.lower[: grid.size].clip(0.0))), THOUSANDS)
    if not (left > 0.0 and mass > 0.0):
        return np.inf
    first, last = float(weights[0].upper), float(weights[-1].upper)
    ends = first / -np.expm1(-grid.step * left)
    if grid.end == math.inf and law.many and not right > 1.0:
        ends += last / grid.step * law.beyond(mu, power, grid.centre + grid.right * grid.step, grid.step)
    elif not right > 0.0:
        return np.inf
    elif grid.end < math.inf:
        ends += last / grid.step * (1.0 / right + 2.0 * max(mode_heights(mu, grid.step, grid.strip), default=np.inf))
    else:
        ends += last / -np.expm1(-grid.step * right)
    return float(round_up(ends / mass, MILLIONS))


def _marks(marked: SoftWindow, points: FloatArray) -> tuple[Enclosure, Enclosure]:
    """log weight and 1 - weight at points up to the end; the latter adds what each edge takes of the rest."""
    log_weight, missing = exact(np.zeros_like(points)), exact(np.zeros_like(points))
    for edge in marked.edges:
        inside, outside = edge.log_sides(points)
        log_weight, missing = log_weight + inside, missing + outside.exp() * (1.0 - missing)
    return log_weight, missing


def _beyond(mu: float, law: Likelihood, end: float) -> float:
    """P[x > end], from above."""
    with working_precision(BITS_START):
        return upper_float(law.ball_tail(arb(mu), arb(end), arb(1)))


# The trapezoid rule for a sampled normal in balls.
#
# The formulas of quadrature_float without their detours: balls carry every rounding.
# Guarantee: every ball contains the truth. Proof: docs/proofs/contour.md, section 5.
# Reference: Trefethen, Weideman 2014, Thm 5.1.

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
    ends, edge = _ball_ends(mu, grid, exact_power, law, marked, weights, mass), arb(0)
    if grid.end < math.inf:
        # Relative to the sum, which is the integral up to a factor of 2, or else everything is lost anyway.
        edge = 4 * loss_and_weight(arb(grid.end))[1] / (mass * arb(grid.step))
        if marked is WHOLE:  # what lies beyond the end: the density falls at the rate e - a mu pi(e) at least
            falls = arb(grid.end) - exact_power * mu * law.ball_share(mu, arb(grid.end))
            ends = ends + edge / (4 * falls) if falls > 0 and exact_power < 0 else arb.pos_inf()
    error = StripError(mu, law, power, grid, ends, marked, edge)
    log_mgf = (total_mass(weights, error) * arb(grid.step) / (2 * arb.pi()).sqrt()).log()
    return BallLaw(tuple(sign * log for log in logs), weights, log_mgf, error)


def _ball_ends(
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
