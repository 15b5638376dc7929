"""The largest norm that a record gives to C U, over the patterns of steps that it may take part in.

S^2 = max over patterns pi of V(C_pi^T C_pi), V(A) = max sum_ij A_ij <u_i, u_j> over |u_i| <= 1 (participation.py).
Both ends are found; they agree where a rule is exact, and their difference is the width else:

- patterns that are listed, or epochs in a fixed order: each of them;
- Toeplitz matrices whose inner products fall: the first slots 0, b, 2b, ... are the worst (Kalinin, Lampert 2024), in
  O(coefficients) for any number of steps; with restarts a dynamic programme over the blocks;
- inner products that vanish from some lag on: a dynamic programme whose state is the last few steps;
- trees: each level holds at most ceil(2^level/b) participations in a node; else a dynamic programme over the tree;
- else: best first search, where each participation is charged with the largest sum over those to its right.

Guarantee: lower <= S^2 <= upper. Proof: docs/proofs/correlated.md, section 3.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from ..values.errors import InvalidParameter
from .balls import working_precision
from .columns import Columns, DenseColumns, ToeplitzColumns, TreeColumns, dense, inverse_toeplitz, toeplitz

# The largest sum_ij A_ij <u_i, u_j> over vectors of norm at most 1, for a positive semidefinite A of whole numbers.
#
# If signs d exist with d_i A_ij d_j >= 0 for all i, j, it is sum |A_ij|, exactly, at u_i = d_i e. Else it is the
# semidefinite programme max <A, R>, R psd with R_ii = 1, whose dual is min sum l_i, Diag(l) - A psd: a float ascent
# finds
# vectors, whose value is computed in whole numbers (lower end), and l_i = |sum_j A_ij u_j|, raised until a Cholesky
# factorisation in balls proves that Diag(l) - A is positive definite (upper end). It never exceeds sum |A_ij|.
# Guarantee: lower <= value <= upper; the value for vectors in at least as many dimensions as there are of them.
# Proof: docs/proofs/correlated.md, section 2.

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


SEARCHED_MAX = 1024  # steps of a matrix of all inner products
BANDED_WORK = 2_000_000  # steps times states times counts of the dynamic programme over the last steps
EXACT_WORK = 300_000  # steps^2 times counts, up to which the search is in whole numbers of any size
NODES_WORK = 100_000  # steps times nodes that the search opens
PATTERNS_WORK = 2_000_000  # inner products of patterns
PATTERNS_SOME = 100
TERMS_FREE = 16  # of an inner product, for the price of one more call
BLOCKS_WORK = 5_000_000  # sums of the dynamic programme over blocks
TREE_WORK = 1_000_000  # sums of the dynamic programme over trees
TREE_LEVELS_MAX = 64
PROGRAMME_WORK = 1_500  # of a semidefinite programme, in the same units as opened nodes
LAGS_WORK = 4_000_000  # products of coefficients
TREE_COUNT_MAX = 100_000  # participations in a tree
WORD_BITS = 62
CLOSE = Fraction(1, 2**46)  # of the value: what rounding to words of 64 bits may leave


@dataclass(frozen=True)
class Apart:
    """At most `count` participations, any two at least `gap` steps apart."""

    count: int
    gap: int


@dataclass(frozen=True)
class InOrder:
    """One participation in each of so many epochs, all in the same order: steps t, t + n/epochs, ..."""

    epochs: int


@dataclass(frozen=True)
class Listed:
    """One of these patterns, or a part of it."""

    patterns: tuple[tuple[int, ...], ...]


Use = Apart | InOrder | Listed


def norm_square(kind: str, entries: tuple[Any, ...], steps: int, block: int, use: Use) -> Interval:
    """Both ends of S^2 for a matrix by its rows, or the coefficients of a Toeplitz matrix or of its inverse."""
    if kind == "matrix":
        known: tuple[Columns, int] = dense(entries)
    elif kind == "toeplitz":
        known = toeplitz(entries, steps, block)
    else:
        known = inverse_toeplitz(entries, steps, block)
    columns, exponent = known
    unit = Fraction(4) ** exponent
    lower, upper = largest_norm_square(columns, use)
    return Interval(lower * unit, upper * unit)


def largest_norm_square(columns: Columns, use: Use) -> Interval:
    """Both ends of S^2 in squares of the unit of the columns."""
    match use:
        case Listed(patterns):
            most = max(map(len, patterns))
            ends = _listed(columns, patterns)
        case InOrder(epochs):
            most = epochs
            ends = _in_order(columns, epochs)
        case Apart(count, gap):
            gap = min(gap, columns.steps) if count > 1 else columns.steps
            most = min(count, -(-columns.steps // gap))
            ends = _apart(columns, most, gap)
    if not columns.slack:
        return ends
    # |S - S'| <= most * slack, where S' is of the columns as they are held.
    spare = most * columns.slack
    low = max(math.isqrt(math.floor(ends.lower)) - spare, 0)
    high = math.isqrt(math.ceil(ends.upper)) + 1 + spare
    return Interval(Fraction(low * low), Fraction(high * high))


# Patterns one by one.


def _listed(columns: Columns, patterns: Sequence[Sequence[int]]) -> Interval:
    summed = isinstance(columns, DenseColumns) and columns.nonnegative
    work = sum(map(len, patterns)) if summed else sum(len(pattern) ** 2 for pattern in patterns)
    if isinstance(columns, DenseColumns):
        work *= 1 + len(columns.columns[0]) // TERMS_FREE
    if work > PATTERNS_WORK and (len(patterns) > 1 or len(patterns[0]) > SEARCHED_MAX):
        raise InvalidParameter(
            "the patterns are too many or too long to be added up one by one: give participations and separation, "
            "which allow all of them"
        )
    if summed and isinstance(columns, DenseColumns):
        return _exactly(max(columns.sum_square(pattern) for pattern in patterns))
    ends = [largest_sum(columns.gram(pattern)) for pattern in patterns]
    return Interval(max(end.lower for end in ends), max(end.upper for end in ends))


def _in_order(columns: Columns, epochs: int) -> Interval:
    """Steps t, t + n/epochs, ...: where the first slots are the worst of all patterns with this gap, they are t = 0."""
    period = columns.steps // epochs
    if isinstance(columns, ToeplitzColumns) and columns.block == columns.steps and columns.fall(period):
        return _exactly(first_slots(columns.sizes, columns.steps, epochs, period))
    if isinstance(columns, TreeColumns):
        ends = _tree_levels(columns, epochs, period)
        if ends.lower == ends.upper:
            return ends
        if columns.steps * epochs > PATTERNS_WORK:  # some of them, and all patterns with this gap
            many = min(period, PATTERNS_SOME, PATTERNS_WORK // epochs**2)
            some = [largest_sum(columns.gram(range(t, columns.steps, period))).lower for t in range(many)]
            above = _tree_exactly(columns, epochs, period) or ends
            return Interval(max([ends.lower, *some]), above.upper)
    if columns.steps * epochs > PATTERNS_WORK:
        raise InvalidParameter(
            "the steps and epochs make too many patterns to be added up one by one: give participations and "
            "separation, which allow all of them"
        )
    return _listed(columns, [range(t, columns.steps, period) for t in range(period)])


def _apart(columns: Columns, count: int, gap: int) -> Interval:
    if isinstance(columns, TreeColumns):
        ends = _tree_levels(columns, count, gap)
        return ends if ends.lower == ends.upper else _tree_exactly(columns, count, gap) or ends
    if isinstance(columns, ToeplitzColumns):
        if columns.fall(gap):
            return _exactly(_blocks(columns, count, gap))
        if columns.block == columns.steps:
            # Steps further apart than there are bands do not meet, and may be moved together.
            bands = len(columns.coefficients)
            steps = min(columns.steps, (count - 1) * max(gap, bands) + bands)
            columns = replace(columns, steps=steps, block=steps)
        if columns.steps > SEARCHED_MAX:
            return _by_lags(columns, count, gap)
    if count == columns.steps:  # one pattern has all of them
        return _listed(columns, [range(count)])
    if columns.steps > SEARCHED_MAX:
        raise InvalidParameter(
            f"a matrix may have at most {SEARCHED_MAX:,} columns where a record takes part several times, not "
            f"{columns.steps:,}: give a Toeplitz matrix by its coefficients, or the patterns that a record may have"
        )
    gram = columns.gram(range(columns.steps))
    for i, row in enumerate(gram):  # columns that no pattern has together
        row[max(i - gap + 1, 0) : i] = [0] * (i - max(i - gap + 1, 0))
        row[i + 1 : i + gap] = [0] * (min(i + gap, len(row)) - i - 1)
    if two_coloured(gram):
        sizes = [list(map(abs, row)) for row in gram]
        value = _banded(sizes, count, gap)
        return _search(sizes, count, gap, None) if value is None else _exactly(value)
    return _search([list(map(abs, row)) for row in gram], count, gap, gram)


def _exactly(value: int) -> Interval:
    return Interval(Fraction(value), Fraction(value))


# Toeplitz matrices: the first slots.


def first_slots(coefficients: Sequence[int], steps: int, count: int, gap: int) -> int:
    """|C (e_0 + e_b + e_2b + ...)|^2 with `count` terms that lie within the steps, in O(coefficients).

    Row t = q b + r has the sum of c_{r + i b} for q - count < i <= q: sums of each residue r rise, stay, and fall.
    """
    count = min(count, -(-steps // gap))
    known = coefficients[:steps]
    if len(known) <= gap:  # blocks of rows that do not meet; the last one may be cut off
        return (count - 1) * _square(known) + _square(known[: steps - (count - 1) * gap])
    total = 0
    for residue in range(min(gap, steps)):
        sums = list(accumulate(known[residue::gap]))
        top = len(sums) - 1
        last = min((steps - 1 - residue) // gap, top + count - 1)
        rising = min(top, count, last + 1)
        total += _square(sums[:rising])
        total += max(min(count - 1, last) - top + 1, 0) * sums[top] ** 2
        total += sum((sums[min(q, top)] - sums[q - count]) ** 2 for q in range(count, last + 1))
    return total


def _square(values: Sequence[int]) -> int:
    return sum(map(int.__mul__, values, values))


def _blocks(columns: ToeplitzColumns, count: int, gap: int) -> int:
    """The first slots of each block, from where the block before leaves off: a dynamic programme over the number of
    participations so far and the least step at which the block may begin."""
    sizes, block = columns.sizes, columns.block
    if block == columns.steps:
        return first_slots(sizes, block, count, gap)
    known: dict[tuple[int, int], int] = {}

    def value(steps: int, uses: int) -> int:
        if (steps, uses) not in known:
            known[steps, uses] = first_slots(sizes, steps, uses, gap)
        return known[steps, uses]

    states, work, best = {0: {0: 0}}, 0, 0  # the largest sum, by the first step allowed and the count
    for start in range(0, columns.steps, block):
        steps, after = min(block, columns.steps - start), dict[int, dict[int, int]]()
        for first, sums in states.items():
            for uses in range(min(count, -(-max(steps - first, 0) // gap)) + 1):
                new = value(steps - first, uses) if uses else 0
                known_sums = after.setdefault(max((first if not uses else first + uses * gap) - steps, 0), {})
                work += len(sums) + 1
                for used, total in sums.items():
                    best = max(best, total + new if used + uses <= count else 0)
                    if used + uses < count:
                        known_sums[used + uses] = max(known_sums.get(used + uses, 0), total + new)
        if work > BLOCKS_WORK:
            raise InvalidParameter(
                "restart makes too many blocks for so many participations: give the patterns that a record may have"
            )
        states = {first: sums for first, sums in after.items() if sums}
    return best


def _by_lags(columns: ToeplitzColumns, count: int, gap: int) -> Interval:
    """Coefficients of any order, and any number of steps.

    Upper end: |X_ij| <= f(j - i), f the largest |sum_{m < rows} c_m c_{m + lag}| over rows; each participation is
    charged with the largest sum of 2 f over lags at least b apart, as many as there are to its right. Lower end:
    regular patterns, where signs do not matter.
    """
    bands = len(columns.coefficients)
    if bands * bands > LAGS_WORK:
        raise InvalidParameter(
            f"coefficients that do not fall may be at most {math.isqrt(LAGS_WORK):,} for {columns.steps:,} steps, not "
            f"{bands:,}: give the patterns that a record may have"
        )
    right_most = min(-(-(bands - gap) // gap), count - 1)  # participations to the right within the bands
    tail = [[0] * (right_most + 1) for _ in range(bands + gap)]
    for lag in range(bands - 1, gap - 1, -1):
        size = 2 * max(map(abs, columns.prefixes(lag)))
        tail[lag] = [max(tail[lag + 1][s], s and size + tail[lag + gap][s - 1]) for s in range(right_most + 1)]
    charges = [columns.prefixes(0)[-1] + charge for charge in tail[gap]]
    upper = sum(charges[: min(count, right_most)]) + max(count - right_most, 0) * charges[-1]
    # Steps as far apart as there are bands have orthogonal columns, whatever the signs.
    apart = [*range(gap, min(bands, 2 * gap + 1))] if columns.one_sign else []
    lower = max(first_slots(columns.sizes, columns.block, count, each) for each in (*apart, bands))
    return Interval(Fraction(lower), Fraction(upper))


# All inner products.


def _banded(sizes: list[list[int]], count: int, gap: int) -> int | None:
    """The exact maximum, where inner products vanish from lag `reach` on: the state is the last steps within reach, and
    the number of participations. None where these are too many."""
    steps = len(sizes)
    reach = 1 + max(
        (j - i for i, row in enumerate(sizes) for j in range(i, steps) if row[j]),
        default=0,
    )
    patterns = [1] * (reach + gap)  # of the last steps within reach
    for wide in range(1, reach):
        patterns[wide] = patterns[wide - 1] + (patterns[wide - gap] if wide > gap else 1)
    if steps * patterns[max(reach - 1, 0)] * (count + 1) > BANDED_WORK:
        return None
    layers: list[dict[tuple[int, ...], list[int]]] = [{} for _ in range(steps + gap + 1)]
    layers[0][()] = [0] + [-1] * count  # the largest sum by the number of participations, -1 for none
    for p in range(steps):
        for recent, sums in layers[p].items():
            _keep(layers[p + 1], _within(recent, p + 1, reach), sums)
            gain = sizes[p][p] + 2 * sum(sizes[p][q] for q in recent)
            taken = [-1, *(total + gain if total >= 0 else -1 for total in sums[:-1])]
            after = min(p + gap, steps)
            _keep(layers[after], _within((*recent, p), after, reach), taken)
        layers[p] = {}
    return max(max(sums) for sums in layers[steps].values())


def _within(recent: tuple[int, ...], step: int, reach: int) -> tuple[int, ...]:
    """Those of the steps that have an inner product with this one or a later one."""
    return tuple(q for q in recent if step - q < reach)


def _keep(layer: dict[tuple[int, ...], list[int]], state: tuple[int, ...], sums: list[int]) -> None:
    known = layer.get(state)
    layer[state] = sums if known is None else list(map(max, known, sums))


def _search(sizes: list[list[int]], count: int, gap: int, gram: list[list[int]] | None) -> Interval:
    """Best first search over patterns from the left; gram: where signs matter, else the sum of sizes is the value.

    T_p[s]: the largest sum of 2 sizes[p][q] over at most s steps q to the right of p, all gap apart. A pattern
    F + {p_1 < ... < p_s} has at most the value of F and sum_i (g_{p_i} + T_{p_i}[s - i]), g_p = X_pp + 2 sum_{q in F}
    sizes[p][q]; H, the largest such sum from p on, is a dynamic programme.
    """
    steps = len(sizes)
    largest = max(map(max, sizes))
    exact = steps * steps * count <= EXACT_WORK
    shift = 0 if exact else max((count * count * largest).bit_length() + 1 - WORD_BITS, 0)
    # Rounded up, so that bounds stay above.
    words = np.array([[-(-entry >> shift) for entry in row] for row in sizes], dtype=object if exact else np.int64)
    charges = _charges(words, count, gap)
    tried, spent = set[tuple[int, ...]](), 0

    def measured(pattern: Sequence[int]) -> Interval:
        nonlocal spent
        if gram is None:
            return _exactly(sum(sizes[i][j] for i in pattern for j in pattern))
        spent += PROGRAMME_WORK * max(1, len(pattern) // 8) ** 2
        return largest_sum([[gram[i][j] for j in pattern] for i in pattern])

    def opened(fixed: tuple[int, ...]) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
        """(bound, p) for each next step p, and the pattern that the bound of all of them belongs to."""
        start = fixed[-1] + gap if fixed else 0
        left = count - len(fixed)
        base = sum(int(words[i, j]) for i in fixed for j in fixed)
        gains = words.diagonal() + 2 * sum((words[:, q] for q in fixed), np.zeros(steps, dtype=words.dtype))
        table = np.zeros((steps + gap + 1, left + 1), dtype=words.dtype)
        children = []
        for p in range(steps - 1, start - 1, -1):
            with_p = charges[p, :left] + table[p + gap, :left] + gains[p]
            table[p] = table[p + 1]
            table[p, 1:] = np.maximum(table[p, 1:], with_p)
            children.append((base + int(with_p[left - 1]), p))
        pattern, p = list(fixed), start
        while p < steps and left:
            if table[p, left] == table[p + 1, left]:
                p += 1
            else:
                pattern.append(p)
                p, left = p + gap, left - 1
        return children, tuple(pattern)

    lower, upper = Fraction(0), Fraction(0)  # upper: of patterns that are done
    heap: list[tuple[int, tuple[int, ...]]] = [(-int(count * count * words.max()), ())]
    while heap and spent <= NODES_WORK:
        bound = Fraction(-heap[0][0] << shift)
        if bound <= lower or (not exact and bound - lower <= CLOSE * lower):
            break
        _, fixed = heapq.heappop(heap)
        if len(fixed) == count or (fixed and fixed[-1] + gap >= steps):
            ends = measured(fixed)
            lower, upper = max(lower, ends.lower), max(upper, ends.upper)
            continue
        children, pattern = opened(fixed)
        if pattern not in tried:
            tried.add(pattern)
            lower = max(lower, measured(pattern).lower)
        for rough, p in children:
            heapq.heappush(heap, (-rough, (*fixed, p)))
        spent += steps
    above = Fraction(-heap[0][0] << shift) if heap else Fraction(0)
    return Interval(lower, max(lower, upper, above))


def _charges(words: Any, count: int, gap: int) -> Any:
    """T_p[s] for all p, and s < count: over q from the right, for all p at once."""
    steps = len(words)
    charges = np.zeros((steps, count), dtype=words.dtype)
    zero = np.zeros((steps, count), dtype=words.dtype)
    known: list[Any] = [zero] * (gap + 1)  # of q + 1, ..., q + gap + 1
    for q in range(steps - 1, gap - 1, -1):
        table = known[0].copy()
        table[:, 1:] = np.maximum(table[:, 1:], 2 * words[:, q, None] + known[gap - 1][:, :-1])
        charges[q - gap] = table[q - gap]
        known = [table, *known[:-1]]
    return charges


# Trees.


def _tree_levels(columns: TreeColumns, count: int, gap: int) -> Interval:
    """S^2 is the sum of squared participations of all nodes. Upper end: on each level nodes hold at most
    ceil(2^level/b), as many as there are in all. Lower end: the steps 0, b, 2b, ..."""
    steps, block = columns.steps, columns.block
    if count > TREE_COUNT_MAX:
        raise InvalidParameter(
            f"a record may take part in a tree at most {TREE_COUNT_MAX:,} times, which separation= and these steps do "
            "not say: give participations=, the most that any record has"
        )
    whole, rest = divmod(steps, block)
    upper = 0
    for level in range(min(block, steps).bit_length()):
        nodes = whole * (block >> level) + (rest >> level)
        most = min(count, -(-(1 << level) // gap))
        full = min(count // most, nodes)
        upper += full * most**2 + ((count % most) ** 2 if full < nodes else 0)
    return Interval(Fraction(_slots_in_tree(columns, count, gap)), Fraction(upper))


def _slots_in_tree(columns: TreeColumns, count: int, gap: int) -> int:
    """The sum of squares of the steps 0, b, 2b, ..."""
    total, level = 0, 0
    held = Counter(divmod(a * gap, columns.block) for a in range(count))
    while held:
        total += sum(many**2 for many in held.values())
        level, above = level + 1, Counter[tuple[int, int]]()
        for (place, node), many in held.items():
            leaves = min(columns.block, columns.steps - place * columns.block)
            if ((node >> 1) + 1) << level <= leaves:
                above[place, node >> 1] += many
        held = above
    return total


def _tree_exactly(columns: TreeColumns, count: int, gap: int) -> Interval | None:
    """A dynamic programme over the complete trees that the blocks are made of, from the left; None where it is long.

    Of the placements of q participations from some step on, the state is (last step, sum), and only those count that
    no other one beats in both. A tree of at most b steps holds one, as early as it may be.
    """
    whole, rest = divmod(columns.steps, columns.block)
    trees = [_complete(columns.block)] * whole + [_complete(rest)] if whole * count**2 <= TREE_WORK else []
    if not trees or max(map(max, filter(None, trees))) > TREE_LEVELS_MAX:
        return None
    known: dict[tuple[int, int, int], tuple[tuple[int, int], ...]] = {}
    work = 0

    def placed(level: int, first: int, uses: int) -> tuple[tuple[int, int], ...]:
        """(last step, sum) of so many in a complete tree, the first one at that step or later."""
        nonlocal work
        key, half = (level, first, uses), (1 << level) // 2
        if first + (uses - 1) * gap >= 1 << level or work > TREE_WORK:
            return ()
        if uses == 1:
            return ((first, level + 1),)
        if key not in known:
            options = [(half + last, total) for last, total in placed(level - 1, max(first - half, 0), uses)]
            options += placed(level - 1, first, uses)
            for left in range(1, uses):
                for last, total in placed(level - 1, first, left):
                    after = placed(level - 1, max(last + gap - half, 0), uses - left)
                    options += [(half + then, total + more) for then, more in after]
            work += len(options) + uses
            known[key] = _unbeaten((last, total + uses * uses) for last, total in options)
        return known[key]

    # By the number of participations so far: (first step that is allowed, counted from here, and the sum).
    states: list[tuple[tuple[int, int], ...]] = [((0, 0),)] + [()] * count
    for level in [level for tree in trees for level in tree]:
        options: list[list[tuple[int, int]]] = [[(max(f - (1 << level), 0), v) for f, v in state] for state in states]
        for used, each in enumerate(states):
            if work > TREE_WORK:
                return None
            for first, total in each:
                for uses in range(1, count - used + 1):
                    after = placed(level, first, uses)
                    options[used + uses] += [(max(x + gap - (1 << level), 0), total + v) for x, v in after]
                    work += len(after) + 1
        if work > TREE_WORK:
            return None
        states = list(map(_unbeaten, options))
    return _exactly(max(total for state in states for _, total in state))


def _complete(steps: int) -> list[int]:
    """The levels of the complete trees of so many steps, from the left."""
    return [level for level in reversed(range(steps.bit_length())) if steps >> level & 1]


def _unbeaten(options: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """(place, sum) that no other one with a place as early has a sum as large as; places rise."""
    kept: list[tuple[int, int]] = []
    for place, total in sorted(options, key=lambda each: (each[0], -each[1])):
        if not kept or total > kept[-1][1]:
            kept.append((place, total))
    return tuple(kept)
