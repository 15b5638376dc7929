"""The one style of every plot here: certified ends as a band, deltas on a logarithmic axis.

Colours come from the Okabe-Ito set and each series has a dash of its own: together they survive grey print and colour
blindness. Names of several curves stand beside them, where they cover nothing; axes that the caller brought keep their
own style.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from os import PathLike, fspath
from os.path import splitext
from textwrap import wrap
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.values.calls import check_folder, rounded
from ..core.values.errors import InvalidParameter
from ..version import install_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Figure

FORMATS = ("png", "pdf", "svg")
SIZE = (7.2, 4.4)
TITLE_WIDTH = 84
LABEL_WIDTH = 36
MARKED_MAX = 24  # so few points are marked: between them only monotonicity is known
SHORT_AXIS = 300.0  # a logarithmic axis that spans less has numbers between the powers of ten
WIDTH_SAID = "certified:"
COLOURS = ("#004c6d", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)))
STYLE: Any = MappingProxyType(
    {
        "figure.figsize": SIZE,
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
    """One curve: certified ends of delta at each epsilon, or of another number at other places."""

    label: str
    epsilons: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    assurance: str = ""  # how sure they are, where they rest on draws


def check_path(path: str | PathLike[str]) -> str:
    """The format that the suffix of the path names; InvalidParameter for one that cannot be written."""
    suffix = splitext(fspath(path))[1].lower().removeprefix(".")
    if suffix not in FORMATS:
        raise InvalidParameter(
            f"a plot is written as {', '.join(FORMATS)}; the name must end so, not as {fspath(path)!r}"
        )
    check_folder(path)
    return suffix


@contextmanager
def sheet(path: str | PathLike[str] | None, ax: Axes | None, size: tuple[float, float] = SIZE) -> Iterator[Axes]:
    """Axes to draw on: those given, or new ones in the style of the project; written to the path at the end."""
    suffix = None if path is None else check_path(path)
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidParameter(f"plots need matplotlib: {install_command('plot')}") from None
    with rc_context(STYLE if ax is None else None):
        if ax is None:
            figure = Figure(layout="constrained", figsize=size)
            FigureCanvasAgg(figure)  # no window and no global state
            ax = figure.add_subplot()
        yield ax
        if path is not None:
            figure_of(ax).savefig(fspath(path), format=suffix)


def figure_of(axes: Axes) -> Figure:
    """The whole figure, also where the axes lie in a part of it."""
    figure: Any = axes.figure
    found: Figure = figure.figure
    return found


def tick(axis: Axis, low: float, high: float) -> None:
    """Names that do not run into each other on a logarithmic axis from low to high."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullFormatter, StrMethodFormatter

    if high < SHORT_AXIS * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high > 10.0 * low else range(1, 10)))
        axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    else:
        axis.set_major_locator(LogLocator())
        axis.set_major_formatter(LogFormatterSciNotation())
    axis.set_minor_formatter(NullFormatter())


