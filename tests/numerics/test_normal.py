"""Normal tails against Arb at 20,000 points, or at 10^5 in a full search, down to the smallest doubles."""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from tests.oracle.precision import precision
from tests.search import cases
from tightrope.core.numerics.double_double import DoubleDouble, double_double
from tightrope.core.numerics.normal import NORMAL_TAIL_ERROR, both_sides, normal_tails

POINTS = cases(20_000, 100_000)


def _places() -> DoubleDouble:
    """Both signs: spread over the whole range of doubles, next to 0, and where tails leave the doubles."""
    rng = np.random.default_rng(30)
    size = POINTS // 4
    hi = np.concatenate(
        [
            rng.uniform(-38.0, 38.0, 2 * size),
            rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(-320.0, 1.0, size),
            rng.choice([-1.0, 1.0], size) * rng.uniform(37.0, 39.0, size),
        ]
    )
    lo = hi * rng.uniform(-1.0, 1.0, hi.size) * 2.0**-54
    return double_double(hi) + lo


def _within(computed: float, truth: arb) -> bool:
    return bool(abs(arb(computed) - truth) <= truth * NORMAL_TAIL_ERROR + arb(2) ** -1074)


def test_both_tails_keep_their_error() -> None:
    z = _places()
    above, below = normal_tails(z)
    missed = []
    with precision(200):
        root = arb(2).sqrt()
        rows = zip(z.hi.tolist(), z.lo.tolist(), above.tolist(), below.tolist(), strict=True)
        for hi, lo, up, down in rows:
            small = (abs(arb(hi) + arb(lo)) / root).erfc() / 2
            left, right = (1 - small, small) if hi >= 0.0 else (small, 1 - small)
            if not (_within(up, right) and _within(down, left)):
                missed.append((hi, lo, up, down))
    assert not missed, f"{len(missed)} of {POINTS}, such as {missed[:3]}"


def test_both_sides_keep_their_error() -> None:
    rng = np.random.default_rng(31)
    size = POINTS // 40
    places = [rng.uniform(0.0, 1.5, size), 10.0 ** rng.uniform(-320.0, 1.0, size), rng.uniform(30.0, 39.0, size)]
    z = double_double(np.concatenate([*places, [0.0, 1.0, math.nextafter(1.0, 0.0)]]))
    with precision(200):
        for point, outside, inside in zip(z.hi.tolist(), *(side.tolist() for side in both_sides(z)), strict=True):
            scaled = arb(point) / arb(2).sqrt()
            for found, truth in ((outside, scaled.erfc()), (inside, scaled.erf())):
                assert abs(arb(found) - truth) <= truth * NORMAL_TAIL_ERROR + arb(2) ** -1073, (point, found)
    limits = both_sides(double_double([0.0, math.inf, math.nan]))
    np.testing.assert_array_equal(limits, [[1.0, 0.0, math.nan], [0.0, 1.0, math.nan]])


def test_error_is_below_the_promise_of_a_pair() -> None:
    """Pairs promise 1e-13 and do more than one thing with a tail."""
    assert NORMAL_TAIL_ERROR < 5e-15


def test_second_double_counts() -> None:
    """At z = 37 half an ulp of z moves the tail by 37 * 3.6e-15: without lo the error would show."""
    z = double_double(37.0) + 3.5e-15
    with precision(200):
        truth = ((arb(z.hi[()]) + arb(z.lo[()])) / arb(2).sqrt()).erfc() / 2
        assert z.hi == 37.0
        assert _within(float(normal_tails(z)[0]), truth)
        assert not _within(float(normal_tails(double_double(37.0))[0]), truth)


def test_limits() -> None:
    above, below = normal_tails(double_double([-math.inf, -1e308, -50.0, 0.0, 50.0, 1e308, math.inf, math.nan]))
    np.testing.assert_array_equal(above, [1.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, math.nan])
    np.testing.assert_array_equal(below, [0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, math.nan])


def test_shape_is_kept() -> None:
    z = double_double(np.linspace(-3.0, 3.0, 6).reshape(2, 3))
    above, below = normal_tails(z)
    assert above.shape == below.shape == (2, 3)
    assert normal_tails(double_double(1.0))[0].shape == ()
