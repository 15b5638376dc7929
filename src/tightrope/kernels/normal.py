"""Both tails of the normal law, to a few ulps from the middle down to the smallest normal double.

P[N > a] = erfcx(a / sqrt 2) e^(-a^2 / 2) / 2 for a >= 0; the other side is one minus it, at least a half.
P[|N| <= a] = sqrt(2 / pi) e^(-a^2 / 2) sum of a^(2n+1)/(1 3 ... (2n+1)) for small a: nothing cancels.
"""

from __future__ import annotations

import math

import numpy as np

from . import ulps
from .double_double import DoubleDouble, FloatArray
from .fp_environment import demand_erfcx

# Relative error of either tail; where it is below the normal doubles, add ulps.SUBNORMAL.
NORMAL_TAIL_ERROR = (ulps.ERFCX + 2.0 * ulps.EXP + 9.0) * ulps.UNIT

# Tails beyond are under 1e-349, far below the smallest double.
_BEYOND = 40.0

# 1 3 5 ... 35 is above 1e20.
_LAST_ODD = 35


def normal_tails(z: DoubleDouble) -> tuple[FloatArray, FloatArray]:
    """P[N > z] and P[N <= z] of a standard normal N; 0 and 1 at the infinities.

    a^2 is taken in two doubles h + l, since one would cost a^2 / 2 ulps: e^(-a^2/2) = e^(-h/4) e^(-h/4) (1 - l/2); the
    halves keep each factor a normal number. What a.lo adds to erfcx is below half an ulp and left out.
    Guarantee: |computed - tail| <= NORMAL_TAIL_ERROR tail + SUBNORMAL, NaN for NaN. Proof: docs/proofs/rounding.md.
    """
    from scipy.special import erfcx, errstate

    demand_erfcx()
    with np.errstate(all="ignore"), errstate(all="ignore"):
        sign = np.where(z.hi < 0.0, -1.0, 1.0)
        near = abs(z.hi) < _BEYOND
        a = DoubleDouble(np.minimum(abs(z.hi), _BEYOND), np.where(near, z.lo * sign, 0.0))
        square = a * a
        half = np.exp(-0.25 * square.hi)
        scaled = erfcx(a.hi * math.sqrt(0.5)) * (0.5 - 0.25 * square.lo)
        small = (scaled * half) * half
        large = 1.0 - small
    return np.where(z.hi < 0.0, large, small), np.where(z.hi < 0.0, small, large)


def both_sides(z: DoubleDouble) -> tuple[FloatArray, FloatArray]:
    """P[|N| > z] and P[|N| <= z] for z >= 0.

    Up to 1 the second is the sum, cut where a term is below 1e-18; z.lo changes it by less than a unit.
    Guarantee: NORMAL_TAIL_ERROR and 2 SUBNORMAL, NaN for NaN. Proof: docs/proofs/gaussian_variance.md, section 3.
    """
    beyond = 2.0 * normal_tails(z)[0]
    with np.errstate(all="ignore"):
        a = np.minimum(z.hi, 1.0)
        square, total = a * a, np.ones_like(a)
        for odd in range(_LAST_ODD, 1, -2):
            total = 1.0 + square / odd * total
        within = math.sqrt(2.0 / math.pi) * a * np.exp(-0.5 * square) * total
    return beyond, np.where(z.hi < 1.0, within, 1.0 - beyond)
