"""Secants that the contour sums by themselves: inside what two bounds of H say, and around the tails of normal laws."""

from __future__ import annotations

import math

import pytest
from flint import acb, arb, ctx

import tightrope as tr
from tightrope.core.engines.contour.engine import prepare
from tightrope.core.engines.selection import Evaluator
from tightrope.core.numerics.contour_sum import ramp

RUNS = {
    "gaussians": tr.Gaussian(sigma=2.0) * 3,
    "sampled": tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000,
    "logistic": tr.Exponential(epsilon=0.5) * 30,
    "leaking": tr.Gaussian(sigma=2.0) * 3 + tr.ApproximateDP(epsilon=0.1, delta=0.01),
}


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("name", RUNS)
def test_a_secant_is_that_of_two_bounds(name: str, second: bool, proof: bool) -> None:
    run = RUNS[name]
    terms = tuple((part.pair(tr.Direction.REMOVE), count) for part, count in run.parts)
    bound = prepare(terms, epsilon=0.75, accuracy=1e-8, proof=proof, second=second)
    for x, gap in ((0.75, 0.25), (0.5, 2.0**-6), (0.75, 2.0**-10), (0.0, 0.5), (-0.25, 0.125)):
        own, other = bound.secant(x, x + gap, second), Evaluator.secant(bound, x, x + gap, second)
        assert own.lower <= other.upper
        assert other.lower <= own.upper
    fine = bound.secant(0.75, 0.75 + 2.0**-24, second)
    assert (fine.upper - fine.lower) <= 1e-6 * fine.upper


@pytest.mark.parametrize("second", [False, True])
def test_a_normal_tail(second: bool) -> None:
    """P[l > t] = Phi((v/2 - t)/sqrt v), and Q[l > t] = Phi((-v/2 - t)/sqrt v), v = 3/4."""
    pair, variance = tr.Gaussian(sigma=2.0).pair(tr.Direction.REMOVE), 0.75
    bound = prepare(((pair, 3),), epsilon=2.0, accuracy=1e-8, second=second)
    found = bound.secant(2.0, 2.0 + 2.0**-30, second)
    sign = -1.0 if second else 1.0
    tail, later = (
        0.5 * math.erfc((t - sign * variance / 2.0) / math.sqrt(2.0 * variance)) for t in (2.0, 2.0 + 2.0**-30)
    )
    assert found.lower <= tail * (1.0 + 1e-14)
    assert later * (1.0 - 1e-14) <= found.upper
    assert found.upper - found.lower <= 1e-7 * tail


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("gap", [1e-12, 2.0**-20, 0.01, 0.7, 30.0])
@pytest.mark.parametrize("tilt", [2.0**-10, 1.5, 4096.0])
def test_kernels_hold_their_error(tilt: float, gap: float, second: bool) -> None:
    import numpy as np

    times = 0.125 * np.arange(0, 4000, 37, dtype=np.float64)
    kernel = ramp(tilt, times, gap, second)
    before, ctx.prec = ctx.prec, 200
    try:
        for index, t in enumerate(times.tolist()):
            z, g = acb(tilt, t), arb(gap)
            top = 1 - (-(z if second else z + 1) * g).exp()
            truth = top / ((g.expm1() if second else -(-g).expm1()) * z * (z + 1))
            value = complex(kernel.value[index])
            assert abs(truth) <= float(kernel.size[index])
            assert abs(truth - acb(value.real, value.imag)) <= kernel.error * float(kernel.size[index])
    finally:
        ctx.prec = before


def test_infinite_losses_are_in_a_secant() -> None:
    """0.01 of the loss is infinite, and next to nothing is above 30."""
    terms = tuple((part.pair(tr.Direction.REMOVE), count) for part, count in RUNS["leaking"].parts)
    bound = prepare(terms, epsilon=30.0, accuracy=1e-6, second=False)
    found = bound.secant(30.0, 30.5, False)
    assert found.lower <= 0.01 <= found.upper
    assert found.upper < 0.0101
