"""Bounds of Gaussian transforms are on their side of the exact numbers, to the last digit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import acb, arb

from tests.oracle.precision import precision
from tightrope.core.losses import gaussian as ratio
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.losses.gaussian import GaussianCgf, square_bounds
from tightrope.core.mechanisms.gaussian import Gaussian
from tightrope.core.values.question import Direction

SIGMAS = [0.1, 0.3, 0.7, 1.1, 3.3, 7.0, 123.4]


@pytest.mark.parametrize("sigma", SIGMAS)
def test_bounds_of_a_square_that_is_no_double(sigma: float) -> None:
    """1/sigma^2 is no double at any of these: its ends are different, and each bound takes the right one."""
    cgf = cgf_of(Gaussian(sigma=sigma).pair(Direction.ADD))
    assert isinstance(cgf, GaussianCgf)
    square = 1 / Fraction(sigma) ** 2
    least, most = square_bounds(cgf.pair)
    assert Fraction(least) < square < Fraction(most)
    assert Fraction(cgf.cf_decay(0.5).least_square) <= square  # type: ignore[attr-defined]
    for number in (0.3, 1.7, 40.0):
        fall = -square * Fraction(number) ** 2 / 2
        assert fall <= Fraction(cgf.cf_decay(0.5).log_bound(number))
        assert fall <= Fraction(cgf.ball_cf_decay(0.5).log_bound(number))
        assert square * Fraction(number) * (1 + Fraction(number)) / 2 <= Fraction(cgf.log_mgf_above(number))


def test_an_error_that_is_known_to_a_radius_counts_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    with precision(100):
        strip = ratio._strip(arb(1), 30.0)
        monkeypatch.setattr(ratio, "_missed", lambda *arguments: arb(1e-3, 5e-4))
        found = ratio._sum(acb(0.5, 0.3), arb(1), strip, 30.0)
        assert found.real.rad() >= arb(1.5e-3)
        assert found.imag.rad() >= arb(1.5e-3)
