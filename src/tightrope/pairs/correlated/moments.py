"""Moments of the rest of the likelihood ratio, without its common factor.

L' = mean over i of exp(h_i - R_ii/2), h normal with covariance R = G - shared J: E L'^m = bins^-m times the sum over
i_1, ..., i_m of exp(sum_{a < c} R_{i_a i_c}). The sum runs over the multisets I of the first m - 2, each with its
multiplicity and weight, and over the last two by one product of matrices: with u_l = prod_{i in I} e^(R_il) it is
u^T e^R u.
All terms are above 0. Few of them are summed in balls; many in float64, where the relative error is at most one
rounding for each factor and each number added.
Guarantee: the moments lie in the balls. Proof: docs/proofs/correlated.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, arb_mat, fmpz

from ... import compute_budget
from ...kernels import fp_environment
from ...kernels.ball import working_precision
from ...kernels.bins import BinGram
from ...kernels.ulps import UNIT

DEGREES = (2, 4, 6, 8)
MOMENT_BALL_PRODUCTS, MOMENT_FLOAT_PRODUCTS = 2e7, 4e9  # of the largest sum, up to which a degree is tried
MOMENT_BALL_ENTRIES = 4e5  # of rows of factors in balls
MOMENT_BALL_UNITS, MOMENT_FLOAT_UNITS = 40.0, 0.2  # of work, for one product
MOMENT_ROWS = 1024
MOMENT_LOG_MAX = 600.0  # of a term: doubles hold it
MOMENT_BITS = 192


def bits_of(gram: BinGram, scale: Fraction) -> int:
    """Bits that central moments lose to those around 0, and some."""
    size = float(gram.shared * gram.unit * scale) if gram.shared else 1.0
    return MOMENT_BITS + (0 if size >= 1.0 else math.ceil(-DEGREES[-1] * math.log2(max(size, 1e-300))))


def moments(gram: BinGram, scale: Fraction, degree: int, proof: bool) -> tuple[arb, ...] | None:
    """E L'^m for m = 0 to the degree, for G scale; None where they are too many terms to sum, or too large.

    proof: in balls alone. Both directions and all epsilons of a question ask for the same.
    """
    return compute_budget.kept(_moments, gram, scale, degree, proof)


def _moments(gram: BinGram, scale: Fraction, degree: int, proof: bool) -> tuple[arb, ...] | None:
    lower = (arb(1),) if degree == 2 else moments(gram, scale, degree - 2, proof)
    if lower is None:
        return None
    bins = gram.bins
    rows = math.comb(bins + degree - 3, degree - 2)
    with working_precision(bits_of(gram, scale)):
        matrix = exponents(gram, scale)
        orders = (degree,) if degree == 2 else (degree - 1, degree)
        if rows * bins <= MOMENT_BALL_ENTRIES and rows * bins**2 <= MOMENT_BALL_PRODUCTS:
            compute_budget.spend(MOMENT_BALL_UNITS * rows * bins**2)
            values = tuple(_in_balls(matrix, order) for order in orders)
        else:
            most = max(float(abs(entry).upper()) for row in matrix for entry in row)
            if (
                proof
                or not fp_environment.trusted()
                or rows * bins**2 > MOMENT_FLOAT_PRODUCTS
                or most * degree * (degree - 1) / 2 > MOMENT_LOG_MAX
            ):
                return None
            compute_budget.spend(MOMENT_FLOAT_UNITS * rows * bins**2)
            values = tuple(_in_floats(matrix, order) for order in orders)
    if not all(value.is_finite() for value in values):
        return None
    return (*lower, arb(1), *values) if degree == 2 else (*lower, *values)


def exponents(gram: BinGram, scale: Fraction) -> list[list[arb]]:
    """R = G - shared J, times the scale, at the working precision."""
    factor = _ball(gram.unit * scale)
    shared = _ball(gram.shared)
    off = arb(0, 1) * arb(fmpz(gram.slack))
    return [[(arb(fmpz(entry)) - shared + off) * factor for entry in row] for row in gram.entries]


def _ball(number: Fraction) -> arb:
    return arb(fmpz(number.numerator)) / arb(fmpz(number.denominator))


def _in_balls(matrix: Sequence[Sequence[arb]], order: int) -> arb:
    """E L'^order."""
    bins = len(matrix)
    e = [[entry.exp() for entry in row] for row in matrix]
    rows: list[tuple[list[arb], arb, int, int, int]] = [([arb(1)] * bins, arb(1), 1, 0, 0)]
    for size in range(order - 2):
        longer = []
        for factors, weight, ways, last, run in rows:
            for j in range(last, bins):
                again = run + 1 if j == last and size else 1
                product = [one * two for one, two in zip(factors, e[j], strict=True)]
                longer.append((product, weight * factors[j], ways * (size + 1) // again, j, again))
        rows = longer
    plain = arb_mat([row[0] for row in rows])
    weighted = arb_mat([[value * (row[1] * row[2]) for value in row[0]] for row in rows])
    total = plain.transpose() * weighted
    found = sum((total[i, j] * e[i][j] for i in range(bins) for j in range(bins)), arb(0))
    return found / arb(bins) ** order


def _in_floats(matrix: Sequence[Sequence[arb]], order: int) -> arb:
    """The same: every number is a sum of products of positive doubles."""
    bins = len(matrix)
    e = np.array([[float(entry.exp().mid()) for entry in row] for row in matrix])
    # Rows by rising last index, so that those with a last index up to j come first.
    factors, weights, ways, last, run = np.ones((1, bins)), np.ones(1), np.ones(1), np.zeros(1, int), np.zeros(1, int)
    total, added = np.zeros((bins, bins)), 0
    for size in range(order - 2):
        ends = np.searchsorted(last, np.arange(bins), side="right")
        blocks = []
        for j, end in enumerate(ends.tolist()):
            again = np.where((last[:end] == j) & (size > 0), run[:end] + 1, 1)
            product, weight = factors[:end] * e[j], weights[:end] * factors[:end, j]
            number = ways[:end] * (size + 1) / again  # whole numbers below 2^53: exact
            if size < order - 3:
                blocks.append((product, weight, number, np.full(end, j), again))
                continue
            scaled = weight * number
            for start in range(0, end, MOMENT_ROWS):
                compute_budget.spend(0.0)  # paid for already: a look at the clock
                part = product[start : start + MOMENT_ROWS]
                total += (part * scaled[start : start + MOMENT_ROWS, None]).T @ part
                added += 1
        if blocks:
            factors, weights, ways, last, run = (np.concatenate(column) for column in zip(*blocks, strict=True))
    if order == 2:
        total, added = np.ones((bins, bins)), 1
    value = math.fsum((total * e).ravel().tolist())
    factors_of_a_term = order * (order - 1) / 2 + 4
    units = 4.0 * factors_of_a_term + MOMENT_ROWS + added + 16.0
    with_slack = max(float((entry.exp().rad() / entry.exp()).upper()) for row in matrix for entry in row)
    relative = 1.01 * (units * UNIT + factors_of_a_term * (with_slack + 2.0**-52))
    return arb(value) * (1 + arb(0, relative)) / arb(bins) ** order
