"""Sums over nodes: what a point or an angle that is known up to a radius adds to their errors."""

from __future__ import annotations

import numpy as np
import pytest

from tightrope.core.numerics.contour_sum import NodeSpectrum, bell, contour_sum, smooth
from tightrope.core.numerics.enclosures import enclosing, exact


@pytest.mark.parametrize("radius", [1e-12, 1e-6, 1e-3])
def test_a_point_within_a_radius(radius: float) -> None:
    """The sum at either end of an enclosed point lies within the errors of the sum around it."""
    times = 0.05 * np.arange(200, dtype=np.float64)
    spectrum = NodeSpectrum(times, 0.05, exact(0.25), bell(exact(1.0), times))
    kernel = smooth(1.5, times)
    found = contour_sum(spectrum, kernel, enclosing(1.0 - radius, 1.0 + radius))
    claimed = found.quadrature + found.rounding
    for end in (1.0 - radius, 1.0 + radius):
        there = contour_sum(spectrum, kernel, exact(end))
        assert abs(there.value - found.value) <= claimed
        assert there.rounding < claimed
