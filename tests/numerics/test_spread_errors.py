"""Errors that factors of a convolution bring: the truth at the edge of every one lies within what is carried on."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.core.numerics.convolution import Transformed, TreeFactor, _propagated, carried
from tightrope.core.numerics.enclosures import exact
from tightrope.core.numerics.mixture import unmixed_enclosure

LENGTH = 16
DICE = np.random.default_rng(7)
MASSES = [DICE.random(size) / size for size in (3, 4, 5)]
COUNTS = [(1, 1, 1), (1, 2, 1), (3, 1, 2), (2, 2, 2), (1, 1, 5)]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_errors_of_one_transform_in_a_product(counts: tuple[int, ...], at: int) -> None:
    """Every frequency of one factor is off by its error: the product is off by no more than is said, over all."""
    errors = [1e-6 if index == at else 0.0 for index in range(3)]
    plain = [np.fft.rfft(masses, LENGTH) for masses in MASSES]
    given = [
        Transformed(values, error, float(masses.sum()) + 1e-6, LENGTH)
        for values, error, masses in zip(plain, errors, MASSES, strict=True)
    ]
    moved = [values * (1.0 + error / np.abs(values)) for values, error in zip(plain, errors, strict=True)]
    off = abs(_power(moved, counts) - _power(plain, counts))
    whole = 2.0 * off.sum() - off[0] - off[LENGTH // 2]
    found = _propagated(list(zip(given, counts, strict=True)))
    assert whole <= found
    assert found <= 5.0 * whole


def _power(values: list[np.ndarray], counts: tuple[int, ...]) -> np.ndarray:
    return np.prod([each**count for each, count in zip(values, counts, strict=True)], axis=0)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("radii", [(1e-5, 0.0, 0.0), (0.0, 0.0, 1e-5), (1e-5, 1e-6, 1e-5)])
def test_radii_of_factors(counts: tuple[int, ...], radii: tuple[float, ...]) -> None:
    factors = [TreeFactor(*each) for each in zip(MASSES, counts, radii, strict=True)]
    plain, moved = np.ones(1), np.ones(1)
    for masses, count, radius in factors:
        for _ in range(count):
            plain, moved = np.convolve(plain, masses), np.convolve(moved, masses + radius)
    assert np.max(moved - plain) > 0.0
    assert np.max(moved - plain) <= carried(factors) * (1.0 + 1e-3)


def test_no_radii_carry_nothing() -> None:
    assert carried([TreeFactor(masses, 2) for masses in MASSES]) == 0.0


@pytest.mark.parametrize("rate", [1e-6, 0.3, 0.999])
def test_losses_of_a_sample_turned_back(rate: float) -> None:
    """x of y = log(1 + r (e^x - 1)), where there is one: y above log(1 - r)."""
    points = np.array([-20.0, -7.0, -1e-3, 0.0, 1e-9, 0.5, 20.0, 45.0, 300.0, 720.0])
    found = unmixed_enclosure(exact(points), rate)
    with precision(1200):
        for index, y in enumerate(points):
            growth = arb(float(y)).expm1() / arb(rate)
            assert bool(found.inside[index]) is bool(growth > -1)
            assert bool(found.outside[index]) is bool(growth < -1)
            if growth > -1:
                x = growth.log1p()
                assert abs(x - float(found.x.value[index])) <= float(found.x.radius[index])
                assert found.x.radius[index] <= 1e-9 * (1.0 + abs(y))
