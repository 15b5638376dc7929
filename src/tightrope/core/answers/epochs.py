"""What a training run has cost by the end of each epoch: certified epsilons at one delta."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, overload

from ...tables import Column, NotebookTable, Table
from ..values.bound import Bound
from ..values.calls import checked, short, shortened
from ..values.errors import InvalidParameter, agreed
from .curve import Point, PointTable

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure
    from ..mechanisms.base import Mechanism


TITLE_MAX = 160  # characters


class EpochRow(NamedTuple):
    """The run up to the end of an epoch, or to its own end: how many steps that is, and its epsilon."""

    epoch: float
    steps: int
    epsilon: Bound


@dataclass(frozen=True, slots=True, repr=False)
class Epochs(PointTable, NotebookTable):
    """Epsilon at this delta after each of the epochs, which rise; a sequence of (epoch, bound), a slice is one again.

    runs are the parts of the run up to there, steps how long they are. A longer part loses at least as much, so that
    between two epochs lies what is between their ends.
    """

    _heading, _quantity = "epoch", "epsilon"
    delta: float
    epochs: tuple[float, ...]
    steps: tuple[int, ...]
    runs: tuple[Mechanism, ...]
    bounds: tuple[Bound, ...]
    wanted: int = 0  # rows; where time was not enough for all, more than there are

    def __post_init__(self) -> None:
        if not len(self.epochs) == len(self.steps) == len(self.runs) == len(self.bounds):
            raise InvalidParameter("epochs need one bound, one part of the run and its steps each")
        if any(first > second for first, second in pairwise(self.epochs)):
            raise InvalidParameter("epochs must rise; reversed(epochs) goes through them backwards")

    @property
    def _places(self) -> tuple[float, ...]:
        return self.epochs

    @property
    def rows(self) -> tuple[EpochRow, ...]:
        """(epoch, steps, epsilon) of each."""
        return tuple(map(EpochRow, self.epochs, self.steps, self.bounds))

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Epochs: ...
    def __getitem__(self, index: int | slice) -> Point | Epochs:
        if isinstance(index, slice):
            return Epochs(self.delta, self.epochs[index], self.steps[index], self.runs[index], self.bounds[index])
        return self.epochs[index], self.bounds[index]

    def __repr__(self) -> str:
        return f"<Epochs: {len(self)} rows of {self._title}>"

    def __str__(self) -> str:
        """A table, with what there is to say of it beneath."""
        return self.table.text()

    @property
    def table(self) -> Table:
        """The epochs and steps with the interval of epsilon, and what there is to say of it."""
        columns = (
            Column("epoch", [_counted(epoch) for epoch in self.epochs], True),
            Column("steps", [f"{steps:,}" for steps in self.steps], True),
            Column("epsilon", [str(bound) for bound in self.bounds]),
        )
        return Table(columns, self._title, self.notes)

    @property
    def _title(self) -> str:
        of = f" of {shortened(self.runs[-1].label, TITLE_MAX)}" if self else ""
        return f"epsilon at delta {short(self.delta)}{of}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say of the delta, of wide rows and of those that are missing."""
        last = self.bounds[-1] if self else None
        about = None if last is None else last.certificate
        remark = "" if about is None else str(about.parameters.get("remark", ""))
        wide = "" if last is None else last.wide or ""
        few = f"{len(self)} of {self.wanted} rows: time ran out, give more seconds" if len(self) < self.wanted else ""
        told = (remark and f"note: {remark}", wide and f"wide: {wide}", few)
        return tuple(filter(None, told))

    @property
    def _given(self) -> list[Column]:
        return [Column("epoch", self.epochs, True), Column("steps", self.steps, True)]

    @checked
    def plot(self, path: str | PathLike[str] | None = None, label: str = "", *, ax: Axes | None = None) -> Figure:
        """Draws both ends as a band over the epochs, into ax where it is given, and writes it where there is a path.

        The suffix of path names the format. Without a label it is called as the run is.
        """
        from ...plotting.style import Series, draw, verbatim

        assurance, told = self._titled(label)[1], label or (verbatim(self.runs[-1].label) if self else "")
        known = [(epoch, bound) for epoch, bound in self if bound.upper < math.inf]
        if not known:
            raise InvalidParameter("nothing to draw: no upper end is finite; ask again with more seconds")
        lower, upper = ([getattr(bound, end) for _, bound in known] for end in ("lower", "upper"))
        series = Series(told, [epoch for epoch, _ in known], lower, upper, assurance)
        names = ("epoch", f"epsilon at delta {short(self.delta)}")
        return draw([series], path, ax=ax, log=False, names=names, whole=True)


def _counted(epoch: float) -> str:
    """A number of epochs, to a hundredth."""
    return f"{epoch:,.2f}".rstrip("0").rstrip(".")


def tells(index: int, bound: Bound, known: Mapping[int, Bound]) -> bool:
    """Whether both ends say more than those of other parts, where time ran out."""
    late = bound.certificate is not None and bound.certificate.exhausted is not None
    return not late or all(
        bound.upper < other.upper if index < place else bound.lower > other.lower for place, other in known.items()
    )


def halved(count: int) -> Iterator[int]:
    """The last place, the first, and those in the middle of what is between: each where most is open."""
    yield count - 1
    if count > 1:
        yield 0
    waiting = [(0, count - 1)]
    for low, high in waiting:
        if high - low > 1:
            middle = (low + high) // 2
            yield middle
            waiting += [(low, middle), (middle, high)]


def rising(bounds: Sequence[Bound]) -> list[Bound]:
    """The same, no lower end below an earlier one and no upper end above a later one.

    To leave out the last steps of a run is to process its outputs: a part has at most the epsilon of a longer one.
    """
    found = list(bounds)
    for index in range(1, len(found)):
        if (lower := found[index - 1].lower) > found[index].lower:
            ends = agreed(lower, found[index].upper, "fewer steps", "more steps")
            found[index] = replace(found[index], lower=ends[0])
    for index in range(len(found) - 2, -1, -1):
        if (upper := found[index + 1].upper) < found[index].upper:
            ends = agreed(found[index].lower, upper, "fewer steps", "more steps")
            found[index] = replace(found[index], upper=ends[1])
    return found
