"""Draws a figure in the project's one style."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from os import PathLike, fspath
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from studies.figure import Bars, Figure, Line, Panel, Shape
from tightrope.plotting.style import COLOURS, DASHES, STYLE

MARKS = "os^Dv<>p"
TARGET = "#e8e8e8"


def draw(figure: Figure, path: str | PathLike[str]) -> None:
    """Writes the figure as PNG."""
    with rc_context(STYLE):
        columns = min(len(figure.panels), 2)
        rows = math.ceil(len(figure.panels) / columns)
        canvas = Canvas(layout="constrained", figsize=(4.9 * columns, 4.5 * rows))
        FigureCanvasAgg(canvas)
        for place, panel in enumerate(figure.panels, start=1):
            _draw_panel(canvas.add_subplot(rows, columns, place), panel)
        if any(line.lower is not None for panel in figure.panels for line in panel.lines):
            canvas.supxlabel(said(figure.width), x=0.99, ha="right", color="#555555", fontsize=8)
        canvas.savefig(fspath(path), format="png")


def said(width: float) -> str:
    """How far the certified ends are apart, since a distance of that size can seldom be seen."""
    rounded = Context(prec=1, rounding=ROUND_CEILING).create_decimal_from_float(width)
    return f"certified lines: upper and lower end differ by at most {float(rounded):g} times the upper"


def _draw_panel(axes: Axes, panel: Panel) -> None:
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    for index, bars in enumerate(panel.bars):
        _draw_bars(axes, bars, index)
    for index, line in enumerate(panel.lines, start=len(panel.bars)):
        _draw_line(axes, line, index)
    for index, shape in enumerate(panel.shapes):
        _draw_shape(axes, shape, index + len(panel.bars) + len(panel.lines))
    for index, dot in enumerate(panel.dots):
        mark: Any = {"marker": "oX"[index % 2], "markersize": 8, "linestyle": "none", "color": "black"}
        axes.plot([dot.x], [dot.y], label=dot.label, zorder=5, **mark)
    if panel.ticks:
        axes.set_xticks([place for place, _ in panel.ticks], [name for _, name in panel.ticks])
        axes.grid(visible=False, axis="x")
    if panel.x_limits != (None, None):
        axes.set_xlim(*panel.x_limits)
    if panel.y_limits != (None, None):
        axes.set_ylim(*panel.y_limits)
    if panel.target is not None:
        _draw_target(axes, *panel.target)
    axes.set_title(panel.title)
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=8, frameon=False, ncols=1, handlelength=3.4)


def _draw_line(axes: Axes, line: Line, index: int) -> None:
    """A certified line is thick and has no marks; a bound from above alone is thin and has them."""
    colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
    upper = [value if 0.0 < value < math.inf else math.nan for value in line.upper]
    if line.lower is None:
        every = max(len(line.x) // 8, 1)
        style: Any = {"marker": MARKS[index % len(MARKS)], "markersize": 4.5, "markevery": every, "linewidth": 1.0}
        axes.plot(line.x, upper, color=colour, linestyle=dash, label=line.label, **style)
        return
    lower = [value if value > 0.0 else math.nan for value in line.lower]
    axes.fill_between(line.x, lower, upper, color=colour, alpha=0.3, linewidth=0)
    axes.plot(line.x, upper, color=colour, linestyle=dash, linewidth=2.0, label=line.label)
    axes.plot(line.x, lower, color=colour, linestyle=dash, linewidth=0.8)


def _draw_bars(axes: Axes, bars: Bars, index: int) -> None:
    base = 0.0 if bars.base is None else bars.base
    colour = COLOURS[index % len(COLOURS)]
    axes.bar(bars.x, bars.heights, bars.width, bottom=base, color=colour, alpha=0.85, label=bars.label)


def _draw_shape(axes: Axes, shape: Shape, index: int) -> None:
    colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
    if shape.floor is None:
        axes.plot(shape.x, shape.y, color=colour, linestyle=dash, linewidth=1.6, label=shape.label)
    else:
        axes.fill_between(shape.x, shape.floor, shape.y, color="#999999", hatch="///", alpha=0.5, label=shape.label)


def _draw_target(axes: Axes, factor: float, delta: float) -> None:
    bottom, left = axes.get_ylim()[0], axes.get_xlim()[0]
    axes.fill_between([left, factor], [bottom, bottom], [delta, delta], color=TARGET, zorder=0, label="target")
    axes.set_ylim(bottom=bottom)
    axes.set_xlim(left=left)
