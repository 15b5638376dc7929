"""The largest sum_ij A_ij <u_i, u_j> over vectors of norm at most 1, for a positive semidefinite A of whole numbers.

If signs d exist with d_i A_ij d_j >= 0 for all i, j, it is sum |A_ij|, exactly, at u_i = d_i e. Else it is the
semidefinite programme max <A, R>, R psd with R_ii = 1, whose dual is min sum l_i, Diag(l) - A psd: a float ascent finds
vectors, whose value is computed in whole numbers (lower end), and l_i = |sum_j A_ij u_j|, raised until a Cholesky
factorisation in balls proves that Diag(l) - A is positive definite (upper end). It never exceeds sum |A_ij|.
Guarantee: lower <= value <= upper; the value for vectors in at least as many dimensions as there are of them.
Proof: docs/proofs/correlated.md, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from .ball import working_precision

VECTORS_MAX = 128  # of the semidefinite programme; for more the upper end is the sum of absolute values
VECTOR_SWEEPS_MAX = 400
VECTORS_SETTLED = 1e-15  # of the vectors, from one sweep to the next
VECTOR_STARTS = 2
COORDINATE_BITS = 52
CHOLESKY_BITS = 256
RAISE_MIN = 2.0**-50  # of the largest multiplier
RAISES_MAX = 50

Gram = Sequence[Sequence[int]]


class Interval(NamedTuple):
    """A number lies between them."""

    lower: Fraction
    upper: Fraction


def largest_sum(gram: Gram) -> Interval:
    """Both ends of the largest sum."""
    absolute = Fraction(sum(abs(entry) for row in gram for entry in row))
    if two_coloured(gram):
        return Interval(absolute, absolute)
    if len(gram) > VECTORS_MAX:
        return Interval(_signed(gram), absolute)
    scale = max(abs(entry) for row in gram for entry in row)
    matrix = np.array([[float(Fraction(entry, scale)) for entry in row] for row in gram])
    lower, upper = _signed(gram), absolute
    for seed in range(VECTOR_STARTS):
        vectors = _ascent(matrix, seed)
        lower = max(lower, _value(gram, vectors))
        multipliers = np.linalg.norm(matrix @ vectors, axis=1)
        upper = min(upper, scale * _dual(gram, scale, [float(multiplier) for multiplier in multipliers]))
    return Interval(lower, upper)


def two_coloured(gram: Gram) -> bool:
    """Whether signs of the rows make all entries nonnegative: a positive entry joins equal signs, a negative one
    opposite ones."""
    signs: dict[int, int] = {}
    for start in range(len(gram)):
        if start in signs:
            continue
        signs[start], waiting = 1, [start]
        while waiting:
            i = waiting.pop()
            for j, entry in enumerate(gram[i]):
                if not entry:
                    continue
                wanted = signs[i] if entry > 0 else -signs[i]
                if j not in signs:
                    signs[j] = wanted
                    waiting.append(j)
                elif signs[j] != wanted:
                    return False
    return True


def _signed(gram: Gram) -> Fraction:
    """A lower end by vectors along one line: signs, each turned while that helps."""
    signs = [1] * len(gram)
    sums = [sum(row) for row in gram]
    for _ in range(4 * len(gram)):
        # Turning sign i changes the sum by -4 (signs_i sums_i - A_ii).
        i = min(range(len(gram)), key=lambda i: signs[i] * sums[i] - gram[i][i])
        if signs[i] * sums[i] >= gram[i][i]:
            break
        signs[i] = -signs[i]
        sums = [total + 2 * signs[i] * row[i] for total, row in zip(sums, gram, strict=True)]
    return Fraction(sum(sign * total for sign, total in zip(signs, sums, strict=True)))


def _ascent(matrix: Any, seed: int) -> Any:
    """Unit vectors, each in turn moved along the sum of the others; the first start is along one line and its like."""
    count = len(matrix)
    # Rank r with r (r + 1)/2 > count has no spurious local maxima for almost every matrix (Barvinok, Pataki).
    rank = min(count, math.isqrt(2 * count) + 1)
    vectors = np.random.default_rng(seed).normal(size=(count, rank))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    for _ in range(VECTOR_SWEEPS_MAX):
        before = vectors.copy()
        for i in range(count):
            pull = matrix[i] @ vectors - matrix[i, i] * vectors[i]
            length = float(np.linalg.norm(pull))
            if length > 0.0:
                vectors[i] = pull / length
        if float(np.abs(vectors - before).max()) < VECTORS_SETTLED:
            break
    return vectors


def _value(gram: Gram, vectors: Any) -> Fraction:
    """The sum at these vectors, as whole numbers over 2^COORDINATE_BITS, shortened to norm 1 at most."""
    unit = 2**COORDINATE_BITS
    rows = [[round(float(entry) * unit) for entry in row] for row in vectors]
    longest = max(sum(entry * entry for entry in row) for row in rows)
    total = 0
    for column in zip(*rows, strict=True):
        total += sum(mine * sum(map(int.__mul__, row, column)) for mine, row in zip(column, gram, strict=True))
    return Fraction(total, max(longest, unit * unit))


def _dual(gram: Gram, scale: int, multipliers: list[float]) -> Fraction:
    """sum l_i, in units of the scale, for multipliers raised until Diag(l) - A/scale is proven positive definite."""
    step = RAISE_MIN * max(multipliers)
    for _ in range(RAISES_MAX):
        raised = [Fraction(multiplier) + Fraction(step) for multiplier in multipliers]
        if _positive_definite(gram, scale, raised):
            return sum(raised, Fraction(0))
        step *= 2.0
    return sum((Fraction(sum(map(abs, row)), scale) for row in gram), Fraction(0))


def _positive_definite(gram: Gram, scale: int, diagonal: Sequence[Fraction]) -> bool:
    """Whether Diag(l) - A/scale is, by a Cholesky factorisation L D L^T in balls: every pivot above 0."""
    count = len(gram)
    with working_precision(CHOLESKY_BITS):
        rows = [[-arb(entry) / scale for entry in row] for row in gram]
        for i, fraction in enumerate(diagonal):
            rows[i][i] += arb(fraction.numerator) / arb(fraction.denominator)
        for i in range(count):
            pivot = rows[i][i]
            if not pivot > 0:
                return False
            for j in range(i + 1, count):
                factor = rows[j][i] / pivot
                for m in range(j, count):
                    rows[m][j] -= factor * rows[m][i]
    return True
