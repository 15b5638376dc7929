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
BESIDE = 0.12  # tools stand this many powers of ten beside one another at one delta
SIZE = (9.2, 5.2)
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
        axes.set_title("Width against time; a ring: the claimed bound misses the truth")
        for tool in TOOLS:
            rows = [row for row in found.rows if row.tool == tool and row.answers]
            scatter(axes, tool, [row.seconds for row in rows], [max(row.width, LEAST) for row in rows])
            ring(axes, [(row.seconds, max(row.width, LEAST)) for row in rows if row.missed])


def soundness(found: Results, path: Path) -> None:
    """Claimed upper ends of epsilon: above the line they are sound, below they are not; infinite ones on top."""
    with Drawing(path) as axes:
        axes.set(xscale="log", xlabel="delta (tools stand a little beside one another)")
        axes.set_yscale("symlog", linthresh=LINEAR)
        axes.set_ylabel("claimed upper end minus truth, relative")
        axes.set_title("Soundness by delta: below the line a claimed bound is false")
        axes.axhline(0.0, color="#222222", linewidth=1.0)
        rows = [row for row in found.rows if row.case.question == "epsilon" and "upper" in row.found]
        top = 1e2
        for index, tool in enumerate(TOOLS):
            own, beside = [row for row in rows if row.tool == tool], 10.0 ** (BESIDE * (len(TOOLS) / 2 - index))
            scatter(axes, tool, [row.case.delta * beside for row in own], [height(row, top) for row in own])
            ring(axes, [(row.case.delta * beside, height(row, top)) for row in own if row.missed])
        axes.set_ylim(-10.0, 10.0 * top)
        axes.set_yticks([-1e-1, -1e-4, -1e-8, -1e-12, 0.0, 1e-12, 1e-8, 1e-4, 1e-1, top])
        axes.set_yticklabels(["-1e-1", "-1e-4", "-1e-8", "-1e-12", "0", "1e-12", "1e-8", "1e-4", "1e-1", "infinite"])
        axes.invert_xaxis()


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
        x, y, marker=MARKERS[tool], color=colours[TOOLS[tool].package], label=tool, s=30, alpha=0.8, linewidths=0
    )


def ring(axes: Axes, places: list[tuple[float, float]]) -> None:
    """Around what is false."""
    if places:
        x, y = zip(*places, strict=True)
        axes.scatter(x, y, s=130, facecolors="none", edgecolors="#c00000", linewidths=1.2)


def colour_list() -> tuple[str, ...]:
    """The style's colours, and grey."""
    from tightrope.plot import COLOURS

    return (*COLOURS, "#777777")


class Drawing:
    """A figure in the style of the package, saved at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Axes:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from tightrope.plot import STYLE

        self.style = rc_context(STYLE)
        self.style.__enter__()
        self.figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(self.figure)
        return self.figure.add_subplot()

    def __exit__(self, *error: object) -> None:
        self.figure.legend(loc="outside right upper", frameon=False, fontsize=9)
        self.figure.savefig(self.path)
        self.style.__exit__(None, None, None)
