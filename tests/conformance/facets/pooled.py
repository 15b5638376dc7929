"""Many kinds between fewer: what is below lies nowhere above the truth, what is above nowhere below."""

from __future__ import annotations

from functools import partial

from flint import arb

import tightrope as tr
from tests.oracle.truth import Truth
from tightrope.core.losses.capabilities import ParameterBinning
from tightrope.core.losses.operators import registered as operators
from tightrope.core.losses.operators.poisson import poisson_pair
from tightrope.core.numerics.balls import working_precision

from .asked import BITS, Asked

SHARES = tuple(1 - index / 32 for index in range(9))  # of the rate: more kinds than are kept as they are
RATE = 0.25
CELLS = 3


def bin_parameters(asked: Asked) -> bool:
    """Samples of one base at nine rates."""
    if asked.rate == 1.0:
        return False
    rates = [asked.rate * share for share in SHARES]
    kinds = [(asked.row.mechanism.poisson(rate=rate).pair(asked.way), 1) for rate in rates]
    found = operators.bin_parameters(asked.pair, kinds, CELLS, False)
    if found is not None:
        _between(found, [Truth(asked.law, rate, asked.direction) for rate in rates], asked.epsilons()[2])
    return found is not None


def bin_sampled_parameters(asked: Asked) -> bool:
    """Samples at one rate of nine Gaussians, the bases that pool."""
    make = partial(poisson_pair, rate=RATE, direction=asked.way)
    if asked.rate != 1.0 or operators.bin_sampled(asked.pair, [(asked.pair, 1)] * 9, make, CELLS, False) is None:
        return False
    sigmas = [asked.row.mechanism.sigma / share for share in SHARES]  # type: ignore[attr-defined]
    kinds = [(tr.Gaussian(sigma=sigma).pair(asked.way), 1) for sigma in sigmas]
    found = operators.bin_sampled(asked.pair, kinds, make, CELLS, False)
    assert found is not None
    truths = [Truth(type(asked.law)(sigma), RATE, asked.direction) for sigma in sigmas]  # type: ignore[call-arg]
    for epsilon in (-0.1, 0.0, 0.1):
        _between(found, truths, epsilon)
    return True


def _between(found: ParameterBinning, truths: list[Truth], epsilon: float) -> None:
    """Kinds are in one order, that of their profiles: so they are compared in order."""
    with working_precision(BITS):
        exact = _ordered([truth.delta(epsilon) for truth in truths])
        for side, below in ((found.below, True), (found.above, False)):
            told = _ordered([pair.ball_hockey_stick(arb(epsilon)) for pair, count in side for _ in range(count)])
            assert len(told) == len(exact)
            for one, truth in zip(told, exact, strict=True):
                assert not (one > truth if below else one < truth), f"delta({epsilon!r}) is {one}, beside {truth}"


def _ordered(balls: list[arb]) -> list[arb]:
    return sorted(balls, key=lambda ball: float(ball.mid()))
