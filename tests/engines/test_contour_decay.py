"""The decay bound is a bound for every t beyond the radius, and of use."""

from __future__ import annotations

import pytest
from flint import acb, arb

from tightrope.kernels.ball import working_precision
from tightrope.kernels.contour_decay_ball import ball_decay
from tightrope.kernels.contour_decay_float import decay

from . import contour_truth

CASES = [
    (1.0, 0.01, 1, 5.0, 5.0),
    (1.0, 0.01, 1, 5.0, 40.0),
    (1.0, 0.01, -1, 7.0, 20.0),
    (4.0, 0.01, 1, 10.0, 50.0),
    (0.6, 1e-4, 1, 3.0, 10.0),
    (0.6, 1e-4, -1, 3.0, 10.0),
    (2.0, 0.5, 1, 0.5, 3.0),
    (1.0, 0.5, -1, 30.0, 10.0),
    (0.5, 0.9, 1, 1.0, 0.5),
    (13.9, 6.4e-5, -1, 5400.0, 7000.0),
    (1.23, 0.011, -1, 1.23e4, 2e4),
    (0.51, 0.0047, -1, 3.65e4, 1e5),
]


@pytest.mark.parametrize(("sigma", "rate", "sign", "tilt", "radius"), CASES)
def test_bound(sigma: float, rate: float, sign: int, tilt: float, radius: float) -> None:
    power = 1.0 + tilt if sign > 0 else -tilt
    cells = decay(1.0 / sigma, rate, power)
    assert cells is not None
    bound = cells.log_bound(radius)
    with working_precision(128):
        proven = ball_decay(1 / arb(sigma), rate, power)
        assert proven is not None
        sharp = proven.log_bound(radius)
        start = contour_truth.sampled_normal(sigma, rate, sign, acb(tilt))
        for factor in (1.0, 1.03, 1.4, 2.3, 7.0):
            at = contour_truth.sampled_normal(sigma, rate, sign, acb(tilt, radius * factor))
            true = (abs(at) / start.real).log()
            assert true < arb(sharp), f"|phi| exceeds the bound {sharp} at {factor} R"
            assert true < arb(bound)
            if factor == 1.0:
                assert arb(bound) < true / 3, "less than a third of the true exponent"
    # float64 moves every mass and exponent to its safe side, so it is the wider one, and close.
    assert sharp <= bound * (1.0 - 1e-6)


def test_nothing_is_claimed_where_phi_stays() -> None:
    """At a tiny radius |phi| is nearly 1 and the bound may not be below it."""
    cells = decay(1.0, 0.01, 6.0)
    assert cells is not None
    with working_precision(128):
        start = contour_truth.sampled_normal(1.0, 0.01, 1, acb(5.0))
        at = contour_truth.sampled_normal(1.0, 0.01, 1, acb(5.0, 2.0**-10))
        assert (abs(at) / start.real).log() < arb(cells.log_bound(2.0**-10))
