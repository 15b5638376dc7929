"""Sums of squares of doubles, exactly, and exact sums as a few squares of doubles.

Guarantee: exact. Proof: docs/proofs/matrix.md, section 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

DOUBLE_BITS = 53


def square_sum(values: Iterable[float]) -> Fraction:
    """The sum of their squares."""
    parts = [math.frexp(value) for value in values if value]
    least = min((exponent for _, exponent in parts), default=0)
    total = sum((int(math.ldexp(part, DOUBLE_BITS)) << (exponent - least)) ** 2 for part, exponent in parts)
    return Fraction(total) * Fraction(4) ** (least - DOUBLE_BITS)


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
