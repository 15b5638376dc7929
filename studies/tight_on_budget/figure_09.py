"""Figure 9: squaring."""

from __future__ import annotations

import math
from collections.abc import Callable

from studies.figure import Figure, Panel
from studies.tight_on_budget.lists import SAID, N, bars, panel, small
from tightrope import BucketList


def figure() -> Figure:
    """Buckets 2i - 1 and 2i become bucket i."""
    found = small()
    half = found.squared()
    return Figure(
        "figure-09",
        "Squaring",
        f"Gaussian noise of sigma 1, n = {N}. Squaring takes the factor from {found.factor:g} to {half.factor:g}: "
        "buckets 2i - 1 and 2i become bucket i (one colour before and after), infinity stays as it is, and the outer "
        f"half of the list is free for the next composition. u goes from {found.u} to {half.u}. {SAID}",
        [
            _panel(f"factor {found.factor:g}", found, lambda index: math.ceil(index / 2)),
            _panel(f"factor {half.factor:g}", half, lambda index: int(index)),
        ],
    )


def _panel(title: str, found: BucketList, after: Callable[[float], int]) -> Panel:
    """A colour for every bucket that there will be."""

    def becomes(group: int) -> Callable[[float], bool]:
        return lambda index: index < math.inf and after(index) == group

    groups = [bars(f"bucket {i} after", found, chosen=becomes(i)) for i in range(-N // 2, N // 2 + 1)]
    return panel(title, *groups, bars("infinity", found, chosen=lambda index: index == math.inf))
