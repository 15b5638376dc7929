"""A sweep as a file: TOML with make, ask, a grid, and what each question may take.

    make = "Gaussian(sigma={sigma}).poisson(rate={rate}) * {count}"
    ask = "epsilon(delta={delta})"
    seconds = 10
    [grid]
    sigma = [0.5, 1, 2]
    rate = {from = 1e-4, to = 0.1, points = 4, log = true}
    count = 1000
    delta = 1e-6

What is random is drawn `draws` times, by `seed`: sigma = {log_uniform = [0.5, 5]}. A grid may also be a list of tables,
[[grid]], or the name of a CSV file. Files, also those of an expression, are those of the folder that the file is in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .. import DataError
from ..extend.documents import plain
from ..extend.questions import SECONDS
from ..extend.wording import cut, nearest
from .grid import grid_of, read_table
from .plan import Plan

KEYS = ("make", "ask", "grid", "seconds", "draws", "seed")
FILE_BYTES_MAX = 1 << 26
VALUE_SHOWN = 60  # characters


@dataclass(frozen=True, slots=True)
class Definition:
    """What the file says, and the plan that it makes."""

    plan: Plan
    given: Mapping[str, Any]

    def header(self, version: str) -> dict[str, Any]:
        """What tells one sweep from another: whatever the answers depend on."""
        told = {name: plain(value) for name, value in self.given.items()}
        return {**told, "rows": len(self.plan.grid), "digest": self.plan.grid.digest, "version": version}


def read_definition(path: str | PathLike[str]) -> Definition:
    """The sweep of a file; DataError, or what is wrong with its parts."""
    place = Path(path)
    with place.open("rb") as file:
        text = file.read(FILE_BYTES_MAX + 1)
    if len(text) > FILE_BYTES_MAX:
        raise DataError("too long a file: put the configurations into a CSV file", str(path))
    try:
        given = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"not TOML: {error}", str(path)) from None
    for key in given:
        if key not in KEYS:
            raise DataError(f"a sweep takes no {key}; it takes {', '.join(KEYS)}{nearest(key, KEYS)}", str(path))
    for key in KEYS[:3]:
        if key not in given:
            raise DataError(f"a sweep needs {key}: see tightrope sweep --help", str(path))
    folder = place.resolve().parent
    grid, drawn = given["grid"], {name: given[name] for name in ("draws", "seed") if name in given}
    made = read_table(folder / grid) if isinstance(grid, str) and not drawn else grid_of(grid, **drawn)
    return Definition(Plan.of(given["make"], made, given["ask"], given.get("seconds", SECONDS), str(folder)), given)


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """What differs between two headers, in words; None where nothing does."""
    old, new = _flat(before), _flat(now)
    for name in dict.fromkeys((*new, *old)):
        if name != "digest" and old.get(name) != new.get(name):
            return f"{name} was {_told(old, name)} and is {_told(new, name)}"
    return None if old == new else "the configurations of its CSV file have changed"


def _flat(header: Mapping[str, Any]) -> dict[str, Any]:
    """Names of the grid one by one."""
    grid = header.get("grid")
    inside = {f"grid.{name}": value for name, value in grid.items()} if isinstance(grid, Mapping) else {"grid": grid}
    return {**inside, **{name: value for name, value in header.items() if name != "grid"}}


def _told(header: Mapping[str, Any], name: str) -> str:
    return cut(header[name], VALUE_SHOWN) if name in header else "not there"
