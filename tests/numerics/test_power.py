"""Powers of a transform and kernels of a sum: the truth at the edge of every radius that is given lies within what is
claimed, and so does a library whose logarithms and angles err by all that is allowed to them."""

from __future__ import annotations

import types

import numpy as np
import pytest
from flint import acb, arb

from tests.oracle.precision import precision
from tightrope.core.numerics import contour_sum as module
from tightrope.core.numerics.contour_sum import Relative, geometric, multiply, power
from tightrope.core.numerics.quadrature import Transform
from tightrope.core.numerics.rounding import ARCTANGENT, LOG, UNIT

DEVIATIONS = np.array([1e-9 + 1e-5j, -0.2 + 0.1j, -0.6 - 0.5j, -0.999 + 1e-4j, 0.05 - 0.3j])
TURNS = [acb(1), acb(-1), acb(0, 1), acb(0, -1)]


def off(way: float) -> types.SimpleNamespace:
    """numpy, each logarithm and angle off by what the package assumes of it."""
    worse = {name: getattr(np, name) for name in dir(np) if not name.startswith("__")}
    worse["log1p"] = lambda x: np.log1p(x) * (1.0 + way * LOG * UNIT)
    worse["log"] = lambda x: np.log(x) * (1.0 + way * LOG * UNIT)
    worse["arctan2"] = lambda y, x: np.arctan2(y, x) * (1.0 + way * ARCTANGENT * UNIT)
    return types.SimpleNamespace(**worse)


def within(found: module.Factor, j: int, truth: acb) -> bool:
    """Whether the truth is as near to the computed power as the errors say, and no larger than the reach."""
    computed = (arb(float(found.log_modulus[j])) + acb(0, float(found.phase[j]))).exp()
    allowed = arb(float(found.reach[j])).exp() * -(-arb(float(found.quadrature[j] + found.rounding[j]))).expm1()
    size = arb(float(found.reach[j])).exp()
    return bool(abs(truth - computed) <= allowed) and bool(abs(truth) <= size) and bool(abs(computed) <= size)


@pytest.mark.parametrize("count", [1.0, 1000.0, 1e6])
@pytest.mark.parametrize(("quadrature", "rounding"), [(0.0, 0.0), (1e-13, 0.0), (0.0, 1e-12), (1e-7, 1e-8)])
@pytest.mark.parametrize("way", [-1.0, 0.0, 1.0])
def test_powers_at_the_edge_of_their_radius(
    count: float, quadrature: float, rounding: float, way: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way:
        monkeypatch.setattr(module, "np", off(way))
    shape = np.ones(len(DEVIATIONS))
    found = power(Transform(DEVIATIONS, quadrature * shape, rounding * shape), count)
    with precision(200):
        for j, deviation in enumerate(DEVIATIONS):
            for turn in TURNS:
                phi = 1 + acb(deviation.real, deviation.imag) + turn * (arb(quadrature) + arb(rounding))
                assert within(found, j, phi ** int(count)), (deviation, turn)


def test_a_product_of_many_powers() -> None:
    """Adding up logarithms and angles errs too."""
    shape = np.zeros(len(DEVIATIONS))
    factors = [power(Transform(DEVIATIONS, shape, shape), float(count)) for count in (3, 70, 11, 500, 1, 29)]
    found = multiply(factors)
    with precision(200):
        for j in range(len(DEVIATIONS)):
            logs = sum((arb(float(each.log_modulus[j])) for each in factors), arb(0))
            angles = sum((arb(float(each.phase[j])) for each in factors), arb(0))
            given = sum((arb(float(each.rounding[j])) for each in factors), arb(0))
            apart = abs(logs - float(found.log_modulus[j])) + abs(angles - float(found.phase[j]))
            assert apart + given <= float(found.rounding[j])
            assert logs <= float(found.reach[j])


@pytest.mark.parametrize("errors", [(1e-3, 0.0, 0.0, 0.0), (0.0, 1e-3, 0.0, 0.0), (0.0, 0.0, 1e-3, 0.0)])
@pytest.mark.parametrize(("c", "h", "a", "b"), [(0.5, 0.1, 0.3, 0.6), (3.0, 1.0, 0.0, 0.9), (0.1, 0.01, 0.9, 0.05)])
def test_a_geometric_kernel_at_the_edge_of_its_parts(
    errors: tuple[float, ...], c: float, h: float, a: float, b: float
) -> None:
    """Each part is below its double by all that it may be: of falls, of gaps, of a and b."""
    nodes, kept = 64, 20
    with precision(200):
        step = 2 * arb.pi() / (nodes * arb(h))
        falls = [(-arb(c) * h).exp(), (-(arb(c) + 1) * h).exp()]
        fall, gap, part = (1 - arb(error) for error in errors[:3])
        found = geometric(
            nodes,
            kept,
            float(step.mid()),
            [Relative(float((each / fall).upper()), errors[0] + 1e-15) for each in falls],
            [Relative(float(((1 - each) / gap).upper()), errors[1] + 1e-15) for each in falls],
            [Relative(float((arb(each) / part).upper()), errors[2] + 1e-15) for each in (a, b)],
            Relative(1.0, 0.0),
        )
        width = 2 * arb.pi() / (nodes * arb(float(step.mid())))
        for j in range(kept):
            turn = acb(0, -2 * arb.pi() * j / nodes).exp()
            truth = width * (a + b * falls[0] * turn) / ((1 - falls[0] * turn) * (1 - falls[1] * turn))
            size = float(found.size[j])
            assert abs(truth - acb(found.value[j].real, found.value[j].imag)) <= found.error * size
            assert abs(found.value[j]) <= size
