"""Plots of plans, in the one style of the project."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..bound import Bound
from ..digits import short
from ..plotting.style import COLOURS, DASHES, figure_of, sheet, tick
from ..relation import Relation
from .frontier import Frontier
from .samplings import Samplings
from .unknown import FOUND

if TYPE_CHECKING:
    from ..plotting.style import Axes, Figure

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
