"""Trade-offs as pictures: the attacker beside one who guesses, over all rates and, logarithmic, over small ones."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.values.calls import rounded
from ..core.values.errors import InvalidParameter
from .style import COLOURS, DASHES, LABEL_WIDTH, MARKED_MAX, SIZE, WIDTH_SAID, figure_of, sheet, tick, wrapped

if TYPE_CHECKING:
    from .style import Axes, Figure

WIDE_SIZE = (9.6, 4.6)
ATTACKER, GUESSING = "the best attacker", "guessing"
SMALL_RATE = 1e-3  # a logarithmic axis starts here at the latest


class Rates(NamedTuple):
    """One trade-off: both ends of the false negative rate at many places, and the rates that were asked for."""

    label: str
    places: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    asked: Sequence[float]
    width: float  # the largest at a rate that was asked for
    assurance: str = ""  # how sure they are, where they rest on draws


def draw(
    series: Sequence[Rates],
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
    log: bool | None = None,
) -> Figure:
    """Both pictures, or one: log says which, and on axes of the caller it is the first without."""
    if not any(item.places for item in series):
        raise InvalidParameter("nothing to draw: a plot needs a trade-off with at least one rate")
    both = ax is None and log is None
    with sheet(path, ax, WIDE_SIZE if both else SIZE) as axes:
        figure = figure_of(axes)
        words = wrapped(title or (series[0].label if len(series) == 1 else ""))
        if ax is None and len(series) == 1:
            series = [series[0]._replace(label=ATTACKER)]
        if both:
            grid = figure.add_gridspec(1, 2)
            axes.set_subplotspec(grid[0])
            _found(figure.add_subplot(grid[1]), series)
        (_found if log else _missed)(axes, series)
        _legend(axes, "lower right" if log else "upper right")
        if both:
            figure.suptitle(words, x=0.01, ha="left", fontsize=10)
        elif ax is None or title:
            axes.set_title(words)
        if ax is None:
            said = [_width_said(series), *(item.assurance for item in series if item.assurance)]
            figure.supxlabel("; ".join(dict.fromkeys(said)), x=0.99, ha="right", color="#555555", fontsize=8)
        return figure


def _missed(axes: Axes, series: Sequence[Rates]) -> None:
    """False negatives against false positives; the lower end is what an attacker cannot get below."""
    for index, item in enumerate(series, start=len(axes.collections)):
        _add(axes, index, item, (item.places, item.lower, item.upper))
    _guess(axes, (0.0, 1.0), (1.0, 0.0))
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("false negative rate")


def _found(axes: Axes, series: Sequence[Rates]) -> None:
    """True positives against false positives, both logarithmic; the upper end is what an attacker cannot exceed."""
    least = min((rate for item in series for rate in item.asked if rate > 0.0), default=SMALL_RATE)
    least = min(least, SMALL_RATE, axes.get_xlim()[0] if axes.has_data() else SMALL_RATE)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for index, item in enumerate(series, start=len(axes.collections)):
        shown = [place > 0.0 for place in item.places]
        places = [place for place, show in zip(item.places, shown, strict=True) if show]
        upper, lower = (
            [max(1.0 - end, least / 2.0) for end, show in zip(ends, shown, strict=True) if show]
            for ends in (item.lower, item.upper)
        )
        _add(axes, index, item, (places, upper, lower))
    _guess(axes, (least, 1.0), (least, 1.0))
    axes.set_xlim(least, 1.0)
    axes.set_ylim(least, 1.0)
    tick(axes.xaxis, least, 1.0)
    tick(axes.yaxis, least, 1.0)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")


def _add(axes: Axes, index: int, item: Rates, ends: tuple[Sequence[float], Sequence[float], Sequence[float]]) -> None:
    """The safe end as a line, the other one thinner, and what lies between; few rates are marked."""
    places, safe, other = ends
    colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
    label = ", ".join(filter(None, (item.label or ATTACKER, item.assurance)))
    axes.fill_between(places, safe, other, color=colour, alpha=0.3, linewidth=0)
    axes.plot(places, safe, color=colour, linestyle=dash, linewidth=1.6, label=label)
    axes.plot(places, other, color=colour, linestyle=dash, linewidth=0.8)
    if len(item.asked) <= MARKED_MAX:
        height = dict(zip(places, safe, strict=True))
        marked = [rate for rate in item.asked if rate in height]
        axes.plot(marked, [height[rate] for rate in marked], "o", color=colour, markersize=3.5)


def _guess(axes: Axes, rates: tuple[float, float], ends: tuple[float, float]) -> None:
    """The attacker who does not look at the output."""
    for line in axes.lines:
        if line.get_label() == GUESSING:
            line.remove()
    axes.plot(rates, ends, color="#777777", linewidth=1.0, linestyle=(0, (2, 2)), label=GUESSING)


def _legend(axes: Axes, place: Any) -> None:
    for text in axes.legend(frameon=False, fontsize=8, handlelength=3.4, loc=place).get_texts():
        text.set_text(wrapped(text.get_text(), LABEL_WIDTH, lines=3))


def _width_said(series: Sequence[Rates]) -> str:
    """Bands narrower than a line cannot be seen, so their width is written down."""
    width = max(item.width for item in series)
    return f"{WIDTH_SAID} at the rates asked for both ends differ by at most {rounded(width, 1, up=True)}"
