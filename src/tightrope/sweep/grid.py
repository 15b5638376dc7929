"""The configurations of a sweep, by their index: a product of axes, a list, or a table in a file.

An axis is a list of values, a value alone, a range {from, to, points, log, whole}, or what is drawn: {uniform: [a, b]}
or {log_uniform: [a, b]}, whole numbers with whole. All that is drawn makes one axis together, of `draws` values.
Guarantee: the same seed draws the same numbers everywhere, to the last bit; no configuration is made before it is asked
for, and the size is looked at first.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from random import Random
from typing import Any

from .. import DataError, InvalidParameter
from ..extend.numbers import nearest_exp, nearest_log
from ..extend.wording import cut, listed, nearest
from .values import Value, cell_value, numbers_of, value_of

GRID_ROWS_MAX = 10**8
CONFIGURATIONS_LISTED = 10**6  # values of one name, and configurations that are written one by one
DRAWN = ("uniform", "log_uniform")
RANGE = ("from", "to", "points", "log", "whole")

Configuration = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Axis:
    """A name and its values."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """A name and the law that its values are drawn from, between two ends."""

    name: str
    least: float
    most: float
    log: bool
    whole: bool

    def at(self, seed: int, place: int) -> Value:
        """The number of one place; it depends on nothing else."""
        share = Random(f"{seed}/{self.name}/{place}").random()
        value = _between(self.least, self.most, share, self.log)
        return round(value) if self.whole else value


@dataclass(frozen=True, slots=True)
class SweepGrid:
    """Configurations by their index: the last axis changes fastest, and what is drawn is the last."""

    axes: tuple[Axis, ...] = ()
    drawn: tuple[Draw, ...] = ()
    draws: int = 1
    seed: int = 0
    listed: tuple[Configuration, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self) > GRID_ROWS_MAX:
            raise InvalidParameter(
                f"the grid has {len(self):,} configurations; at most {GRID_ROWS_MAX:,} are asked in one sweep"
            )
        if not len(self):
            raise InvalidParameter("the grid has no configurations: give each name one value or more")

    def __len__(self) -> int:
        return (
            self.draws * math.prod(len(axis.values) for axis in self.axes) if self.listed is None else len(self.listed)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What the configurations have values for, in the order of the columns."""
        if self.listed is not None:
            return tuple(dict.fromkeys(name for each in self.listed for name in each))
        return (*(axis.name for axis in self.axes), *(draw.name for draw in self.drawn))

    def __getitem__(self, index: int) -> Configuration:
        if not 0 <= index < len(self):
            raise IndexError(index)
        if self.listed is not None:
            return self.listed[index]
        place, draw = divmod(index, self.draws)
        found: dict[str, Value] = {}
        for axis in reversed(self.axes):
            place, at = divmod(place, len(axis.values))
            found[axis.name] = axis.values[at]
        found = {axis.name: found[axis.name] for axis in self.axes}
        return {**found, **{each.name: each.at(self.seed, draw) for each in self.drawn}}

    @property
    def digest(self) -> str:
        """What tells this grid from every other one."""
        told = repr((self.axes, self.drawn, self.draws, self.seed, self.listed))
        return sha256(told.encode("utf-8", "backslashreplace")).hexdigest()


def grid_of(given: object, draws: int | None = None, seed: int | None = None) -> SweepGrid:
    """A grid from a mapping of axes, a sequence of configurations, a reader of a table, or the path of a CSV file."""
    if isinstance(given, Mapping):
        return _product(given, draws, seed)
    if draws is not None or seed is not None:
        raise InvalidParameter("draws and seed belong to a grid of names with {log_uniform: [a, b]}; leave them out")
    if isinstance(given, (str, PathLike)):
        return read_table(Path(fspath(given)))
    if isinstance(given, csv.DictReader):
        return SweepGrid(
            listed=_listed([{name: cell_value(cell or "") for name, cell in row.items()} for row in given])
        )
    if not isinstance(given, Iterable):
        raise InvalidParameter(f"a grid is a dict of lists, a list of dicts or the path of a CSV, not {cut(given)}")
    return SweepGrid(listed=_listed(given))


