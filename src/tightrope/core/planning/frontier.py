"""What meets one target: the least sigma for each number of epochs, or for each batch, or the most epochs for each.

Every row is a calibration of its own, so each has its proven miss; a row that cannot be met says why.
Guarantee: that of `calibrate`, row by row.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, cast

from ...tables import Column, Table, Tabled
from ..values import compute_budget
from ..values.bound import FrozenMapping
from ..values.calls import checked, short
from ..values.errors import InvalidParameter, TightropeError
from ..values.question import SECONDS
from .calibration import Calibration
from .unknown import FOUND, UNKNOWNS, OpenPlan, in_turn, solve

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure


FRONTIER_MAX = 400
USUAL = MappingProxyType({"sampling": "poisson", "group": 1, "matrix": "identity"})  # not worth a word
NEEDS_ONE = f"a frontier leaves out one number, which is found: one of {', '.join(UNKNOWNS)}"


@dataclass(frozen=True, slots=True)
class FrontierRow:
    """The numbers given, and what was found for them; or why nothing was."""

    given: Mapping[str, float]
    found: Calibration | None
    refused: str = ""
    late: bool = False  # whether more time may find a better one
    seconds: float = field(default=0.0, compare=False)

    @property
    def width(self) -> float:
        """How much is open: nothing, the next value, or all of it."""
        return math.inf if self.found is None else float(self.found.ended is not None)


@dataclass(frozen=True, slots=True)
class Frontier(Tabled):
    """Pairs, or triples, of numbers that all meet epsilon at delta: the unknown is as good as it can be in each."""

    unknown: str
    over: tuple[str, ...]  # the numbers that have several values
    epsilon: float
    delta: float
    rows: tuple[FrontierRow, ...]
    plan: Mapping[str, Any] = field(default_factory=lambda: FrozenMapping({}))  # the keywords that are the same in all

    def __iter__(self) -> Iterator[FrontierRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join([f"{FOUND[self.unknown]} for {self.title}", "", *self.table.lines(indent="  ")])

    @property
    def title(self) -> str:
        """The target, and what all rows share."""
        shared = ", ".join(f"{name}={value!r}" for name, value in self.plan.items())
        return f"epsilon {short(self.epsilon)} at delta {short(self.delta)}{f', {shared}' if shared else ''}"

    @checked
    def plot(self, path: str | PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
        """The unknown over the first number given, a curve for each value of the second."""
        from .pictures import draw_frontier

        return draw_frontier(self, path, ax=ax)

    def _repr_png_(self) -> bytes | None:
        from ...plotting.style import png

        return png(self.plot)

    @property
    def table(self) -> Table:
        """A row each: what was given, the value found, the interval of its epsilon, and the value that misses."""
        found = [row.found for row in self.rows]
        missed = [None if calibration is None else calibration.missed for calibration in found]
        columns = [Column(name, [short(row.given[name]) for row in self.rows]) for name in self.over]
        columns += [
            Column(self.unknown, [None if calibration is None else short(calibration.value) for calibration in found]),
            Column("epsilon", [None if calibration is None else str(calibration.bound) for calibration in found]),
            Column(f"{self.unknown} that misses", [None if each is None else short(each.value) for each in missed]),
        ]
        notes = [] if not any(self._notes) else [Column("note", self._notes)]
        return Table((*columns, *notes), f"{FOUND[self.unknown]} for {self.title}")

    @property
    def data(self) -> Table:
        """A row each: what was given, the value found, its epsilon, the value that misses, and why there is none."""
        found = [row.found for row in self.rows]
        missed = [None if calibration is None else calibration.missed for calibration in found]
        columns = [Column(name, [row.given[name] for row in self.rows]) for name in self.over]
        columns += [
            Column(self.unknown, [None if calibration is None else calibration.value for calibration in found]),
            Column("lower", [None if calibration is None else calibration.bound.lower for calibration in found]),
            Column("upper", [None if calibration is None else calibration.bound.upper for calibration in found]),
            Column("missed", [None if each is None else each.value for each in missed]),
        ]
        return Table((*columns, Column("note", self._notes)))

    @property
    def _notes(self) -> list[str]:
        """Of each row, why there is no value, or why the search ended."""
        return [
            row.refused or ("" if row.found is None or row.found.ended is None else row.found.ended)
            for row in self.rows
        ]


@checked
def frontier(
    epsilon: float,
    delta: float,
    *,
    proof: bool = False,
    seconds: float = SECONDS,
    told: Callable[[str], object] = lambda step: None,
    **plan: Unpack[OpenPlan],
) -> Frontier:
    """The numbers of a training run that meet epsilon at delta.

    plan: keywords of tr.training; those that are lists are gone through, and the one of sigma, epochs (or steps) and
    batch that is left out is found for each: frontier(8, 1e-5, records=60000, batch=256, epochs=[5, 10, 20]).
    proof: balls only. seconds: for the whole of it. told: called with a few words before each row.
    """
    given = cast(dict[str, Any], plan)
    unknown = _left_out(given)
    over = tuple(name for name in UNKNOWNS if isinstance(given.get(name), (list, tuple, range)))
    if not over:
        raise InvalidParameter("a frontier goes through several values of a number: epochs=[5, 10, 20], for one")
    places = [tuple(_rising(name, given[name])) for name in over]
    cases = [dict(zip(over, values, strict=True)) for values in product(*places)]
    if len(cases) > FRONTIER_MAX:
        raise InvalidParameter(f"a frontier has at most {FRONTIER_MAX} rows, not {len(cases)}: a sweep takes more")
    asked = _FrontierAsked(given, unknown, (epsilon, delta), proof)

    def ask(index: int, share: float) -> FrontierRow:
        words = " and ".join(f"{name} {short(value)}" for name, value in cases[index].items())
        told(f"{FOUND[unknown]} at {words} ({index + 1} of {len(cases)})")
        return asked.row(cases[index], share)

    shared = {name: value for name, value in given.items() if name not in over and value not in (None, USUAL.get(name))}
    return Frontier(unknown, over, epsilon, delta, in_turn(len(cases), seconds, ask), FrozenMapping(shared))


@dataclass(frozen=True, slots=True)
class _FrontierAsked:
    """A plan with an unknown, and its target."""

    plan: Mapping[str, Any]
    unknown: str
    target: tuple[float, float]  # epsilon, delta
    proof: bool

    def row(self, case: Mapping[str, float], seconds: float) -> FrontierRow:
        """What is found for one case, or why nothing is."""
        began = time.perf_counter()
        found, refused = None, ""
        with compute_budget.allowance(seconds) as meter:
            try:
                found = solve({**self.plan, **case}, self.unknown, *self.target, proof=self.proof, seconds=seconds)
            except TightropeError as error:
                refused = str(error)
        late = meter.exhausted is not None and (found is None or found.ended is not None)
        return FrontierRow(FrozenMapping(case), found, refused, late, time.perf_counter() - began)


def _left_out(plan: Mapping[str, Any]) -> str:
    """The number to find: of those left out, or None, the one that a run cannot do without."""
    open_ = [name for name in ("sigma", "batch") if plan.get(name) is None]
    if plan.get("epochs") is None and plan.get("steps") is None:
        open_.append("epochs")
    if plan.get("schedule") is not None or len(open_) != 1:
        raise InvalidParameter(f"{NEEDS_ONE}; here {', '.join(open_) or 'none'} is left out")
    return open_[0]


def _rising(name: str, values: Sequence[float]) -> Sequence[float]:
    if not values or sorted(set(values)) != list(values):
        raise InvalidParameter(f"the values of {name} must rise, not be {', '.join(map(str, values)) or 'none'}")
    return values
