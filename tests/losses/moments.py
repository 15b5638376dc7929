"""Doubles around K at a real tilt, from either arithmetic of the contour."""

from __future__ import annotations

from tightrope.core.losses.cgf import LOG_TOLERANCE, cgf_of, cumulant
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import lower_float, upper_float


def log_moment(pair: Pair, tilt: float, proof: bool) -> tuple[float, float]:
    """lower <= K(tilt) <= upper."""
    if proof:
        ball = cumulant(pair, tilt).real
        return lower_float(ball), upper_float(ball)
    found = cgf_of(pair).tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf
    return float(found.lower), float(found.upper)
