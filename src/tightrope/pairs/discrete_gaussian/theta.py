"""Gaussian weights on the integers: their sums in balls, and powers of their transforms in float64.

T(v, theta) = sum over integers x of e^{-(x-v)^2/(2 s^2) + i theta (x-v)} is, by Poisson summation,
    s sqrt(2 pi) sum over j of e^{-2 pi i j v} e^{-s^2 (theta - 2 pi j)^2/2}:
a few terms of either sum are enough, of the first for a small s, of the second for a large one.
Guarantee: balls contain the truth; float64 with its radii. Proof: docs/proofs/contour.md, section 13.
Reference: Stein, Weiss 1971, Cor. VII.2.6 (Poisson summation).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import acb, arb

from ...kernels.directed import THOUSANDS, round_down

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ...kernels.contour_sum import Factor
    from ...kernels.enclosure import Enclosure, FloatArray

DUAL_MIN = 1.2  # the least s for which two neighbours in the second sum leave out less than 1e-24
ANGLE_UNITS = 16.0  # error of an angle theta and of its rest after whole turns, in units of theta


def theta_ball(variance: arb, place: arb, angle: arb) -> acb:
    """T(place, angle) for a place in [-1/2, 1/2], without the factor e^{-i theta place}."""
    turn = 2 * acb.pi() * acb(0, 1)
    nome = acb(0, 1) / (2 * acb.pi() * variance)
    value = acb.modular_theta(acb(place / variance, angle) / turn, nome)[2]
    return value * (-place * place / (2 * variance)).exp()


def theta_factor(variance: Enclosure, place: Fraction, angles: FloatArray, count: int) -> Factor:
    """(T(place, theta)/T(place, 0))^count at angles known up to 10 units, for s >= DUAL_MIN."""
    import numpy as np

    from ...kernels.contour_sum import Factor, multiply, power
    from ...kernels.quadrature import Transform
    from ...kernels.ulps import UNIT

    square, uses = float(variance.value), float(count)
    whole = np.rint(angles / (2.0 * math.pi))
    rest = angles - 2.0 * math.pi * whole
    off = ANGLE_UNITS * UNIT * angles
    log = -0.5 * uses * square * rest * rest
    blur = float(variance.radius) / square + 8.0 * UNIT
    rounding = 1.01 * (abs(log) * blur + uses * square * abs(rest) * off + 0.5 * uses * square * off * off)
    # Whole turns of all uses at once: the fraction is exact before it is rounded.
    fraction = float(place * count % 1)
    turned = np.fmod(whole * fraction, 1.0)
    phase = -2.0 * math.pi * turned
    rounding = rounding + np.where(whole == 0.0, 0.0, 32.0 * UNIT * (1.0 + whole))
    zero = np.zeros_like(log)
    main = Factor(log, phase, log + 2.0 * rounding, zero, rounding)
    here, error = _neighbours(square, place, rest, off, blur)
    start, start_error = _neighbours(square, place, np.zeros(1), np.zeros(1), blur)
    left_out = 8.0 * math.exp(-round_down(4.0 * math.pi**2 * square, THOUSANDS))
    deviation = (here - start[0]) / (1.0 + start[0])
    radius = 1.01 * (error + float(start_error[0]) + left_out) + 16.0 * UNIT * (abs(here) + abs(start[0])) + 1e-300
    return multiply([main, power(Transform(deviation, zero, radius), uses)])


def _neighbours(
    square: float, place: Fraction, rest: FloatArray, off: FloatArray, blur: float
) -> tuple[npt.NDArray[np.complex128], FloatArray]:
    """The two terms next to the largest one, relative to it, and the error of their sum."""
    import numpy as np

    from ...kernels.ulps import UNIT

    turn = 2.0 * math.pi * float(place % 1)
    total, error = np.zeros(rest.size, dtype=np.complex128), np.zeros(rest.size)
    for side in (1.0, -1.0):
        exponent = -2.0 * math.pi * square * np.maximum(math.pi - side * rest, 0.0)
        size = np.exp(exponent)
        total = total + size * complex(math.cos(turn), -side * math.sin(turn))
        spread = 2.0 * math.pi * square * 1.01 * off + abs(exponent) * (blur + 16.0 * UNIT)
        error = error + size * (np.expm1(np.minimum(spread, 700.0)) + 64.0 * UNIT)
    return total, error
