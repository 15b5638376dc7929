"""The assumed accuracy of sine, cosine and arctangent, measured against Arb at 10^5 points each."""

from __future__ import annotations

import numpy as np
from flint import arb

from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.rounding import ANGLE_MAX, ARCTANGENT, COSINE, SINE, UNIT

POINTS = 100_000


def angles() -> np.ndarray:
    """Small, moderate and large angles of both signs, and doubles next to multiples of pi/2."""
    rng = np.random.default_rng(20)
    spread = np.exp(rng.uniform(np.log(1e-12), np.log(ANGLE_MAX), POINTS // 2))
    plain = rng.uniform(0.0, 100.0, POINTS // 4)
    near = np.pi / 2.0 * rng.integers(1, 10**6, POINTS - POINTS // 2 - POINTS // 4)
    return np.concatenate([spread, plain, near]) * rng.choice([-1.0, 1.0], POINTS)


def test_sine_and_cosine() -> None:
    x = angles()
    sine, cosine = np.sin(x), np.cos(x)
    scale = np.minimum(abs(x), 1.0)
    with working_precision(120):
        for point, one, other, size in zip(x.tolist(), sine.tolist(), cosine.tolist(), scale.tolist(), strict=True):
            exact = arb(point)
            assert abs(exact.sin() - one) <= SINE * UNIT * size
            assert abs(exact.cos() - other) <= COSINE * UNIT


def test_arctangent() -> None:
    rng = np.random.default_rng(21)
    y = np.exp(rng.uniform(-80.0, 5.0, POINTS)) * rng.choice([-1.0, 1.0], POINTS)
    x = np.exp(rng.uniform(-20.0, 5.0, POINTS)) * rng.choice([-1.0, 1.0, 1.0], POINTS)
    found = np.arctan2(y, x)
    with working_precision(120):
        for first, second, value in zip(y.tolist(), x.tolist(), found.tolist(), strict=True):
            exact = arb.atan2(arb(first), arb(second))
            assert abs(exact - value) <= ARCTANGENT * UNIT * abs(exact)


def test_short_arrays_take_the_same_road() -> None:
    """Vector and scalar code paths agree with each other to the same accuracy."""
    x = angles()[:2_000]
    for length in (1, 2, 3, 5, 8, 13):
        parts = [x[start : start + length] for start in range(0, x.size, length)]
        assert np.all(abs(np.concatenate([np.sin(part) for part in parts]) - np.sin(x)) <= 2.0 * SINE * UNIT)
        assert np.all(abs(np.concatenate([np.cos(part) for part in parts]) - np.cos(x)) <= 2.0 * COSINE * UNIT)
