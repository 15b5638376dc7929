"""Inner products of the bins of a matrix: of the sums of its columns i, i + bins, i + 2 bins, ...

They are whole numbers of squares of a unit, exact but for `slack` (columns.py). Of a lower triangular Toeplitz matrix
the sum for bin i is S shifted by i, S_m = c_m + S_{m - bins}, whose products repeat after the last coefficient: any
number of steps costs as many operations as there are coefficients.
Guarantee: exact, or within slack. Proof: docs/proofs/correlated.md, section 5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb, fmpz, fmpz_mat

from ..errors import InvalidParameter
from .ball import working_precision
from .columns import Columns, DenseColumns, ToeplitzColumns, dense, inverse_toeplitz, toeplitz

CORRELATED_MAX = 256  # of which a common part is looked for
SHARED_RETRIES = 4
FACTOR_BITS, FACTOR_BITS_EACH = 256, 6  # elimination loses about that many with each
BIN_PRODUCTS_MAX = 1 << 23  # of whole numbers


@dataclass(frozen=True)
class BinGram:
    """entries[i][j] 2^(2 exponent), each off by at most slack units.

    shared, in units: entries - shared is positive semidefinite for certain, also with the slack; 0 where nothing is
    known. weights: 1/bins or others of sum 1, none below 0, at which the rest entries - shared has the value 0; None
    where there are none.
    """

    entries: tuple[tuple[int, ...], ...]
    exponent: int
    slack: int
    shared: Fraction
    weights: tuple[Fraction, ...] | None

    @property
    def bins(self) -> int:
        """How many."""
        return len(self.entries)

    @property
    def unit(self) -> Fraction:
        """Of the entries."""
        return Fraction(4) ** self.exponent

    @property
    def largest(self) -> tuple[Fraction, Fraction]:
        """Ends of the largest square of a norm."""
        most = max(row[i] for i, row in enumerate(self.entries))
        return max(most - self.slack, 0) * self.unit, (most + self.slack) * self.unit

    @property
    def alike(self) -> bool:
        """Whether all bins have one norm, and every two of them one inner product."""
        first = self.entries[0]
        norms = {row[i] for i, row in enumerate(self.entries)}
        others = {entry for i, row in enumerate(self.entries) for entry in row[:i]}
        return not self.slack and norms == {first[0]} and len(others) <= 1


def bin_gram(kind: str, entries: tuple[Any, ...], steps: int, block: int, bins: int) -> BinGram:
    """Of a matrix by its rows, or by the coefficients of a Toeplitz matrix or of its inverse; it has no entry below
    0."""
    if kind == "matrix":
        known: tuple[Columns, int] = dense(entries)
    elif kind == "toeplitz":
        known = toeplitz(entries, steps, block)
    else:
        known = inverse_toeplitz(entries, steps, block)
    columns, exponent = known
    if isinstance(columns, DenseColumns):
        rows = _dense_gram(columns, bins)
    else:
        assert isinstance(columns, ToeplitzColumns)
        rows = _toeplitz_gram(columns, bins)
    most = max(row[i] for i, row in enumerate(rows))
    off = -(-steps // bins) * columns.slack  # of the norm of a bin
    slack = 2 * (math.isqrt(most) + 1) * off + off * off
    whole = tuple(tuple(row) for row in rows)
    return BinGram(whole, exponent, slack, *_shared(whole, slack))


def _dense_gram(columns: DenseColumns, bins: int) -> list[list[int]]:
    sums = [list(map(sum, zip(*columns.columns[i::bins], strict=True))) for i in range(bins)]
    rows = fmpz_mat(sums)
    return [list(map(int, row)) for row in (rows * rows.transpose()).tolist()]


def _toeplitz_gram(columns: ToeplitzColumns, bins: int) -> list[list[int]]:
    """Block by block: a block that begins at phase f of the bins has bin i from its step (i - f) mod bins on."""
    start = max(len(columns.coefficients) - bins, 0)  # from here on S repeats
    if bins * (start + bins) > BIN_PRODUCTS_MAX:
        raise InvalidParameter(
            f"bins times coefficients must be at most {BIN_PRODUCTS_MAX:,}, not {bins:,} times "
            f"{len(columns.coefficients):,}: give fewer coefficients, as of a banded C"
        )
    sums = list(columns.coefficients) + [0] * (start + 2 * bins - len(columns.coefficients))
    for m in range(bins, len(sums)):
        sums[m] += sums[m - bins]
    prefixes = [list(accumulate(map(int.__mul__, sums[: start + bins], sums[lag:]), initial=0)) for lag in range(bins)]

    def overlap(one: int, other: int, length: int) -> int:
        """Of bins that begin at these steps of a block of so many."""
        rows, known = length - max(one, other), prefixes[abs(one - other)]
        if rows <= start + bins:
            return known[max(rows, 0)]
        periods, rest = divmod(rows - start, bins)
        return known[start + rest] + periods * (known[start + bins] - known[start])

    whole, last = divmod(columns.steps, columns.block)
    blocks = Counter((at * columns.block % bins, columns.block) for at in range(min(whole, bins)))
    if whole > bins:  # phases repeat
        rounds, more = divmod(whole, bins)
        blocks = Counter({each: count * rounds for each, count in blocks.items()})
        blocks.update((at * columns.block % bins, columns.block) for at in range(more))
    if last:
        blocks[whole * columns.block % bins, last] += 1
    if bins * bins * len(blocks) > BIN_PRODUCTS_MAX:
        raise InvalidParameter(f"bins must be fewer where C begins anew after {columns.block:,} steps, not {bins:,}")
    found = [[0] * bins for _ in range(bins)]
    for (phase, length), count in blocks.items():
        begins = [(i - phase) % bins for i in range(bins)]
        for i, one in enumerate(begins):
            for j in range(i + 1):
                found[i][j] += count * overlap(one, begins[j], length)
    for i, row in enumerate(found):
        for j in range(i):
            found[j][i] = row[j]
    return found


def _shared(entries: Sequence[Sequence[int]], slack: int) -> tuple[Fraction, tuple[Fraction, ...] | None]:
    """1/(1^T G^-1 1) and the weights G^-1 1 times that, exactly; with slack a number a little below,
    proven by a factorisation of what is left."""
    if len(entries) > CORRELATED_MAX:
        return Fraction(0), None
    if not slack:
        if not positive_definite(entries, Fraction(0), 0):
            return Fraction(0), None
        solved = fmpz_mat([list(row) for row in entries]).solve(fmpz_mat([[1]] * len(entries)))
        parts = [Fraction(int(each.p), int(each.q)) for row in solved.tolist() for each in row]
        shared = 1 / sum(parts, Fraction(0))
        return shared, tuple(shared * part for part in parts) if min(parts) >= 0 else None
    scale = max(row[i] for i, row in enumerate(entries))
    matrix = np.array([[entry / scale if scale else 0.0 for entry in row] for row in entries])
    try:
        total = float(np.linalg.solve(matrix, np.ones(len(matrix))).sum())
    except np.linalg.LinAlgError:
        return Fraction(0), None
    if not (math.isfinite(total) and total > 0.0):
        return Fraction(0), None
    for retry in range(SHARED_RETRIES):
        guess = Fraction(1.0 / total * (1.0 - 2.0 ** (-30 + 8 * retry))) * scale
        if guess > 0 and positive_definite(entries, guess, slack * len(entries)):
            return guess, None
    return Fraction(0), None


def positive_definite(entries: Sequence[Sequence[int]], shared: Fraction, less: int) -> bool:
    """Whether G - shared J - less I is, by a factorisation L D L^T in balls: every pivot above 0.

    A symmetric matrix of entries of size at most `slack` has no eigenvalue below -bins slack.
    """
    count = len(entries)
    with working_precision(FACTOR_BITS + FACTOR_BITS_EACH * count):
        common = arb(fmpz(shared.numerator)) / arb(fmpz(shared.denominator))
        rows = [[arb(fmpz(entry)) - common for entry in row] for row in entries]
        for i in range(count):
            rows[i][i] -= less
        for i in range(count):
            pivot, lead = rows[i][i], rows[i]
            if not pivot > 0:
                return False
            for j in range(i + 1, count):
                factor, row = lead[j] / pivot, rows[j]
                for m in range(j, count):
                    row[m] -= factor * lead[m]
    return True
