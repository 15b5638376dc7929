"""Double-double arithmetic against Arb: every stated error, the limits, and nothing that warns."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.core.numerics.double_double import DoubleDouble, double_double, where

POINTS = 12_000
BITS = 400
SQUARED_UNIT = 2.0**-106
BINARY = {
    "sum": (operator.add, 4 * SQUARED_UNIT),
    "difference": (operator.sub, 4 * SQUARED_UNIT),
    "product": (operator.mul, 8 * SQUARED_UNIT),
    "quotient": (operator.truediv, 16 * SQUARED_UNIT),
}


def _pair_of_doubles(rng: np.random.Generator, hi: np.ndarray) -> DoubleDouble:
    """hi with a random second double: full, short by some bits, or 0."""
    gap = 2.0 ** -rng.choice([54, 55, 60, 80, 100], hi.size)
    lo = hi * rng.uniform(-1.0, 1.0, hi.size) * gap * rng.choice([0.0, 1.0, 1.0, 1.0], hi.size)
    return double_double(hi) + lo


def _wide(rng: np.random.Generator, low: float, high: float, size: int = POINTS) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size) * 2.0 ** rng.uniform(low, high, size)


def _balls(x: DoubleDouble) -> list[arb]:
    return [arb(hi) + arb(lo) for hi, lo in zip(x.hi.ravel().tolist(), x.lo.ravel().tolist(), strict=True)]


def _assert_close(computed: DoubleDouble, truths: list[arb], relative: float, absolute: float = 0.0) -> None:
    assert computed.hi.size == len(truths)
    np.testing.assert_array_equal(computed.hi + computed.lo, computed.hi)
    missed = [
        (float(value), float(truth))
        for value, truth in zip(_balls(computed), truths, strict=True)
        if not abs(value - truth) <= abs(truth) * relative + arb(absolute)
    ]
    assert not missed, f"{len(missed)} of {len(truths)}, such as {missed[:3]}"


def _operands(rng: np.random.Generator, kind: str) -> tuple[DoubleDouble, DoubleDouble]:
    if kind == "wide":
        return _pair_of_doubles(rng, _wide(rng, -450, 450)), _pair_of_doubles(rng, _wide(rng, -450, 450))
    if kind == "alike":
        return _pair_of_doubles(rng, _wide(rng, -3, 3)), _pair_of_doubles(rng, _wide(rng, -3, 3))
    x = _pair_of_doubles(rng, _wide(rng, -3, 3))
    nudge = 1.0 + _wide(rng, -104, -1)
    return x, _pair_of_doubles(rng, -x.hi * nudge)


@pytest.mark.parametrize("kind", ["wide", "alike", "cancelling"])
@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_keeps_its_error(name: str, kind: str) -> None:
    operation, error = BINARY[name]
    x, y = _operands(np.random.default_rng(40), kind)
    with precision(2000):
        truths = [operation(a, b) for a, b in zip(_balls(x), _balls(y), strict=True)]
        _assert_close(operation(x, y), truths, error)


def _function_points(name: str) -> DoubleDouble:
    """Wide ranges, and the places where a reduction or a branch changes."""
    rng = np.random.default_rng(41)
    third = POINTS // 3
    turns = np.rint(rng.uniform(-400.0, 400.0, third)) + rng.choice([0.0, 0.5], third)
    corners = turns * math.log(2.0) / 256.0 * (1.0 + _wide(rng, -53, -40, third))
    hi = {
        "sqrt": lambda: abs(_wide(rng, -950, 990)),
        "exp": lambda: np.concatenate([rng.uniform(-665.0, 690.0, third), _wide(rng, -900, 6, third), corners]),
        "expm1": lambda: np.concatenate([rng.uniform(-800.0, 690.0, third), _wide(rng, -900, 6, third), corners]),
        "log": lambda: np.concatenate(
            [abs(_wide(rng, -950, 990, third)), rng.uniform(0.3, 3.0, third), 1.0 + _wide(rng, -52, -1, third)]
        ),
        "log1p": lambda: np.concatenate(
            [
                abs(_wide(rng, -900, 990, third)),
                -abs(_wide(rng, -900, -1e-6, third)),
                rng.choice([-0.25, 0.375], third) + _wide(rng, -53, -3, third),
            ]
        ),
    }[name]()
    return _pair_of_doubles(rng, hi)


FUNCTIONS: dict[str, tuple[Callable[[DoubleDouble], DoubleDouble], Callable[[arb], arb], float]] = {
    "sqrt": (DoubleDouble.sqrt, arb.sqrt, 8 * SQUARED_UNIT),
    "exp": (DoubleDouble.exp, arb.exp, 2.0**-100),
    "expm1": (DoubleDouble.expm1, arb.expm1, 2.0**-100),
    "log": (DoubleDouble.log, arb.log, 2.0**-98),
    "log1p": (DoubleDouble.log1p, arb.log1p, 2.0**-98),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_keeps_its_error(name: str) -> None:
    computed, truth, error = FUNCTIONS[name]
    x = _function_points(name)
    with precision(BITS):
        _assert_close(computed(x), [truth(a) for a in _balls(x)], error)


def test_logarithms_next_to_their_zero_and_pole() -> None:
    """1 + x and x may differ from 1 and 0 in the second double alone."""
    rng = np.random.default_rng(42)
    tiny = _pair_of_doubles(rng, abs(_wide(rng, -900, -2)))
    with precision(2000):
        around_one = tiny + 1.0
        _assert_close(around_one.log(), [a.log() for a in _balls(around_one)], 2.0**-98)
        above_pole = tiny - 1.0
        inside = above_pole[(above_pole + 1.0).collapse() > 0.0]
        _assert_close(inside.log1p(), [a.log1p() for a in _balls(inside)], 2.0**-98)
        assert inside.hi.size > POINTS // 20


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_beyond_its_range_stays_a_double(name: str) -> None:
    """Among the smallest and the largest doubles the result is still good to a few ulps."""
    operation, _ = BINARY[name]
    rng = np.random.default_rng(43)
    x = _pair_of_doubles(rng, np.concatenate([_wide(rng, -1073, -940, 3000), _wide(rng, 990, 1022, 3000)]))
    y = _pair_of_doubles(rng, np.concatenate([_wide(rng, -60, 1, 3000), _wide(rng, -1, 60, 3000)]))
    y = y if name in ("product", "quotient") else x[::-1]
    result = operation(x, y)
    finite = np.isfinite(result.hi)
    assert finite.sum() > 3000
    with precision(2200):
        truths = [operation(a, b) for a, b in zip(_balls(x[finite]), _balls(y[finite]), strict=True)]
        _assert_close(result[finite], truths, 4 * 2.0**-53, 4 * 5e-324)
        beyond = [operation(a, b) for a, b in zip(_balls(x[~finite]), _balls(y[~finite]), strict=True)]
        assert all(abs(truth) >= 2.0**1023 * 1.9 for truth in beyond)


def test_functions_of_the_smallest_doubles() -> None:
    rng = np.random.default_rng(44)
    x = double_double(abs(_wide(rng, -1073, -940, 3000)))
    deep = double_double(rng.uniform(-744.0, -660.0, 3000))
    with precision(BITS):
        for name in ("sqrt", "expm1", "log", "log1p"):
            computed, truth, _ = FUNCTIONS[name]
            _assert_close(computed(x), [truth(a) for a in _balls(x)], 2 * 2.0**-53, 5e-324)
        _assert_close(deep.exp(), [a.exp() for a in _balls(deep)], 2.0**-98, 2 * 5e-324)


SPECIAL = [0.0, math.inf, -math.inf, 1e308, -1e308, 1.7976931348623157e308, 5e-324, -5e-324, -1.0, 1.0, 3.0, math.nan]


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic_has_the_limits_of_doubles(name: str) -> None:
    operation, _ = BINARY[name]
    column, row = np.array(SPECIAL)[:, None], np.array(SPECIAL)
    with np.errstate(all="ignore"):
        wanted = operation(column, row)
    for result in (
        operation(double_double(column), double_double(row)),
        operation(double_double(column), row),
        operation(column, double_double(row)),
    ):
        np.testing.assert_array_equal(result.hi, wanted)
        assert np.isfinite(result.lo).all()


def test_functions_have_their_limits() -> None:
    x = double_double([-math.inf, -1e308, -1.0, 0.0, 1e308, math.inf, math.nan])
    nan, inf = math.nan, math.inf
    wanted = {
        "sqrt": [nan, nan, nan, 0.0, 1e154, inf, nan],
        "exp": [0.0, 0.0, math.exp(-1.0), 1.0, inf, inf, nan],
        "expm1": [-1.0, -1.0, math.expm1(-1.0), 0.0, inf, inf, nan],
        "log": [nan, nan, nan, -inf, math.log(1e308), inf, nan],
        "log1p": [nan, nan, -inf, 0.0, math.log(1e308), inf, nan],
    }
    for name, values in wanted.items():
        result = FUNCTIONS[name][0](x)
        np.testing.assert_array_equal(result.hi, values, err_msg=name)
        assert np.isfinite(result.lo).all()


def test_shapes_broadcast_and_scalars_stay_scalars() -> None:
    column, row = double_double(np.ones((3, 1))), np.arange(1.0, 5.0)
    assert (column + row).hi.shape == (row * column).lo.shape == (1.0 / (row - column)).hi.shape == (3, 4)
    assert double_double(2.0).log().hi.shape == (2.0 - double_double(1.0)).lo.shape == ()
    assert double_double(np.zeros(0)).exp().hi.shape == (0,)


def test_lift_negation_choice_and_collapse_are_exact() -> None:
    x = double_double([0.1, 0.2]) / 3.0
    assert double_double(x) is x
    np.testing.assert_array_equal((x + -x).hi, [0.0, 0.0])
    chosen = where(np.array([True, False]), x, double_double([7.0, 8.0]))
    assert (chosen.hi[0], chosen.lo[0], chosen.hi[1], chosen.lo[1]) == (x.hi[0], x.lo[0], 8.0, 0.0)
    np.testing.assert_array_equal(x.collapse(), x.hi)
    assert (double_double(1.0) + 1e-30 - 1.0).collapse() == 1e-30
