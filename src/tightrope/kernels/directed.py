"""Plain doubles moved to a safe side: the words in which float64 code says what its roundings may cost.

UNIT = 2^-53 is what one rounding to nearest may change, relatively; below 2^-1022 add TINIEST for each operation.
Guarantee: upper or lower, as each function says. Proof: docs/proofs/rounding.md, section 6.
"""

from __future__ import annotations

import math
from fractions import Fraction
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
