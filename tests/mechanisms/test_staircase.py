from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tests.oracle.staircase import Staircase


def density(x: float, epsilon: float, gamma: float) -> float:
    top = -math.expm1(-epsilon) / (2.0 * (gamma + math.exp(-epsilon) * (1.0 - gamma)))
    return top * math.exp(-epsilon * math.floor(abs(x) + 1.0 - gamma))


def told(shift: float, epsilon: float, gamma: float) -> float:
    """P[loss > 0] of this shift: the sum over the cells on which both densities are constant."""
    steps = [sign * (k + gamma) for k in range(int(40.0 / epsilon)) for sign in (-1.0, 1.0)]
    cells = pairwise(sorted([*steps, *(step + shift for step in steps)]))
    heights = [((left + right) / 2.0, right - left) for left, right in cells]
    return math.fsum(
        width * density(x, epsilon, gamma)
        for x, width in heights
        if density(x, epsilon, gamma) > density(x - shift, epsilon, gamma)
    )


@pytest.mark.parametrize("gamma", [0.05, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_smaller_shifts_tell_less(epsilon: float, gamma: float) -> None:
    found = [told(k / 16.0, epsilon, gamma) for k in range(17)]
    assert all(less < more for less, more in pairwise(found))
    outputs = Staircase(epsilon, gamma).outputs()
    assert found[-1] == pytest.approx(sum(float(each.p) for each in outputs if each.ratio.exponent > 0), rel=1e-9)
