"""Histograms from files and arrays: one number per bin; what cannot be read is named by file and line."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from typing import SupportsFloat

from ..errors import DataError

Label = float | str | int
Source = str | PathLike[str] | Iterable[float]

COUNT_MOST = 2**53
SUM_TOLERANCE = Fraction(1, 10**9)


def read_pair(a: Source, b: Source, kind: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both histograms over the same bins; labelled bins that one of them lacks are empty there."""
    first, second = _bins(a, "a", kind), _bins(b, "b", kind)
    if set(first) != set(second):
        positional = all(isinstance(label, int) for label in (*first, *second))
        if positional:
            raise DataError(f"the histograms must have as many bins each, not {len(first)} and {len(second)}")
        if any(isinstance(label, int) for label in (*first, *second)):
            raise DataError("one histogram names its bins and the other does not")
    labels = list(dict.fromkeys((*first, *second)))
    pair = tuple(tuple(bins.get(label, 0) for label in labels) for bins in (first, second))
    for name, source, values in (("a", a, pair[0]), ("b", b, pair[1])):
        _check_sum(name, _path(source), values, kind)
    return pair[0], pair[1]


def _bins(source: Source, name: str, kind: str) -> Mapping[Label, float]:
    path = _path(source)
    if path is None:
        if not isinstance(source, Iterable):
            raise DataError(f"{name} must be a path or a sequence of numbers, not {source!r:.60}")
        return {index: _number(value, kind, name, None) for index, value in enumerate(source)}
    if path.endswith(".npy"):
        return _from_npy(path, kind)
    return _from_csv(path, kind)


def _path(source: Source) -> str | None:
    return fspath(source) if isinstance(source, (str, PathLike)) else None


def _from_npy(path: str, kind: str) -> Mapping[Label, float]:
    import numpy as np

    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"not a numpy array: {error}", path) from None
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise DataError(f"one row of numbers is needed, not {array.ndim} dimensions of {array.dtype}", path)
    return {index: _number(value, kind, "the array", path) for index, value in enumerate(array.tolist())}


def _from_csv(path: str, kind: str) -> Mapping[Label, float]:
    """Lines of `number` or of `bin, number`; a first line of words is a heading, # starts a comment."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be opened: {error.strerror}", path) from None
    except UnicodeDecodeError:
        raise DataError("not a text file", path) from None
    bins: dict[Label, float] = {}
    columns = 0
    for line, row in enumerate(csv.reader(text.splitlines()), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        first, columns = not columns, columns or len(cells)
        if len(cells) != columns or columns > 2:
            raise DataError(f"a line holds a number, or a bin and a number, not {len(cells)} cells", path, line)
        if first and len(cells) == columns and _heading(cells[-1]):
            continue
        label: Label = len(bins) if columns == 1 else _label(cells[0])
        if label in bins:
            raise DataError(f"the bin {cells[0]!r:.40} is given twice", path, line)
        bins[label] = _number(_float(cells[-1], exact=True), kind, f"{cells[-1]!r:.40}", path, line)
    if not bins:
        raise DataError("no bins in this file", path)
    return bins


def _heading(cell: str) -> bool:
    return _float(cell) is None and not any(character.isdigit() for character in cell)


def _label(cell: str) -> Label:
    value = _float(cell)
    return cell if value is None else float(value)


def _float(cell: str, exact: bool = False) -> float | None:
    try:
        return int(cell) if exact and cell.lstrip("+-").isdigit() else float(cell)
    except ValueError:
        return None


def _number(value: object, kind: str, what: str, path: str | None, line: int | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, SupportsFloat) or not math.isfinite(float(value)):
        raise DataError(f"{what} must be a number, 0 or above, not {value!r:.40}", path, line)
    number = float(value)
    if number < 0.0:
        raise DataError(f"{what} must be 0 or above, not {value!r:.40}", path, line)
    if kind == "probabilities":
        return number + 0.0
    if number != math.floor(number) or number > COUNT_MOST:
        raise DataError(f"{what} must be a count, a whole number up to 2**53, not {value!r:.40}", path, line)
    return int(number)


def _check_sum(name: str, path: str | None, values: tuple[float, ...], kind: str) -> None:
    total = sum(map(Fraction, values), Fraction(0))
    if not total:
        raise DataError(f"histogram {name} is empty: all bins are 0", path)
    if kind == "probabilities" and abs(total - 1) > SUM_TOLERANCE:
        raise DataError(f"the probabilities of {name} must sum to 1, not to {float(total)!r}", path)
