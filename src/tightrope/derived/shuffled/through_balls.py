"""float64 by way of balls, for pairs that are asked seldom: tails at each t, and what the mirror makes of a delta."""

from __future__ import annotations

import numpy as np
from flint import arb

from ...kernels.ball import BITS_START, working_precision
from ...kernels.twofold import Twofold
from ...pair import Pair, Tails


def ball_tails_as_floats(pair: Pair, t: Twofold) -> Tails:
    """All four at each t; far from an atom the balls hold all digits of a double."""
    points = np.atleast_1d(t.collapse())
    found = np.empty((4, points.size))
    for index, point in enumerate(points.ravel()):
        with working_precision(2 * BITS_START):
            found[:, index] = [min(max(float(each.mid()), 0.0), 1.0) for each in pair.ball_tails(arb(float(point)))]
    return Tails(*(column.reshape(points.shape) for column in found))


def mirrored(delta: arb, epsilon: arb) -> arb:
    """H(e^epsilon) of a pair, epsilon < 0, from H(e^-epsilon) of its reverse. Proof: docs/proofs/mirror.md."""
    return -epsilon.expm1() + epsilon.exp() * delta
