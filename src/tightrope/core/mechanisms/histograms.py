"""Two measured histograms over the same bins, such as timings with and without a secret.

Without confidence the histograms are taken as the laws themselves: masses are the numbers divided by their exact sum.
With confidence c, drawn counts n_i of N give limits (Clopper-Pearson, at level (1 - c) / (4 bins) each), and the pair
dominates every pair of laws within them, which all dominate the pair of lower ends: with probability c, over the draws,
no bound on the loss is too low, and no lower end too high.
Bins must be chosen before the draws; one that no draw hit still counts with what it could hold. What is measured is
the bin of an output: a finer look at the output may tell more.
Guarantee: exact for the laws given; with confidence an upper and a lower bound, which hold together.
Reference: Meiser, Mohammadi 2018, Sec. 5.3; Clopper, Pearson 1934. Proof: docs/proofs/classic.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, SupportsFloat, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from ..losses.pair import Pair
from ..values.errors import DataError, InvalidParameter
from ..values.question import Direction
from .base import SHOWN, Leaf
from .parameters import in_order, probability, shares
from .samples import (
    COUNTS_BYTES,
    DataFile,
    FloatArray,
    Lines,
    cell_number,
    chunks,
    data_file,
    npy_rows,
    opened,
    parquet_table,
)
from .samples import Source as Given

if TYPE_CHECKING:
    from ..losses.finite.histogram import MassLimits
    from ..losses.finite.laws import RationalLaw


if TYPE_CHECKING:
    Source = tuple[float, ...]  # what a and b are once made; expressions look for this word

    class HistogramOptions(TypedDict, total=False):
        """How data are read, and the name."""

        samples: bool | None
        bins: Bins | None
        width: float | None
        column: str
        name: str | None


KINDS = ("counts", "probabilities")


class _Anew:
    """Asked for when data are read, and then forgotten: dataclasses.replace cannot know whether bins saw the draws."""

    def __get__(self, made: object, owner: type) -> None:
        if made is not None:
            raise InvalidParameter("Histograms are made anew from their data: whether draws chose the bins is not kept")


@dataclass(frozen=True, slots=True, repr=False)
class Histograms(Leaf):
    """Measured: a with the record, b without; each an array, or a .csv, .npy or .parquet file.

    samples: True for raw draws, counted over the same bins for both: bins are edges or their number, width is that of
    each bin, column names a column of the files. False says that files without a heading hold counts.
    kind: "counts" or "probabilities". confidence: of the limits within which the drawn counts leave the laws; without
    it they are taken as the laws themselves.
    """

    example = "Histograms(a=[900, 100], b=[880, 120], confidence=0.95)"
    section = "laws"
    formula = (
        "Without confidence P = a, Q = b, each divided by its exact sum. With it H(alpha) is the convex hull of "
        "(0, 1), of sum over the bins of (p_up - alpha q_low)_+ and of three more bounds, since laws sum to 1, with "
        "the Clopper-Pearson limits of each bin at level (1 - confidence)/(4 bins)"
    )
    theorem = "Meiser, Mohammadi 2018, Sec. 5.3; limits: Clopper, Pearson 1934; [proof](proofs/classic.md)"
    tightness = (
        "Without confidence exact for the laws given. With it both ends hold together with that probability over the "
        "draws: the upper one for all laws within the limits, the lower one for tests that claim the likeliest bins."
    )
    relations = (
        "Those between which was measured: a with the record, b without it. What was not measured, such as other "
        "neighbours or a finer look at the output, is not covered."
    )
    a: Source
    b: Source
    kind: str = "counts"
    confidence: float | None = None
    samples: InitVar[bool | None] = _Anew()
    bins: InitVar[Bins | None] = None
    width: InitVar[float | None] = None
    column: InitVar[str] = ""
    sources: tuple[str, str] = field(default=("", ""), init=False, compare=False)  # of the files, for titles

    if TYPE_CHECKING:  # a call takes more than the fields hold

        def __init__(
            self,
            a: Given,
            b: Given,
            kind: str = "counts",
            confidence: float | None = None,
            **options: Unpack[HistogramOptions],
        ) -> None: ...

    def __post_init__(self, samples: bool | None, bins: Bins | None, width: float | None, column: str) -> None:
        a, b, kind, confidence = self.a, self.b, self.kind, self.confidence
        if kind not in KINDS:
            raise InvalidParameter(f"kind must be 'counts' or 'probabilities', not {kind!r:.60}")
        if samples not in (True, False, None) or (samples and kind != "counts"):
            raise InvalidParameter("samples must be True for raw draws, False for numbers per bin, and leaves no kind")
        if not samples and (bins is not None or width is not None or column):
            raise InvalidParameter("bins, width and column are for raw draws: say samples=True")
        if confidence is not None:
            if kind != "counts":
                raise InvalidParameter("confidence needs counts: probabilities do not tell how many draws there were")
            confidence = probability("confidence", confidence)
            if not 0.0 < confidence < 1.0:
                raise InvalidParameter(f"confidence must lie between 0 and 1, not {confidence!r}")
        pair: tuple[Sequence[float], Sequence[float]]
        if samples:
            pair = counted(a, b, bins, width, column, split=confidence is not None)
        else:
            pair = read_pair(a, b, kind, said=samples is False)
        object.__setattr__(self, "a", pair[0])
        object.__setattr__(self, "b", pair[1])
        object.__setattr__(self, "confidence", confidence)
        object.__setattr__(self, "sources", (_name(a), _name(b)))

    @property
    def numbers(self) -> tuple[Sequence[float], Sequence[float]]:
        """What a and b were read as."""
        return self.a, self.b

    def __str__(self) -> str:
        """For people: files by name, and many numbers by how many they are."""
        a, b = map(_short, self.numbers, self.sources)
        return self._written(a=a, b=b)

    @property
    def doubt(self) -> Fraction | None:
        """1 - confidence, as its decimals are written; 1 without, where counts are taken as the laws themselves."""
        if self.kind != "counts":
            return None
        return 1 - (Fraction(0) if self.confidence is None else Fraction(repr(self.confidence)))

    @property
    def tight(self) -> bool:
        return self.confidence is None

    @property
    def attained(self) -> bool:
        """By the two laws that were measured."""
        return True

    @property
    def beside_others(self) -> bool:
        return False

    @property
    def everywhere(self) -> bool:
        """What was measured are two laws; other neighbours were not."""
        return False

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.histogram import law_within

        return self._made(direction, law_within)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..losses.finite.histogram import law_below

        return (self._made(direction, law_below),)

    def _made(self, direction: Direction, within: Callable[[MassLimits, MassLimits], RationalLaw]) -> Pair:
        """The pair of the laws given, or what is made of their limits."""
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import RationalLaw

        first, second = self.numbers if direction is Direction.REMOVE else reversed(self.numbers)
        doubt = self.doubt
        if self.confidence is None or doubt is None:
            return FinitePair(RationalLaw(shares(first), shares(second)))
        level = doubt / (4 * len(first))
        return FinitePair(within(_limits(first, level), _limits(second, level)))


def _limits(counts: Sequence[float], level: Fraction) -> MassLimits:
    from ..losses.finite.histogram import MassLimits, lower_limit, upper_limit

    total = int(sum(counts))
    by_count = {
        count: (lower_limit(int(count), total, level), upper_limit(int(count), total, level)) for count in set(counts)
    }
    return MassLimits(*([by_count[count][side] for count in counts] for side in (0, 1)))


def _name(source: Given) -> str:
    return data_file(source).name if isinstance(source, (str, PathLike)) else ""


def _short(values: Sequence[float], name: str) -> str:
    if name:
        return repr(name)
    return repr(values) if len(values) <= SHOWN else f"[{len(values)} numbers]"


# Histograms from files and arrays: one number per bin; what cannot be read is named by file and line.
#
# A file of counts says that it is one: the heading of its last column is `count` (or frequency, ...), or the call says
# samples=False. Anything else may be raw draws, which look just like counts, and is refused with a hint.

Label = float | str | int
Row = tuple[int | None, Sequence[object]]  # the line, and the cells: a number, or a bin and a number

COUNT_MAX = 2**53
COLUMN_MAX = 1 << 20
SUM_TOLERANCE = Fraction(1, 10**9)
COUNT_WORDS = ("count", "counts", "frequency", "frequencies", "freq", "hits", "n")
RAW = "for raw draws say samples=True, with bins= or width="


def read_pair(a: Given, b: Given, kind: str, said: bool = False) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both histograms over the same bins; labelled bins that one of them lacks are empty there.

    said: the caller says that these are counts, so that files need no heading.
    """
    first, second = (_bins(source, name, kind, said) for source, name in ((a, "a"), (b, "b")))
    if set(first) != set(second):
        positional = all(isinstance(label, int) for label in (*first, *second))
        if positional:
            hint = f" ({RAW})" if kind == "counts" else ""
            raise DataError(f"the histograms must have as many bins each, not {len(first)} and {len(second)}{hint}")
        if any(isinstance(label, int) for label in (*first, *second)):
            raise DataError("one histogram names its bins and the other does not")
    labels = list(dict.fromkeys((*first, *second)))
    pair = tuple(tuple(bins.get(label, 0) for label in labels) for bins in (first, second))
    for name, source, values in (("a", a, pair[0]), ("b", b, pair[1])):
        file = _file(source)
        _check_sum(name, None if file is None else file.name, values, kind)
    return pair[0], pair[1]


