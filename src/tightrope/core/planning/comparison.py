"""One question, asked of every method."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING

from ...tables import Column, Table, Tabled
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import repeat
from ..mechanisms.parameters import nonnegative, probability, real, whole
from ..values import compute_budget
from ..values.bound import Bound
from ..values.calls import checked
from ..values.errors import InvalidParameter, UnsupportedMechanism, WorkExhausted
from ..values.question import SECONDS, Question

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure
    from .methods import Kind, Method


CERTIFIED_SHARE = 0.7  # of the work: the classic bounds need little
STEP_WORK = 1e5  # units, before each method: where the clock is looked at
SILENT = "says nothing"
LATE = "time ran out"


@dataclass(frozen=True, slots=True)
class Row:
    """A method's answer; inf for epsilon and 1 for delta mean that it has nothing to say."""

    method: str
    value: float
    kind: Kind
    distance: str
    why: str
    seconds: float = field(default=0.0, compare=False)

    @property
    def late(self) -> bool:
        """Whether time ran out before it could answer."""
        return self.distance == LATE

    @property
    def silent(self) -> bool:
        """Whether there is no number to look at."""
        return self.distance == SILENT or self.late


@dataclass(frozen=True, slots=True)
class Comparison(Tabled):
    """The certified interval, and what the others say: bounds before approximations, the nearest first."""

    expression: str
    quantity: str
    given: float
    truth: Bound
    rows: tuple[Row, ...]
    title: str = ""  # as people read it: parts and files by their names
    why: str = ""  # what the certified interval knows
    seconds: float = field(default=0.0, compare=False)

    def __str__(self) -> str:
        from .methods import text

        return text(self)

    @property
    def table(self) -> Table:
        """A row each, the certified interval first: what a method says, how far off, how long it took, and why."""
        from .methods import lines, title

        headings = ("method", self.quantity, "kind", "distance", "time", "why")
        cells = zip(*lines(self), strict=True)
        return Table(tuple(map(Column, headings, cells)), title(self))

    @property
    def data(self) -> Table:
        """A row each, the certified interval first: method, lower and upper end of the interval or the value, kind,
        distance in words, seconds and why.
        """
        from .methods import Kind

        columns = (
            Column("method", ["certified", *(row.method for row in self.rows)]),
            Column("lower", [self.truth.lower, *(None for _ in self.rows)]),
            Column("upper", [self.truth.upper, *(None if row.late else row.value for row in self.rows)]),
            Column("kind", [Kind.INTERVAL.value, *(row.kind.value for row in self.rows)]),
            Column("distance", ["", *(row.distance for row in self.rows)]),
            Column("seconds", [self.seconds, *(row.seconds for row in self.rows)]),
            Column("why", [self.why, *(row.why for row in self.rows)]),
        )
        return Table(columns)

    def _repr_html_(self) -> str:
        from .methods import html

        return html(self, self._repr_png_())

    def _repr_png_(self) -> bytes | None:
        from ...plotting.style import png

        return png(self.plot)

    @checked
    def plot(
        self, path: str | PathLike[str] | None = None, *, ax: Axes | None = None, log: bool | None = None
    ) -> Figure:
        """One dot per method beside the certified interval, on ax where it is given; written where there is a path.

        log: a logarithmic axis; without it, whatever shows the distances better.
        """
        from .pictures import draw_comparison

        return draw_comparison(self, path, ax=ax, log=log)


@checked
def compare(
    run: Mechanism,
    delta: float | None = None,
    epsilon: float | None = None,
    *,
    methods: str | Iterable[str] | None = None,
    seconds: float = SECONDS,
) -> Comparison:
    """Every method at one delta or at one epsilon, 0 or above.

    methods: names, or parts of names, of those to ask; all without it. seconds: for the whole comparison.
    """
    if (delta is None) == (epsilon is None):
        raise InvalidParameter("compare needs either delta or epsilon")
    if delta is not None:
        quantity, given = "epsilon", probability("delta", delta)
    else:
        quantity, given = "delta", _bounded(math.nan if epsilon is None else epsilon)
    from .methods import (
        find_methods,
        why_certified,  # late: the classic bounds bring the engines along
    )

    asked = find_methods(methods)
    with compute_budget.allowance(Question(quantity, seconds=seconds).seconds):
        began = time.perf_counter()
        with compute_budget.part(CERTIFIED_SHARE):
            truth = (run.epsilon if quantity == "epsilon" else run.delta)(given, seconds=seconds)
        taken = time.perf_counter() - began
        law = run.nameless  # equal parts are looked at once
        rows = [
            _row(method, law, quantity, given, truth, 1.0 / (len(asked) - index)) for index, method in enumerate(asked)
        ]
        with compute_budget.uncounted():  # the rows may have used up all there was
            why = why_certified(law)
    return Comparison(repr(run), quantity, given, truth, tuple(sorted(rows, key=_nearness)), run.label, why, taken)


