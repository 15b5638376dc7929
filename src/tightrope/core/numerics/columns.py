"""Matrices by their columns, in whole numbers of a unit: inner products of columns are exact.

A matrix of doubles is one of whole numbers of 2^exponent where its entries span at most SPAN_BITS binary digits; longer
ones are cut off towards 0, and `slack` bounds the norm by which a column may differ from the true one. Coefficients of
an inverse are worked out to INVERSE_BITS digits below the first: with b_0 c_m = [m = 0] - sum_j b_j c_{m-j} rounded to
c' by less than one unit at each m, c' - c = b_0 rho * c with |rho| < 1 (the convolution of both), so that
A = max |c' - c| <= |b_0| (sum |c'| + steps A), which is solved for A.
Guarantee: exact, or within slack. Proof: docs/proofs/correlated.md, section 3.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, pairwise, takewhile
from typing import Any

import numpy as np
from flint import arb, fmpz, fmpz_mat

from ..values.errors import InvalidParameter
from .balls import working_precision

SPAN_BITS = 512
INVERSE_BITS = 256
COEFFICIENTS_MAX = 1 << 20
GROWTH_BITS = 1100  # of coefficients of an inverse: larger ones than doubles


class Columns(ABC):
    """steps: how many columns. slack: in units, the norm by which each may differ from the true one."""

    steps: int
    slack: int = 0

    @abstractmethod
    def inner(self, i: int, j: int) -> int:
        """The inner product of two columns, in squares of the unit."""

    def gram(self, pattern: Sequence[int]) -> list[list[int]]:
        """The inner products of these columns."""
        rows = [[0] * len(pattern) for _ in pattern]
        for a, i in enumerate(pattern):
            for b in range(a, len(pattern)):
                rows[a][b] = rows[b][a] = self.inner(i, pattern[b])
        return rows


@dataclass(frozen=True)
class DenseColumns(Columns):
    """Columns that are listed."""

    columns: tuple[tuple[int, ...], ...]
    slack: int = 0

    @property
    def steps(self) -> int:  # type: ignore[override]
        return len(self.columns)

    @cached_property
    def nonnegative(self) -> bool:
        """Whether no entry is below 0."""
        return min(map(min, self.columns)) >= 0

    def inner(self, i: int, j: int) -> int:
        return sum(map(int.__mul__, self.columns[i], self.columns[j]))

    def sum_square(self, pattern: Sequence[int]) -> int:
        """The squared norm of the sum of these columns."""
        sums = list(map(sum, zip(*(self.columns[i] for i in pattern), strict=True)))
        return sum(map(int.__mul__, sums, sums))

    def gram(self, pattern: Sequence[int]) -> list[list[int]]:
        """One product of matrices where there are many."""
        if len(pattern) < len(self.columns):
            return super().gram(pattern)
        rows = fmpz_mat([list(self.columns[i]) for i in pattern])
        return [list(map(int, row)) for row in (rows * rows.transpose()).tolist()]


@dataclass(frozen=True)
class ToeplitzColumns(Columns):
    """Entry (i, j) is coefficients[i - j] for i >= j, in a block of so many steps; the next block begins anew."""

    coefficients: tuple[int, ...]  # at most as many as a block has steps, the last one not 0
    steps: int
    block: int
    slack: int = 0
    _prefixes: dict[int, list[int]] = field(default_factory=dict, compare=False, repr=False)

    def inner(self, i: int, j: int) -> int:
        """sum_m c_m c_{m + j - i} over the rows that the block has left, i <= j."""
        i, j = min(i, j), max(i, j)
        if i // self.block != j // self.block:
            return 0
        rows = min(self.block, self.steps - j // self.block * self.block) - j % self.block
        sums = self.prefixes(j - i)
        return sums[min(rows, len(sums) - 1)]

    def prefixes(self, lag: int) -> list[int]:
        """sum_{m < rows} c_m c_{m + lag} for all numbers of rows."""
        if lag not in self._prefixes:
            products = map(int.__mul__, self.coefficients, self.coefficients[lag:])
            self._prefixes[lag] = list(accumulate(products, initial=0))
        return self._prefixes[lag]

    def fall(self, gap: int) -> bool:
        """Whether the columns of steps at least `gap` apart have inner products that fall in j and in j - i, up to
        signs of the steps: c_0 >= c_1 >= ... >= 0, up to one sign or signs that alternate, or columns that are
        orthogonal, of norms that fall."""
        sizes = self.sizes
        return len(sizes) <= gap or (self.one_sign and all(one >= two for one, two in pairwise(sizes)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Absolute values."""
        return tuple(map(abs, self.coefficients))

    @property
    def one_sign(self) -> bool:
        """Whether all coefficients have one sign, or alternating ones: then signs of the steps make it nonnegative."""
        c = self.coefficients
        even, odd = c[::2], c[1::2]
        return any(
            all(sign * value >= 0 for value in even) and all(other * value >= 0 for value in odd)
            for sign in (1, -1)
            for other in (1, -1)
        )