def _file(source: Given) -> DataFile | None:
    return data_file(source) if isinstance(source, (str, PathLike)) else None


def _bins(source: Given, name: str, kind: str, said: bool) -> Mapping[Label, float]:
    file = _file(source)
    if file is None:
        in_order(name, source)
        if not isinstance(source, Iterable):
            raise DataError(f"{name} must be a path or a sequence of numbers, not {type(source).__name__}")
        return {index: _number(value, kind, name) for index, value in enumerate(source)}
    said = said or kind != "counts"
    with opened(file, COUNTS_BYTES) as stream:
        if file.suffix == ".npy":
            if not said:
                raise _unsaid(file.name, "an array has no heading that says so")
            values = (value for block in npy_rows(stream, file.name) for value in block.tolist())
            return _collected(((None, [value]) for value in values), kind, file.name)
        if file.suffix == ".parquet":
            return _collected(_parquet_rows(stream, file.name, said), kind, file.name)
        return _collected(_csv_rows(Lines(stream, file.name), said), kind, file.name)


def _csv_rows(lines: Lines, said: bool) -> Iterator[Row]:
    """Lines of `number` or of `bin, number`; a first line of words is a heading, # starts a comment."""
    columns = 0
    for cells in lines.rows():
        first, columns = not columns, columns or len(cells)
        if len(cells) != columns or columns > 2:
            raise lines.error(f"a line holds a number, or a bin and a number, not {len(cells)} cells")
        heading = first and cell_number(cells[-1]) is None
        if first and not said and not (heading and cells[-1].lower() in COUNT_WORDS):
            raise _unsaid(lines.name, "its last column is not headed 'count'")
        if not heading:
            yield lines.number, [*cells[:-1], cell_number(cells[-1])]


