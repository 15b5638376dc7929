"""Sums of squares of doubles, exactly, and exact sums as a few squares of doubles.

Guarantee: exact. Proof: docs/proofs/matrix.md, section 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

DOUBLE_BITS = 53
WHOLE_PART = 2.0**DOUBLE_BITS  # times the fraction of a double: a whole number
NEAR_LARGEST = 1.0 - 2.0**-20  # of the largest norm: plain sums of 2^20 squares err by less than 2^-32 of themselves
NORM_MIN = 2.0**-1000  # smaller norms may lose digits


def square_sum(values: Iterable[float]) -> Fraction:
    """The sum of their squares."""
    sums: dict[int, int] = {}  # of squares of whole numbers, by the exponent that they share
    for part, exponent in map(math.frexp, values):
        sums[exponent] = sums.get(exponent, 0) + int(part * WHOLE_PART) ** 2
    least = min(sums, default=0)
    total = sum(value << 2 * (exponent - least) for exponent, value in sums.items())
    return Fraction(total) * Fraction(4) ** (least - DOUBLE_BITS)


def largest_square_sum(columns: Iterable[tuple[float, ...]]) -> Fraction:
    """The largest of their sums of squares: norms in floats tell which few may be it, exact sums which one is."""
    known = list(columns)
    norms = [math.hypot(*column) for column in known]
    largest = max(norms)
    least = NEAR_LARGEST * largest if NORM_MIN < largest < math.inf else 0.0
    return max(map(square_sum, {column for column, norm in zip(known, norms, strict=True) if norm >= least}))


def as_squares(total: Fraction) -> tuple[float, ...] | None:
    """Doubles above 0 whose squares sum to this, a whole number over a power of 2; None where doubles do not reach."""
    places = (total.denominator.bit_length()) // 2  # of 2^-places the whole is a multiple of the square
    left, found = int(total * Fraction(4) ** places), []
    while left:
        root = math.isqrt(left)
        spare = max(root.bit_length() - DOUBLE_BITS, 0)
        try:
            term = math.ldexp(root >> spare, spare - places)
        except OverflowError:
            return None
        square = (root >> spare << spare) ** 2
        if Fraction(term) ** 2 != Fraction(square) / Fraction(4) ** places:
            return None
        found.append(term)
        left -= square
    return tuple(found)
