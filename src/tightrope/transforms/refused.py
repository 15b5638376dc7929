"""What people look for among the transformations and is not there: why, and what to do instead."""

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

SAMPLE = (
    "samples are drawn by .poisson(rate=), .without_replacement(batch=, records=), .with_replacement(batch=, records=) "
    "or .truncated_poisson(rate=, cap=, records=), those of all steps of an epoch by .random_allocation(steps=)"
)
CELLS = "cells stand beside each other, as in parallel(Gaussian(sigma=1), Laplace(scale=2))"

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "filter": FILTER,
        "odometer": FILTER,
        "repeat": FIXED,
        "best": FIXED,
        "sample": SAMPLE,
        "subsample": SAMPLE,
        "parallel": CELLS,
    }
)
