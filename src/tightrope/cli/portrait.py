"""A mechanism in one picture: its profile beside its trade-off, one use and several, or the base and what it became."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from .. import Curve, Leaf, Mechanism, draw_tradeoffs
from ..extend.mechanisms import Parallel, Transformation
from ..extend.plots import figure_of, sheet, tick, verbatim, wrapped
from ..extend.questions import SECONDS

if TYPE_CHECKING:
    from ..extend.plots import Axes, Figure

SHOWN_USES = 10  # beside one, where the example has no other count
GRID = 32  # cells of each of two grids: as far as the curve falls, and as far as the widest does
DELTAS_SHOWN = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)  # the first whose epsilon is finite ends the curve
EPSILON_SHOWN = 4.0  # where none is
LEAST_SHOWN = min(DELTAS_SHOWN)
SHOWN_BEYOND = 1.25  # where infinite losses keep delta up: how far that is shown
PORTRAIT_SIZE = (9.6, 4.2)
LEGEND_WIDTH, LEGEND_HANDLE = 120, 10  # in letters


def lines(made: Mechanism) -> list[Mechanism]:
    """What is drawn for an example: what it is made of, one use of it, and all of it."""
    first = made.parts[0][0]
    inner: Sequence[Mechanism] = ()
    if isinstance(first, Transformation):
        inner = (first.base,)
    elif isinstance(first, Parallel):
        inner = first.cells
    elif len(made.parts) > 1:
        inner = [part for part, _ in made.parts]
    elif made is first and isinstance(first, Leaf):
        made = first * SHOWN_USES
    return list(dict.fromkeys((*inner, first, made)))


def draw(
    shown: Sequence[Mechanism], path: str | PathLike[str] | None = None, *, title: str = "", seconds: float = SECONDS
) -> Figure:
    """Both panels: delta over epsilon, logarithmic, and what the best attacker misses beside one who guesses.

    seconds: for each curve.
    """
    with sheet(path, None, PORTRAIT_SIZE) as axes:  # before anything is asked: without matplotlib there is no picture
        reaches, ends = zip(*map(_reach, shown), strict=True)
        widest = max(ends)
        figure = figure_of(axes)
        grid = figure.add_gridspec(1, 2)
        axes.set_subplotspec(grid[0])
        beside = figure.add_subplot(grid[1])
        least = 1.0
        for mechanism, reach in zip(shown, reaches, strict=True):
            label, curve = verbatim(str(mechanism)), _profile(mechanism, reach, widest, seconds)
            least = min([least, *(bound.upper / 2.0 for bound in curve.bounds if bound.upper > 0.0)])
            curve.plot(label=label, ax=axes)
            draw_tradeoffs({label: mechanism.tradeoff_curve(seconds=seconds)}, ax=beside)
        axes.set_xlim(0.0, 1.02 * widest)
        axes.set_ylim(max(least, LEAST_SHOWN), 1.0)
        tick(axes.yaxis, max(least, LEAST_SHOWN), 1.0)
        figure.suptitle(wrapped(title), x=0.01, ha="left", fontsize=10)
        _name(figure, (axes, beside))
        return figure


def _name(figure: Figure, panels: tuple[Axes, Axes]) -> None:
    """One legend for both panels, beneath them."""
    handles, labels = panels[1].get_legend_handles_labels()
    for panel in panels:
        legend = panel.get_legend()
        if legend is not None:
            legend.remove()
    columns = max(1, LEGEND_WIDTH // (max(map(len, labels)) + LEGEND_HANDLE))
    figure.legend(
        handles,
        [wrapped(label, LEGEND_WIDTH) for label in labels],
        loc="outside lower center",
        ncols=min(columns, len(labels)),
        frameon=False,
        fontsize=8,
        handlelength=3.4,
    )


def _reach(mechanism: Mechanism) -> tuple[float, float]:
    """The epsilon to which a curve falls, and to which it is drawn: further where it stays above the least delta."""
    for delta in DELTAS_SHOWN:
        reach = mechanism.epsilon(delta=delta).upper
        if 0.0 < reach < math.inf:
            return reach, reach if delta == LEAST_SHOWN else SHOWN_BEYOND * reach
    return EPSILON_SHOWN, EPSILON_SHOWN


def _profile(mechanism: Mechanism, reach: float, widest: float, seconds: float) -> Curve:
    """As far as it falls on a grid of its own, closer where it may fall off a cliff, from there on with the widest."""
    places = {widest * index / GRID for index in range(GRID + 1)}
    places |= {reach * (1.0 - (index / GRID) ** 3) for index in range(GRID + 1)}
    return mechanism.curve(epsilons=sorted(places), seconds=seconds)