def read_table(path: Path) -> SweepGrid:
    """The rows of a CSV file whose first line has the names."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            names = [word.strip() for word in next(reader, [])]
            if not names or len(set(names)) < len(names) or "" in names:
                raise DataError("the first line names the columns, each once, separated by commas", str(path), 1)
            rows: list[dict[str, Value]] = []
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(names):
                    told = f"{len(cells)} cells for {len(names)} names"
                    raise DataError(told, str(path), reader.line_num)
                rows.append(dict(zip(names, map(cell_value, cells), strict=True)))
                _check_listed(len(rows))
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"not a CSV file: {error}", str(path)) from None
    return SweepGrid(listed=_listed(rows))


def _listed(given: Iterable[object]) -> tuple[Configuration, ...]:
    found: list[Configuration] = []
    for each in given:
        if not isinstance(each, Mapping):
            raise InvalidParameter(f"a configuration is a dict such as {{'sigma': 1.0}}, not {cut(each)}")
        found.append({_name(name): value_of(str(name), value) for name, value in each.items()})
        _check_listed(len(found))
    return tuple(found)


def _check_listed(count: int) -> None:
    if count > CONFIGURATIONS_LISTED:
        raise InvalidParameter(
            f"at most {CONFIGURATIONS_LISTED:,} values can be listed; several names and draws have more room"
        )


def _product(given: Mapping[Any, object], draws: int | None, seed: int | None) -> SweepGrid:
    axes: list[Axis] = []
    drawn: list[Draw] = []
    for key, values in given.items():
        name = _name(key)
        if not isinstance(values, Mapping):
            several = tuple(islice(values, CONFIGURATIONS_LISTED + 1)) if listed(values) else (values,)
            _check_listed(len(several))
            axes.append(Axis(name, tuple(value_of(name, each) for each in several)))
        elif "from" in values or "to" in values:
            axes.append(_range(name, values))
        else:
            drawn.append(_draw(name, values))
    if drawn and draws is None:
        raise InvalidParameter(f"{drawn[0].name} is drawn: say how often with draws, such as draws = 100")
    if not drawn and (draws is not None or seed is not None):
        raise InvalidParameter("draws and seed need something to draw, such as sigma = {log_uniform = [0.5, 5]}")
    return SweepGrid(
        tuple(axes),
        tuple(drawn),
        _count("draws", draws) if draws is not None else 1,
        _seed(0 if seed is None else seed),
    )


def _range(name: str, given: Mapping[Any, object]) -> Axis:
    """points numbers from one end to the other, both included; whole: rounded, each once."""
    _check_keys(name, given, RANGE)
    least, most = (numbers_of(f"{name}: {end}", [given.get(end)], 1)[0] for end in ("from", "to"))
    points, log, whole = given.get("points"), _flag(given, "log"), _flag(given, "whole")
    points = _count(f"{name}: points", points, CONFIGURATIONS_LISTED)
    if log and not min(least, most) > 0.0:
        raise InvalidParameter(f"{name}: a logarithmic range needs ends above 0, not {least!r} and {most!r}")
    shares = [place / (points - 1) for place in range(points)] if points > 1 else [0.0]
    values = [_between(least, most, share, log) for share in shares]
    return Axis(name, tuple(dict.fromkeys(map(round, values))) if whole else tuple(values))


def _draw(name: str, given: Mapping[Any, object]) -> Draw:
    laws = [text for text in DRAWN if text in given]
    if len(laws) != 1:
        raise InvalidParameter(
            f"{name} takes a list, {{from, to, points}}, {{uniform: [a, b]}} or {{log_uniform: [a, b]}}, "
            f"not {cut(given)}"
        )
    _check_keys(name, given, (laws[0], "whole"))
    least, most = numbers_of(f"{name}: {laws[0]}", given[laws[0]], 2)
    log = laws[0] == "log_uniform"
    if not least <= most or (log and not least > 0.0):
        wanted = "two numbers above 0 that rise" if log else "two numbers that rise"
        raise InvalidParameter(f"{name}: {laws[0]} takes {wanted}, not {least!r} and {most!r}")
    return Draw(name, least, most, log, _flag(given, "whole"))


def _between(least: float, most: float, share: float, log: bool) -> float:
    """The number at a share of the way; the ends are exact."""
    if share in (0.0, 1.0) or least == most:
        return most if share == 1.0 else least
    if not log:
        value = least + share * (most - least)
    else:
        low, high = nearest_log(least), nearest_log(most)
        value = nearest_exp(low + share * (high - low))
    value = float(f"{value:.15g}")  # 0.01, where the last digit would be the rounding's
    return min(max(value, min(least, most)), max(least, most))


def _name(key: object) -> str:
    if isinstance(key, str) and key.isidentifier():
        return key
    raise InvalidParameter(f"a name of the grid is a word such as sigma, not {cut(key)}")


def _check_keys(name: str, given: Mapping[Any, object], known: Sequence[str]) -> None:
    for key in given:
        if key not in known:
            raise InvalidParameter(f"{name} takes no {cut(key)}; it takes {', '.join(known)}{nearest(str(key), known)}")


def _count(name: str, given: object, most: int = GRID_ROWS_MAX) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
        raise InvalidParameter(f"{name} must be a whole number from 1 to {most:,}, not {cut(given)}")
    return given


def _seed(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidParameter(f"seed must be a whole number, not {cut(given)}")
    return given


def _flag(given: Mapping[Any, object], key: str) -> bool:
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise InvalidParameter(f"{key} is true or false, not {cut(value)}")
    return value
