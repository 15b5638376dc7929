"""Plain doubles moved to a safe side: the words in which float64 code says what its roundings may cost.

UNIT = 2^-53 is what one rounding to nearest may change, relatively; below 2^-1022 add TINIEST for each operation.
Each library function errs by a few units; the slack added to exponentials and logarithms is far more than that.
Guarantee: upper or lower, as each function says. Proof: docs/proofs/rounding.md, section 6.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from .ulps import UNIT

if TYPE_CHECKING:
    from .enclosure import FloatArray

Number = TypeVar("Number", float, "FloatArray")
TINIEST = 5e-324

# Slacks in units: each pays for half as many roundings at least, in any order.
FEW = 16.0
THOUSANDS = 2.0**14  # 1.8e-12
MILLIONS = 2.0**24  # 1.9e-9
BILLION = 2.0**30  # 1.2e-7


def raised(value: Number, units: float) -> Number:
    """Further from 0 by so many units: at or above what a sum or product of positive numbers was before rounding."""
    return value * (1.0 + units * UNIT)


def lowered(value: Number, units: float) -> Number:
    """Nearer to 0 by so many units: at or below what a sum or product of positive numbers was before rounding."""
    return value * (1.0 - units * UNIT)


def next_up(value: float) -> float:
    """The next double: at or above the exact result of one operation that was rounded to nearest."""
    return math.nextafter(value, math.inf)


def next_down(value: float) -> float:
    """The double before: at or below the exact result of one operation that was rounded to nearest."""
    return math.nextafter(value, -math.inf)


def log_expm1(x: float) -> float:
    """At or above log(e^x - 1) for x >= 0 that is known to 1e-10 of itself, without overflow."""
    return x + math.log(-math.expm1(-x) + 1e-300) + 1e-9 * (1.0 + x)


def exp_up(log: float, factor: float) -> float:
    """At or above e^log factor; inf where that is beyond doubles or nothing is known."""
    if not (factor < math.inf and log < math.inf):
        return math.inf
    if factor <= 0.0:
        return 0.0
    if log == -math.inf:
        return TINIEST
    total = log + math.log(factor)
    raised = total + 1e-15 * (2.0 + abs(log) + abs(total))
    return math.exp(raised) * (1.0 + 1e-15) + TINIEST if raised < 709.0 else math.inf


def exp_down(log: float, factor: float) -> float:
    """At or below e^log factor."""
    if not factor > 0.0 or not math.isfinite(log):
        return 0.0 if factor > 0.0 or log == -math.inf else -math.inf
    total = log + math.log(factor)
    return max(0.0, math.exp(min(total - 1e-15 * (2.0 + abs(log) + abs(total)), 709.0)) * (1.0 - 1e-15) - TINIEST)


def over_expm1(log: float, exponent: float) -> float:
    """e^log / (1 - e^-exponent) to 1e-12, inf where the exponent is not positive."""
    if not exponent > 0.0 or log > 700.0:
        return math.inf
    return math.exp(log) / -math.expm1(-exponent)
