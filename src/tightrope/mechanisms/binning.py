"""Counts of raw draws over the same bins for both: edges, a width, or a number of bins.

Edges e_0 < ... < e_n make n bins [e_i, e_(i+1)); the first reaches down to -inf and the last up to inf, so that every
draw has its bin. A width w has its edges at multiples of w, a number of bins has them at equal distances; both need to
know where the draws lie, and limits that hold with a confidence need bins that do not depend on the draws they are for.
So with confidence a random tenth of the draws chooses the bins and the other nine tenths are counted.
Guarantee: given the bins, the counted draws are independent of them, if the order of the draws says nothing of their
values; sorted ones are refused. Proof: docs/proofs/classic.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, InvalidParameter
from .parameters import in_order
from .samples import FloatArray, Source, chunks

Bins = float | Sequence[float]

BINS_MAX = 100_000
PILOT = 0.1  # of the draws: they choose the bins where these depend on data
SEED = 20181015  # any: which draws are the pilot must not depend on what they are
WIDTH_MAX = 2.0**52  # multiples of the width: beyond, neighbours are no longer told apart


def counted(
    a: Source, b: Source, bins: Bins | None, width: float | None, column: str, split: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Counts of both over the same bins; split: bins that are chosen from draws are not chosen from those counted."""
    sources = [_again(source, name) for source, name in ((a, "a"), (b, "b"))]

    def read(index: int) -> Iterator[FloatArray]:
        return chunks(sources[index], "ab"[index], column)

    asked = _asked(bins, width)
    split = split and not isinstance(asked, np.ndarray)
    if isinstance(asked, np.ndarray):
        edges = asked
    else:
        ends = [
            _ends(_pilot(_as_drawn(read(index), "ab"[index]), index, True) if split else read(index), "ab"[index])
            for index in (0, 1)
        ]
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        edges = _equal(low, high, asked) if isinstance(asked, int) else _multiples(low, high, asked)
    first, second = (
        _counts(_pilot(read(index), index, False) if split else read(index), edges, "ab"[index]) for index in (0, 1)
    )
    return first, second


def _again(source: Source, name: str) -> Source:
    """What can be read more than once."""
    in_order(name, source)
    if isinstance(source, str | PathLike | Sequence | np.ndarray):
        return source
    if not isinstance(source, Iterable):
        raise DataError(f"{name} must be a path or a row of numbers, not {type(source).__name__}")
    return list(source)


def _asked(bins: object, width: float | None) -> FloatArray | int | float:
    """Edges, a number of bins, or a width."""
    if (bins is None) == (width is None):
        raise InvalidParameter("samples need bins=, edges or a number of bins, or width=, that of each bin")
    if width is not None:
        return _width(width)
    if isinstance(bins, Sequence | np.ndarray) and not isinstance(bins, str):
        return _edges(bins)
    if isinstance(bins, bool) or not isinstance(bins, int | float | np.integer | np.floating):
        raise InvalidParameter(f"bins must be a list of edges, a number of bins or a width, not {bins!r:.60}")
    if isinstance(bins, int | np.integer):
        if not 2 <= bins <= BINS_MAX:
            raise InvalidParameter(f"bins must be from 2 to {BINS_MAX}, not {bins!r:.60}")
        return int(bins)
    if float(bins).is_integer():
        raise InvalidParameter(
            f"bins={bins!r} may be a number of bins or a width: write bins={bins:.0f} or width={bins}"
        )
    return _width(float(bins))


def _width(width: object) -> float:
    if isinstance(width, bool) or not isinstance(width, int | float | np.integer | np.floating):
        raise InvalidParameter(f"width must be a number above 0, not {width!r:.60}")
    if not 0.0 < width < math.inf:
        raise InvalidParameter(f"width must be a finite number above 0, not {width!r:.60}")
    return float(width)


def _edges(bins: Sequence[float] | npt.NDArray[Any]) -> FloatArray:
    try:
        edges = np.array([float(edge) for edge in bins])
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter("the edges of bins must be numbers") from None
    if not 3 <= len(edges) <= BINS_MAX + 1:
        raise InvalidParameter(f"bins needs 3 edges at least, for two bins, and {BINS_MAX + 1} at most")
    if not np.all(edges[1:] > edges[:-1]):
        raise InvalidParameter("the edges of bins must rise, each above the one before")
    return edges


def _multiples(low: float, high: float, width: float) -> FloatArray:
    """Edges at multiples of the width that enclose the range."""
    first, last = math.floor(low / width), math.floor(high / width) + 1
    if max(abs(first), abs(last)) > WIDTH_MAX or last - first > BINS_MAX:
        raise DataError(f"a width of {width!r} makes more than {BINS_MAX} bins; choose a wider one")
    if last - first < 2:
        raise DataError(f"a width of {width!r} makes one bin only, which tells nothing; choose a narrower one")
    return np.arange(first, last + 1, dtype=np.float64) * width


def _equal(low: float, high: float, count: int) -> FloatArray:
    """So many bins of one width between the ends."""
    edges = np.asarray(low + (high - low) * (np.arange(count + 1) / count))
    if not math.isfinite(high - low) or not np.all(edges[1:] > edges[:-1]):
        raise DataError(f"the draws lie too close together, or too far apart, for {count} bins; give edges")
    return edges


def _ends(draws: Iterator[FloatArray], name: str) -> tuple[float, float]:
    low, high = math.inf, -math.inf
    for values in draws:
        if len(values):
            low, high = min(low, float(values.min())), max(high, float(values.max()))
    if low > high:
        raise DataError(f"too few draws in {name} to choose bins from: give edges")
    return low, high


def _counts(draws: Iterator[FloatArray], edges: FloatArray, name: str) -> tuple[int, ...]:
    inner, total = edges[1:-1], np.zeros(len(edges) - 1, dtype=np.int64)
    for values in draws:
        total += np.bincount(np.searchsorted(inner, values, side="right"), minlength=len(total))
    if not total.any():
        raise DataError(f"no draws in {name}")
    return tuple(int(count) for count in total)


def _as_drawn(draws: Iterator[FloatArray], name: str) -> Iterator[FloatArray]:
    """The draws themselves; refuses those that were sorted, where a fixed choice of places is one of values."""
    rising = falling = True
    first = last = None
    for values in draws:
        if len(values):
            steps = np.diff(values, prepend=values[0] if last is None else last)
            rising, falling = rising and bool(np.all(steps >= 0.0)), falling and bool(np.all(steps <= 0.0))
            first, last = float(values[0]) if first is None else first, float(values[-1])
        yield values
    if (rising or falling) and first != last:
        raise DataError(
            f"the draws of {name} are sorted: with confidence, give edges as bins, or the draws as they were drawn"
        )


def _pilot(draws: Iterator[FloatArray], index: int, chosen: bool) -> Iterator[FloatArray]:
    """The draws that choose the bins, or all others: each is a pilot with probability PILOT, whatever its value."""
    generator = np.random.default_rng([SEED, index])
    for values in draws:
        pilot: npt.NDArray[np.bool_] = generator.random(len(values)) < PILOT
        yield values[pilot == chosen]
