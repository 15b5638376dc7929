"""Two figures: width against time, and on which side of the truth upper ends lie, by delta."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from .table import Results, Row
from .tools.table import TOOLS
from .verdict import value_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 1e-16  # what is closer is drawn here
LINEAR = 1e-13
COLUMN = 0.84  # of the distance of two deltas, in which the tools stand beside one another
SIZE = (9.2, 6.2)
TIMES = (0.5, 1, 2, 5, 10, 20, 50, 100)
MARKERS = {
    "tightrope": "o",
    "dp-accounting": "s",
    "dp-accounting-fine": "D",
    "dp-accounting-rdp": "X",
    "prv-accountant": "^",
    "autodp": "P",
    "autodp-afa": "p",
    "opacus-rdp": "v",
    "opacus-prv": "<",
    "opacus-gdp": ">",
    "riskcal": "*",
    "PLD_accounting": "h",
}
PACKAGES = ("tightrope", "dp-accounting", "prv-accountant", "opacus", "autodp", "PLD_accounting", "riskcal")


def widths(found: Results, path: Path) -> None:
    """Every sound answer; what misses the truth has a ring."""
    with Drawing(path) as axes:
        axes.set(xscale="log", yscale="log", xlabel="seconds of the processor to the first answer, in a new process")
        axes.set_ylabel("width, or distance from the truth, relative")
        axes.set_xticks(TIMES, [str(each) for each in TIMES])
        axes.minorticks_off()
        axes.set_title("Width against time; a ring: the claimed bound misses the truth")
        for tool in TOOLS:
            rows = [row for row in found.rows if row.tool == tool and row.answers]
            scatter(axes, tool, [row.seconds for row in rows], [max(row.width, LEAST) for row in rows])
            ring(axes, [(row.seconds, max(row.width, LEAST)) for row in rows if row.missed])


def soundness(found: Results, path: Path) -> None:
    """Claimed upper ends of epsilon: above the line they are sound, below they are not; infinite ones on top."""
    rows = [row for row in found.rows if row.case.question == "epsilon" and "upper" in row.found]
    deltas = sorted({row.case.delta for row in rows}, reverse=True)
    tools = [tool for tool in TOOLS if any(row.tool == tool for row in rows)]
    with Drawing(path) as axes:
        axes.set(xlabel="delta; within each column, tools in the order of the legend")
        axes.set_yscale("symlog", linthresh=LINEAR)
        axes.set_ylabel("claimed upper end minus truth, relative")
        axes.set_title("Soundness by delta: below the line a claimed bound is false")
        axes.axhline(0.0, color="#222222", linewidth=1.0)
        axes.grid(visible=False, axis="x")
        for edge in range(len(deltas) - 1):
            axes.axvline(edge + 0.5, color="#dddddd", linewidth=0.8)
        top = 1e2
        for index, tool in enumerate(tools):
            own, beside = [row for row in rows if row.tool == tool], COLUMN * ((index + 0.5) / len(tools) - 0.5)
            places = [(deltas.index(row.case.delta) + beside, height(row, top)) for row in own]
            scatter(axes, tool, [x for x, _ in places], [y for _, y in places])
            ring(axes, [place for place, row in zip(places, own, strict=True) if row.missed])
        axes.set(xlim=(-0.5, len(deltas) - 0.5), ylim=(-10.0, 10.0 * top))
        axes.set_xticks(range(len(deltas)), [f"{delta:.0e}".replace("e-0", "e-") for delta in deltas])
        axes.set_yticks([-1e-1, -1e-4, -1e-8, -1e-12, 0.0, 1e-12, 1e-8, 1e-4, 1e-1, top])
        axes.set_yticklabels(["-1e-1", "-1e-4", "-1e-8", "-1e-12", "0", "1e-12", "1e-8", "1e-4", "1e-1", "infinite"])


def height(row: Row, top: float) -> float:
    """Signed and relative; an infinite answer is drawn on top."""
    value = value_of(row.found)
    return row.off if value is not None and math.isfinite(value) else top


def scatter(axes: Axes, tool: str, x: list[float], y: list[float]) -> None:
    """One tool: the colour of its library, a marker of its own."""
    if not x:
        return
    colours = dict(zip(PACKAGES, colour_list(), strict=False))
    axes.scatter(
        x, y, marker=MARKERS[tool], color=colours[TOOLS[tool].package], label=tool, s=20, alpha=0.8, linewidths=0
    )


def ring(axes: Axes, places: list[tuple[float, float]]) -> None:
    """Around what is false."""
    if places:
        x, y = zip(*places, strict=True)
        axes.scatter(x, y, s=130, facecolors="none", edgecolors="#c00000", linewidths=1.2)


def colour_list() -> tuple[str, ...]:
    """The style's colours, and grey."""
    from tightrope.plotting.style import COLOURS

    return (*COLOURS, "#777777")


class Drawing:
    """A figure in the style of the package, saved at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Axes:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from tightrope.plotting.style import STYLE

        self.style = rc_context(STYLE)
        self.style.__enter__()
        self.figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(self.figure)
        return self.figure.add_subplot()

    def __exit__(self, *error: object) -> None:
        self.figure.legend(loc="outside right upper", frameon=False, fontsize=9)
        self.figure.savefig(self.path)
        self.style.__exit__(None, None, None)
