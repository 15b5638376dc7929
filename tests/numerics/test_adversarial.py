"""Enclosure at the doubles that break formulas: zeros of both signs, subnormals, neighbours of 1, ends of the range."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.core.numerics.enclosures import Enclosure, around

SIZES = (0.0, 5e-324, 1e-310, 2.0**-1022, 1e-160, 2.0**-53, 1.0 - 2.0**-53, 1.0, 1.0 + 2.0**-52)
SIZES += (1.5, 700.0, 709.78, 745.1, 1e16, 1e154, 1.7e308)
POINTS = SIZES + tuple(-size for size in SIZES)


def holds(found: Enclosure, truth: arb) -> bool:
    """Whether the interval meets the ball of the truth, which is far narrower than any double can tell."""
    low, high = float(found.lower), float(found.upper)
    below = low == -math.inf or arb(low) <= truth.upper()
    above = high == math.inf or arb(high) >= truth.lower()
    return low <= high and bool(below) and bool(above)


def test_arithmetic() -> None:
    with precision(300), np.errstate(all="ignore"):
        for a, b in product(POINTS, POINTS):
            for r, s in ((0.0, 0.0), (abs(a) * 1e-12, abs(b) * 0.3), (5e-324, 1e-310)):
                one, other = around(a, r), around(b, s)
                for way, turn in ((1, 1), (-1, 1), (0, -1)):
                    x, y = arb(a) + way * arb(r), arb(b) + turn * arb(s)
                    assert holds(one + other, x + y), (a, b, r, s)
                    assert holds(one - other, x - y), (a, b, r, s)
                    assert holds(one * other, x * y), (a, b, r, s)
                    if abs(arb(b)) > arb(s):
                        assert holds(one / other, x / y), (a, b, r, s)


FUNCTIONS: dict[str, tuple[Callable[[Enclosure], Enclosure], Callable[[arb], arb], float, float]] = {
    "exp": (Enclosure.exp, arb.exp, -1e6, 1e6),
    "expm1": (Enclosure.expm1, arb.expm1, -1e6, 1e6),
    "log": (Enclosure.log, arb.log, 5e-324, math.inf),
    "log1p": (Enclosure.log1p, arb.log1p, -1.0 + 2.0**-53, math.inf),
    "sqrt": (Enclosure.sqrt, arb.sqrt, 0.0, math.inf),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    computed, truth, least, most = FUNCTIONS[name]
    with precision(300), np.errstate(all="ignore"):
        for a in POINTS:
            for radius in (0.0, 5e-324, 1e-320, abs(a) * 1e-15, abs(a) * 1e-3, 0.4):
                found = computed(around(a, radius))
                for way in (-1, 0, 1):
                    x = arb(a) + way * arb(radius)
                    if least <= x <= most:
                        assert holds(found, truth(x)), (a, radius)