def png(plot: Callable[[], Figure]) -> bytes | None:
    """What a notebook shows; None without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return None
    file = BytesIO()
    plot().savefig(file, format="png")
    return file.getvalue()


def svg(plot: Callable[[], Figure]) -> str:
    """The picture as text, the same for the same numbers: without a date."""
    from matplotlib import rc_context

    file = BytesIO()
    with rc_context(STYLE):
        plot().savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue().decode("utf-8")


def draw(
    series: Sequence[Series],
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
    log: bool | None = None,
    names: tuple[str, str] = ("epsilon", "delta"),
    whole: bool = False,
) -> Figure:
    """The curves on one axis; a band runs down to the axis where its lower end is 0.

    log: a logarithmic delta axis; None leaves axes that hold something as they are. names: of both axes. whole: the
    first one has ticks at whole numbers.
    """
    if not any(item.epsilons for item in series):
        raise InvalidParameter("nothing to draw: a plot needs a curve with at least one point")
    with sheet(path, ax) as axes:
        first = not axes.has_data()
        if log is not None or first:
            axes.set_yscale("linear" if log is False else "log")
        before = len(axes.collections)
        for index, item in enumerate(series, start=before):
            if ax is not None and item.assurance:
                item = item._replace(label=", ".join(filter(None, (item.label, item.assurance))))
            _add_band(axes, item, COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)])
        _limit(axes, series, first)
        axes.set_xlabel(names[0])
        axes.set_ylabel(names[1])
        if whole:
            axes.locator_params(axis="x", integer=True)
        if ax is None:
            _name(axes, series, title)
            said = [_width_said(series, names[1].split()[0]), *(item.assurance for item in series if item.assurance)]
            figure_of(axes).supxlabel("; ".join(dict.fromkeys(said)), x=0.99, ha="right", color="#555555", fontsize=8)
        else:
            _share(axes, title)
        return figure_of(axes)


def verbatim(text: str) -> str:
    """A text of others as a label: dollar signs set no formula, and no _ in front keeps it from the legend."""
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def wrapped(text: str, width: int = TITLE_WIDTH, lines: int = 2) -> str:
    """Long expressions in a few lines."""
    return "\n".join(wrap(text, width, max_lines=lines, placeholder=" ..."))


def _add_band(axes: Axes, item: Series, colour: str, dash: Any) -> None:
    """Where delta is 0 for certain there is nothing on a logarithmic axis; a lower end of 0 lies below every limit."""
    log = axes.get_yscale() == "log"
    upper = [math.nan if log and end <= 0.0 else end for end in item.upper]
    lower = [math.nan if math.isnan(high) else low for low, high in zip(item.lower, upper, strict=True)]
    marks: Any = {"marker": "o", "markersize": 3.5} if len(item.epsilons) <= MARKED_MAX else {}
    axes.fill_between(item.epsilons, lower, upper, color=colour, alpha=0.3, linewidth=0)
    axes.plot(item.epsilons, upper, color=colour, linestyle=dash, linewidth=1.6, label=item.label, **marks)
    axes.plot(item.epsilons, lower, color=colour, linestyle=dash, linewidth=0.8)


def _limit(axes: Axes, series: Sequence[Series], first: bool) -> None:
    """The axes show all of the curves, and what they showed before."""
    ends = [end for item in series for end in (*item.lower, *item.upper)]
    if axes.get_yscale() == "log":
        low = max(min((end for end in ends if end > 0.0), default=0.1) / 2.0, 1e-307)
        high = min(1.0, 2.0 * max(*ends, low))
    else:
        low, high = 0.0, 1.05 * max(ends) or 1.0
    epsilons = [epsilon for item in series for epsilon in item.epsilons]
    left, right = min(epsilons), max(epsilons)
    if any(len(item.epsilons) <= MARKED_MAX for item in series):  # room for half a mark
        left, right = left - 0.015 * (right - left), right + 0.015 * (right - left)
    if not first:
        (low_so_far, high_so_far), (left_so_far, right_so_far) = axes.get_ylim(), axes.get_xlim()
        low, high = min(low, low_so_far), max(high, high_so_far)
        left, right = min(left, left_so_far), max(right, right_so_far)
    axes.set_ylim(low, high)
    if axes.get_yscale() == "log":
        tick(axes.yaxis, low, high)
    if left < right:
        axes.set_xlim(left, right)


def _name(axes: Axes, series: Sequence[Series], title: str) -> None:
    """One curve has its label above, several have theirs at the right."""
    axes.set_title(wrapped(title or series[0].label if len(series) == 1 else title))
    if len(series) > 1:
        _legend(axes, loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _share(axes: Axes, title: str) -> None:
    """On axes of the caller: a legend, and no words that held for one curve alone."""
    if title:
        axes.set_title(wrapped(title))
    elif axes.get_title("left") in {wrapped(str(line.get_label())) for line in axes.lines}:
        axes.set_title("", loc="left")
    width, _, rest = figure_of(axes).get_supxlabel().partition("; ")
    if width.startswith(WIDTH_SAID):
        figure_of(axes).supxlabel(rest)
    _legend(axes)


def _legend(axes: Axes, **place: Any) -> None:
    if axes.get_legend_handles_labels()[0]:
        for text in axes.legend(frameon=False, fontsize=8, handlelength=3.4, **place).get_texts():
            text.set_text(wrapped(text.get_text(), LABEL_WIDTH, lines=3))


def _width_said(series: Sequence[Series], what: str) -> str:
    """Bands narrower than a line cannot be seen, so their width is written down."""
    ends = [pair for item in series for pair in zip(item.lower, item.upper, strict=True)]
    widths = [(high - low) / high for low, high in ends if high > 0.0]
    if not widths:
        return f"{WIDTH_SAID} {what} is 0 throughout"
    return f"{WIDTH_SAID} upper and lower end differ by at most {rounded(max(widths), 1, up=True)} of {what}"
