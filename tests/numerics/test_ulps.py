"""Every accuracy that kernels.ulps assumes, against Arb at 10^5 points and in every layout of the array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb
from scipy.special import erfcx

from tests.oracle.precision import precision
from tightrope.core.numerics import rounding as ulps

POINTS = 100_000
BITS = 200
LEAST_NORMAL = 2.0**-1022


def _signs(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size)


def _mixed(*parts: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: np.concatenate([part(rng, POINTS // len(parts)) for part in parts])


def _erfcx(x: arb) -> arb:
    """e^(x^2) erfc(x); far out 1 / (x sqrt pi), too large by at most 1 / (2 x^2) of itself."""
    if x > 1e9:
        far = 1 / (x * arb.pi().sqrt())
        return far.union(far * (1 - 1 / (2 * x * x)))
    return (x * x).exp() * x.erfc()


class Assumption(NamedTuple):
    computed: Callable[[np.ndarray], np.ndarray]
    truth: Callable[[arb], arb]
    units: Callable[[np.ndarray], np.ndarray]
    points: Callable[[np.random.Generator], np.ndarray]


ASSUMPTIONS = {
    "exp": Assumption(
        np.exp,
        arb.exp,
        lambda x: np.full_like(x, ulps.EXP),
        _mixed(
            lambda rng, n: rng.uniform(-708.3, 709.78, n),
            lambda rng, n: rng.uniform(-745.0, -708.3, n),  # results below the normal doubles
            lambda rng, n: _signs(rng, n) * 10.0 ** rng.uniform(-18.0, 2.0, n),
        ),
    ),
    "expm1": Assumption(
        np.expm1,
        arb.expm1,
        lambda x: np.full_like(x, ulps.EXPM1),
        _mixed(
            lambda rng, n: rng.uniform(-745.0, 709.78, n),
            lambda rng, n: _signs(rng, n) * 10.0 ** rng.uniform(-323.0, 1.5, n),
            lambda rng, n: rng.uniform(-2.0, 2.0, n),
        ),
    ),
    "log": Assumption(
        np.log,
        arb.log,
        lambda x: np.full_like(x, ulps.LOG),
        _mixed(
            lambda rng, n: 10.0 ** rng.uniform(-322.0, 308.25, n),
            lambda rng, n: rng.uniform(0.3, 3.0, n),
            lambda rng, n: 1.0 + _signs(rng, n) * 10.0 ** rng.uniform(-15.9, -1.0, n),
        ),
    ),
    "log1p": Assumption(
        np.log1p,
        arb.log1p,
        lambda x: np.full_like(x, ulps.LOG1P),
        _mixed(
            lambda rng, n: 10.0 ** rng.uniform(-323.0, 308.25, n),
            lambda rng, n: -(10.0 ** rng.uniform(-323.0, -1e-3, n)),
            lambda rng, n: -1.0 + 10.0 ** rng.uniform(-15.9, -1.0, n),
            lambda rng, n: rng.uniform(-0.9, 2.0, n),
        ),
    ),
    "logaddexp with 0": Assumption(
        lambda x: np.logaddexp(0.0, x),
        lambda x: x.exp().log1p(),
        lambda x: np.full_like(x, ulps.LOGADDEXP),
        _mixed(
            lambda rng, n: rng.uniform(-700.0, 700.0, n),
            lambda rng, n: rng.uniform(-2.0, 2.0, n),
            lambda rng, n: _signs(rng, n) * 10.0 ** rng.uniform(-300.0, 300.0, n).clip(-300.0, 2.8),
        ),
    ),
    "erfcx": Assumption(
        erfcx,
        _erfcx,
        lambda x: ulps.ERFCX + np.minimum(x, 0.0) ** 2,
        _mixed(
            lambda rng, n: rng.uniform(-26.0, 0.0, n),
            lambda rng, n: rng.uniform(0.0, 60.0, n),
            lambda rng, n: _signs(rng, n) * 10.0 ** rng.uniform(-300.0, 0.0, n),
            lambda rng, n: 10.0 ** rng.uniform(-2.0, 8.0, n),
            lambda rng, n: 10.0 ** rng.uniform(8.0, 308.25, n),
        ),
    ),
}


MATH = {"exp": math.exp, "expm1": math.expm1, "log": math.log, "log1p": math.log1p}


@pytest.mark.parametrize("name", MATH)
def test_functions_of_python_keep_the_same_constants(name: str) -> None:
    """The math module calls the C library, numpy its own code: one constant for both."""
    _, truth, units, points = ASSUMPTIONS[name]
    x = points(np.random.default_rng(22))[::3]
    with precision(BITS):
        for at, allowed in zip(x.tolist(), units(x).tolist(), strict=True):
            assert _holds(MATH[name](at), truth(arb(at)), allowed), at


def test_hypot() -> None:
    """Over all magnitudes, and where one argument is far below the other."""
    rng = np.random.default_rng(23)
    x = _signs(rng, POINTS) * 10.0 ** rng.uniform(-300.0, 300.0, POINTS)
    y = x * 10.0 ** rng.uniform(-9.0, 3.0, POINTS)
    rows = zip(x.tolist(), y.tolist(), np.hypot(x, y).tolist(), strict=True)
    with precision(BITS):
        for first, second, value in rows:
            assert _holds(value, (arb(first) ** 2 + arb(second) ** 2).sqrt(), ulps.HYPOT)


def _holds(computed: float, truth: arb, units: float) -> bool:
    """|computed - truth| <= units UNIT |truth|, or units SUBNORMAL below the normal doubles; NaN fails."""
    size = abs(truth)
    allowed = size * (units * ulps.UNIT) if size >= LEAST_NORMAL else arb(units) * arb(ulps.SUBNORMAL)
    return bool(abs(arb(computed) - truth) <= allowed)


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_library_function_keeps_its_constant(name: str) -> None:
    computed, truth, units, points = ASSUMPTIONS[name]
    x = points(np.random.default_rng(20))
    rows = zip(x.tolist(), computed(x).tolist(), units(x).tolist(), strict=True)
    with precision(BITS):
        missed = [(at, value) for at, value, allowed in rows if not _holds(value, truth(arb(at)), allowed)]
    assert x.size >= POINTS - 4
    assert not missed, f"{len(missed)} of {x.size}, such as {missed[:3]}"


def _layouts(x: np.ndarray) -> dict[str, list[np.ndarray]]:
    """The same points as scalars, in short and odd lengths, strided, reversed, unaligned and two-dimensional."""
    shifted = np.frombuffer(b"abc" + x.tobytes(), dtype=np.uint8)[3:].view(np.float64)
    assert not shifted.flags.aligned
    return {
        "scalars": [np.asarray(number) for number in x],
        "odd lengths": [x[start : start + 7] for start in range(0, x.size, 7)],
        "offset": [x[:1], x[1:]],
        "strided": [np.repeat(x, 3)[::3]],
        "reversed": [x[::-1].copy()[::-1]],
        "unaligned": [shifted],
        "columns": [np.asfortranarray(x.reshape(-1, 4))],
    }


@pytest.mark.parametrize("name", ASSUMPTIONS)
def test_constant_holds_in_every_layout(name: str) -> None:
    """Vector and scalar code paths of a library may differ."""
    computed, truth, units, points = ASSUMPTIONS[name]
    x = points(np.random.default_rng(21))[:: POINTS // 2000][:2000]
    with precision(BITS):
        truths = [truth(arb(at)) for at in x.tolist()]
        for layout, arrays in _layouts(x).items():
            values = np.concatenate([np.asarray(computed(array)).ravel() for array in arrays])
            rows = zip(values.tolist(), truths, units(x).tolist(), strict=True)
            assert all(_holds(*row) for row in rows), layout
