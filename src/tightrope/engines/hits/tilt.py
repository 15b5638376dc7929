"""Which tilt, and which share of the tilted law a window may leave out: of the tilts up to the saddle's, whose noise
stays low enough, the one with the shortest window.

By Chernoff at s > theta a window that leaves out the share t ends at (K(s) - K(theta) - log t)/(s - theta); it begins
at the least sum. What is left out of the tilted law weighs e^(K(theta) - theta eps) in delta.
Guarantee: none needed. Every tilt and every window is valid; a bad one costs width or time only.
Reference: Daniels 1954, Sec. 2 (saddle point).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...errors import Refusal, UnsupportedMechanism
from ...kernels.enclosure import FloatArray
from ..lattice.sketch import Sketches, gathered, sketch_of_atoms
from . import tuning


class Tilt(NamedTuple):
    """A tilt, and the share of the tilted law that may lie outside of a window."""

    theta: float
    tolerance: float


def sketched(laws: Sequence[tuple[FloatArray, FloatArray]], counts: Sequence[int]) -> Sketches:
    """Laws of (points, masses), each thinned: enough for choices; their ends stay those of the points."""
    drawn = []
    for points, masses in laws:
        rough = sketch_of_atoms(
            points[:: tuning.THINNED], np.add.reduceat(masses, np.arange(0, len(masses), tuning.THINNED))
        )
        drawn.append(replace(rough, lowest=float(points[0]), highest=float(points[-1])))
    return gathered(drawn, counts)


def choose_tilt(laws: Sketches, epsilon: float, delta: float, share: float) -> Tilt:
    """share: what may be left out of delta, which is known about, or 0."""
    span = max(sketch.highest - sketch.lowest for sketch in laws.each)
    if not 0.0 < span < math.inf:
        raise UnsupportedMechanism("its losses are all alike, or without end")
    saddle = _saddle(laws, epsilon, span)
    shares = np.geomspace(*tuning.SHARES)
    thetas = saddle * shares
    cgf = np.array([float(np.dot(laws.counts, laws.cgf(float(theta)))) for theta in thetas])
    heights = cgf - thetas * epsilon
    log_delta = math.log(delta) if delta > 0.0 else float(np.min(heights)) + math.log(tuning.UNKNOWN)
    # P - e^eps Q cancels, the more the smaller epsilon is.
    log_noise = math.log(
        tuning.NOISE * (1.0 + float(laws.counts.sum()) / tuning.NOISY_USES) / max(min(epsilon, 1.0), tuning.RATE_MIN)
    )
    choices = []
    for index in np.flatnonzero(shares[:-1] <= 1.0):
        log_tolerance = math.log(share) + log_delta - float(heights[index])
        gaps = thetas[index + 1 :] - thetas[index]
        end = float(np.min((cgf[index + 1 :] - cgf[index] - log_tolerance) / gaps))
        choices.append((max(log_noise - log_tolerance, 0.0), end, float(thetas[index]), log_tolerance))
    _, reach, theta, log_tolerance = min(choices)
    least, most = (
        float(np.dot(laws.counts, [getattr(sketch, end) for sketch in laws.each])) for end in ("lowest", "highest")
    )
    if min(reach, most) - least > tuning.WINDOWS_MAX * span:
        raise UnsupportedMechanism("its sums reach too far for one grid", Refusal.TOO_MUCH_WORK)
    return Tilt(theta, math.exp(min(max(log_tolerance, math.log(tuning.FLOOR)), math.log(tuning.CEILING))))


def _saddle(laws: Sketches, epsilon: float, span: float) -> float:
    """The tilt whose law has its mean at epsilon."""
    low, high = tuning.FLATTEST / span, tuning.STEEPEST / span
    for _ in range(20):
        middle = math.sqrt(low * high)
        mean = float(np.dot(laws.counts, laws.moments(middle)[1]))
        low, high = (middle, high) if mean < epsilon else (low, middle)
    return high
