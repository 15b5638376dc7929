"""One of several steps of a law with few atoms: all counts listed, as the enumeration of all outputs has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.oracle import allocated as truth
from tests.oracle.adaptive import ERROR, neighbours
from tightrope.core.losses.operators.registered import allocated_pair_of
from tightrope.core.numerics.balls import enclose
from tightrope.core.values.question import Direction

# Outputs that only one of the two laws has: both, none, the first alone, the second alone.
LAWS = (
    ([0.125, 0.375, 0.5, 0.0], [0.0, 0.25, 0.5, 0.25]),
    ([0.75, 0.25], [0.25, 0.75]),
    ([0.25, 0.5, 0.25], [0.0, 0.75, 0.25]),
    ([0.5, 0.5, 0.0], [0.375, 0.375, 0.25]),
)


@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize("steps", [2, 4])
def test_it_is_the_enumerated_law(laws: tuple[list[float], list[float]], steps: int) -> None:
    real = truth.allocated(neighbours(*laws), steps)
    base = tr.Finite(p=laws[0], q=laws[1])
    for direction, exact in ((Direction.REMOVE, real), (Direction.ADD, real.swapped)):
        pair = allocated_pair_of(base.pair(direction), steps, direction)
        assert pair is not None
        for alpha in (0.25, 1.0, 1.5):
            low, high = enclose(lambda pair=pair, alpha=alpha: pair.ball_hockey_stick(logarithm(alpha)))
            assert low - ERROR <= float(exact.hockey_stick(np.longdouble(alpha))) <= high + ERROR
        seen = exact.q > 0
        assert float(pair.infinite_mass()) == pytest.approx(float(exact.p[~seen].sum()), abs=1e-15)
        assert float(pair.reversed().infinite_mass()) == pytest.approx(float(exact.q[exact.p == 0].sum()), abs=1e-15)
        lowest, highest = pair.loss_range()
        both = seen & (exact.p > 0)
        ratios = np.log((exact.p[both] / exact.q[both]).astype(float))
        assert (float(lowest), float(highest)) == pytest.approx((ratios.min(), ratios.max()), abs=1e-12)
        assert pair.reversed().reversed() == pair


def logarithm(alpha: float) -> arb:
    return arb(alpha).log()


def test_long_lists_are_left_to_others() -> None:
    response = tr.RandomizedResponse(epsilon=1.0).pair(Direction.REMOVE)
    assert allocated_pair_of(response, 1000, Direction.REMOVE) is not None
    assert allocated_pair_of(response, 10**9, Direction.REMOVE) is None
    assert allocated_pair_of(tr.Gaussian(sigma=1.0).pair(Direction.ADD), 2, Direction.ADD) is None


def test_a_response_in_many_steps() -> None:
    """The ratio is a mean of two values: a binomial sum."""
    steps, alpha = 300, math.exp(0.05)
    pair = allocated_pair_of(tr.RandomizedResponse(p=0.75).pair(Direction.REMOVE), steps, Direction.REMOVE)
    assert pair is not None
    low, high = enclose(lambda: pair.ball_hockey_stick(logarithm(alpha)))
    exact = math.fsum(
        math.comb(steps, k) * 0.25**k * 0.75 ** (steps - k) * max((3 * k + (steps - k) / 3) / steps - alpha, 0.0)
        for k in range(steps + 1)
    )
    assert low == pytest.approx(exact, rel=1e-9)
    assert high == pytest.approx(exact, rel=1e-9)
