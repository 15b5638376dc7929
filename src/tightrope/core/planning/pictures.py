"""Plots of a comparison, in the one style of the project."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from ...plotting.style import COLOURS, DASHES, figure_of, sheet, tick, verbatim, wrapped
from ..values.bound import Bound
from ..values.calls import short
from ..values.question import Relation
from .accountants import ACCOUNTANTS
from .comparison import Comparison
from .frontier import Frontier
from .methods import METHODS, Kind, assurance, heading
from .samplings import Samplings
from .unknown import FOUND

if TYPE_CHECKING:
    from ...plotting.artists import Line2D
    from ...plotting.style import Axes, Figure


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


# Plots of plans, in the one style of the project.

ROW_INCHES = 0.5  # of each loader
BARS_WIDTH = 7.6
MARK_SIZE = 6.0  # points
TIMES_LOG = 5.0  # ends that lie further apart than by this factor go on a logarithmic axis


def draw_frontier(frontier: Frontier, path: str | PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
    """The unknown over the first number, a curve for each value of the second; rows without an answer are left out.

    A hollow mark meets the target, but nothing next to it is shown to miss.
    """
    first, *others = frontier.over
    with sheet(path, ax) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        drawn = [row for row in frontier.rows if row.found is not None]
        cases = list(dict.fromkeys(tuple(row.given[name] for name in others) for row in drawn))
        for index, case in enumerate(cases):
            rows = [row for row in drawn if tuple(row.given[name] for name in others) == case]
            values = [row.found.value for row in rows if row.found is not None]
            label = ", ".join(f"{name} {short(value)}" for name, value in zip(others, case, strict=True))
            colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
            axes.plot(
                [row.given[first] for row in rows],
                values,
                color=colour,
                linestyle=dash,
                marker="o",
                markersize=MARK_SIZE,
                label=label,
            )
            open_ends = [row for row in rows if row.found is not None and row.found.ended is not None]
            axes.plot(
                [row.given[first] for row in open_ends],
                [row.found.value for row in open_ends if row.found is not None],
                color=colour,
                linestyle="none",
                marker="o",
                markersize=MARK_SIZE,
                markerfacecolor="white",
            )
        for axis, low, high in ((axes.xaxis, *axes.get_xlim()), (axes.yaxis, *axes.get_ylim())):
            tick(axis, low, high)
        axes.set_xlabel(first)
        axes.set_ylabel(FOUND[frontier.unknown].removeprefix("the "))
        axes.set_title(frontier.title)
        if others and cases:
            axes.legend(frameon=False, fontsize=8, handlelength=3.4, loc="upper left", bbox_to_anchor=(1.01, 1.0))
        return figure_of(axes)


def draw_samplings(samplings: Samplings, path: str | PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
    """The interval of each loader, an arrow where it has no upper end, in the colour of its neighbours.

    The first one is a line as far as rows have its neighbours: others are not to be compared with it.
    """
    rows = samplings.rows
    ends = [end for row in rows if row.bound is not None for end in (row.bound.lower, row.bound.upper)]
    known = [end for end in ends if 0.0 < end < math.inf] or [1.0]
    with sheet(path, ax, (BARS_WIDTH, 1.2 + ROW_INCHES * len(rows))) as axes:
        if max(known) > TIMES_LOG * min(known):
            axes.set_xscale("log")
            axes.set_xlim(min(known) / 1.3, max(known) * 1.6)
            tick(axes.xaxis, *axes.get_xlim())
        else:
            axes.set_xlim(0.0, 1.25 * max(known))
        for place, row in enumerate(rows):
            if row.bound is not None:
                _interval(axes, place, row.bound, COLOURS[row.relation is Relation.REPLACE])
            words = "refused" if row.bound is None else f"{row.bound:.4g}, {row.neighbours}"
            beside: Any = {"xytext": (8, 0), "textcoords": "offset points", "va": "center", "annotation_clip": False}
            axes.annotate(words, (1.0, place), xycoords=axes.get_yaxis_transform(), fontsize=8, **beside)
        _reference(axes, samplings)
        axes.set_yticks(range(len(rows)), [row.sampling for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(f"epsilon at delta {short(samplings.delta)}")
        axes.set_title(f"one run, by how its batches are made; dashed: {rows[0].sampling}")
        if len({row.relation for row in rows if row.bound is not None}) > 1:
            said = "compare rows of one colour only: they have the same neighbours"
            figure_of(axes).supxlabel(said, x=0.99, ha="right", color="#555555", fontsize=8)
        return figure_of(axes)


def _reference(axes: Axes, samplings: Samplings) -> None:
    """The upper end of the first loader, beside those that it may be compared with."""
    first, *others = samplings.rows
    if first.bound is None or first.bound.upper == math.inf:
        return
    dash: Any = {"color": COLOURS[0], "linewidth": 0.8, "linestyle": DASHES[1]}
    for place, row in enumerate(others, 1):
        if row.relation is first.relation:
            axes.plot([first.bound.upper] * 2, [place - 0.4, place + 0.4], **dash)


def _interval(axes: Axes, place: int, bound: Bound, colour: str) -> None:
    """A bar with a dot at each end, which is all that is seen of a narrow one."""
    endless = bound.upper == math.inf
    high = axes.get_xlim()[1] if endless else bound.upper
    if bound.lower < high:
        axes.plot([bound.lower, high], [place, place], color=colour, linewidth=3.0, solid_capstyle="butt")
    axes.plot([bound.lower], [place], color=colour, marker="o", markersize=MARK_SIZE)
    axes.plot([high], [place], color=colour, marker=">" if endless else "o", markersize=MARK_SIZE, clip_on=False)
