"""Plots of a comparison, in the one style of the project."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..plotting.style import COLOURS, DASHES, figure_of, sheet, tick, verbatim, wrapped
from .accountants import ACCOUNTANTS
from .comparison import Comparison
from .methods import METHODS, Kind
from .report import assurance, heading

if TYPE_CHECKING:
    from ..plotting.artists import Line2D
    from ..plotting.style import Axes, Figure

WIDTH = 8.4
ROW_HEIGHT = 0.32  # inches, of each method
GROWTH_SIZE = (WIDTH, 4.8)
HOLLOW = "white"
WORDS = "#333333"
MARKS = "os^Dv<>pXh"
LABEL_ROOM, STRETCH = 0.06, 0.25  # shares of the span, beyond its ends
LOG_FROM = 5.0  # values that lie further apart than by this factor go on a logarithmic axis


def draw_comparison(
    comparison: Comparison,
    path: str | PathLike[str] | None = None,
    *,
    ax: Axes | None = None,
    log: bool | None = None,
) -> Figure:
    """One dot per method, a line at the certified interval, the distances in words at the right.

    The certified interval and the bounds set the limits; an approximation beyond is an arrow at the edge.
    """
    rows, truth = comparison.rows, comparison.truth
    with sheet(path, ax, (WIDTH, 1.4 + ROW_HEIGHT * (len(rows) + 1))) as axes:
        low, high = _span([comparison])
        if log or (log is None and high > LOG_FROM * low):
            axes.set_xscale("log")
        low, high = _limits([comparison], axes.get_xscale() == "log")
        axes.set_xlim(low, high)
        if axes.get_xscale() == "log":
            tick(axes.xaxis, low, high)
        if _drawable(truth.upper):
            axes.axvspan(max(truth.lower, low), truth.upper, color=COLOURS[0], alpha=0.3, linewidth=0)
            axes.axvline(truth.upper, color=COLOURS[0], linewidth=1.6)
        _say(axes, f"{truth:.6g}", 0)
        for place, row in enumerate(rows, start=1):
            approximate = row.kind is Kind.APPROXIMATION
            _say(axes, row.distance + (" (no bound)" if approximate and not row.silent else ""), place)
            if not row.silent and _drawable(row.value):
                mark = "<" if row.value < low else ">" if row.value > high else "o"
                face = HOLLOW if approximate else COLOURS[1]
                at = min(max(row.value, low), high)
                axes.plot(
                    [at], [place], marker=mark, markersize=7, color=COLOURS[1], markerfacecolor=face, clip_on=False
                )
        axes.set_yticks(range(len(rows) + 1), ["certified", *(row.method for row in rows)])
        axes.set_ylim(len(rows) + 0.6, -0.6)
        axes.set_xlabel("\n".join(filter(None, (heading(comparison), assurance(comparison)))))
        axes.set_title(wrapped(verbatim(comparison.title or comparison.expression)))
        return figure_of(axes)


def draw_growth(
    comparisons: Sequence[Comparison], counts: Sequence[int], expression: str, path: str | PathLike[str] | None = None
) -> Figure:
    """One curve per method over the count, the certified interval as a band; names from the largest value down."""
    with sheet(path, None, GROWTH_SIZE) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(*_limits(comparisons, log=True))
        tick(axes.yaxis, *axes.get_ylim())
        drawn: list[tuple[float, Line2D]] = []
        for index, method in enumerate((*METHODS, *ACCOUNTANTS)):
            points = [
                (count, row.value)
                for count, comparison in zip(counts, comparisons, strict=True)
                for row in comparison.rows
                if row.method == method.name and not row.silent and _drawable(row.value)
            ]
            if points:
                approximate = method.kind is Kind.APPROXIMATION
                colour = COLOURS[1 + index % (len(COLOURS) - 1)]
                (line,) = axes.plot(
                    [count for count, _ in points],
                    [value for _, value in points],
                    color=colour,
                    linestyle=DASHES[index % len(DASHES)],
                    linewidth=1.1,
                    marker=MARKS[index % len(MARKS)],
                    markersize=4.5,
                    markerfacecolor=HOLLOW if approximate else colour,
                    label=method.name + (" (no bound)" if approximate else ""),
                )
                drawn.append((points[-1][1], line))
        ends = [(count, comparison.truth) for count, comparison in zip(counts, comparisons, strict=True)]
        ends = [(count, truth) for count, truth in ends if _drawable(truth.upper)]
        if ends:
            times, upper = [count for count, _ in ends], [truth.upper for _, truth in ends]
            axes.fill_between(
                times, [truth.lower for _, truth in ends], upper, color=COLOURS[0], alpha=0.3, linewidth=0
            )
            (line,) = axes.plot(times, upper, color=COLOURS[0], linewidth=2.4, label="certified")
            drawn.append((upper[-1], line))
        axes.set_xlabel("\n".join(filter(None, ("uses of the expression", assurance(comparisons[0])))))
        axes.set_ylabel(heading(comparisons[0]))
        axes.set_title(wrapped(verbatim(expression)))
        lines = [line for _, line in sorted(drawn, key=lambda item: -item[0])]
        place: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
        axes.legend(handles=lines, frameon=False, fontsize=8, handlelength=3.4, **place)
        return figure_of(axes)


def _span(comparisons: Iterable[Comparison]) -> tuple[float, float]:
    """From the least to the largest value that is certified or a bound."""
    values = [
        end for comparison in comparisons for end in (comparison.truth.lower, comparison.truth.upper) if _drawable(end)
    ]
    values += _values(comparisons, Kind.UPPER)
    return min(values, default=0.1), max(values, default=1.0)


def _limits(comparisons: Iterable[Comparison], log: bool) -> tuple[float, float]:
    """The span with some room; an approximation that would stretch it by more than a little is left outside."""
    low, high = _span(comparisons)
    least, most = _padded(low, high, log, STRETCH)
    near = [value for value in _values(comparisons, Kind.APPROXIMATION) if least <= value <= most]
    return _padded(min(low, *near), max(high, *near), log, LABEL_ROOM) if near else _padded(low, high, log, LABEL_ROOM)


def _values(comparisons: Iterable[Comparison], kind: Kind) -> list[float]:
    rows = (row for comparison in comparisons for row in comparison.rows if row.kind is kind and not row.silent)
    return [row.value for row in rows if _drawable(row.value)]


def _padded(low: float, high: float, log: bool, share: float) -> tuple[float, float]:
    """A little more on both sides, within the range of doubles."""
    if log:
        room = max((math.log(high) - math.log(low)) * share, 0.05)
        return max(math.exp(math.log(low) - room), 1e-307), min(math.exp(min(math.log(high) + room, 709.0)), 1e307)
    room = max((high - low) * share, 0.05 * high)
    return max(low - room, 0.0), high + room


def _say(axes: Axes, text: str, place: int) -> None:
    """At the right of the axes, where it covers nothing."""
    axes.annotate(
        text,
        (1.0, place),
        xycoords=axes.get_yaxis_transform(),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        color=WORDS,
        annotation_clip=False,
    )


def _drawable(value: float) -> bool:
    return 0.0 < value < math.inf
