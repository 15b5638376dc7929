"""What people look for among the transformations and does not hold, or is not proven: why, and what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FILTER = (
    "a filter stops a run whose parts are chosen as it goes, and no filter on privacy-loss distributions is proven; "
    "fix the run in advance, or add up Renyi or zCDP bounds (RenyiCurve, ZCDP)"
)
FIXED = (
    "the best of a fixed number of runs is no better than all of them together: write mechanism * runs, or draw the "
    "number of runs at random, as in .best_of(law='geometric', mean=5)"
)

REFUSED: Mapping[str, str] = MappingProxyType({"filter": FILTER, "odometer": FILTER, "repeat": FIXED, "best": FIXED})
