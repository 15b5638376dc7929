"""The tilted law of a sampled normal in float64, as nodes of a trapezoid rule.

x is standard normal, g(x) = 1 - rate + rate e^{mu x - mu^2/2}; the loss is sign log g, with the density n g^base,
(sign, base) = (1, 1) for remove and (-1, 0) for add. With a node x0 as centre, pi0 the share of the shifted component
there and d(x) = log(g(x)/g(x0)) = log1p(pi0 expm1(mu (x - x0))),
M(z) = g(x0)^{sign z} E[e^{sign z d}],  log M(c) = sign c log g(x0) + log1p(E[expm1(sign c d)]).
Nothing cancels: the errors are proportional to E|d|, not to 1.
Guarantee: weights, offsets and log M(c) enclose the truth up to `error`.
Proof: docs/proofs/contour.md, sections 5 and 7.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from ... import work
from ...kernels.ball import lower_float, upper_float, working_precision
from ...kernels.directed import MILLIONS, THOUSANDS, lowered, raised
from ...kernels.enclosure import Enclosure, FloatArray, enclosing, exact, where
from ...kernels.quadrature import QuadratureError, TiltedLaw, widened
from .grid import Grid, choose_grid, error_modes, mode_heights

ROOT_TWO_PI = Enclosure(np.asarray(2.5066282746310002), np.asarray(4e-16))
NODE_BYTES = 512.0  # a node in some thirty arrays of doubles
CANCELLED = 1e-15  # more than the rounding of a power, of mu and of their product, where a difference of such is small
CENTRE_BITS = 160  # 1 - rate is 2^-53 or more
OFFSET_SPLIT = 30.0  # above this exponent expm1 is traded for logs, far below overflow


def sampled_normal(mu: Enclosure, rate: float, sign: int, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw:
    """The law tilted by e^{tilt loss}, for transforms up to |t| = reach."""
    base = 1.0 if sign > 0 else 0.0
    power = base + sign * tilt
    mu_up = float(mu.upper)
    grid = choose_grid(mu_up, rate, power, reach, log_tolerance)
    work.hold(NODE_BYTES * grid.size)
    steps: FloatArray = np.arange(-grid.left, grid.right + 1, dtype=np.float64) * grid.step
    if grid.end < math.inf:
        steps = np.append(steps, (grid.right + 0.5) * grid.step)  # the hard end
    nodes = exact(steps + grid.centre)
    log_g, log_odds = centre_values(mu, rate, grid.centre)
    offsets = log_ratios(mu * exact(steps), log_odds)
    bell = nodes * nodes * -0.5
    plain_log = bell + offsets if base else bell
    tilted_log = plain_log + offsets * (sign * tilt)  # base + tilt in one double would be rounded
    weights = scaled(tilted_log)
    odds = float(log_odds.exp().upper)
    ends = _ends(mu_up, grid, weights, odds, power)
    plain_ends = _ends(mu_up, grid, scaled(plain_log), odds, base) if grid.end == math.inf else math.inf
    error = QuadratureError(ends, error_modes(mu_up, power, grid.step, grid.strip))
    at_zero = float(error.at(np.zeros(1))[0])
    log_unit = log_g * base + exact(grid.step).log() - ROOT_TWO_PI.log()
    inside = slice(0, grid.size)
    log_mgf = _log_mgf(
        offsets[inside] * (sign * tilt), plain_log[inside], tilted_log[inside], log_unit, at_zero, plain_ends
    )
    return TiltedLaw(
        drift=log_g * float(sign),
        log_mgf=log_g * (sign * tilt) + log_mgf,
        offsets=offsets[inside] * float(sign),
        weights=weights[inside],
        error=error,
    )


def centre_values(mu: Enclosure, rate: float, centre: float) -> tuple[Enclosure, Enclosure]:
    """log g and the log odds of the shifted component, at the centre."""
    with working_precision(CENTRE_BITS):
        ball, share = arb(float(mu.value), float(mu.radius)), arb(rate)
        shift = ball * (arb(centre) - ball / 2)
        found = (share * shift.expm1()).log1p(), shift + share.log() - (-share).log1p()
        log_g, log_odds = (enclosing(lower_float(each), upper_float(each)) for each in found)
    return log_g, log_odds


def log_ratios(rise: Enclosure, log_odds: Enclosure) -> Enclosure:
    """log(1 - pi + pi e^rise), pi the share with these log odds: log1p(pi expm1(rise)) where that neither
    overflows nor cancels.
    """
    if float(log_odds.value) > 0.0:
        return rise + log_ratios(-rise, -log_odds)
    odds = log_odds.exp()
    steep = rise.value > OFFSET_SPLIT
    near = (where(~steep, rise, exact(np.zeros_like(rise.value))).expm1() * (odds / (1.0 + odds))).log1p()
    if not steep.any():
        return near
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


def _ends(mu: float, grid: Grid, weights: Enclosure, odds: float, power: float) -> float:
    """Mass beyond the nodes relative to the mass on them, by a geometric series on both sides.

    The log density falls at least at the rate d beyond the last node: on the right d = x - a mu (x for a < 0), on
    the left d = -x (-x + a mu pi(x) for a < 0, and pi(x) is at most its odds, odds(x0) e^{mu (x - x0)}).
    Before a hard end e, a < 0: at most f(e)/d beyond it, d = e - a mu pi(e), and 2 y f(e) for the end itself.
    """
    left = grid.left * grid.step - grid.centre
    if power < 0.0:
        pull = power * mu * min(1.0, raised(odds * np.exp(-lowered(mu, MILLIONS) * grid.left * grid.step), MILLIONS))
        left += pull - CANCELLED * (abs(pull) + abs(left))
    cut = grid.end < math.inf
    if cut:
        at_end = odds * math.exp(min(700.0, mu * (grid.right + 0.5) * grid.step)) * (1.0 - 1e-6)
        right = grid.end - power * mu * at_end / (1.0 + at_end)
    else:
        last, pull = grid.centre + grid.right * grid.step, max(power, 0.0) * mu
        right = last - pull - CANCELLED * (abs(last) + pull)
    if not (right > 0.0 and left > 0.0):
        return np.inf
    first, last = weights.upper[0], weights.upper[-1]
    ends = first / -np.expm1(-grid.step * left)
    if cut:
        ends += last / grid.step * (1.0 / right + 2.0 * max(mode_heights(mu, grid.step, grid.strip), default=np.inf))
    else:
        ends += last / -np.expm1(-grid.step * right)
    mass = lowered(np.sum(weights.lower[: grid.size].clip(0.0)), THOUSANDS)
    return float(raised(ends / mass, MILLIONS))


def _log_mgf(
    growth: Enclosure,
    plain_log: Enclosure,
    tilted_log: Enclosure,
    log_unit: Enclosure,
    at_zero: float,
    plain_ends: float,
) -> Enclosure:
    """log E[e^growth], through expm1 where that is sharper."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        rise = (plain_log.exp() * growth.expm1()).sum() * log_unit.exp()
    usable = np.isfinite(rise.radius) and plain_ends < 0.1
    if usable and float(rise.lower) > -0.5 and float(rise.upper) < 1.0:
        # M (at_zero) for the tilted sum, 1 (at_zero + plain_ends) for the plain one, and M >= 1/2.
        slack = 3.0 * at_zero + 2.0 * plain_ends
        return widened(rise.log1p(), slack)
    return widened(log_sum(tilted_log) + log_unit, at_zero)


def log_sum(logs: Enclosure) -> Enclosure:
    """log of the sum of e^logs."""
    return scaled(logs).sum().log() + exact(float(np.max(logs.value)))
