"""A bucket list as a picture: what lies in each bucket, and what its label misses."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ..plot import COLOURS, figure_of, sheet, verbatim, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .value import BucketList

BARS_MOST = 200  # more buckets are drawn as one step line
BAR_SHOWN = 1e-4  # of the heaviest bucket: what is less does not widen a linear picture
LEAST = 1e-18  # on a logarithmic axis: rounding is about there


def draw_list(found: BucketList, path: str | PathLike[str] | None, ax: Axes | None, log: bool) -> Figure:
    """B as bars, certain and possible; l, l~ and B(infinity), which follows the last bar, by their upper ends."""
    masses, step = found.masses, found.made.step
    heavy = masses.upper >= (LEAST if log else BAR_SHOWN * float(np.max(masses.upper, initial=0.0)))
    shown = np.flatnonzero(heavy & (masses.upper > 0.0))
    first, last = (int(shown[0]), int(shown[-1])) if len(shown) else (found.n, found.n)
    part = slice(first, last + 1)
    right, left = found.losses[part], found.losses[part] - step
    with sheet(path, ax) as axes:
        if log:
            certain = masses.lower[masses.lower > LEAST]
            axes.set_yscale("log")
            axes.set_ylim(float(np.min(certain, initial=1.0)) / 2.0, 2.0 * float(np.max(masses.upper)) + LEAST)
        edges = {"edgecolor": "white", "linewidth": 0.4} if len(right) <= BARS_MOST else {"linewidth": 0.0}
        low, high = masses.lower[part], masses.upper[part]
        axes.bar(left, low, step, align="edge", color=COLOURS[0], alpha=0.75, label="B", **edges)
        axes.bar(left, high - low, step, bottom=low, align="edge", color=COLOURS[0], alpha=0.2, linewidth=0.0)
        for name, terms, colour, width in (
            ("l~, virtual error", found.virtual_error, COLOURS[1], 2.6),
            ("l, real error", found.real_error, COLOURS[2], 1.2),
        ):
            # What may be 0 has no place on a logarithmic axis.
            values = np.where((terms.lower > 0.0) | (not log), terms.upper, np.nan)[part]
            axes.step(
                [*left, right[-1]], [*values, values[-1]], where="post", color=colour, linewidth=width, label=name
            )
        infinity = found.infinity.upper
        if infinity > (LEAST if log else 0.0):
            width = max(step, 0.02 * float(right[-1] - left[0]))
            axes.bar(float(right[-1]) + width, infinity, width, align="edge", color=COLOURS[3], label="B(infinity)")
        axes.set_xlabel("loss, in buckets of log f")
        axes.set_ylabel("mass; light: between both ends" if log else "mass")
        axes.legend(frameon=False, fontsize=8)
        if ax is None:
            axes.set_title(wrapped(f"{verbatim(found.tree)}: factor {found.factor:.6g}, u = {found.u}"))
        return figure_of(axes)