def _parquet_rows(stream: BinaryIO, name: str, said: bool) -> Iterator[Row]:
    """The same from a table."""
    with parquet_table(stream, name) as table:
        names = table.schema_arrow.names
        if len(names) > 2 or table.metadata.num_rows > COLUMN_MAX:
            raise DataError(f"one column, or bins and numbers, of at most {COLUMN_MAX} rows are needed", name)
        if not said and names[-1].lower() not in COUNT_WORDS:
            raise _unsaid(name, "its last column is not called 'count'")
        columns = [column.to_pylist() for column in table.read().columns]
    yield from ((None, list(row)) for row in zip(*columns, strict=True))


def _unsaid(path: str, why: str) -> DataError:
    return DataError(f"are these counts or raw draws? {why}: say samples=False for counts; {RAW}", path)


def _collected(rows: Iterator[Row], kind: str, path: str) -> Mapping[Label, float]:
    bins: dict[Label, float] = {}
    for line, cells in rows:
        label: Label = len(bins)
        if len(cells) > 1:
            number = cell_number(cells[0])
            label = str(cells[0]) if number is None else number
        if label in bins:
            raise DataError("this bin was given before", path, line)
        if len(bins) == COLUMN_MAX:
            raise DataError(f"more than {COLUMN_MAX} bins", path, line)
        bins[label] = _number(cells[-1], kind, "this", path, line)
    if not bins:
        raise DataError("no bins in this file", path)
    return bins


def _number(value: object, kind: str, what: str, path: str | None = None, line: int | None = None) -> float:
    shown = f", not {value!r:.40}" if path is None else ""  # of a file nothing is shown
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, SupportsFloat) or not _is_finite(value):
        raise DataError(f"{what} must be a number, 0 or above{shown}", path, line)
    number = float(value)
    if number < 0.0:
        raise DataError(f"{what} must be 0 or above{shown}", path, line)
    if kind == "probabilities":
        return number + 0.0
    if number != math.floor(number) or number > COUNT_MAX:
        raise DataError(f"{what} must be a count, a whole number up to 2**53{shown}; {RAW}", path, line)
    return int(number)


def _is_finite(value: SupportsFloat) -> bool:
    try:
        return math.isfinite(float(value))
    except (OverflowError, ValueError, TypeError):
        return False


def _check_sum(name: str, path: str | None, values: tuple[float, ...], kind: str) -> None:
    total = sum(map(Fraction, values), Fraction(0))
    if not total:
        raise DataError(f"histogram {name} is empty: all bins are 0", path)
    if kind == "probabilities" and abs(total - 1) > SUM_TOLERANCE:
        raise DataError(f"the probabilities of {name} must sum to 1, not to {float(total)!r}", path)


# Counts of raw draws over the same bins for both: edges, a width, or a number of bins.
#
# Edges e_0 < ... < e_n make n bins [e_i, e_(i+1)); the first reaches down to -inf and the last up to inf, so that every
# draw has its bin. A width w has its edges at multiples of w, a number of bins has them at equal distances; both need
# to
# know where the draws lie, and limits that hold with a confidence need bins that do not depend on the draws they are
# for.
# So with confidence a random tenth of the draws chooses the bins and the other nine tenths are counted.
# Guarantee: given the bins, the counted draws are independent of them, if the order of the draws says nothing of their
# values; sorted ones are refused. Proof: docs/proofs/classic.md, section 6.

Bins = float | Sequence[float]

BINS_MAX = 100_000
PILOT = 0.1  # of the draws: they choose the bins where these depend on data
SEED = 20181015  # any: which draws are the pilot must not depend on what they are
WIDTH_MAX = 2.0**52  # multiples of the width: beyond, neighbours are no longer told apart


def counted(
    a: Given, b: Given, bins: Bins | None, width: float | None, column: str, split: bool
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


def _again(source: Given, name: str) -> Given:
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
