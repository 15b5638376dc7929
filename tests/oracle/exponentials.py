"""The exact sign of sum c_i e^{x_i} with rational c_i and x_i.

By Lindemann-Weierstrass exponentials of distinct rationals are independent over the rationals, so the sum is zero only
if every collected coefficient is; otherwise enough precision tells the sign.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from .precision import ball, refined


def sign(terms: Iterable[tuple[Fraction, Fraction]]) -> int:
    """-1, 0 or 1 for the sum of c e^x over the pairs (c, x)."""
    coefficients: dict[Fraction, Fraction] = defaultdict(Fraction)
    for coefficient, exponent in terms:
        coefficients[exponent] += coefficient
    left = [(coefficient, exponent) for exponent, coefficient in coefficients.items() if coefficient]
    if not left:
        return 0
    if all(coefficient > 0 for coefficient, _ in left):
        return 1
    if all(coefficient < 0 for coefficient, _ in left):
        return -1
    top = max(exponent for _, exponent in left)
    # The terms are scaled by the largest one, so nothing overflows however large the exponents are.
    total = refined(lambda: sum(ball(c) * ball(x - top).exp() for c, x in left), bits_wanted=2)
    return 1 if total > 0 else -1
