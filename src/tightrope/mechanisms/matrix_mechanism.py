"""The matrix mechanism: C x + N(0, sigma^2) for a stream x of one vector per step, C the encoder of A = B C.

Pair, one epoch, where a record is in one step: N(m sensitivity, sigma^2) against N(0, sigma^2), m the largest column
norm of C, in exact fractions. With `rate` and `groups` the records are split into groups without looking at them, and
step t takes a Poisson sample of group t mod groups: of a lower triangular C with at most so many bands the columns of a
group are orthogonal, and the run is the composition of sampled Gaussians at its column norms; the worst group counts.
Guarantee: tight, also under composition; of sampled groups where the norms of one are as large as those of each other,
one by one. Else the pair of the largest norms of all groups, one by one, dominates, and lower ends are those of groups.
Reference: Li, Miklau, Hay, McGregor, Rastogi 2015; Denisov, McMahan, Rush, Smith, Thakurta 2022 (streams that look at
what was told); Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu 2023, (Amplified) banded matrix
factorization (sampled groups). Proof: docs/proofs/matrix.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Leaf
from .parameters import Matrix, matrix, positive, probability, shape, whole

ENTRIES_MOST = 1 << 20  # of a matrix
# Of one epoch alone: where groups are sampled, a record takes part many times.
SAME_PAIR = ": Gaussian(sigma, sensitivity) with its largest column norm times sensitivity has the same pair"

Norms = tuple[Fraction, ...]  # squares of the shifts of a record at the steps that may hold it, falling


@dataclass(frozen=True, slots=True, repr=False)
class MatrixMechanism(Leaf):
    """Tells C x with noise of deviation sigma in every entry; C is the matrix, with a column for each step.

    Of a factorisation A = B C (DP-FTRL, banded or not) it is C, not the sums A. sensitivity bounds the norm of what a
    record adds to the vector of a step. rate, groups: step t takes a Poisson sample of group t mod groups, so for b of
    n records on average rate = groups b/n, and C has at most `groups` bands; else a record is in one step. Arrays are
    taken as lists of rows; JSON holds any matrix, the text of an expression some thousand entries.
    """

    example = "MatrixMechanism(sigma=4, matrix=[[1, 0, 0], [0.5, 1, 0], [0.375, 0.5, 1]])"
    section = "training"
    formula = (
        "P = N(m sensitivity, sigma^2), Q = N(0, sigma^2), m the largest column norm of the matrix. With rate and "
        "groups: the product of ((1 - rate) Q + rate P_t, Q) over the steps t of the worst group, P_t by column norm t"
    )
    theorem = (
        "Li and others 2015; Denisov and others 2022; sampled groups: Choquette-Choo and others 2023; "
        "[proof](proofs/matrix.md)"
    )
    tightness = (
        "Tight, also under composition: a record in the step of the largest column attains it. Sampled groups: where "
        "the column norms of one group are as large as those of each other, one by one; else lower ends are those of "
        "single groups."
    )
    relations = (
        "The vector of a step moves by at most `sensitivity` (in L2 norm) with a record. One epoch: a record is in one "
        "step; neighbours as you mean them. Where one is replaced, `sensitivity` bounds what leaves and what comes "
        "together (2 C for records of norm C), since the two may be in different steps. Where the matrix is lower "
        "triangular, row i told after step i, a step may depend on all rows before it; else the stream is fixed in "
        "advance. Sampled groups: a record is added or removed; groups are made without looking at the data."
    )
    sigma: float
    matrix: Matrix
    sensitivity: float = 1.0
    rate: float | None = None
    groups: int | None = None
    norms: tuple[Norms, ...] = field(init=False, compare=False)  # of one step, or of groups that no other one exceeds

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        rows, columns = shape(self.matrix)
        if rows * columns > ENTRIES_MOST:
            known = "" if self.rate is not None or self.groups is not None else SAME_PAIR
            raise InvalidParameter(
                f"matrix must have at most {ENTRIES_MOST:,} entries, not {rows} rows of {columns}{known}"
            )
        object.__setattr__(self, "matrix", matrix("matrix", self.matrix))
        if (self.rate is None) != (self.groups is None):
            raise InvalidParameter(
                "rate and groups go together: groups=1 samples all records at each step, rate=1 takes all of a group"
            )
        if self.rate is not None and self.groups is not None:
            object.__setattr__(self, "rate", probability("rate", self.rate))
            object.__setattr__(self, "groups", whole("groups", self.groups, least=1))
            _check_bands(self.matrix, self.groups)
        object.__setattr__(self, "norms", self._worst())

    @property
    def relation(self) -> Relation | None:
        return None if self.rate is None else Relation.ADD_REMOVE

    @property
    def tight(self) -> bool:
        return len(self.norms) == 1

    @property
    def attained(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        return self._product([max(each) for each in zip_longest(*self.norms, fillvalue=Fraction(0))], direction)

    def floors(self, direction: Direction) -> tuple[Pair, ...]:
        return tuple(self._product(norms, direction) for norms in self.norms)

    def _worst(self) -> tuple[Norms, ...]:
        """Squares of the shifts, of the largest column, or of the groups that no other one exceeds one by one."""
        from ..kernels.squares import as_squares, largest_square_sum, square_sum

        scale, columns = Fraction(self.sensitivity) ** 2, zip(*self.matrix, strict=True)
        sums = [largest_square_sum(columns)] if self.groups is None else map(square_sum, columns)
        squares = [scale * square for square in sums]
        if not any(squares):
            raise InvalidParameter("matrix must have an entry that is not 0: without one it tells nothing")
        if any(square and as_squares(square) is None for square in set(squares)):
            raise InvalidParameter("matrix and sensitivity must have products that are doubles: scale both and sigma")
        if self.groups is None:
            return (tuple(squares),)
        found: list[Norms] = []
        for start in range(min(self.groups, len(squares))):
            norms = tuple(sorted((each for each in squares[start :: self.groups] if each), reverse=True))
            if not any(_exceeds(other, norms) for other in found):
                found = [*(other for other in found if not _exceeds(norms, other)), norms]
        return tuple(found)

    def _product(self, norms: Sequence[Fraction], direction: Direction) -> Pair:
        from ..derived.poisson import poisson_pair
        from ..derived.product import product_pair
        from ..kernels.squares import as_squares
        from ..pairs.finite.laws import ResponseLaw
        from ..pairs.finite.pair import FinitePair
        from ..pairs.gaussian.pair import GaussianPair

        if self.rate == 0.0:
            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        factors = []
        for square, count in Counter(norms).items():
            pair: Pair = GaussianPair(tuple((self.sigma, shift, 1) for shift in as_squares(square) or ()))
            if self.rate is not None and self.rate < 1.0:
                pair = poisson_pair(pair, self.rate, direction)
            factors.append((pair, count))
        return product_pair(factors)


def _exceeds(one: Norms, other: Norms) -> bool:
    """Whether the norms of one are at least those of the other, one by one."""
    return all(mine >= theirs for mine, theirs in zip_longest(one, other, fillvalue=Fraction(0)))


def _check_bands(rows: Matrix, groups: int) -> None:
    """The columns of the steps t, t + groups, ... have no row in common, and none before its step."""
    if len(rows) != len(rows[0]):
        raise InvalidParameter(
            f"matrix must be square where groups are sampled, not {len(rows)} rows of {len(rows[0])}"
        )
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            if entry and not 0 <= i - j < groups:
                raise InvalidParameter(
                    f"matrix[{i}][{j}] must be 0 with groups={groups}, not {entry!r}: sampled groups need a lower "
                    "triangular matrix with at most so many bands"
                )
