"""Bucket lists as values: B, l and l~ of a composition tree, looked at, composed by hand and read.

`a.compose(b)` and `a.squared()` are the nodes of definition 3. `a + b` and `a * count` are the trees of figure 10: they
square before a composition that would let B(infinity) grow too much, and square the finer list where factors differ.
Every number is shown with both ends, rounding included. Losses that lie within `slack` of the end of a bucket may be
counted on either side of it; delta, epsilon, pdp and renyi have room for that.
Guarantee: lower <= truth <= upper for one direction of the run. Proof: docs/proofs/buckets.md.
Reference: Meiser, Mohammadi 2018, Defs. 3, 4, 5, 7, 9, Fig. 10, Secs. 2.5 and 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .mechanisms.base import Mechanism, called, confidence
from .mechanisms.composition import settled
from .mechanisms.parameters import nonnegative, probability, real, whole
from .numerics import fp_environment
from .numerics.rounding import THOUSANDS, UNIT, round_up
from .values.bound import Bound, Certificate, ErrorBreakdown
from .values.calls import checked, checked_class, rounded, shortened
from .values.errors import InvalidParameter, Refusal, UnsupportedMechanism
from .values.question import Direction, EngineSettings, Relation

if TYPE_CHECKING:
    from ..plotting.style import Axes, Figure
    from .engines.buckets.bucket_list import TreeBuckets
    from .numerics.enclosures import FloatArray


# The settings of privacy buckets: what `engine=` takes, and what a leaf is made with.


@checked_class
@dataclass(frozen=True, slots=True)
class Buckets(EngineSettings):
    """Privacy buckets with settings of one's own: engine=Buckets(factor=1.001, buckets=10_000). All may be left out.

    factor: f > 1 of one use; bucket i takes the losses above (i - 1) log f, up to i log f.
    buckets: n of the paper, an even number: the indices are -n ... n, and infinity for what lies above.
    free_infinity: squaring waits while B(infinity) is below it (free_infty_budget of section 4.6); 0 is figure 10.
    error_correction: False reads delta by definition 5 (theorem 1) instead of definition 9; the lower end of the answer
    is that of definition 9 in any case, since definition 5 has none.
    What is left out is chosen: factor and free_infinity from the question, buckets from the factor and the accuracy.
    With a factor, lists are squared by the rule of figure 10; without, also where too much would fall below -n.
    Reference: Meiser, Mohammadi 2018, Tight on Budget?, Defs. 3 to 9, Fig. 10, Sec. 4.6.
    """

    name: ClassVar[str] = "buckets"
    factor: float | None = None
    buckets: int | None = None
    free_infinity: float | None = None
    error_correction: bool = True

    def __post_init__(self) -> None:
        if self.factor is not None:
            object.__setattr__(self, "factor", real("factor", self.factor))
            if not 1.0 < self.factor < math.inf:
                raise InvalidParameter(f"factor must be a finite number above 1, such as 1.001, not {self.factor!r}")
        if self.buckets is not None:
            from .engines.tuning import N_GIVEN_MAX  # engines are loaded by the first question

            n = whole("buckets", self.buckets, least=2)
            if n % 2 or n > N_GIVEN_MAX:
                raise InvalidParameter(f"buckets must be an even number from 2 to {N_GIVEN_MAX:,}, not {n!r:.40}")
            object.__setattr__(self, "buckets", n)
        if self.free_infinity is not None:
            object.__setattr__(self, "free_infinity", probability("free_infinity", self.free_infinity))
        if not isinstance(self.error_correction, bool):
            raise InvalidParameter(f"error_correction must be True or False, not {self.error_correction!r:.60}")

    @property
    def settings(self) -> Mapping[str, object]:
        given = {"factor": self.factor, "n": self.buckets, "free_infinity_budget": self.free_infinity}
        fixed = {name: value for name, value in given.items() if value is not None}
        return fixed if self.error_correction else {**fixed, "error_correction": False}

    @checked
    def leaf(self, mechanism: Mechanism, *, direction: Direction | str = "remove", tilt: float = 0.0) -> BucketList:
        """The buckets of one use of a mechanism, in one direction, to look at and to compose by hand.

        tilt: numbers are kept times e^(tilt loss), which keeps digits of a delta as small as e^(-tilt epsilon); only
        lists of one tilt compose.
        """

        if self.factor is None or self.buckets is None:
            raise InvalidParameter("a list needs a factor and buckets, such as Buckets(factor=1.01, buckets=1000)")
        return leaf(mechanism, self, Direction(direction), nonnegative("tilt", tilt))


# What a bucket holds: numbers with both ends.


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket: its index (inf for infinity), the largest loss in it, B, l (real error) and l~ (virtual error)."""

    index: float
    loss: float
    mass: Bound
    real_error: Bound
    virtual_error: Bound


