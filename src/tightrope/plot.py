"""The one style of every plot here: certified ends as a band, deltas on a logarithmic axis.

Colours come from the Okabe-Ito set and each series has a dash of its own: together they survive grey print and colour
blindness. Curves are labelled where they end, not in a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, NamedTuple

from .errors import InvalidParameter

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
    suffix = fspath(path).rpartition(".")[2].lower()
    if suffix not in FORMATS:
        raise InvalidParameter(
            f"a plot is written as {', '.join(FORMATS)}; the name must end so, not as {fspath(path)!r}"
        )
    return suffix


def draw(series: Sequence[Series], path: str | PathLike[str]) -> None:
    """Writes the curves as one figure; where the lower end is 0 the band runs down to the axis."""
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
            colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
            lower = [max(end, floor) for end in item.lower]
            upper = [max(end, floor) for end in item.upper]
            axes.fill_between(item.epsilons, lower, upper, color=colour, alpha=0.3, linewidth=0)
            axes.plot(item.epsilons, upper, color=colour, linestyle=dash, linewidth=1.6)
            axes.plot(item.epsilons, lower, color=colour, linestyle=dash, linewidth=0.8)
            if len(series) > 1:
                axes.annotate(
                    item.label,
                    (item.epsilons[-1], upper[-1]),
                    xytext=(5, 0),
                    textcoords="offset points",
                    color=colour,
                    va="center",
                    annotation_clip=False,
                )
        if len(series) == 1 and series[0].label:
            axes.set_title(_wrapped(series[0].label))
        axes.set_xlabel("epsilon")
        axes.set_ylabel("delta (certified upper and lower end)")
        axes.margins(x=0)
        figure.savefig(fspath(path), format=suffix)


def _floor(series: Sequence[Series]) -> float:
    """What stands for 0 on the logarithmic axis: a little below everything positive."""
    positive = [end for item in series for end in (*item.lower, *item.upper) if end > 0.0]
    return max(min(positive, default=1.0) / 10.0, 5e-324)


def _wrapped(label: str) -> str:
    """At most two lines of title: a long composition is cut, the curve stays readable."""
    from textwrap import wrap

    return "\n".join(wrap(label, 90, max_lines=2, placeholder=" ..."))
