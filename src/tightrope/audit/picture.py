"""p against epsilon, with the line at the level and the largest epsilon that is refuted."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from ..errors import InvalidParameter
from ..plot import COLOURS, figure_of, sheet
from .result import AuditResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P_POINTS = 60


def draw(found: AuditResult, path: str | PathLike[str] | None = None, ax: Axes | None = None) -> Figure:
    """Upper ends of p at epsilons from 0 to twice what is refuted."""
    if found.delta is None or found.epsilon_lower is None:
        raise InvalidParameter("the picture is of p against epsilon: audit with delta, and a design with a coin")
    last = max(2.0 * found.epsilon_lower, 1.0)
    epsilons = [last * index / P_POINTS for index in range(P_POINTS + 1)]
    values = [found.p_at(epsilon) for epsilon in epsilons]
    with sheet(path, ax) as axes:
        axes.semilogy(epsilons, [max(value, 1e-12) for value in values], color=COLOURS[0])
        axes.axhline(1.0 - found.level, color=COLOURS[1], linestyle="--")
        axes.axvline(found.epsilon_lower, color=COLOURS[2], linestyle=":")
        axes.set_xlabel(f"epsilon, at delta {found.delta:g}")
        axes.set_ylabel("p of what was seen, at most")
        axes.set_title(found.sentences[0].split(":")[0])
        return figure_of(axes)
