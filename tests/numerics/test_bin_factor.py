"""The product of combinations of two transforms, against the product itself in balls."""

from __future__ import annotations

import numpy as np
import pytest
from flint import acb, arb, ctx

from tightrope.core.numerics.contour_sum import Shares, pooled, shifted
from tightrope.core.numerics.enclosures import exact
from tightrope.core.numerics.quadrature import Transform

TIMES = np.array([0.0, 0.5, 3.0, 40.0])
LOW = np.array([0.0, -0.01 + 0.02j, -0.3 + 0.1j, -0.8 - 0.05j])
HIGH = LOW + np.array([0.0, 1e-4j, -2e-3 + 1e-3j, 1e-3])


def made(deviation: np.ndarray, quadrature: float, rounding: float) -> Transform:
    size = len(deviation)
    return Transform(deviation, np.full(size, quadrature), np.full(size, rounding))


@pytest.mark.parametrize("weights", [((0.0, 2), (0.25, 3), (1.0, 1)), ((1.0, 5), (1.5, 400), (2.25, 7))])
@pytest.mark.parametrize("off", [0.0, 1e-9])
def test_the_product_is_within_its_radii(weights: tuple[tuple[float, int], ...], off: float) -> None:
    rise, lead = 0.004, -0.0003
    found = pooled(made(LOW, off, 0.0), made(HIGH, 0.0, off), exact(rise), exact(lead), TIMES, Shares.of(weights))
    assert found is not None
    found = shifted(found, exact(0.125))
    before = ctx.prec
    ctx.prec = 200
    try:
        for index, time in enumerate(TIMES):
            low, high = acb(complex(1.0)) + acb(LOW[index]) - off, acb(complex(1.0)) + acb(HIGH[index]) + off
            turned = high * acb(arb(rise), arb(lead) * arb(float(time))).exp()
            truth = acb(-0.125).exp()
            for weight, count in weights:
                truth *= (low + arb(weight) * (turned - low)) ** count
            near = acb(arb(float(found.log_modulus[index])), arb(float(found.phase[index]))).exp()
            spread = arb(float(found.quadrature[index])) + arb(float(found.rounding[index]))
            room = arb(float(found.reach[index])).exp() * -(-spread).expm1()
            assert abs(near - truth) <= room
            assert abs(truth) <= arb(float(found.reach[index])).exp()
            uses = sum(count for _, count in weights)
            assert spread < uses * (1e-12 + 20 * off / abs(1 + LOW[index]))
    finally:
        ctx.prec = before


def test_what_may_not_converge_is_refused() -> None:
    low, high, nothing = made(LOW, 0.0, 0.0), made(HIGH, 0.0, 0.0), exact(0.0)
    assert pooled(low, high, nothing, nothing, TIMES, Shares.of([(1.0, 1)])) is not None
    assert pooled(low, high, nothing, nothing, TIMES, Shares.of([(110.0, 1)])) is None
    assert pooled(made(LOW, 0.01, 0.0), high, nothing, nothing, TIMES, Shares.of([(1.0, 1)])) is None
    assert pooled(low, high, exact(2.0), nothing, TIMES, Shares.of([(1.0, 1)])) is None
    assert pooled(low, high, nothing, exact(1e9), TIMES, Shares.of([(1.0, 1)])) is None
