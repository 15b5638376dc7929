"""What `tightrope train` is asked: numbers, unknowns and lists, checked before anything is computed."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .. import DataError, InvalidParameter
from ..extend.training import UNKNOWNS
from ..extend.wording import rounded, short

UNKNOWN = "?"
ALL = "all"
SCHEDULE = ("steps", "sigma", "batch")
FILE_MAX = 1 << 20  # characters
LIST_POINTS = 7  # of a list that is left to us
EPOCHS_SPAN, BATCH_SPAN = (1, 100), (64, 4096)  # from, to: what is common
EXAMPLE = "tightrope train --records 60000 --batch 256 --epochs 15 --sigma 1.1 --delta 1e-5"
TARGET_EXAMPLE = "--epsilon 8 --delta 1e-5 --sigma '?'"
OPEN = ("epochs", "batch", "sigma", "steps")  # may be left open, or a list

Number = float | str | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TrainOrder:
    """The keywords of tr.training that are known, the unknown, and the numbers that have several values."""

    plan: Mapping[str, Any]
    unknown: str | None
    delta: float
    epsilon: float | None

    @property
    def lists(self) -> tuple[str, ...]:
        """The numbers with several values."""
        return tuple(name for name in UNKNOWNS if isinstance(self.plan.get(name), tuple))


def read_order(given: Mapping[str, Any], points: int | None) -> TrainOrder:
    """The order of a command line: given has the options by their names, None for those left out."""
    schedule = read_schedule(given["schedule"]) if given["schedule"] else None
    numbers = {name: read_number(name, given[name]) for name in OPEN if given[name] is not None}
    _check_given(given["records"], numbers, schedule is not None, given["epsilon"], given["delta"], given["bins"])
    unknowns = [name for name in UNKNOWNS if numbers.get(name) == UNKNOWN]
    unknown = unknowns[0] if unknowns else None
    plan: dict[str, Any] = {"records": given["records"], "group": given["group"]}
    plan |= {name: given[name] for name in ("sampling", "cap", "bins", "separation") if given[name] is not None}
    plan |= {} if given["matrix"] is None else read_matrix(given["matrix"])
    plan |= {"schedule": schedule} if schedule is not None else {}
    plan |= {name: value for name, value in numbers.items() if value != UNKNOWN}
    for name in unknowns[1:]:
        plan[name] = common(name, points or LIST_POINTS, given["records"])
    if points is not None and len(unknowns) < 2:
        raise InvalidParameter("--points says how many values a second '?' has: --epsilon 8 --sigma '?' --epochs '?'")
    order = TrainOrder(plan, unknown, given["delta"], given["epsilon"])
    if order.lists and unknown is None:
        name = order.lists[0]
        raise InvalidParameter(
            f"--{name} with several values is for a number to find: {TARGET_EXAMPLE}; for many runs: tightrope sweep"
        )
    if given["sampling"] == ALL and unknown is not None:
        raise InvalidParameter("--sampling all is about one run: give every number, or one --sampling to find '?' for")
    return order


def read_number(name: str, text: str) -> Number:
    """A number, ? for one to find, or several with commas; whole ones exactly."""
    word = text.strip().strip("'\"")
    if word == UNKNOWN:
        return UNKNOWN
    values = tuple(_number(name, each) for each in word.split(","))
    return values[0] if len(values) == 1 else values


def _number(name: str, text: str) -> float:
    word = text.strip().replace("_", "")
    try:
        return int(word)
    except ValueError:
        pass
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        shell = "; the shell may have put the name of a file for ?: quote it, '?'" if len(word) == 1 else ""
        raise InvalidParameter(
            f"--{name} takes a number, '?' for one to find, or several as 5,10,20, not {text!r:.40}{shell}"
        )
    return value


def common(name: str, points: int, records: int) -> tuple[float, ...]:
    """Values that people try: epochs from 1 to 100, batches from 64 to 4096, so many and evenly in logs."""
    low, high = BATCH_SPAN if name == "batch" else EPOCHS_SPAN
    if name == "steps":
        low, high = 100, 100_000
    high = min(high, records) if name == "batch" else high
    low = min(low, high)
    even = [low * (high / low) ** (place / max(points - 1, 1)) for place in range(points)]
    return tuple(dict.fromkeys(sorted(min(_plain(value, name == "batch"), high) for value in even)))


def _plain(value: float, binary: bool) -> int:
    """The nearest power of two, or number of one digit times a power of ten, in logs."""
    if binary:
        return 1 << round(math.log2(value))
    power = int(10.0 ** math.floor(math.log10(value) + 1e-9))
    return min((digit * power for digit in (1, 2, 3, 5, 7, 10)), key=lambda each: abs(math.log(each / value)))


def read_schedule(words: Sequence[str]) -> list[list[float]]:
    """Phases from files (CSV with a heading, or JSON) and from STEPS,SIGMA,BATCH, in their order."""
    rows: list[list[float]] = []
    for word in words:
        parts = word.split(",")
        rows += [_phase_in_words(word)] if len(parts) == len(SCHEDULE) else _schedule_file(word)
    return rows


def _phase_in_words(word: str) -> list[float]:
    try:
        return [float(part) for part in word.split(",")]
    except ValueError:
        raise InvalidParameter(
            f"--schedule takes a .csv or .json file, or STEPS,SIGMA,BATCH such as 1000,1.1,256, not {word!r:.60}"
        ) from None


def read_matrix(word: str) -> dict[str, Any]:
    """A word for a matrix, or the coefficients in a file: a list of them, or {"inverse": [...]} of those of C^-1."""
    if not word.lower().endswith((".csv", ".json")):
        return {"matrix": word}
    text = _file_text(word)
    name, values = "toeplitz", None
    if word.lower().endswith(".json"):
        values = _json_of(word, text)
        if isinstance(values, dict) and len(values) == 1 and next(iter(values)) in ("toeplitz", "inverse"):
            name, values = next(iter(values.items()))
    else:
        cells = [cell.strip() for row in csv.reader(text.splitlines()) for cell in row if cell.strip()]
        with suppress(ValueError):
            values = list(map(float, cells))
    if not isinstance(values, list) or not values or not all(type(value) in (int, float) for value in values):
        raise DataError(
            f"{word}: --matrix takes a file with a list of numbers, the coefficients of a lower triangular Toeplitz C, "
            'or of its inverse, {"inverse": [...]}; other commands take any C: MatrixMechanism(matrix=[...])'
        )
    return {name: tuple(values)}


def _file_text(path: str) -> str:
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        text = file.read(FILE_MAX + 1)
    if len(text) > FILE_MAX:
        raise DataError(f"{path} is longer than is read here, {FILE_MAX:,} characters")
    return text


def _json_of(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path} is not JSON: {error.msg} at line {error.lineno}") from None


def _schedule_file(path: str) -> list[list[float]]:
    text = _file_text(path)
    records = _json_of(path, text) if path.lower().endswith(".json") else list(csv.DictReader(text.splitlines()))
    if not isinstance(records, list) or not records:
        raise DataError(f"{path} has no rows: a schedule is a list of {', '.join(SCHEDULE)}")
    return [_phase(path, place, record) for place, record in enumerate(records, 1)]


def _phase(path: str, place: int, record: object) -> list[float]:
    """Steps, sigma and batch by their names, or as a list in this order."""
    try:
        if isinstance(record, Mapping):
            return [float(record[name]) for name in SCHEDULE]
        if isinstance(record, list) and len(record) == len(SCHEDULE):
            return [float(each) for each in record]
    except (KeyError, TypeError, ValueError):
        pass
    raise DataError(f"{path}, row {place}: {', '.join(SCHEDULE)} are needed, as numbers under these names")


def _check_given(
    records: int | None,
    numbers: Mapping[str, Number],
    scheduled: bool,
    epsilon: float | None,
    delta: float | None,
    bins: int | None,
) -> None:
    """What is missing or too much, all of it in one line, with what to add."""
    missing = [] if records is not None else ["--records"]
    if not scheduled:
        missing += [
            f"--{name}" for name in ("batch", "sigma") if name not in numbers and not (bins and name == "batch")
        ]
        missing += [] if "epochs" in numbers or "steps" in numbers else ["--epochs (or --steps)"]
    if missing:
        raise InvalidParameter(f"train needs {', '.join(missing)}: {EXAMPLE}; '?' marks a number to find")
    assert records is not None
    if scheduled and numbers:
        raise InvalidParameter(
            f"--schedule says steps, sigma and batch of each phase: leave out --{' --'.join(numbers)}"
        )
    if "epochs" in numbers and "steps" in numbers:
        raise InvalidParameter("--epochs and --steps say the same: leave out one of them")
    if delta is None:
        least = short(float(rounded(0.1 / max(records, 1), 2, up=False)))
        usual = f"commonly at most 1/(10 records), --delta {least} here"
        raise InvalidParameter(f"train needs --delta, the chance that epsilon may leave out: {usual}")
    unknowns = [name for name in UNKNOWNS if numbers.get(name) == UNKNOWN]
    if unknowns and epsilon is None:
        raise InvalidParameter(f"to find {unknowns[0]}, say what to meet: {TARGET_EXAMPLE}")
    if epsilon is not None and not unknowns:
        raise InvalidParameter(
            f"--epsilon is the target for a number to find: write '?' for it, as in --sigma '?', or leave out "
            f"--epsilon {short(epsilon)}"
        )
