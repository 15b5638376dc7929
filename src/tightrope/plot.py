"""The one style of every plot here: certified ends as a band, deltas on a logarithmic axis.

Colours come from the Okabe-Ito set and each series has a dash of its own: together they survive grey print and colour
blindness. Curves are labelled where they end, not in a box.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from os import PathLike, fspath
from os.path import splitext
from textwrap import wrap
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("png", "pdf", "svg")
COLOURS = ("#004c6d", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)))
STYLE: Any = MappingProxyType(
    {
        "figure.figsize": (7.2, 4.4),
        "figure.dpi": 160,
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#666666",
        "axes.grid": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "svg.hashsalt": "tightrope",
    }
)


class Series(NamedTuple):
    """One curve: certified ends of delta at each epsilon."""

    label: str
    epsilons: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]


def check_path(path: str | PathLike[str]) -> str:
    """The format that the suffix of the path names; InvalidParameter for one that cannot be drawn."""
    suffix = splitext(fspath(path))[1].lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InvalidParameter(
            f"a plot is written as {', '.join(FORMATS)}; the name must end so, not as {fspath(path)!r}"
        )
    return suffix


def draw(series: Sequence[Series], path: str | PathLike[str]) -> None:
    """Writes the curves as one figure; a band runs down to the axis where its lower end is 0."""
    suffix = check_path(path)
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidParameter("plots need matplotlib: pip install 'tightrope-dp[plot]'") from None
    with rc_context(STYLE):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set_yscale("log")
        floor = _floor(series)
        for index, item in enumerate(series):
            _add_band(axes, item, floor, COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)], len(series) > 1)
        if len(series) == 1 and series[0].label:
            axes.set_title("\n".join(wrap(series[0].label, 90, max_lines=2, placeholder=" ...")))
        axes.set_xlabel("epsilon")
        axes.set_ylabel("delta")
        axes.set_xlim(min(item.epsilons[0] for item in series), max(item.epsilons[-1] for item in series))
        axes.set_ylim(floor, min(1.0, 2.0 * max(end for item in series for end in (*item.upper, floor))))
        figure.supxlabel(_width_said(series), x=0.99, ha="right", color="#555555", fontsize=8)
        figure.savefig(fspath(path), format=suffix)


def _add_band(axes: Axes, item: Series, floor: float, colour: str, dash: Any, labelled: bool) -> None:
    upper = [max(end, floor) if end > 0.0 else math.nan for end in item.upper]
    lower = [max(low, floor) if high > 0.0 else math.nan for low, high in zip(item.lower, item.upper, strict=True)]
    axes.fill_between(item.epsilons, lower, upper, color=colour, alpha=0.3, linewidth=0)
    axes.plot(item.epsilons, upper, color=colour, linestyle=dash, linewidth=1.6)
    axes.plot(item.epsilons, lower, color=colour, linestyle=dash, linewidth=0.8)
    if labelled:
        last = max((index for index, end in enumerate(item.upper) if end > 0.0), default=0)
        axes.annotate(
            item.label,
            (item.epsilons[last], max(item.upper[last], floor)),
            xytext=(5, 0),
            textcoords="offset points",
            color=colour,
            va="center",
            annotation_clip=False,
        )


def _floor(series: Sequence[Series]) -> float:
    """What stands for 0 on the logarithmic axis: a little below everything positive."""
    positive = [end for item in series for end in (*item.lower, *item.upper) if end > 0.0]
    return max(min(positive, default=0.1) / 2.0, 1e-307)


def _width_said(series: Sequence[Series]) -> str:
    """Bands narrower than a line cannot be seen, so their width is written down."""
    ends = [pair for item in series for pair in zip(item.lower, item.upper, strict=True)]
    widths = [(high - low) / high for low, high in ends if high > 0.0]
    if not widths:
        return "certified: delta is 0 throughout"
    rounded_up = Context(prec=1, rounding=ROUND_CEILING).create_decimal_from_float(max(widths))
    return f"certified: upper and lower end differ by at most {float(rounded_up):g} of delta"
