"""Where a trade-off curve asks for deltas: beside the tangents at its rates, by Gaussians of equal delta.

Guarantee: none is needed; any points give a valid curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .gaussian_guess import LOG_ROOT_TWO_PI, turning_point, upper_point

TANGENT_TRIES = 2  # the second with the points around the first place
TANGENT_REACH = 8.0  # standard deviations: a place so far from all points is none
PAIRED = 16.0  # steps of two points are not shorter than by this
APART_AT_FIRST = 0.1  # of mu: how far the tangents of neighbouring rates are
SEPARATE = 1.0 - 1e-12  # a total variation from which on no Gaussian tells where to look
FAR_POINTS = 12


def outward(mu: float, fprs: Sequence[float]) -> list[float]:
    """The rates from the one whose tangent has a = 1 on: those below it, then those above."""
    small = [x for x in fprs if upper_point(x) >= mu / 2.0]
    return [*reversed(small), *fprs[len(small) :]]


def beside(mus: Sequence[tuple[float, float]], x: float, aim: float) -> tuple[list[float], float]:
    """Two or three t = log a around the tangent at a rate, and the width of f that is wanted there; none where unknown.

    What lies between three points is about the bend of H times the step squared; two of them leave the bend times the
    step times the distance to others. mus: points t that are known, and mu of the Gaussian with their delta.
    """
    found = _tangent(mus, x)
    if found is None:
        return [], 0.0
    t, mu = found
    z = t / mu - mu / 2.0
    bend = math.exp(-z * z / 2.0 - LOG_ROOT_TWO_PI) / mu
    power = math.erfc(z * math.sqrt(0.5)) / 2.0
    allowed = aim * min(power, 1.0 - power)
    if not (bend > 0.0 and allowed > 0.0):
        return [t], allowed
    apart = max(min(abs(t - value) for value, _ in mus), APART_AT_FIRST * mu)
    alone = min(math.sqrt(allowed / bend), mu)
    together = min(alone, 2.0 * allowed / (bend * apart))
    return [t - together, t + together] if alone < PAIRED * together else [t - alone, t, t + alone], allowed


def far(fprs: Sequence[float]) -> list[float]:
    """Where a rate times a, or 1 less the rate over a, is 1: what tells that nobody can be missed."""
    places = [-math.log(x) if x < 0.5 else math.log1p(-x) for x in fprs]
    return places[:: max(len(places) // FAR_POINTS, 1)]


def _tangent(mus: Sequence[tuple[float, float]], x: float) -> tuple[float, float] | None:
    """log a of the tangent at a rate, and mu there."""
    t, mu = mus[-1]
    t = mu * upper_point(x) - mu * mu / 2.0
    for _ in range(TANGENT_TRIES):
        near = sorted(mus, key=lambda each: abs(each[0] - t))[:3]
        mu = near[0][1]
        t = turning_point(near, x, near[0][0] - TANGENT_REACH * mu, near[0][0] + TANGENT_REACH * mu)
        if math.isnan(t):
            return None
    return t, mu
