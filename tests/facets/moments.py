"""Doubles around K at a real tilt, from either arithmetic of the contour."""

from __future__ import annotations

from tightrope.facets.cgf import LOG_TOLERANCE
from tightrope.facets.cumulant import cgf_of, cumulant
from tightrope.kernels.ball import lower_float, upper_float
from tightrope.pair import Pair


def log_moment(pair: Pair, tilt: float, proof: bool) -> tuple[float, float]:
    """lower <= K(tilt) <= upper."""
    if proof:
        ball = cumulant(pair, tilt).real
        return lower_float(ball), upper_float(ball)
    found = cgf_of(pair).tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf
    return float(found.lower), float(found.upper)
