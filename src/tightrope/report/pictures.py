"""The pictures of a report: SVG, the same for the same numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import Curve, Epochs, Risk, Tradeoffs
from ..extend.plots import MarkedRate, one_panel, svg, tick
from ..extend.result import Result

if TYPE_CHECKING:
    from ..extend.plots import Figure

PICTURE_SIZE = (5.4, 3.5)
SQUARE_SIZE = (3.7, 3.5)
MARK_COLOUR = "#d55e00"


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as SVG, what it shows for those who do not see it, and what its width is."""

    source: str
    shows: str
    certified: str


def curve_picture(curve: Curve, results: tuple[Result, ...]) -> Picture:
    """delta over epsilon, what can be promised marked."""

    def draw() -> Figure:
        figure = curve.plot()
        axes = figure.axes[0]
        marks = [(result.bound.upper, result.arguments["delta"]) for result in results]
        shown = [(epsilon, delta) for epsilon, delta in marks if epsilon < math.inf and delta > 0.0]
        low, high = axes.get_ylim()
        axes.plot([x for x, _ in shown], [y for _, y in shown], "o", color=MARK_COLOUR, markersize=6, zorder=5)
        low = min([low, *(delta / 2.0 for _, delta in shown)])
        axes.set_ylim(low, high)
        tick(axes.yaxis, low, high)
        return figure

    return made_picture(draw, PICTURE_SIZE, "A falling curve: delta over epsilon. Its numbers are in the table below.")


def tradeoff_pictures(tradeoffs: Tradeoffs, risk: Risk) -> tuple[Picture, Picture]:
    """The best attacker beside guessing: at all rates, and at small ones."""
    row = risk.rows[0]
    mark = MarkedRate(row.arguments["fpr"], row.bound.upper, f"at most {row.number}")
    series, names = tradeoffs._series(""), risk.axis_names
    shows = "Correct over wrong accusations: the best attacker lies above guessing. Its numbers are in the table below."
    first, second = (
        made_picture(lambda log=log: one_panel(series, mark, names, log), SQUARE_SIZE, shows)  # type: ignore[misc]
        for log in (False, True)
    )
    return first, second


def epochs_picture(epochs: Epochs) -> Picture:
    """epsilon over the epochs."""
    shows = "A rising curve: epsilon by epoch. Its numbers are in the table below."
    return made_picture(epochs.plot, PICTURE_SIZE, shows)


def made_picture(plot: Callable[[], Figure], size: tuple[float, float], shows: str) -> Picture:
    """Drawn without a title and without words beneath, which the page has."""
    told: list[str] = []

    def draw() -> Figure:
        figure = plot()
        told.append(figure.get_supxlabel())
        figure.supxlabel("")
        for axes in figure.axes:
            axes.set_title("", loc="left")
        figure.set_size_inches(size)
        return figure

    return Picture(svg(draw), shows, told[0])
