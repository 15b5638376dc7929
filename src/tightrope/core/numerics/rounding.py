"""Plain doubles moved to a safe side: the words in which float64 code says what its roundings may cost.

UNIT = 2^-53 is what one rounding to nearest may change, relatively; below 2^-1022 add TINIEST for each operation.
Guarantee: upper or lower, as each function says. Proof: docs/proofs/rounding.md, section 6.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .enclosures import FloatArray


# The only place where the accuracy of a library function is assumed.
#
# Each constant C bounds the error of that function for an exact argument: C UNIT relative where the result is a normal
# number, C SUBNORMAL absolute below. UNIT = 2**-53 is half an ulp of a double. tests/numerics/test_ulps.py and
# test_angles.py measure each against Arb at 10^5 points and fail where the assumption does; kernels.fp_environment
# tries
# a few hundred in every process. The constants of numpy's exp, expm1, log and log1p hold for those of Python's own math
# module too.
# Arithmetic and square roots are IEEE 754: round to nearest, gradual underflow.

UNIT = 2.0**-53
SUBNORMAL = 5e-324  # spacing of the doubles below 2**-1022, where a relative error is no longer a bound

EXP = 4.0
EXPM1 = 4.0
LOG = 4.0
LOG1P = 4.0
ERFCX = 16.0  # scipy.special.erfcx(x) for x >= 0; ERFCX + x^2 for x < 0, where it squares x in one double

# Sine and cosine: for |x| <= ANGLE_MAX the absolute error is at most SINE min(|x|, 1) and COSINE units, weaker
# than a bound in units of the result. numpy.arctan2: relative.
SINE = 4.0
COSINE = 4.0
ANGLE_MAX = 2.0**30
ARCTANGENT = 4.0
HYPOT = 4.0  # numpy.hypot
LOGADDEXP = 8.0  # numpy.logaddexp(0, x), relative


Number = TypeVar("Number", float, "FloatArray")
TINIEST = 5e-324

# Slacks in units: each pays for half as many roundings at least, in any order.
FEW = 16.0
THOUSANDS = 2.0**14  # 1.8e-12
MILLIONS = 2.0**24  # 1.9e-9
BILLION = 2.0**30  # 1.2e-7


def round_up(value: Number, units: Number | float) -> Number:
    """Further from 0 by so many units: at or above what a sum or product of positive numbers was before rounding."""
    return value * (1.0 + units * UNIT)


def round_down(value: Number, units: Number | float) -> Number:
    """Nearer to 0 by so many units: at or below what a sum or product of positive numbers was before rounding."""
    return value * (1.0 - units * UNIT)


def next_up(value: float) -> float:
    """The next double: at or above the exact result of one operation that was rounded to nearest."""
    return math.nextafter(value, math.inf)


def next_down(value: float) -> float:
    """The double before: at or below the exact result of one operation that was rounded to nearest."""
    return math.nextafter(value, -math.inf)


def exact_product(value: float, times: int) -> float | None:
    """times value where that is a double; else None. Guarantee: exact."""
    product = Fraction(value) * times
    try:
        nearest = float(product)
    except OverflowError:
        return None
    return nearest if nearest == product else None


# Plain numbers for choices: nothing here is certified.


def softplus(w: float) -> float:
    """log(1 + e^w)."""
    return w + math.log1p(math.exp(-w)) if w > 0.0 else math.log1p(math.exp(w))


def log_expm1(x: float) -> float:
    """log(e^x - 1) for x >= 0, without overflow."""
    return x + math.log(-math.expm1(-x) + 1e-300)


def logistic(w: float) -> float:
    """e^w / (1 + e^w)."""
    return 1.0 / (1.0 + math.exp(-w)) if w > -700.0 else 0.0


def dyadic(value: float, bits: int) -> float:
    """value rounded down to this many significant bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)
