"""A sweep as a picture: a number over two names of the grid, as a heat map, or as points where there is no grid.

What is shown is the end that can be promised, rounded outward wherever it is written. A third name that varies makes
panels; what has no number is hatched, and what ended early is marked. Axes are logarithmic where the values are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import InvalidParameter
from ..extend.plots import figure_of, sheet, tick, verbatim, wrapped
from ..extend.questions import LESS_IS_WORSE
from ..extend.wording import nearest, rounded, short, shortened
from .table import RAN_OUT, SweepRow
from .values import Value

if TYPE_CHECKING:
    from ..extend.plots import Axes, Figure

LOWER_PROMISED = (*LESS_IS_WORSE, "tradeoff")  # readings whose lower end is what can be promised
COLUMNS_SHOWN = ("value", "lower", "upper", "seconds")
PICTURE_ROWS_MAX = 200_000
PANELS_MAX = 9
TICK_APART = 0.1  # of an axis: values that lie so far apart each have a tick
WRITTEN_MAX = 120  # cells whose number is written into them
FAR_APART = 20.0  # numbers whose ratio is larger have a logarithmic scale
CELL_DIGITS = 3
MAP_SIZE, PANEL_SIZE = (7.2, 5.2), (3.6, 3.4)
COLOUR_MAP, HATCHED, DARK = "viridis", "#e6e6e6", "#222222"
MARK_CORNER = 0.8  # of the way from the middle of a cell to its end
LIGHT_FROM = 0.6  # of the colours: from here on letters are dark


class Shown(NamedTuple):
    """One place of a picture; number is None where there is none."""

    x: Value
    y: Value
    facet: Value
    number: float | None
    early: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """What a picture is of: the names of its axes, the name that makes panels, and those that vary otherwise."""

    x: str
    y: str
    value: str
    facet: str | None
    others: tuple[str, ...]
    places: tuple[Shown, ...]
    less: bool  # whether the lower end is the one that can be promised
    same: tuple[tuple[str, Value], ...] = ()  # names that have one value

    @property
    def gridded(self) -> bool:
        """Whether every x goes with every y."""
        pairs = {(place.x, place.y) for place in self.places}
        return len({x for x, _ in pairs}) * len({y for _, y in pairs}) == len(pairs)

    @property
    def facets(self) -> list[Value]:
        """The values of the panels, in the order of the grid."""
        return list(dict.fromkeys(place.facet for place in self.places))


def scene_of(rows: Iterable[SweepRow], names: Sequence[str], x: str, y: str, value: str | None) -> Scene:
    """What is to be drawn; InvalidParameter where the names do not fit, or too much varies."""
    check_axes(names, x, y)
    found = list(rows)
    if len(found) > PICTURE_ROWS_MAX:
        raise InvalidParameter(f"a picture shows {PICTURE_ROWS_MAX:,} rows at most, not {len(found):,}")
    quantities = [text for text in dict.fromkeys(row.quantity for row in found) if text]
    value = value or ("value" if any(row.value is not None for row in found) else quantities[0] if quantities else "")
    if value not in (*quantities, *COLUMNS_SHOWN):
        known = (*quantities, *COLUMNS_SHOWN)
        raise InvalidParameter(f"value is one of {', '.join(known)}, not {value!r:.60}{nearest(value, known)}")
    if value not in COLUMNS_SHOWN:
        found = [row for row in found if row.quantity in (value, "")]
    elif len(quantities) > 1:
        raise InvalidParameter(f"the sweep has several numbers: value is one of {', '.join(quantities)}")
    varying = [name for name in names if name not in (x, y) and len({row.configuration.get(name) for row in found}) > 1]
    less = value in ("lower", *LOWER_PROMISED)
    facet = varying[0] if len(varying) == 1 else None
    places = tuple(_shown(row, x, y, facet, "lower" if less else value) for row in found)
    same = tuple((name, found[0].configuration.get(name)) for name in names if name not in (x, y, *varying) and found)
    scene = Scene(x, y, value, facet, tuple(varying), places, less, same)
    if not scene.gridded:
        alone = tuple(place._replace(facet=None) for place in places)
        return replace(scene, facet=None, places=alone)
    if len(varying) > 1 or len(scene.facets) > PANELS_MAX:
        raise InvalidParameter(
            f"{' and '.join(varying)} vary too: a map shows two names, and one more with {PANELS_MAX} values at most; "
            "choose part of the rows"
        )
    return scene


def check_axes(names: Sequence[str], x: str, y: str) -> None:
    """Two names of the grid."""
    for axis, name in (("x", x), ("y", y)):
        if name not in names:
            raise InvalidParameter(
                f"{axis} is a name of the grid ({', '.join(names)}), not {name!r:.60}{nearest(name, names)}"
            )
    if x == y:
        raise InvalidParameter(f"x and y are two names of the grid, not both {x}")


def draw(
    scene: Scene, title: tuple[str, str], path: str | PathLike[str] | None = None, ax: Axes | None = None
) -> Figure:
    """The picture; title: what was asked, and of what."""
    facets = scene.facets
    if ax is not None and len(facets) > 1:
        raise InvalidParameter(f"{scene.facet} makes several panels, and ax is one: leave out ax")
    wide = math.ceil(math.sqrt(len(facets)))
    tall = -(-len(facets) // wide)
    size = MAP_SIZE if len(facets) == 1 else (PANEL_SIZE[0] * wide + 1.2, PANEL_SIZE[1] * tall + 0.8)
    with sheet(path, ax, size) as axes:
        figure = figure_of(axes)
        panels = [axes]
        if len(facets) > 1:
            grid = figure.add_gridspec(tall, wide)
            axes.set_subplotspec(grid[0])
            panels += [figure.add_subplot(grid[place // wide, place % wide]) for place in range(1, len(facets))]
        norm = _norm([place.number for place in scene.places if place.number is not None])
        for panel, facet in zip(panels, facets, strict=True):
            places = [place for place in scene.places if place.facet == facet]
            _Panel(panel, scene, places, norm).draw()
            if scene.facet is not None:
                panel.set_title(verbatim(f"{scene.facet} = {_word(facet)}"))
        _key(figure, panels, scene, norm)
        told = " of ".join(shortened(_filled(text, scene), 60) for text in title)
        others = f"; any {', '.join(scene.others)}" if scene.others and scene.facet is None else ""
        if len(facets) > 1:
            figure.suptitle(wrapped(verbatim(told + others)), x=0.01, ha="left", fontsize=10)
        else:
            axes.set_title(wrapped(verbatim(told + others)))
    return figure


def _filled(text: str, scene: Scene) -> str:
    """A text with {names}, those that have one value replaced by it."""
    for name, value in scene.same:
        text = text.replace(f"{{{name}}}", _word(value))
    return text


class _Panel:
    """One map, or one cloud of points."""

    def __init__(self, axes: Axes, scene: Scene, places: Sequence[Shown], norm: Any) -> None:
        self._axes, self._scene, self._places, self._norm = axes, scene, places, norm
        self._x = _Scale.of([place.x for place in scene.places])
        self._y = _Scale.of([place.y for place in scene.places])

    def draw(self) -> None:
        """Cells or points, then what has no number, then what ended early."""
        axes = self._axes
        axes.grid(False)
        self._x.prepare(axes.xaxis)
        self._y.prepare(axes.yaxis)
        if self._scene.gridded:
            self._cells()
        else:
            self._points()
        early = [place for place in self._places if place.early]
        if early:
            axes.scatter(*self._corners(early), marker="^", s=26, c="white", edgecolors=DARK, linewidths=0.8, zorder=4)
        axes.set_xlabel(verbatim(self._scene.x))
        axes.set_ylabel(verbatim(self._scene.y))

    def _at(self, places: Sequence[Shown]) -> tuple[list[float], list[float]]:
        return [self._x.at(place.x) for place in places], [self._y.at(place.y) for place in places]

    def _corners(self, places: Sequence[Shown]) -> tuple[list[float], list[float]]:
        """Where a mark covers no number: the upper right of a cell, or the point itself."""
        if not self._scene.gridded:
            return self._at(places)
        return [self._x.beside(place.x) for place in places], [self._y.beside(place.y) for place in places]

    def _cells(self) -> None:
        from ..extend.artists import Rectangle

        known = {(each.x, each.y): each for each in self._places}
        across, up = self._x.edges(), self._y.edges()
        numbers = [[_number(known.get((x, y))) for x in self._x.values] for y in self._y.values]
        mesh = self._axes.pcolormesh(across, up, numbers, cmap=COLOUR_MAP, norm=self._norm, edgecolors="none")
        mesh.set_rasterized(True)
        written = len(known) <= WRITTEN_MAX and len(self._scene.facets) == 1
        for row, y in enumerate(self._y.values):
            for column, x in enumerate(self._x.values):
                number = numbers[row][column]
                if math.isnan(number):
                    corner = (across[column], up[row])
                    size = (across[column + 1] - across[column], up[row + 1] - up[row])
                    self._axes.add_patch(Rectangle(corner, *size, hatch="////", facecolor=HATCHED, edgecolor="#888888"))
                elif written:
                    told = rounded(number, CELL_DIGITS, up=not self._scene.less)
                    light = float(self._norm(number)) > LIGHT_FROM
                    place = self._x.at(x), self._y.at(y)
                    self._axes.text(*place, told, ha="center", va="center", size=7, color=DARK if light else "white")
        self._axes.set_xlim(across[0], across[-1])
        self._axes.set_ylim(up[0], up[-1])

    def _points(self) -> None:
        known = [place for place in self._places if place.number is not None]
        failed = [place for place in self._places if place.number is None]
        colours = [_number(each) for each in known]
        self._axes.scatter(*self._at(known), c=colours, cmap=COLOUR_MAP, norm=self._norm, s=18, zorder=3)
        if failed:
            self._axes.scatter(*self._at(failed), marker="x", c="#888888", s=26, zorder=3)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The values of an axis: numbers, on a logarithmic scale where they lie so, or words, one beside the other."""

    values: tuple[Value, ...]
    numeric: bool
    log: bool

    @staticmethod
    def of(given: Sequence[Value]) -> _Scale:
        """The values in their order."""
        several = list(dict.fromkeys(given))
        if not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in several):
            return _Scale(tuple(several), False, False)
        numbers = sorted(float(each) for each in several if isinstance(each, (int, float)))
        return _Scale(tuple(sorted(several, key=_sortable)), True, _logarithmic(numbers))

    def at(self, value: Value) -> float:
        """Where a value lies."""
        return _sortable(value) if self.numeric else float(self.values.index(value))

    def beside(self, value: Value) -> float:
        """Near the upper end of its cell."""
        end, at = self.edges()[self.values.index(value) + 1], self.at(value)
        return at * (end / at) ** MARK_CORNER if self.log else at + MARK_CORNER * (end - at)

    def edges(self) -> list[float]:
        """Between the values, and as far beyond the first and the last."""
        places = [self.at(value) for value in self.values]
        logs = [math.log(place) for place in places] if self.log else places
        if len(logs) == 1:
            around = 0.5 if self.log or not logs[0] else 0.5 * abs(logs[0])
            values = [logs[0] - around, logs[0] + around]
        else:
            middles = [(low + high) / 2.0 for low, high in pairwise(logs)]
            values = [2.0 * logs[0] - middles[0], *middles, 2.0 * logs[-1] - middles[-1]]
        return [math.exp(value) for value in values] if self.log else values

    @property
    def apart(self) -> bool:
        """Whether there is room for the name of each value."""
        edges = [math.log(edge) if self.log else edge for edge in self.edges()]
        return all(high - low >= TICK_APART * (edges[-1] - edges[0]) for low, high in pairwise(edges))

    def prepare(self, axis: Any) -> None:
        """Ticks for it."""
        if not self.numeric:
            axis.set_ticks(range(len(self.values)), [verbatim(shortened(_word(value), 40)) for value in self.values])
            return
        if self.log:
            axis.axes.set_xscale("log") if axis.axis_name == "x" else axis.axes.set_yscale("log")
        if self.apart:
            axis.set_ticks(
                [self.at(value) for value in self.values], [f"{self.at(value):.4g}" for value in self.values]
            )
            axis.set_ticks([], minor=True)
        elif self.log:
            edges = self.edges()
            tick(axis, edges[0], edges[-1])


