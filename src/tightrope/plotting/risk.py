"""The attacker against one who guesses: correct accusations at every rate of wrong ones, and at small rates."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from ..core.values.calls import rounded
from .style import COLOURS, WIDTH_SAID, figure_of, sheet, tick, verbatim, wrapped

if TYPE_CHECKING:
    from .style import Axes, Figure
    from .tradeoff import Rates

PANELS_SIZE = (9.6, 4.9)
SMALLEST_SHOWN = 1e-4  # of the panel of small rates, unless a smaller one is asked for
PER_DECADE = 4  # rates where they are small
EVEN_RATES = 20  # of all, from 0 to 1
NARROW_PANEL = 34  # characters of an axis of one panel alone
LABEL_LEFT = 0.02  # a mark further to the right has its label at the left


class MarkedRate(NamedTuple):
    """The rate that was asked for, the chance at most of a correct accusation there, and how a sentence writes it."""

    rate: float
    most: float
    words: str


def rates(asked: float) -> list[float]:
    """Rates for both panels, the asked one among them."""
    values, small = {0.0, 1.0, asked}, _least(asked)
    values.update(index / EVEN_RATES for index in range(EVEN_RATES))
    while small < 1.0 / EVEN_RATES:
        values.add(small)
        small *= 10.0 ** (1.0 / PER_DECADE)
    return sorted(values)


def draw(
    curve: Rates,
    marked: MarkedRate,
    axis_names: tuple[str, str],
    title: str,
    path: str | PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """All rates at the left, small ones at the right; on axes of the caller the small ones only."""
    with sheet(path, ax, PANELS_SIZE) as axes:
        figure = figure_of(axes)
        panels = [(axes, True)]
        if ax is None:
            grid = figure.add_gridspec(1, 2)
            axes.set_subplotspec(grid[0])
            panels = [(axes, False), (figure.add_subplot(grid[1]), True)]
        for panel, log in panels:
            _panel(panel, curve, marked, log)
            panel.set_xlabel(axis_names[0])
            panel.set_ylabel(axis_names[1])
        panels[0][0].legend(frameon=False, fontsize=8, loc="lower right")
        if ax is None:
            figure.suptitle(wrapped(verbatim(title)), x=0.01, ha="left", fontsize=10)
            figure.supxlabel(_said(curve), x=0.99, ha="right", color="#555555", fontsize=8)
        return figure


def one_panel(curve: Rates, marked: MarkedRate, axis_names: tuple[str, str], log: bool) -> Figure:
    """One of both: small rates, or all."""
    with sheet(None, None) as axes:
        _panel(axes, curve, marked, log)
        axes.set_xlabel(wrapped(axis_names[0], NARROW_PANEL))
        axes.set_ylabel(wrapped(axis_names[1], NARROW_PANEL))
        axes.legend(frameon=False, fontsize=8, loc="lower right")
        figure_of(axes).supxlabel(_said(curve))
        return figure_of(axes)


def _said(curve: Rates) -> str:
    """How far both ends lie apart, and how sure they are."""
    width = rounded(curve.width, 1, up=True)
    words = f"{WIDTH_SAID} at the rates asked for both ends differ by at most {width}"
    return "; ".join(filter(None, [words, curve.assurance]))


def _panel(axes: Axes, curve: Rates, marked: MarkedRate, log: bool) -> None:
    """The upper end is what no attacker exceeds; the shade between is what the release adds to guessing."""
    least = _least(marked.rate) if log else 0.0
    if log:
        axes.set_xscale("log")
        axes.set_yscale("log")
    shown = [(place, 1.0 - end) for place, end in zip(curve.places, curve.lower, strict=True) if place >= least]
    places, most = [place for place, _ in shown], [end for _, end in shown]
    axes.fill_between(places, places, most, color=COLOURS[0], alpha=0.12, linewidth=0, label="what the release adds")
    axes.plot(places, most, color=COLOURS[0], linewidth=1.8, label="the best attacker, at most")
    axes.plot((least, 1.0), (least, 1.0), color="#777777", linewidth=1.0, linestyle=(0, (2, 2)), label="guessing")
    axes.set_xlim(least, 1.0)
    axes.set_ylim(least, 1.0 if log else 1.02)
    if log:
        tick(axes.xaxis, least, 1.0)
        tick(axes.yaxis, least, 1.0)
    if marked.rate >= least and marked.rate > 0.0 and log:
        axes.plot([marked.rate], [marked.most], "o", color=COLOURS[1], markersize=6, zorder=5)
        axes.vlines([marked.rate], least, marked.most, color=COLOURS[1], linewidth=0.9, linestyle=":")
        right = marked.rate > LABEL_LEFT  # there is room above the curve; else below it, where lines may run
        axes.annotate(
            marked.words,
            (marked.rate, marked.most),
            (-7, 5) if right else (9, -6),
            textcoords="offset points",
            ha="right" if right else "left",
            va="bottom" if right else "top",
            fontsize=8,
            color=COLOURS[1],
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
        )


def _least(asked: float) -> float:
    """The first rate of the panel of small ones."""
    return min(SMALLEST_SHOWN, asked / 10.0) if asked > 0.0 else SMALLEST_SHOWN