def growth(
    run: Mechanism,
    counts: Sequence[int],
    delta: float | None = None,
    epsilon: float | None = None,
    *,
    methods: str | Iterable[str] | None = None,
    seconds: float = SECONDS,
) -> tuple[Comparison, ...]:
    """The comparison for run * count, for each of the counts."""
    times = [whole("count", count, least=1) for count in counts]
    if not times or sorted(set(times)) != times:
        raise InvalidParameter(f"the counts must rise, not {', '.join(map(str, counts)) or 'be none'}")
    names = methods if methods is None or isinstance(methods, str) else tuple(methods)
    found = []
    with compute_budget.allowance(Question("epsilon", seconds=seconds).seconds):
        for index, count in enumerate(times):
            with compute_budget.part(1.0 / (len(times) - index)):
                found.append(compare(repeat(run, count), delta, epsilon, methods=names, seconds=seconds))
    return tuple(found)


def _bounded(epsilon: float) -> float:
    """An epsilon of which the methods speak."""
    if real("epsilon", epsilon) < 0.0:
        raise InvalidParameter(
            f"compare takes an epsilon of 0 or above, not {epsilon!r}: classic bounds say nothing below, delta does"
        )
    return nonnegative("epsilon", epsilon)


def _row(method: Method, run: Mechanism, quantity: str, given: float, truth: Bound, share: float) -> Row:
    """One method, with a share of the work that is left; what it says when that is used up is not what it can say."""
    began = time.perf_counter()
    nothing = math.inf if quantity == "epsilon" else 1.0
    with compute_budget.part(share) as meter:
        try:
            compute_budget.spend(STEP_WORK)
            value = (method.epsilon if quantity == "epsilon" else method.delta)(run, given)
        except (UnsupportedMechanism, WorkExhausted, FloatingPointError):
            value = nothing
    late = meter.exhausted is not None
    value, words = (nothing, LATE) if late else (value, distance(value, truth, quantity))
    return Row(method.name, value, method.kind, words, method.why, time.perf_counter() - began)


def _nearness(row: Row) -> tuple[bool, float]:
    """Bounds before approximations; what says nothing is as far as can be."""
    from .methods import Kind

    return row.kind is Kind.APPROXIMATION, math.inf if row.silent else row.value


def distance(value: float, truth: Bound, quantity: str) -> str:
    """How far a value is from the certified interval, in words."""
    if value == math.inf or (quantity == "delta" and value >= 1.0 > truth.upper):
        return SILENT if truth.upper < math.inf else "exact"
    if value < truth.lower == math.inf:
        return "too low: there is no finite one"
    if value < truth.lower:
        return f"{_apart(truth.lower, value, truth.lower)} too low"
    if value <= truth.upper or truth.upper == math.inf:
        return "exact"
    return f"{_apart(value, truth.upper, truth.upper)} too high"


def _apart(more: float, less: float, truth: float) -> str:
    """By how much one is more than the other: small differences in per cent of the truth, others as a factor."""
    if less <= 0.0:
        return f"{more:.3g}"
    ratio = more / less
    if ratio == math.inf:
        return "beyond 1e308 times"
    if ratio >= 1e6:
        mantissa, power = f"{ratio:.1e}".split("e")
        return f"{mantissa}e{int(power)} times"
    if ratio >= 99.95:
        return f"{ratio:,.0f} times"
    if ratio >= 1.995:
        return f"{ratio:.3g} times"
    percent = 100.0 * (more - less) / truth
    return f"{percent:.2g} %" if percent >= 1e-4 else "under 0.0001 %"
