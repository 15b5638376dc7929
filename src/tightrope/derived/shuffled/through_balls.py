"""float64 by way of balls, for pairs that are asked seldom: tails at each t, and what the mirror makes of a delta."""

from __future__ import annotations

import numpy as np
from flint import arb

from ...kernels.ball import BITS_START, working_precision
from ...kernels.double_double import DoubleDouble
from ...pair import Pair, Tails


def ball_tails_as_floats(pair: Pair, t: DoubleDouble) -> Tails:
    """All four at each t; far from an atom the balls hold all digits of a double."""
    points = np.atleast_1d(t.collapse())
    values = np.empty((4, points.size))
    for index, point in enumerate(points.ravel()):
        with working_precision(2 * BITS_START):
            values[:, index] = [min(max(float(tail.mid()), 0.0), 1.0) for tail in pair.ball_tails(arb(float(point)))]
    return Tails(*(column.reshape(points.shape) for column in values))


def mirrored(delta: arb, epsilon: arb) -> arb:
    """H(e^epsilon) of a pair, epsilon < 0, from H(e^-epsilon) of its reverse. Proof: docs/proofs/mirror.md."""
    return -epsilon.expm1() + epsilon.exp() * delta
