"""Scores and who was in: from arrays, or from a file with the columns score, member and, where there are, run, canary.

Guarantee: the numbers as they were given, in their order; what is missing, NaN or no 0 or 1 is refused with its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from os import PathLike
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..core.mechanisms.samples import SAMPLES_BYTES, Lines, data_file, opened, parquet_table
from ..core.numerics.enclosures import FloatArray
from ..core.values import compute_budget
from ..core.values.calls import cut
from ..core.values.errors import DataError, InvalidParameter

COLUMNS = ("score", "member", "run", "canary")
NEEDED = COLUMNS[:2]
SCORE_WORK = 400.0  # units for each score
ROW_WORK, ROW_BYTES = 1600.0, 64  # units for each row of a file, and what a cell holds
ROWS_LOOKED = 4096  # between two looks at the clock
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scored:
    """One score for each row, whether the record was in, and the names of its run and canary where there are any."""

    scores: FloatArray = field(repr=False)
    member: BoolArray = field(repr=False)
    run: tuple[str, ...] | None = field(default=None, repr=False)
    canary: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def inside(self) -> FloatArray:
        """The scores of members."""
        return self.scores[self.member]

    @property
    def outside(self) -> FloatArray:
        """The scores of the others."""
        return self.scores[~self.member]

    def negated(self) -> Scored:
        """Where members are low."""
        return Scored(-self.scores, self.member, self.run, self.canary)

    def parts(self) -> list[Scored]:
        """One for each run, in the order in which they begin."""
        if self.run is None:
            return [self]
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.run):
            rows.setdefault(name, []).append(row)
        return [
            Scored(
                self.scores[some],
                self.member[some],
                (name,) * len(some),
                None if self.canary is None else tuple(self.canary[row] for row in some),
            )
            for name, some in rows.items()
        ]


def read_scores(
    scores: str | PathLike[str] | Iterable[float],
    member: Iterable[float] | None,
    run: Iterable[object] | None = None,
    canary: Iterable[object] | None = None,
    nan: str = "refuse",
) -> Scored:
    """What was given, checked; nan: "lowest" takes scores that are NaN for the lowest of all, by one rule for all."""
    if nan not in ("refuse", "lowest"):
        raise InvalidParameter(f"nan must be 'refuse' or 'lowest', not {cut(nan)}")
    if isinstance(scores, (str, PathLike)):
        if member is not None or run is not None or canary is not None:
            raise InvalidParameter("a file of scores has the columns member, run and canary itself: leave them out")
        columns = _from_file(scores)
    else:
        if member is None:
            raise InvalidParameter("audit needs member beside scores: 1 where the record was in, 0 where it was not")
        columns = {"score": scores, "member": member}
        columns |= {
            name: tuple(map(str, each)) for name, each in (("run", run), ("canary", canary)) if each is not None
        }
    values = _numbers(columns["score"], "scores")
    flags = _numbers(columns["member"], "member")
    names = {name: columns[name] for name in COLUMNS[2:] if name in columns}
    for name, each in (("member", flags), *names.items()):
        if len(each) != len(values):
            raise DataError(f"{name} has {len(each)} entries and scores {len(values)}: one is needed for each score")
    if not len(values):
        raise DataError("there are no scores")
    compute_budget.spend(SCORE_WORK * len(values))
    wrong = np.flatnonzero((flags != 0.0) & (flags != 1.0))
    if len(wrong):
        raise DataError(f"member must be 0 or 1, and is not at place {int(wrong[0]) + 1}")
    lost = np.isnan(values)
    if lost.any() and nan == "refuse":
        raise DataError(
            f"the score at place {int(np.flatnonzero(lost)[0]) + 1} is NaN: leave out its canary before looking at who "
            "was in, or say nan='lowest', one rule for members and others"
        )
    return Scored(np.where(lost, -np.inf, values), flags == 1.0, names.get("run"), names.get("canary"))


def _numbers(values: Any, name: str) -> FloatArray:
    try:
        found = np.asarray(values if hasattr(values, "__len__") else list(values))
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a row of numbers, not {cut(values)}") from None
    if found.ndim != 1 or (found.dtype.kind not in "iufb" and len(found)):
        raise DataError(f"{name} must be a row of numbers, not {found.ndim} dimensions of {found.dtype}")
    return found.astype(np.float64)


def scores_of_text(text: str, name: str) -> dict[str, Any]:
    """The columns of a CSV file whose text is at hand, as `audit` takes them; name: for what is refused."""
    columns = _from_csv(BytesIO(text.encode("utf-8", "surrogatepass")), name)
    scores = columns.pop("score")
    return {"scores": scores, **columns}


def _from_file(source: str | PathLike[str]) -> dict[str, Any]:
    file = data_file(source)
    with opened(file, SAMPLES_BYTES) as stream:
        if file.suffix == ".parquet":
            return _from_parquet(stream, file.name)
        return _from_csv(stream, file.name)


def _from_csv(stream: BinaryIO, name: str) -> dict[str, Any]:
    lines = Lines(stream, name)
    heading = next(lines.rows(), [])
    places, width = _places(heading, name), len(heading)
    found: dict[str, list[Any]] = {column: [] for column in places}
    numbers = [(found[column].append, places[column]) for column in NEEDED]
    names = [(found[column].append, places[column]) for column in places if column not in NEEDED]
    try:
        for number, cells in enumerate(lines.rows(comments=False)):  # a name may begin with #
            if number % ROWS_LOOKED == 0:
                compute_budget.spend(ROW_WORK * ROWS_LOOKED)
                compute_budget.hold(ROW_BYTES * len(places) * (number + ROWS_LOOKED))
            if len(cells) != width:
                raise ValueError
            for put, place in numbers:
                put(float(cells[place]))
            for put, place in names:
                put(cells[place])
    except (ValueError, IndexError):
        raise lines.error("a score and 0 or 1 for member are needed here, in as many columns as above") from None
    return found


def _from_parquet(stream: BinaryIO, name: str) -> dict[str, Any]:
    with parquet_table(stream, name) as table:
        places = _places(table.schema_arrow.names, name)
        compute_budget.spend(ROW_WORK * table.metadata.num_rows)
        compute_budget.hold(ROW_BYTES * len(places) * table.metadata.num_rows)
        read = table.read(columns=[table.schema_arrow.names[place] for place in places.values()])
        if any(read.column(column).null_count for column in places):
            raise DataError("a value is missing: leave its row out before looking at who was in", name)
        found: dict[str, Any] = {column: read.column(column).to_numpy() for column in NEEDED}
        found |= {
            column: [str(each) for each in read.column(column).to_pylist()] for column in places if column not in NEEDED
        }
        return found


def _places(heading: Sequence[str], name: str) -> dict[str, int]:
    """Where each column that is known stands; others are not looked at."""
    words = [word.strip().lower() for word in heading]
    for column in NEEDED:
        if words.count(column) != 1:
            raise DataError(
                f"its heading needs the column {column} once: score,member and, where there are, run,canary", name
            )
    return {column: words.index(column) for column in COLUMNS if column in words}
