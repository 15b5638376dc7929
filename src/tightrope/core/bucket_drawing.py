"""A bucket list as a picture: what lies in each bucket, and what its label misses."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ..plotting.style import COLOURS, figure_of, sheet, verbatim, wrapped
from .values.calls import shortened

if TYPE_CHECKING:
    from ..plotting.style import Axes, Figure
    from .buckets import BucketList


BARS_MAX = 200  # more buckets are drawn as one step line
BAR_SHOWN = 1e-4  # of the heaviest bucket: what is less does not widen a linear picture
HEADROOM = 0.08  # above the highest bar
INFINITY_SHOWN = 2e-3  # of the highest bar: less of B(infinity) cannot be seen
LEAST = 1e-18  # on a logarithmic axis: rounding is about there


def draw_list(bucket_list: BucketList, path: str | PathLike[str] | None, ax: Axes | None, log: bool) -> Figure:
    """B as bars, certain and possible; l, l~ and B(infinity), which follows the last bar, by their upper ends."""
    masses, step = bucket_list.masses, bucket_list.made.step
    highest, certain = float(np.max(masses.upper, initial=0.0)), masses.lower[masses.lower > LEAST]
    bottom = float(np.min(certain, initial=1.0)) / 2.0
    heavy = masses.upper >= (bottom if log else BAR_SHOWN * highest)
    shown = np.flatnonzero(heavy & (masses.upper > 0.0))
    first, last = (int(shown[0]), int(shown[-1])) if len(shown) else (bucket_list.n, bucket_list.n)
    part = slice(first, last + 1)
    right, left = bucket_list.losses[part], bucket_list.losses[part] - step
    with sheet(path, ax) as axes:
        if log:
            axes.set_yscale("log")
            axes.set_ylim(bottom, 2.0 * highest + LEAST)
        edges = {"edgecolor": "white", "linewidth": 0.4} if len(right) <= BARS_MAX else {"linewidth": 0.0}
        low, high = masses.lower[part], masses.upper[part]
        axes.bar(left, low, step, align="edge", color=COLOURS[0], alpha=0.75, label="B", **edges)
        light = axes.bar(left, high - low, step, bottom=low, align="edge", color=COLOURS[0], alpha=0.2, linewidth=0.0)
        for each in light:
            each.sticky_edges.y.clear()  # else the picture would end at the highest bar
        for name, terms, colour, dash in (
            ("l~, virtual error", bucket_list.virtual_error, COLOURS[1], "-"),
            ("l, real error", bucket_list.real_error, COLOURS[2], (0, (4, 3))),  # dashed: mostly it lies on l~
        ):
            # What may be 0 has no place on a logarithmic axis.
            values = np.where((terms.lower > 0.0) | (not log), terms.upper, np.nan)[part]
            places, heights = [*left, right[-1]], [*values, values[-1]]
            axes.step(places, heights, where="post", color=colour, linewidth=1.6, linestyle=dash, label=name)
        if not log:
            axes.margins(y=HEADROOM)
        infinity = bucket_list.infinity.upper
        if infinity > (bottom if log else INFINITY_SHOWN * highest):
            width = max(step, 0.02 * float(right[-1] - left[0]))
            axes.bar(float(right[-1]) + width, infinity, width, align="edge", color=COLOURS[3], label="B(infinity)")
        axes.set_xlabel("privacy loss (one bucket is log f wide)")
        axes.set_ylabel("mass; light: between both ends" if log else "mass")
        axes.legend(frameon=False, fontsize=8)
        if ax is None:
            uses, parts = f"{bucket_list.uses:,} use{'s' if bucket_list.uses > 1 else ''}", bucket_list.run.terms
            of = verbatim(shortened((parts[0][0] if len(parts) == 1 else bucket_list.run).label))
            axes.set_title(wrapped(f"{uses} of {of}: factor {bucket_list.factor:.6g}, u = {bucket_list.u}"))
        return figure_of(axes)