@dataclass(frozen=True, slots=True, eq=False)
class BucketTerms:
    """Numbers by bucket, -n ... n, each between two doubles; [i] is the interval of bucket i."""

    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper):
            array.setflags(write=False)

    @property
    def centre(self) -> FloatArray:
        """Between both ends: for pictures, not certified."""
        return self.lower + (self.upper - self.lower) / 2.0

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, index: int) -> Bound:
        n = len(self) // 2
        if not (isinstance(index, (int, np.integer)) and -n <= index <= n):
            raise IndexError(f"buckets have the indices {-n} to {n}, not {index!r:.40}")
        return Bound(float(self.lower[index + n]), float(self.upper[index + n]))

    def __iter__(self) -> Iterator[Bound]:
        return (Bound(low, high) for low, high in zip(self.lower.tolist(), self.upper.tolist(), strict=True))


ROWS_SHOWN = 9  # the heaviest buckets of a list that is printed
FOLDS_MAX = 1 << 62


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BucketList:
    """The privacy buckets of one composition tree in one direction; Buckets(...).leaf(mechanism) makes a leaf.

    len(a) counts the buckets, infinity among them; a[i] is the bucket of index i, a[math.inf] that of infinity.
    """

    run: Mechanism
    direction: Direction
    free_infinity: float
    made: TreeBuckets = field(repr=False)

    @property
    def factor(self) -> float:
        """f of this list, to the nearest double; squaring has squared it."""
        return self.made.factor

    @property
    def n(self) -> int:
        """The last index before infinity."""
        return self.made.n

    @property
    def u(self) -> int:
        """How many buckets above epsilon are not corrected."""
        return self.made.u

    @property
    def uses(self) -> int:
        """How many leaves the tree has."""
        return self.made.leaves

    @property
    def squarings(self) -> int:
        """The squaring nodes on the longest way from a leaf."""
        return self.made.squarings

    @property
    def slack(self) -> float:
        """How near to the end of its bucket a loss must lie to be counted on either side."""
        return self.made.slack

    @property
    def tree(self) -> str:
        """The composition tree as written, from left to right: `leaf x8 squared x2` are 16 leaves, squared once."""
        return str(self.made.tree)

    @property
    def indices(self) -> FloatArray:
        """The index of each bucket but that of infinity: -n ... n, as doubles."""
        return np.arange(-self.n, self.n + 1, dtype=np.float64)

    @property
    def losses(self) -> FloatArray:
        """The largest loss of each bucket, i log f."""
        return np.asarray(self.indices * self.made.step)

    @property
    def masses(self) -> BucketTerms:
        """B(i): the mass of each bucket under A, the law that is asked about."""
        low, high = self.made.masses.bounds()
        high = np.where(self.indices > self.made.top, 0.0, np.fmin(high, 1.0))
        return BucketTerms(np.fmin(np.fmax(low, 0.0), high), high)

    @property
    def infinity(self) -> Bound:
        """B(infinity): the mass under A of all losses above the last bucket, infinite ones among them."""
        return Bound(*self.made.infinity)

    @property
    def virtual_error(self) -> BucketTerms:
        """l~(i): the mass of each bucket under B less B(i)/f^i, which delta_low takes off."""
        terms = self._less_mass(*self.made.alternative.bounds())
        # Not below -(e^slack - 1), lemma 2 (a): rounding alone would leave bucket -n wide open.
        return BucketTerms(np.maximum(terms.lower, -round_up(math.expm1(self.slack), THOUSANDS)), terms.upper)

    @property
    def real_error(self) -> BucketTerms:
        """l(i): what of l~(i) is safe to use above; 0 in bucket -n.

        It is the l of this list, which is that of the paper, or less where a bucket -n held nothing but rounding.
        """
        terms = self._less_mass(*self.made.real.bounds())
        low, high = terms.lower.copy(), terms.upper.copy()
        low[0] = high[0] = 0.0
        return BucketTerms(low, high)

    def _less_mass(self, low: FloatArray, high: FloatArray) -> BucketTerms:
        """X(i) - B(i)/f^i between doubles, X at most e^slack; roundings of i log f, f^-i, product and difference."""
        masses, label = self.masses, self.losses
        high = np.fmin(high, round_up(math.exp(self.slack), THOUSANDS))
        with np.errstate(all="ignore"):
            fall, units = np.exp(-label), (2.0 * np.abs(label) + 16.0) * UNIT
            most, least = masses.upper * fall * (1.0 + units), masses.lower * fall * (1.0 - units)
            wide = 8.0 * UNIT * (high + most)
            down, up = low - most - wide, high - least + wide
        empty = self.indices > self.made.top
        down[empty], up[empty] = 0.0, 0.0
        return BucketTerms(np.where(np.isnan(down), -np.inf, down), np.where(np.isnan(up), np.inf, up))

    def __len__(self) -> int:
        return 2 * self.n + 2

    def __getitem__(self, index: float) -> Bucket:
        if index == math.inf:
            return Bucket(math.inf, math.inf, self.infinity, Bound(0.0, 0.0), Bound(0.0, 0.0))
        if isinstance(index, float) and index.is_integer():
            index = int(index)
        columns = self.masses, self.real_error, self.virtual_error
        mass, real_error, virtual_error = (column[index] for column in columns)  # type: ignore[index]
        return Bucket(int(index), int(index) * self.made.step, mass, real_error, virtual_error)

    def __iter__(self) -> Iterator[Bucket]:
        columns = range(-self.n, self.n + 1), self.losses.tolist(), self.masses, self.real_error, self.virtual_error
        yield from (Bucket(*row) for row in zip(*columns, strict=True))
        yield self[math.inf]

    def compose(self, other: BucketList) -> BucketList:
        """T1 x T2 of definition 4: indices add up; factors and n must be equal."""
        from .engines.buckets.bucket_composition import compose

        self._check(other)
        with trusted():
            return self._with(other, compose(self.made, other.made))

    def squared(self) -> BucketList:
        """The squaring node of definition 4: f becomes f^2, buckets 2i - 1 and 2i become bucket i."""
        from .engines.buckets.bucket_composition import square

        with trusted():
            return replace(self, made=square(self.made))

    def __add__(self, other: BucketList) -> BucketList:
        """Composed by the rule of figure 10: squared before, where factors differ or B(infinity) would grow."""
        if not isinstance(other, (BucketList, Mechanism)):
            return NotImplemented
        from .engines.buckets.bucket_composition import compose_adaptively

        self._check(other)
        with trusted():
            free = min(self.free_infinity, other.free_infinity)
            return self._with(other, compose_adaptively(self.made, other.made, free))

    def __radd__(self, other: object) -> BucketList:
        """sum(lists) starts at 0."""
        if isinstance(other, Mechanism):
            self._check(other)
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, count: float) -> BucketList:
        """Composed with itself so many times, by repeated doubling: figure 10."""
        from .engines.buckets.bucket_composition import repeat

        times = whole("count", count, least=1)
        if times > FOLDS_MAX:
            raise InvalidParameter(f"a list is composed at most {FOLDS_MAX:,} times, not {times!r:.40}")
        with trusted():
            return replace(self, run=self.run * times, made=repeat(self.made, times, self.free_infinity))

    __rmul__ = __mul__

    def _check(self, other: object) -> None:
        if isinstance(other, Mechanism):
            raise InvalidParameter(
                f"a list is composed with a list, not with {other!s:.60}: make its leaf first, "
                "Buckets(factor=..., buckets=...).leaf(mechanism)"
            )
        if not isinstance(other, BucketList):
            raise InvalidParameter(f"a list is composed with a list, not with {other!r:.60}")
        if self.direction is not other.direction:
            raise InvalidParameter("lists of one direction compose, not remove with add")

    def _with(self, other: BucketList, made: TreeBuckets) -> BucketList:
        free, run = min(self.free_infinity, other.free_infinity), self.run + other.run
        if run.relation is Relation.REPLACE and not all(settled(part) for part, _ in run.parts):
            raise InvalidParameter(
                "where a record is replaced a part may show either order of its two laws, and its list holds one: "
                "account for the mechanisms themselves, with engine='buckets'"
            )
        return replace(self, run=run, free_infinity=free, made=made)

    @checked
    def delta(self, epsilon: float, *, error_correction: bool = True) -> Bound:
        """delta at an epsilon, of this direction: by definition 9, or above by definition 5 (theorem 1)."""
        from .engines.buckets import read as reading

        way = reading.CORRECTED if error_correction else reading.UNCORRECTED
        with trusted():
            evaluation = way.delta(self.made, nonnegative("epsilon", epsilon))
        return self._bound(evaluation.lower, evaluation.upper, evaluation.budget, error_correction=error_correction)

    @checked
    def epsilon(self, delta: float, *, error_correction: bool = True) -> Bound:
        """The smallest epsilon whose delta is at most this, of this direction."""
        from .engines.buckets import read as reading

        way = reading.CORRECTED if error_correction else reading.UNCORRECTED
        with trusted():
            low, high = reading.epsilon_at(self.made, probability("delta", delta), way)
        return self._bound(low, high, ErrorBreakdown(), error_correction=error_correction)

    @checked
    def pdp(self, epsilon: float) -> Bound:
        """P[loss > epsilon] under A: the delta of probabilistic differential privacy (section 2.5)."""
        from .engines.buckets import read

        with trusted():
            evaluation = read.probabilistic(self.made, nonnegative("epsilon", epsilon))
        return self._bound(evaluation.lower, evaluation.upper, evaluation.budget)

    @checked
    def renyi(self, order: float) -> Bound:
        """The Renyi divergence of an order above 1 (section 5.7); inf above where B(infinity) may hold mass."""
        from .engines.buckets import read

        with trusted():
            bound = read.renyi(self.made, real("order", order))
        return self._bound(bound.lower, bound.upper, ErrorBreakdown())

    def _bound(self, lower: float, upper: float, budget: ErrorBreakdown, **settings: object) -> Bound:
        about = {
            "factor": self.factor,
            "n": self.n,
            "squarings": self.squarings,
            "u": self.u,
            "infinity": self.infinity.upper,
            "free_infinity_budget": self.free_infinity,
            **settings,
            "tree": self.tree,
        }
        return Bound(
            lower,
            upper,
            Certificate(
                engine=Buckets.name,
                arithmetic="float64",
                reason="a list of privacy buckets, composed by hand",
                direction=self.direction,
                relation=self.run.relation,
                tight=self.run.tight,
                parameters=about,
                budget=budget,
                confidence=confidence(self.run),
                label=called(self.run, self.run.nameless),
            ),
        )

    @checked
    def plot(
        self, path: str | PathLike[str] | None = None, *, ax: Axes | None = None, log: bool | None = None
    ) -> Figure:
        """B by loss, with l and l~ beside it, and B(infinity) at the right; written where a path is given."""
        from .bucket_drawing import draw_list

        return draw_list(self, path, ax, bool(log))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BucketList):
            return NotImplemented
        return self._key() == other._key() and all(
            np.array_equal(getattr(self.made, name).values, getattr(other.made, name).values)
            for name in ("masses", "real", "alternative")
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        made = self.made
        return self.run, self.direction, self.free_infinity, made.tree, made.step, made.n, made.masses.slope

    def __repr__(self) -> str:
        return f"<BucketList: {shortened(self.tree)}; {self._about()}>"

    def _about(self) -> str:
        return (
            f"{self.uses:,} use{'s' if self.uses > 1 else ''}, factor {self.factor:.10g}, n = {self.n}, u = {self.u}, "
            f"B(inf) in {self.infinity}, {self.direction.value}"
        )

    def __str__(self) -> str:
        """What it is, and its heaviest buckets, both ends rounded outward."""
        masses, real_error, virtual_error = self.masses, self.real_error, self.virtual_error
        heaviest = np.argsort(masses.upper, kind="stable")[::-1][:ROWS_SHOWN]
        shown = sorted(place for place in heaviest.tolist() if masses.upper[place] > 0.0)
        rows = [("index", "loss up to", "B", "l", "l~")]
        for place in shown:
            index = place - self.n
            mass, real, virtual = (f"{terms[index]:.3e}" for terms in (masses, real_error, virtual_error))
            rows.append((str(index), rounded(index * self.made.step, 4, up=True), mass, real, virtual))
        rows.append(("inf", "inf", f"{self.infinity:.3e}", "0", "0"))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join((shortened(self.tree), self._about(), *lines))


def leaf(mechanism: Mechanism, settings: Buckets, direction: Direction, tilt: float) -> BucketList:
    """The list of one use; the factor of the tree is e^step, step the double nearest to its logarithm."""
    from .engines.buckets.bucket_composition import pair_leaf
    from .engines.buckets.bucket_list import Written

    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"a leaf is made of a mechanism, not of {mechanism!r:.60}")
    if len(mechanism.terms) != 1 or mechanism.terms[0][1] != 1:
        raise InvalidParameter("a leaf is one use: make the leaf of each part, then compose them: a * 3 + b")
    assert settings.factor is not None
    assert settings.buckets is not None
    step = math.log(settings.factor)
    try:
        with trusted():
            made = pair_leaf(mechanism.pair(direction), step, settings.buckets, tilt * step)
    except UnsupportedMechanism as refusal:
        refusal.rename(shortened(str(mechanism)), Buckets.name)
        raise
    made = replace(made, tree=Written(shortened(str(mechanism))))
    return BucketList(mechanism, direction, settings.free_infinity or 0.0, made)


@contextmanager
def trusted() -> Iterator[None]:
    """float64 where it is what the bounds rest on; a refusal where it is not."""
    try:
        with fp_environment.float64():
            yield
    except FloatingPointError as broken:
        raise UnsupportedMechanism(f"{broken}; ask with proof and another engine", Refusal.NEEDS_BALLS) from broken
