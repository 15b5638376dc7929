"""Plots of a comparison, in the one style of the project."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from textwrap import wrap
from typing import TYPE_CHECKING

from ..errors import InvalidParameter
from ..plot import COLOURS, DASHES, STYLE, check_path
from .comparison import Comparison, Row
from .methods import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOLLOW = "white"
MARKS = "os^Dv<>pXh"


def draw_comparison(comparison: Comparison, path: str | PathLike[str]) -> None:
    """One dot per method on a logarithmic axis, a line at the certified interval."""
    with canvas(path, comparison.title or comparison.expression, comparison.rows) as axes:
        shown = [row for row in comparison.rows if _drawable(row.value)]
        axes.set_xscale("log")
        if _drawable(comparison.truth.upper):
            axes.axvline(comparison.truth.upper, color=COLOURS[0], linewidth=1.6)
            _say(axes, str(comparison.truth), comparison.truth.upper, 0)
        for place, row in enumerate(shown, start=1):
            face = HOLLOW if row.kind is Kind.APPROXIMATION else COLOURS[1]
            axes.plot([row.value], [place], marker="o", markersize=7, color=COLOURS[1], markerfacecolor=face)
            _say(axes, row.distance, row.value, place)
        axes.set_yticks(range(len(shown) + 1), ["certified", *(row.method for row in shown)])
        axes.set_ylim(len(shown) + 0.6, -0.6)
        low, high = axes.get_xlim()
        axes.set_xlim(low, high * (high / low) ** 0.3)  # room for the words at the right
        axes.set_xlabel(_axis(comparison))


def draw_growth(
    comparisons: Sequence[Comparison], counts: Sequence[int], expression: str, path: str | PathLike[str]
) -> None:
    """One curve per method over the count, the certified interval as a band."""
    with canvas(path, expression, comparisons[0].rows) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        labels: list[tuple[float, str, str]] = []
        for index, row in enumerate(comparisons[0].rows):
            points = [(count, each.rows[index].value) for count, each in zip(counts, comparisons, strict=True)]
            points = [(count, value) for count, value in points if _drawable(value)]
            if points:
                colour = COLOURS[1 + index % (len(COLOURS) - 1)]
                axes.plot(
                    [count for count, _ in points],
                    [value for _, value in points],
                    color=colour,
                    linestyle=DASHES[index % len(DASHES)],
                    linewidth=1.1,
                    marker=MARKS[index % len(MARKS)],
                    markersize=4.5,
                    markerfacecolor=HOLLOW if row.kind is Kind.APPROXIMATION else colour,
                )
                labels.append((points[-1][1], row.method, colour))
        ends = [(max(each.truth.lower, 5e-324), max(each.truth.upper, 5e-324)) for each in comparisons]
        if all(_drawable(upper) for _, upper in ends):
            lower, upper = [low for low, _ in ends], [high for _, high in ends]
            axes.fill_between(counts, lower, upper, color=COLOURS[0], alpha=0.3, linewidth=0)
            axes.plot(counts, upper, color=COLOURS[0], linewidth=2.4)
            labels.append((upper[-1], "certified", COLOURS[0]))
        axes.set_xlabel("uses of the expression")
        axes.set_ylabel(_axis(comparisons[0]))
        _label_ends(axes, labels, max(counts))


@contextmanager
def canvas(path: str | PathLike[str], title: str, rows: Sequence[Row]) -> Iterator[Axes]:
    """Axes in the style of the project, written to the path at the end."""
    suffix = check_path(path)
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidParameter("plots need matplotlib: pip install 'tightrope-dp[plot]'") from None
    with rc_context(STYLE):
        figure = Figure(layout="constrained", figsize=(8.4, 4.8))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        yield axes
        axes.set_title("\n".join(wrap(title, 90, max_lines=2, placeholder=" ...")))
        if any(row.kind is Kind.APPROXIMATION for row in rows):
            figure.supxlabel("hollow: an approximation, no bound", x=0.99, ha="right", color="#555555", fontsize=8)
        figure.savefig(fspath(path), format=suffix)


def _say(axes: Axes, text: str, value: float, place: int) -> None:
    axes.annotate(
        text,
        (value, place),
        xytext=(8, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
    )


def _label_ends(axes: Axes, labels: list[tuple[float, str, str]], last: float) -> None:
    """Names at the right, moved apart where they would cover each other, each tied to the end of its curve."""
    low, high = (math.log(end) for end in axes.get_ylim())
    gap, ordered = 0.058 * (high - low), sorted(labels)
    places: list[float] = []
    for value, _, _ in ordered:
        places.append(max([math.log(value), *(place + gap for place in places[-1:])]))
    places = [min(place, high - gap * (len(places) - 1 - index)) for index, place in enumerate(places)]
    for (value, name, colour), place in zip(ordered, places, strict=True):
        axes.annotate(
            name,
            (last, value),
            xytext=(1.06, math.exp(place)),
            textcoords=axes.get_yaxis_transform(),
            color=colour,
            va="center",
            fontsize=8,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (0, 0.5), "shrinkB": 4},
        )


def _drawable(value: float) -> bool:
    return 0.0 < value < math.inf


def _axis(comparison: Comparison) -> str:
    other = "delta" if comparison.quantity == "epsilon" else "epsilon"
    return f"{comparison.quantity} at {other} {comparison.given:g}"
