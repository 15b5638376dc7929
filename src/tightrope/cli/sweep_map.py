"""The picture of a sweep that a command asks for: --plot x=sigma y=rate value=epsilon map.png."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import InvalidParameter
from ..extend.plots import check_path

if TYPE_CHECKING:
    from ..extend.sweeping import Plan, SweepRow

PARTS = ("x", "y", "value")
EXAMPLE = "--plot x=sigma y=rate value=epsilon map.png"


@dataclass(frozen=True, slots=True)
class WantedMap:
    """The names of the axes and of the number, and the file."""

    x: str
    y: str
    value: str
    path: str

    def draw(self, rows: Iterable[SweepRow], plan: Plan) -> None:
        """Writes the file."""
        from ..extend.sweeping import draw_map, scene_of

        scene = scene_of(rows, plan.names, self.x, self.y, self.value)
        draw_map(scene, (plan.job.ask.text, plan.job.make.text), self.path)


def wanted_map(words: Sequence[str] | None, plan: Plan) -> WantedMap | None:
    """What is to be drawn, refused before anything is asked where the grid makes no picture."""
    if not words:
        return None
    *parts, path = words
    given = dict(part.split("=", 1) for part in parts if "=" in part)
    if set(given) != set(PARTS):
        raise InvalidParameter(f"a map needs two names of the grid, a number and a file: {EXAMPLE}")
    check_path(path)
    from ..extend.sweeping import COLUMNS_SHOWN, PICTURE_ROWS_MAX, SweepRow, check_axes, scene_of

    check_axes(plan.names, given["x"], given["y"])
    if len(plan.grid) > PICTURE_ROWS_MAX:
        raise InvalidParameter(f"a picture shows {PICTURE_ROWS_MAX:,} rows at most, not {len(plan.grid):,}")
    quantity = "" if given["value"] in COLUMNS_SHOWN else given["value"]
    blank = (SweepRow(index, plan.grid[index], quantity) for index in range(len(plan.grid)))
    scene_of(blank, plan.names, **given)
    return WantedMap(**given, path=path)
