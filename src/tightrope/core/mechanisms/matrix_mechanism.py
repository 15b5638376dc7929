"""The matrix mechanism: C x + N(0, sigma^2) for a stream x of one vector per step, C the encoder of A = B C.

Pair: N(S sensitivity, sigma^2) against N(0, sigma^2), S the largest norm that a record gives to C x: of a record in one
step the largest column norm, in exact fractions; of one in several steps the largest over its patterns and over the
directions of its vectors (numerics/participation.py), between two ends that mostly meet. With `rate` and `groups` the
records are split into groups without looking at them, and step t takes a Poisson sample of group t mod groups: of a
lower triangular C with at most so many bands the columns of a group are orthogonal, and the run is the composition of
sampled Gaussians at its column norms; the worst group counts.
Guarantee: tight, also under composition, where both ends of S meet; else the pair of the upper one dominates, and real
records have the lower one. Of sampled groups tight where the norms of one are as large as those of each other, one by
one; else the pair of the largest norms of all groups, one by one, dominates, and lower ends are those of groups.
Reference: Li, Miklau, Hay, McGregor, Rastogi 2015; Denisov, McMahan, Rush, Smith, Thakurta 2022 (streams that look at
what was told); Choquette-Choo, McMahan, Rush, Thakurta 2023 (several participations); Choquette-Choo, Ganesh, McKenna,
McMahan, Rush, Thakurta, Xu 2023, (Amplified) banded matrix factorization (sampled groups); Choquette-Choo, Ganesh,
Haque, Steinke, Thakurta 2024, Near exact privacy amplification for matrix mechanisms (bins).
Proof: docs/proofs/matrix.md, docs/proofs/correlated.md (several participations, bins).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from math import ceil, floor
from typing import TYPE_CHECKING

from ..losses.operators.poisson import poisson_pair
from ..losses.operators.product import product_pair
from ..losses.pair import Pair
from ..numerics.balls import enclose
from ..values import compute_budget
from ..values.bound import Bound
from ..values.calls import cut
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Leaf
from .parameters import Matrix, in_order, matrix, numbers, positive, probability, shape, whole

if TYPE_CHECKING:
    from ..numerics.columns import BinGram
    from ..numerics.participation import Use


# In which steps one record may take part: the parameters that say so, checked, as a value of the kernel.
#
# participations, separation: at most so many, any two at least so many steps apart; either alone leaves the other open
# (steps next to each other, as many as there is room for). epochs: once in each of so many, all in the same order, so
# that a record of step t is in t, t + n/epochs, ... patterns: one of these lists of steps, or a part of it. None of
# them: one step.

Patterns = tuple[tuple[int, ...], ...]


def use_of(
    steps: int, participations: int | None, separation: int | None, epochs: int | None, patterns: Matrix | None
) -> Use | None:
    """What the checked parameters allow; None for one step."""
    from ..numerics.participation import Apart, InOrder, Listed

    ways = {"participations or separation": participations or separation, "epochs": epochs, "patterns": patterns}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise InvalidParameter(
            f"give {' or '.join(given)}, not both: participations and separation allow every order, epochs the same "
            "order in each, patterns those that are listed"
        )
    if patterns is not None:
        return Listed(tuple(tuple(map(int, pattern)) for pattern in patterns))
    if epochs is not None:
        if steps % epochs:
            raise InvalidParameter(
                f"epochs of one order need as many steps each, and {steps:,} steps are not {epochs:,} times as many: "
                "give participations and separation, the least number of steps between two uses of a record"
            )
        return InOrder(epochs) if epochs > 1 else None
    if given:
        gap = 1 if separation is None else separation
        return Apart(-(-steps // gap) if participations is None else participations, gap)
    return None


def patterns_of(values: object, steps: int) -> Patterns:
    """Lists of different steps from 0 on, the first of each one the least."""
    in_order("patterns", values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameter(f"patterns must be a list of lists of steps, not {cut(values, 60)}")
    found = []
    for index, pattern in enumerate(values):
        name = f"patterns[{index}]"
        in_order(name, pattern)
        if isinstance(pattern, (str, bytes)) or not isinstance(pattern, Iterable):
            raise InvalidParameter(f"{name} must be a list of steps, not {cut(pattern, 60)}")
        held = sorted(whole(f"{name}[{place}]", step, least=0) for place, step in enumerate(pattern))
        if not held or held[-1] >= steps:
            raise InvalidParameter(f"{name} must have steps from 0 to {steps - 1:,}, not {cut(held, 60)}")
        if len(set(held)) < len(held):
            raise InvalidParameter(f"{name} has a step twice: {cut(held, 60)}")
        found.append(tuple(held))
    if not found:
        raise InvalidParameter("patterns must have at least one list of steps")
    return tuple(found)


def root_bound(lower: Fraction, upper: Fraction) -> Bound:
    """Around the square roots of both, in doubles."""
    from flint import arb

    def root(square: Fraction) -> tuple[float, float]:
        return enclose(lambda: (arb(square.numerator) / arb(square.denominator)).sqrt())

    return Bound(root(lower)[0], root(upper)[1])


ENTRIES_MAX = 1 << 20  # of a matrix, and of coefficients
EXACT_BITS = 1 << 13  # of a square that is kept as it is
SHORT_BITS = 212  # of one that is rounded outward

Norms = tuple[Fraction, ...]  # squares of the shifts of a record at the steps that may hold it, falling


@dataclass(frozen=True, slots=True, repr=False)
class MatrixMechanism(Leaf):
    """Tells C x with noise of deviation sigma in every entry; C has a column for each step.

    Of a factorisation A = B C (DP-FTRL, banded or not) it is C, not the sums A. Give one of: matrix, its rows;
    toeplitz, the coefficients c_0, c_1, ... of a lower triangular Toeplitz C of so many steps; inverse, those of its
    inverse, by which the noise is made. restart: with the last two, C begins anew after so many steps.

    sensitivity bounds the norm of what a record adds to the vector of a step. A record is in one step, unless given:
    participations and separation, at most so many steps, any two at least so far apart; epochs, once in each, in the
    same order; patterns, lists of the steps (from 0) that a record may be in. rate, groups: instead, step t takes a
    Poisson sample of group t mod groups, so for b of n records on average rate = groups b/n, and C has at most `groups`
    bands. bins: instead, every record draws one of so many bins by itself, once and for all, and is in the steps t with
    t mod bins its bin: steps/bins epochs over batches that are filled at random. Arrays are taken as lists of rows;
    JSON holds any matrix, the text of an expression some thousand entries.
    """

    example = "MatrixMechanism(sigma=4, matrix=[[1, 0, 0], [0.5, 1, 0], [0.375, 0.5, 1]])"
    section = "training"
    formula = (
        "P = N(S sensitivity, sigma^2), Q = N(0, sigma^2), S the largest column norm of the matrix; of records in "
        "several steps S^2 = max sum_(i,j in pattern) <c_i, c_j> <u_i, u_j> over patterns and unit vectors u. With "
        "rate and groups: the product of ((1 - rate) Q + rate P_t, Q) over the steps t of the worst group, P_t by "
        "column norm t. With bins: P the mean over the bins of N(m_i, sigma^2 I), m_i the sum of the columns of bin i, "
        "times sensitivity"
    )
    theorem = (
        "Li and others 2015; Denisov and others 2022; several participations: Choquette-Choo and others 2023, "
        "[proof](proofs/correlated.md); sampled groups: Choquette-Choo and others 2023; [proof](proofs/matrix.md); "
        "bins: Choquette-Choo and others 2024, Kahane 1985; [proof](proofs/correlated.md)"
    )
    tightness = (
        "Tight, also under composition: a record in the step of the largest column attains it, or in the worst "
        "pattern, with vectors in as many dimensions as it has steps. Where the worst pattern is not known exactly (a "
        "large matrix without structure, entries of both signs), the answer lies between that of a real pattern and a "
        "bound for all. Sampled groups: where the column norms of one group are as large as those of each other, one "
        "by one; else lower ends are those of single groups. Bins: tight, also under composition (drawn anew each "
        "time); the answer lies between two proven profiles, close to each other unless the bins differ much at this "
        "noise (large epsilon, few bins)."
    )
    relations = (
        "The vector of a step moves by at most `sensitivity` (in L2 norm) with a record; neighbours as you mean them. "
        "Where one is replaced, `sensitivity` bounds what leaves and what comes together, 2 C for records of norm C: "
        "exactly twice the shift, also where the two are in different steps. What participations, epochs or patterns "
        "say must hold for every record, whatever the data. Where C is lower triangular, row i told after step i, a "
        "step may depend on all rows before it, and so may the steps that a record is in; else the stream is fixed in "
        "advance. Sampled groups: a record is added or removed; groups are made without looking at the data. Bins: a "
        "record is added or removed, and draws its bin by itself, without looking at data or outputs; batches of a "
        "fixed size are not covered, nor is replacing a record."
    )
    sigma: float
    matrix: Matrix | None = None
    sensitivity: float = 1.0
    rate: float | None = None
    groups: int | None = None
    toeplitz: Sequence[float] | None = None
    inverse: Sequence[float] | None = None
    steps: int | None = None
    participations: int | None = None
    separation: int | None = None
    epochs: int | None = None
    patterns: Matrix | None = None
    restart: int | None = None
    bins: int | None = None
    norms: tuple[Norms, ...] = field(init=False, compare=False)  # of a real record, or of groups that none exceeds
    largest: Norms = field(init=False, compare=False)  # of no record one by one exceeded
    gram: BinGram | None = field(init=False, compare=False)  # of random bins

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        steps = self._encoded()
        for name in ("participations", "separation", "epochs"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least=1))
        if self.patterns is not None:
            object.__setattr__(self, "patterns", patterns_of(self.patterns, steps))
        if self.bins is not None:
            object.__setattr__(self, "bins", whole("bins", self.bins, least=1))
            self._demand_bins(steps)
        object.__setattr__(self, "gram", None if self.bins is None else self._gram(steps, self.bins))
        if (self.rate is None) != (self.groups is None):
            raise InvalidParameter(
                "rate and groups go together: groups=1 samples all records at each step, rate=1 takes all of a group"
            )
        if self.rate is not None and self.groups is not None:
            object.__setattr__(self, "rate", probability("rate", self.rate))
            object.__setattr__(self, "groups", whole("groups", self.groups, least=1))
            norms = self._groups(self.groups, steps)
            fractions = tuple(max(each) for each in zip_longest(*norms, fillvalue=Fraction(0)))
        else:
            lower, upper = self._ends(steps)
            norms, fractions = ((lower,),), (upper,)
        object.__setattr__(self, "norms", norms)
        object.__setattr__(self, "largest", fractions)

    def _encoded(self) -> int:
        """Checks what C is given by; its number of columns."""
        ways = ("matrix", "toeplitz", "inverse")
        given = [name for name in ways if getattr(self, name) is not None]
        if len(given) != 1:
            raise InvalidParameter(
                "C is given by one of matrix (its rows), toeplitz (its coefficients) and inverse (those of its "
                f"inverse), not by {' and '.join(given) or 'none of them'}"
            )
        if self.steps is not None:
            object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        if self.matrix is not None:
            rows, columns = shape(self.matrix)
            if rows * columns > ENTRIES_MAX:
                raise InvalidParameter(
                    f"matrix must have at most {ENTRIES_MAX:,} entries, not {rows} rows of {columns}: give a lower "
                    "triangular Toeplitz matrix by its coefficients, as toeplitz= (or inverse=, those of its inverse) "
                    "with steps=, of any size"
                )
            object.__setattr__(self, "matrix", matrix("matrix", self.matrix))
            columns = len(self.matrix[0])
            if self.steps not in (None, columns):
                raise InvalidParameter(
                    f"matrix has {columns:,} columns, one for each step, and steps is {self.steps:,}"
                )
            if self.restart is not None:
                raise InvalidParameter("restart goes with toeplitz or inverse: give the whole matrix, block by block")
            return columns
        (name,) = given
        entries = numbers(name, getattr(self, name))
        if self.steps is None:
            raise InvalidParameter(f"{name} needs steps, the number of columns of C")
        if len(entries) > ENTRIES_MAX:
            raise InvalidParameter(f"{name} must have at most {ENTRIES_MAX:,} coefficients, not {len(entries):,}")
        if name == "toeplitz" and not any(entries[: self.steps]):
            raise InvalidParameter("toeplitz must have a coefficient that is not 0: without one it tells nothing")
        if name == "inverse" and not entries[0]:
            raise InvalidParameter("inverse[0] must not be 0: such a matrix has no inverse")
        object.__setattr__(self, name, entries)
        if self.restart is not None:
            object.__setattr__(self, "restart", whole("restart", self.restart, least=1))
        return self.steps

    @property
    def relation(self) -> Relation | None:
        return None if self.rate is None and self.bins is None else Relation.ADD_REMOVE

    @property
    def tight(self) -> bool:
        return self.norms == (self.largest,)

    @property
    def attained(self) -> bool:
        return True

    @property
    def total_sensitivity(self) -> Bound:
        """The largest norm by which a record moves C x in all its steps together, of sampled groups if it is sampled
        at each: its lower end is that of a real record."""
        return root_bound(max(sum(norms, Fraction(0)) for norms in self.norms), sum(self.largest, Fraction(0)))

    def pair(self, direction: Direction) -> Pair:
        return self._product(self.largest, direction) if self._one_bin else self._binned(direction)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        if not self._one_bin:
            return (self._binned(direction),)
        return tuple(self._product(norms, direction) for norms in self.norms)

    def _ends(self, steps: int) -> tuple[Fraction, Fraction]:
        """Squares of the largest shift, below and above, each a sum of squares of doubles."""
        from ..numerics.columns import CORRELATED_MAX, largest_square_sum
        from ..numerics.participation import Apart, norm_square

        use = use_of(steps, self.participations, self.separation, self.epochs, self.patterns)
        if self.gram is not None:
            gram = self.gram
            if gram.bins > CORRELATED_MAX and not gram.alike:
                raise InvalidParameter(
                    f"bins must be at most {CORRELATED_MAX}, not {gram.bins:,}, where C correlates their steps: the "
                    "proof goes over all inner products; give fewer bins"
                )
            lower, upper = gram.largest
        elif self.matrix is not None and use is None:
            lower = upper = largest_square_sum(zip(*self.matrix, strict=True))
        else:
            kind, block = self._kind(steps)
            # A calibration asks for one matrix with many sigmas.
            lower, upper = compute_budget.kept(norm_square, kind, getattr(self, kind), steps, block, use or Apart(1, 1))
        if not upper:
            raise InvalidParameter("matrix must have an entry that is not 0: without one it tells nothing")
        lower, upper = (Fraction(self.sensitivity) ** 2 * fraction for fraction in (lower, upper))
        if lower == upper and _is_short(lower):
            return lower, upper
        return _representable(_short(lower, up=False)), _representable(_short(upper, up=True))

    def _kind(self, steps: int) -> tuple[str, int]:
        """What C is given by, and after how many steps it begins anew."""
        kind = "matrix" if self.matrix is not None else "toeplitz" if self.toeplitz is not None else "inverse"
        return kind, steps if self.restart is None else min(self.restart, steps)

    @property
    def _one_bin(self) -> bool:
        """Whether nobody draws a bin, or there is one only, which is a pattern that all records have."""
        return self.bins is None or self.bins == 1

    def _gram(self, steps: int, bins: int) -> BinGram:
        from ..numerics.columns import bin_gram

        kind, block = self._kind(steps)
        return compute_budget.kept(bin_gram, kind, getattr(self, kind), steps, block, bins)

    def _binned(self, direction: Direction) -> Pair:
        """The pair of random bins; where all are alike, that of what they share and one of independent steps."""
        from ..losses.correlated.correlated_pair import BinsPair
        from ..losses.operators.allocation.allocated import allocated_pair

        gram = self.gram
        assert gram is not None
        if gram.alike:
            common, norm = gram.entries[0][1] * gram.unit, gram.entries[0][0] * gram.unit
            squares = [Fraction(self.sensitivity) ** 2 * fraction for fraction in (common, norm - common)]
            if all(map(_is_short, squares)):
                factors = [self._gaussian(square) for square in squares if square]
                if squares[1]:
                    factors[-1] = allocated_pair(factors[-1], gram.bins, direction)
                return product_pair((factor, 1) for factor in factors)
        scale = (Fraction(self.sensitivity) / Fraction(self.sigma)) ** 2
        return BinsPair(((gram, scale, 1),), (), direction)

    def _demand_bins(self, steps: int) -> None:
        """What the theorem of random bins needs of C, and of the other parameters."""
        assert self.bins is not None
        given = [name for name in ("epochs", "patterns") if getattr(self, name) is not None]
        if self.rate is not None or self.groups is not None:
            given += ["rate", "groups"]
        if self.participations is not None or self.separation is not None:
            raise InvalidParameter(
                "bins draw the steps of a record once and for all; draws that only keep steps apart (b-min-sep) have "
                "no known two-sided bound: participations and separation without bins cover all that can be drawn"
            )
        if given:
            raise InvalidParameter(
                f"bins say in which steps a record is, by a draw: leave out {' and '.join(given)}; it is in steps/bins "
                "of them"
            )
        if self.bins > steps:
            raise InvalidParameter(f"bins must be at most steps, {steps:,}, not {self.bins:,}: each has a step")
        if self.matrix is not None:
            for i, row in enumerate(self.matrix):
                for j, entry in enumerate(row):
                    if entry and j > i:
                        raise InvalidParameter(
                            f"matrix[{i}][{j}] must be 0 with bins, not {entry!r}: random bins are known for lower "
                            "triangular matrices only"
                        )
                    if entry < 0.0:
                        raise InvalidParameter(
                            f"matrix[{i}][{j}] must be at least 0 with bins, not {entry!r}: what a record adds in one "
                            "step could cancel what it added before; without bins, epochs or participations cover any C"
                        )
        elif self.toeplitz is not None:
            for j, entry in enumerate(self.toeplitz[:steps]):
                if entry < 0.0:
                    raise InvalidParameter(
                        f"toeplitz[{j}] must be at least 0 with bins, not {entry!r}: what a record adds in one step "
                        "could cancel what it added before; without bins, epochs or participations cover any C"
                    )
        else:
            assert self.inverse is not None
            if self.inverse[0] < 0.0 or any(entry > 0.0 for entry in self.inverse[1:]):
                raise InvalidParameter(
                    "inverse needs a first coefficient above 0 and no other one above 0 with bins, which makes C "
                    "without an entry below 0: give C itself as toeplitz or matrix"
                )

    def _groups(self, groups: int, steps: int) -> tuple[Norms, ...]:
        """Squares of the shifts of the groups that no other one exceeds one by one."""
        from ..numerics.columns import square_sum

        if any(each is not None for each in (self.participations, self.separation, self.epochs, self.patterns)):
            raise InvalidParameter(
                "rate and groups sample who takes part: leave out participations, separation, epochs and patterns"
            )
        if self.inverse is not None or self.restart is not None:
            raise InvalidParameter(
                "sampled groups need a C with at most so many bands: give its coefficients as toeplitz, without restart"
            )
        if self.toeplitz is None:
            assert self.matrix is not None
            _check_bands(self.matrix, groups)
            sums = list(map(square_sum, zip(*self.matrix, strict=True)))
        else:
            bands = [square_sum(self.toeplitz[:rows]) for rows in range(1, min(len(self.toeplitz), steps) + 1)]
            if any(self.toeplitz[groups:steps]):
                raise InvalidParameter(f"toeplitz must have at most {groups:,} coefficients with groups={groups}")
            if steps > ENTRIES_MAX:
                raise InvalidParameter(f"steps must be at most {ENTRIES_MAX:,} with rate and groups, not {steps:,}")
            sums = [bands[-1]] * (steps - len(bands)) + bands[::-1]
        squares = [Fraction(self.sensitivity) ** 2 * square for square in sums]
        if not any(squares):
            raise InvalidParameter("matrix must have an entry that is not 0: without one it tells nothing")
        for square in set(squares):
            _representable(square)
        found: list[Norms] = []
        for start in range(min(groups, len(squares))):
            norms = tuple(sorted((fraction for fraction in squares[start::groups] if fraction), reverse=True))
            if not any(_exceeds(other, norms) for other in found):
                found = [*(other for other in found if not _exceeds(norms, other)), norms]
        return tuple(found)

    def _product(self, norms: Sequence[Fraction], direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import ResponseLaw

        if self.rate == 0.0:
            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        factors = []
        for square, count in Counter(norms).items():
            pair = self._gaussian(square)
            if self.rate is not None and self.rate < 1.0:
                pair = poisson_pair(pair, self.rate, direction)
            factors.append((pair, count))
        return product_pair(factors)

    def _gaussian(self, square: Fraction) -> Pair:
        """Of the shift with this square, a sum of squares of doubles."""
        from ..losses.gaussian import GaussianPair
        from ..numerics.columns import as_squares

        return GaussianPair(tuple((self.sigma, shift, 1) for shift in as_squares(square) or ()))


def _representable(square: Fraction) -> Fraction:
    """This square, where it is a sum of squares of doubles."""
    from ..numerics.columns import as_squares

    if square and as_squares(square) is None:
        raise InvalidParameter("matrix and sensitivity must have products that are doubles: scale both and sigma")
    return square


def _is_short(square: Fraction) -> bool:
    """Whether it is a sum of not too many squares of doubles."""
    from ..numerics.columns import as_squares

    dyadic = not square.denominator & (square.denominator - 1)
    return dyadic and square.numerator.bit_length() <= EXACT_BITS and as_squares(square) is not None


def _short(value: Fraction, up: bool) -> Fraction:
    """At or above it, or at or below it, with so many binary digits."""
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - SHORT_BITS)
    return (ceil(value / unit) if up else floor(value / unit)) * unit


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


# Tree aggregation: noisy sums over the nodes of a binary tree, from which every prefix sum is made.
#
# The leaves are the steps 1, ..., T; a node covers the steps (j - 1) 2^i + 1, ..., j 2^i, and each node that is
# complete
# by step T is told with noise N(0, sigma^2), as soon as it is. With `restart` a new tree begins after so many steps. A
# record is in one step, or in several (matrix_mechanism.py), and moves the sum of each by at most `sensitivity`.
# Pair: N(sqrt(L) sensitivity, sigma^2) against N(0, sigma^2). Of a record in one step L = levels = ceil(log2(T + 1)),
# the
# number of nodes above step 1, which no other step exceeds; of one in several L is the largest sum over the nodes of
# (participations in it)^2. What a step adds may depend on all that was told before it.
# Guarantee: tight, also under composition, where L is known exactly; else between two ends (numerics/participation.py).
# Reference: Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz, McMahan, Song, Thakkar, Thakurta, Xu
# 2021
# (DP-FTRL). Proof: docs/proofs/matrix.md, docs/proofs/correlated.md (several participations).


@dataclass(frozen=True, slots=True, repr=False)
class TreeAggregation(Leaf):
    """Sums over the nodes of a binary tree of so many steps, with noise of deviation sigma on each.

    A record adds a vector of norm `sensitivity` to a step. It is in one step, unless given: participations and
    separation, at most so many steps, any two at least so far apart; epochs, once in each of several passes over one
    tree, in the same order; patterns, lists of the steps (from 0) that a record may be in. restart: a new tree begins
    after so many steps. It is the binary mechanism of continual counting and of DP-FTRL.
    """

    example = "TreeAggregation(sigma=10, steps=1000) * 3"
    section = "training"
    formula = (
        "P = N(sqrt(levels) sensitivity, sigma^2), Q = N(0, sigma^2), levels = ceil(log2(steps + 1)); of "
        "records in several steps the largest sum over nodes of (participations in it)^2 stands for levels"
    )
    theorem = (
        "Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011; Kairouz and others 2021; "
        "[proof](proofs/matrix.md); several participations: [proof](proofs/correlated.md)"
    )
    tightness = (
        "Tight, also under composition: a record in the first step attains it. What later steps add may depend on all "
        "that was told before. Of several participations where the worst pattern is found, which is said by equal ends "
        "of total_sensitivity; else the answer lies between that of a real pattern and a bound for all."
    )
    relations = (
        "Any: the sum of each step that a record is in moves by at most `sensitivity` (in L2 norm) between neighbours, "
        "the others do not. A record that is replaced by one of other steps moves both: give the sum of both norms, "
        "2 C for records of norm C. Several epochs over one tree are epochs=; with a new tree each they are a "
        "multiple. The nodes told are those complete by the last step: of a tree that is padded to 2^k leaves up to "
        "its root, give 2^k steps."
    )
    sigma: float
    steps: int
    sensitivity: float = 1.0
    participations: int | None = None
    separation: int | None = None
    epochs: int | None = None
    patterns: Matrix | None = None
    restart: int | None = None
    ends: tuple[int, int] = field(init=False, compare=False)  # around the largest sum of squares over nodes

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))
        for name in ("participations", "separation", "epochs", "restart"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least=1))
        if self.patterns is not None:
            object.__setattr__(self, "patterns", patterns_of(self.patterns, self.steps))
        object.__setattr__(self, "ends", self._ends())

    def _ends(self) -> tuple[int, int]:
        use = use_of(self.steps, self.participations, self.separation, self.epochs, self.patterns)
        if use is None:
            return self.levels, self.levels
        from ..numerics.columns import TreeColumns
        from ..numerics.participation import largest_norm_square

        lower, upper = largest_norm_square(TreeColumns(self.steps, self._leaves), use)
        return int(lower), int(upper)

    @property
    def _leaves(self) -> int:
        return self.steps if self.restart is None else min(self.restart, self.steps)

    @property
    def levels(self) -> int:
        """The nodes that a record of the first step is in: ceil(log2(T + 1)), T the steps of one tree."""
        return self._leaves.bit_length()

    @property
    def total_sensitivity(self) -> Bound:
        """The largest norm by which a record moves all nodes together; the lower end is that of a real record."""
        lower, upper = (Fraction(self.sensitivity) ** 2 * end for end in self.ends)
        return root_bound(lower, upper)

    @property
    def tight(self) -> bool:
        return self.ends[0] == self.ends[1]

    @property
    def attained(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        return self._shifted(self.ends[1])

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        return (self._shifted(self.ends[0]),)

    def _shifted(self, squares: int) -> Pair:
        from ..losses.gaussian import GaussianPair

        return GaussianPair(((self.sigma, self.sensitivity, squares),))