def _shown(row: SweepRow, x: str, y: str, facet: str | None, column: str) -> Shown:
    """The end of a row that can be promised, or a column of it."""
    number = getattr(row, column if column in COLUMNS_SHOWN else "upper")
    known = number is not None and math.isfinite(number)
    told = row.configuration.get
    early = row.error is None and row.ended in RAN_OUT
    return Shown(told(x), told(y), None if facet is None else told(facet), float(number) if known else None, early)


def _norm(numbers: Sequence[float]) -> Any:
    from ..extend.artists import LogNorm, Normalize

    if not numbers:
        return Normalize(0.0, 1.0)
    least, most = min(numbers), max(numbers)
    if least == most:
        return Normalize(least - 0.5 * abs(least) - 1e-300, most + 0.5 * abs(most) + 1e-300)
    return LogNorm(least, most) if least > 0.0 and most > FAR_APART * least else Normalize(least, most)


def _key(figure: Figure, panels: Sequence[Axes], scene: Scene, norm: Any) -> None:
    """The colour bar, with the least and the largest that is promised, and what the marks mean."""
    from ..extend.artists import Line2D, Patch, ScalarMappable

    numbers = [place.number for place in scene.places if place.number is not None]
    bar = figure.colorbar(ScalarMappable(norm, COLOUR_MAP), ax=list(panels))
    side = "" if scene.value in COLUMNS_SHOWN else ", at least" if scene.less else ", at most"
    span = ""
    if numbers:
        low, high = (rounded(end(numbers), CELL_DIGITS, up=not scene.less) for end in (min, max))
        span = f": {low} to {high}"
    bar.set_label(verbatim(f"{scene.value}{side}{span}"))
    marks: list[Any] = []
    if any(place.number is None for place in scene.places):
        hatched = Patch(hatch="////", facecolor=HATCHED, edgecolor="#888888", label="no number")
        cross = Line2D([], [], marker="x", color="#888888", linestyle="", label="no number")
        marks.append(hatched if scene.gridded else cross)
    if any(place.early for place in scene.places):
        shape = {"marker": "^", "markerfacecolor": "white", "markeredgecolor": DARK, "linestyle": ""}
        marks.append(Line2D([], [], label="ended early", **shape))  # type: ignore[arg-type]
    if marks:
        panels[0].legend(handles=marks, loc="upper left", bbox_to_anchor=(0.0, -0.12), ncols=2, frameon=False)


def _logarithmic(numbers: Sequence[float]) -> bool:
    """Whether the logs of numbers, which rise, lie more evenly around their middle than the numbers do."""
    if len(numbers) < 2 or not numbers[0] > 0.0 or not math.isfinite(numbers[-1]):
        return False
    plain, logs = _uneven(numbers), _uneven([math.log(number) for number in numbers])
    return logs < plain if abs(logs - plain) > 1e-9 else numbers[-1] >= 10.0 * numbers[0]


def _uneven(numbers: Sequence[float]) -> float:
    return abs((median(numbers) - numbers[0]) / (numbers[-1] - numbers[0]) - 0.5)


def _number(place: Shown | None) -> float:
    return math.nan if place is None or place.number is None else place.number


def _sortable(value: Value) -> float:
    assert isinstance(value, (int, float))
    return float(value)


def _word(value: Value) -> str:
    return short(value) if isinstance(value, float) else str(value)
