"""What a question walks through, traced: rows of the house about calls, pairs and planners that one answer takes.

A process for itself imports the package of the measured tree and answers each question once before it is traced, so
that imports and what is kept for good are left out. Calls are those of Python functions in files of the package;
generators and comprehensions count as Python 3.11 counts them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from inspect import ismodule
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

from benchmarks.house_tree import House, Row

FILES_WANTED, CALLS_WANTED, SWITCHES_WANTED, BEFORE_WANTED = 40, 1500, 250, 100
MEMBERS_WANTED, NAMES_WANTED = 40, 100


# The rows, from the figures of one process.


def walk(house: House) -> Row:
    told = figures(house.root)
    files, calls, switches = (told[name] for name in ("files", "calls", "switches"))
    reached = files <= FILES_WANTED and calls <= CALLS_WANTED and switches <= SWITCHES_WANTED
    return Row(
        "files entered by one epsilon of a DP-SGD run; calls; package switches",
        "66; 3,905; 935",
        f"{files}; {calls:,}; {switches:,}",
        f"{FILES_WANTED}; {CALLS_WANTED:,}; {SWITCHES_WANTED}",
        () if reached else (f"{files} files, {calls} calls",),
    )


def before_engine(house: House) -> Row:
    calls = figures(house.root)["before"]
    where = () if calls <= BEFORE_WANTED else (f"{calls} calls",)
    return Row("calls before the first numerical engine starts", "633", str(calls), str(BEFORE_WANTED), where)


def planners(house: House) -> Row:
    count = figures(house.root)["planners"]
    where = () if count <= 1 else (f"{count} planners",)
    return Row(
        "planners made for one epsilon of an allocated Laplace", "18", str(count), "1, after one normal form", where
    )


def spend(house: House) -> Row:
    told = figures(house.root)
    pairs, texts = told["pairs"], told["texts"]
    where = () if pairs <= 2 and texts <= 1 else (f"{pairs} pairs, {texts} texts",)
    return Row(
        "pairs of a Gaussian built for one spend of a ledger; texts parsed",
        "56; 2",
        f"{pairs}; {texts}",
        "2; 1",
        where,
    )


def public(house: House) -> Row:
    told = figures(house.root)
    members, names = told["members"], told["names"]
    reached = members <= MEMBERS_WANTED and names <= NAMES_WANTED
    return Row(
        "public members of a Gaussian; public names of the package, modules apart",
        "64; 82",
        f"{members}; {names}",
        "what a user calls, and no more",
        () if reached else (f"{members} members, {names} names",),
        held=False,
    )


@cache
def figures(root: Path) -> Mapping[str, int]:
    """Of the package in that tree."""
    settings = {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1", "TIGHTROPE_CLOCK": "off"}
    command = [sys.executable, "-m", "benchmarks.house_walk"]
    here = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, cwd=here, env={**os.environ, **settings}, capture_output=True, check=True)
    found: Mapping[str, int] = json.loads(done.stdout)
    return found


# In the process.


OWNED = ("__init__", "pair")  # names that are asked of which class they are; to look at each call takes long


class Call(NamedTuple):
    """A function that was entered, and the class of its first argument where that is self and the name is of OWNED."""

    code: CodeType
    owner: str

    @property
    def path(self) -> Path:
        return Path(self.code.co_filename)

    @property
    def name(self) -> str:
        return self.code.co_name


def traced(ask: Callable[[], object]) -> list[Call]:
    """The Python functions that a question enters, in order."""
    calls = []

    def see(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            bound = code.co_name in OWNED and code.co_varnames[:1] == ("self",)
            calls.append(Call(code, type(frame.f_locals.get("self")).__name__ if bound else ""))

    sys.setprofile(see)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return calls


def starts_engine(call: Call) -> bool:
    """An engine is a folder in engines/, which begins by preparing for the question."""
    return call.name == "prepare" and call.path.parent.parent.name == "engines"


def room(path: Path) -> str:
    """The package of a file: the first folder, or the second of those in core/."""
    return path.parts[1 if path.parts[0] == "core" else 0]


def measure() -> dict[str, int]:
    import tightrope as tr

    base = Path(tr.__file__).parent

    def own(ask: Callable[[], object]) -> list[Call]:
        ask()
        return [call for call in traced(ask) if call.code.co_filename.startswith(f"{base}{os.sep}")]

    calls = own(lambda: tr.parse("Gaussian(sigma=1).poisson(rate=0.01) * 1000").epsilon(1e-6))
    packages = [room(call.path.relative_to(base)) for call in calls]
    allocated = own(lambda: tr.parse("Laplace(scale=4).random_allocation(steps=10)").epsilon(1e-6))
    spent = own_spend()
    return {
        "files": len({call.path for call in calls}),
        "calls": len(calls),
        "switches": sum(one != other for one, other in pairwise(packages)),
        "before": next((index for index, call in enumerate(calls) if starts_engine(call)), len(calls)),
        "planners": sum(call.name == "__init__" and call.owner == "Planner" for call in allocated),
        "pairs": sum(call.name == "pair" and call.owner == "Gaussian" for call in spent),
        "texts": sum(call.name == "parse" and call.path.stem == "expressions" for call in spent),
        "members": sum(not name.startswith("_") for name in dir(tr.Gaussian)),
        "names": sum(not name.startswith("_") and not ismodule(value) for name, value in vars(tr).items()),
    }


def own_spend() -> list[Call]:
    """The second spend from a budget, of another job."""
    import tightrope.ledger as tl

    with tempfile.TemporaryDirectory() as folder, tl.init(f"sqlite:///{folder}/house.db") as ledger:
        ledger.create("house", kind="rdp", relation="add_remove", unit="one person", epsilon=100.0, delta=1e-6)

        def once(key: str, text: str) -> None:
            with ledger.spend("house", text, key):
                pass

        once("first", "Gaussian(sigma=100)")
        return traced(lambda: once("second", "Gaussian(sigma=200)"))


if __name__ == "__main__":
    print(json.dumps(measure()))
