"""Where a trade-off curve asks for deltas: beside the tangents at its rates, by Gaussians of equal delta.

Guarantee: none is needed; any points give a valid curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..bound import Bound
from .gaussian_guess import LOG_ROOT_TWO_PI, equivalent, turning_point, upper_point

SCOUTS = 12
PAIRED = 16.0  # steps of two points are not shorter than by this
TANGENT_TRIES = 2  # the second with the points around the first place
TANGENT_REACH = 8.0  # standard deviations: a place so far from all points is none


def scouts(middle: Bound, fprs: Sequence[float]) -> list[float]:
    """log a across the tangents at the rates, of a Gaussian with this total variation."""
    mu = equivalent(0.0, middle.upper)
    if not mu > 0.0 or not fprs:
        return []
    first, last = (mu * upper_point(x) - mu * mu / 2.0 for x in (fprs[-1], fprs[0]))
    count = min(SCOUTS, len(fprs))
    found = (first + (last - first) * index / count for index in range(count + 1))
    return [t for t in found if t != 0.0]


def beside(known: Mapping[float, Bound], fprs: Sequence[float], aim: float) -> list[tuple[float, float]]:
    """Two or three places around the tangent at each rate, as far apart as the width wanted allows; and the rate."""
    mus = [(t, equivalent(abs(t), bound.upper)) for t, bound in sorted(known.items())]
    mus = [(t, mu) for t, mu in mus if mu > 0.0]
    places = sorted((*place, x) for x in fprs if (place := _tangent(mus, x)) is not None)
    found: list[tuple[float, float]] = []
    for index, (t, mu, x) in enumerate(places):
        others = [places[other][0] for other in (index - 1, index + 1) if 0 <= other < len(places)]
        alone, together = _steps(t, mu, max((abs(t - other) for other in others), default=mu), aim)
        around = (t - together, t + together) if alone < PAIRED * together else (t - alone, t, t + alone)
        found += [(each, x) for each in around if each not in known]
    return found


def _tangent(mus: Sequence[tuple[float, float]], x: float) -> tuple[float, float] | None:
    """log a of the tangent at a rate, and mu there."""
    if not mus:
        return None
    mu = mus[len(mus) // 2][1]
    t = mu * upper_point(x) - mu * mu / 2.0
    for _ in range(TANGENT_TRIES):
        near = sorted(mus, key=lambda each: abs(each[0] - t))[:3]
        mu = near[0][1]
        t = turning_point(near, x, near[0][0] - TANGENT_REACH * mu, near[0][0] + TANGENT_REACH * mu)
        if math.isnan(t):
            return None
    return t, mu


def _steps(t: float, mu: float, apart: float, aim: float) -> tuple[float, float]:
    """How far from a tangent: where it is asked for too, and where it is not.

    What lies between three points is about the bend of H times the step squared; two of them leave the bend times the
    step times the distance to others.
    """
    z = t / mu - mu / 2.0
    bend = math.exp(-z * z / 2.0 - LOG_ROOT_TWO_PI) / mu
    power = math.erfc(z * math.sqrt(0.5)) / 2.0
    allowed = aim * min(power, 1.0 - power)
    if not (bend > 0.0 and allowed > 0.0):
        return mu, mu
    alone = min(math.sqrt(allowed / bend), mu)
    return alone, min(alone, 2.0 * allowed / (bend * apart) if apart > 0.0 else mu)
