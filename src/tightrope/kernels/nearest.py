"""The double nearest to the exact value of a function at exact arguments.

Claim: a ball around the value is narrowed until both of its ends round to the same double; rounding to nearest is
monotone, so the value rounds to it too. Where the value lies in the middle of two doubles it has finitely many digits,
and the ball becomes a point.
Guarantee: correctly rounded, ties to even; ValueError where there is no value, OverflowError beyond all doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from flint import arb

from .ball import working_precision

BITS_START, NEAREST_BITS_MAX = 128, 1 << 15
EXP_MAX = 710.0  # e to it is above every double
EXP_MIN = -746.0  # e to it is below half of the least one


def nearest_sqrt(x: float) -> float:
    """sqrt(x)."""
    if not 0 <= x < math.inf:
        raise ValueError("no real value")
    return _nearest(lambda: arb(x).sqrt())


def nearest_exp(x: float) -> float:
    """e to the power x."""
    if not x < EXP_MAX:
        raise OverflowError
    return 0.0 if x < EXP_MIN else _nearest(lambda: arb(x).exp())


def nearest_log(x: float) -> float:
    """The natural logarithm of x."""
    if not 0 < x < math.inf:
        raise ValueError("no real value")
    return _nearest(lambda: arb(x).log())


def nearest_power(x: float, y: float) -> float:
    """x to the power y; ZeroDivisionError for 0 to a negative power."""
    if x == 0 and y < 0:
        raise ZeroDivisionError
    if not (math.isfinite(x) and math.isfinite(y)) or (x < 0 and y != int(y)):
        raise ValueError("no real value")
    if x == 0 or y == 0:
        return 1.0 if y == 0 else 0.0
    with working_precision(BITS_START):
        size = arb(y) * abs(arb(x)).log()
    if not size < EXP_MAX:
        raise OverflowError
    if size < EXP_MIN:
        return 0.0
    return _nearest(lambda: arb(x) ** arb(y))


FUNCTIONS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"sqrt": nearest_sqrt, "exp": nearest_exp, "log": nearest_log}
)


def _nearest(formula: Callable[[], arb]) -> float:
    bits = BITS_START
    while bits <= NEAREST_BITS_MAX:
        with working_precision(bits):
            ball = formula()
            low, high = _rounded(ball.lower()), _rounded(ball.upper())
        if low == high:
            return low
        bits *= 2
    raise ValueError("too close to the middle of two doubles")


def _rounded(point: arb) -> float:
    """The double nearest to an exact ball: division of whole numbers rounds to nearest."""
    mantissa, exponent = point.man_exp()
    return float(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