@dataclass(frozen=True)
class TreeColumns(Columns):
    """Entry (node, j) is 1 where the node of the binary tree covers step j: of nodes complete by the end of a block."""

    steps: int
    block: int
    slack: int = 0

    def inner(self, i: int, j: int) -> int:
        """How many complete nodes cover both."""
        if i // self.block != j // self.block:
            return 0
        leaves = min(self.block, self.steps - i // self.block * self.block)
        one, two = i % self.block, j % self.block
        levels = range((one ^ two).bit_length(), leaves.bit_length())
        return sum(1 for _ in takewhile(lambda level: ((one >> level) + 1) << level <= leaves, levels))


def dense(rows: Sequence[Sequence[float]]) -> tuple[DenseColumns, int]:
    """A matrix of doubles, and the exponent of its unit."""
    wide = len(rows[0])
    whole, exponent, exact = whole_numbers(list(chain.from_iterable(rows)))
    columns = tuple(zip(*(whole[at : at + wide] for at in range(0, len(whole), wide)), strict=True))
    return DenseColumns(columns, 0 if exact else math.isqrt(len(rows)) + 1), exponent


def toeplitz(coefficients: Sequence[float], steps: int, block: int) -> tuple[ToeplitzColumns, int]:
    """A lower triangular Toeplitz matrix of doubles, and the exponent of its unit."""
    whole, exponent, exact = whole_numbers(coefficients[:block])
    slack = 0 if exact else math.isqrt(len(whole)) + 1  # also of those that are cut off to 0
    while whole and not whole[-1]:
        whole.pop()
    return ToeplitzColumns(tuple(whole), steps, block, slack), exponent


def inverse_toeplitz(coefficients: Sequence[float], steps: int, block: int) -> tuple[ToeplitzColumns, int]:
    """The inverse of a lower triangular Toeplitz matrix, b_0 not 0: c of sum_j b_j c_{m-j} = [m = 0]."""
    given, exponent, exact = whole_numbers(coefficients)
    if not exact:
        raise InvalidParameter(
            f"inverse must have entries that span at most {SPAN_BITS} binary digits: give C itself, as toeplitz="
        )
    first, *rest = given
    while rest and not rest[-1]:
        rest.pop()
    # In units of 2^unit, c_0 = 2^-exponent/b_0 has INVERSE_BITS digits.
    unit = -exponent - first.bit_length() - INVERSE_BITS
    numerator = 1 << (-exponent - unit)
    values = [_quotient(numerator, first)]
    rounded = values[0] * first != numerator
    turned = rest[::-1]
    for m in range(1, min(block, COEFFICIENTS_MAX + 1)):
        known = values[-len(rest) :] if rest else []
        total = -sum(map(int.__mul__, turned[len(rest) - len(known) :], known))
        value = _quotient(total, first)
        rounded = rounded or value * first != total
        if abs(value).bit_length() > GROWTH_BITS + INVERSE_BITS:
            raise InvalidParameter(
                f"the C with this inverse has coefficients that grow beyond doubles by step {m + 1}: noise made by it "
                "has no more than so many steps, or a restart="
            )
        values.append(value)
        if not any(values[-len(rest) - 1 :]):  # and so are all that follow
            break
    else:
        if block > COEFFICIENTS_MAX:
            raise InvalidParameter(
                f"the C with this inverse has coefficients that do not end by step {COEFFICIENTS_MAX:,}, and steps or "
                "restart must be at most as many"
            )
    while not values[-1]:
        values.pop()
    error = _error(values, first, exponent, unit, block) if rounded else 0
    return ToeplitzColumns(_smoothed(values, 2 * error), steps, block, 3 * error * (math.isqrt(block) + 1)), unit


def _quotient(total: int, divisor: int) -> int:
    """total/divisor, cut off towards 0: less than one unit from it."""
    size = abs(total) // abs(divisor)
    return size if (total >= 0) == (divisor >= 0) else -size


def _error(found: Sequence[int], first: int, exponent: int, unit: int, steps: int) -> int:
    """At or above |c' - c| in units: A <= |b_0| 2^unit (sum |c'| + steps A)."""
    share = abs(first) * Fraction(2) ** (exponent + unit)  # |b_0|, where c is in units of its own
    if 2 * share * steps >= 1:
        raise InvalidParameter("inverse takes at most 2**250 steps, or a restart= after as many")
    return math.ceil(share * sum(map(abs, found)) / (1 - share * steps))


def _smoothed(found: Sequence[int], most: int) -> tuple[int, ...]:
    """Sizes that fall, where roundings alone keep them from it: moved by at most so much; else as they are."""
    signs = [1 if value >= 0 else -1 for value in found]
    lows = list(accumulate(map(abs, found), min))
    if all(abs(value) - low <= most for value, low in zip(found, lows, strict=True)):
        return tuple(sign * low for sign, low in zip(signs, lows, strict=True))
    return tuple(found)


def whole_numbers(values: Iterable[float]) -> tuple[list[int], int, bool]:
    """Doubles as whole numbers of 2^exponent, and whether they are exactly that."""
    ratios = [value.as_integer_ratio() for value in values]
    # A numerator is odd unless the denominator is 1, and the denominator is a power of 2.
    lows = [(n & -n).bit_length() - d.bit_length() for n, d in ratios if n]
    highs = [n.bit_length() - d.bit_length() for n, d in ratios if n]
    if not lows:
        return [0] * len(ratios), 0, True
    exponent = max(min(lows), max(highs) - SPAN_BITS)
    exact = exponent == min(lows)
    return [_shifted(n, d.bit_length() - 1 + exponent) for n, d in ratios], exponent, exact


def _shifted(number: int, bits: int) -> int:
    """number/2^bits, cut off towards 0."""
    if bits <= 0:
        return number << -bits
    return number >> bits if number >= 0 else -(-number >> bits)


# Inner products of the bins of a matrix: of the sums of its columns i, i + bins, i + 2 bins, ...
#
# They are whole numbers of squares of a unit, exact but for `slack` (columns.py). Of a lower triangular Toeplitz matrix
# the sum for bin i is S shifted by i, S_m = c_m + S_{m - bins}, whose products repeat after the last coefficient: any
# number of steps costs as many operations as there are coefficients.
# Guarantee: exact, or within slack. Proof: docs/proofs/correlated.md, section 5.

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


# Sums of squares of doubles, exactly, and exact sums as a few squares of doubles.
#
# Guarantee: exact. Proof: docs/proofs/matrix.md, section 1.

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
