"""Random questions, log-uniform over sigma, rate, count and delta: what float64 and balls answer overlaps."""

from __future__ import annotations

import importlib.util
import math
import random
import sys
from pathlib import Path

import pytest
from flint import acb, arb

from tests.losses.moments import log_moment
from tests.oracle import transforms
from tests.search import cases
from tightrope.core.engines.contour.engine import prepare
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.poisson import PoissonAdd, PoissonRemove
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.search import Inverse
from tightrope.core.values.errors import UnsupportedMechanism

CASES, ACCURACY = 36, 1e-6
FUZZ = Path(__file__).parents[3] / "benchmarks" / "fuzz.py"


def questions() -> list[tuple[float, float, int, float, int]]:
    """sigma, rate, count, delta, and the direction in turn: drawn as in `make fuzz`."""
    spec = importlib.util.spec_from_file_location("fuzz", FUZZ)
    assert spec is not None
    assert spec.loader is not None
    fuzz = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = fuzz  # dataclasses look their module up
    spec.loader.exec_module(fuzz)
    source = random.Random(fuzz.SEED)
    found = []
    for index in range(CASES):
        sigma, rate = fuzz.log_uniform(source, 0.3, 20.0), fuzz.log_uniform(source, 1e-5, 1.0)
        count, delta = round(fuzz.log_uniform(source, 1.0, 1e6)), fuzz.log_uniform(source, 1e-60, 1e-2)
        found.append((sigma, rate, count, delta, 1 if index % 2 else -1))
    return found


def sampled(sigma: float, rate: float, sign: int) -> Pair:
    base = GaussianPair(((sigma, 1.0, 1),))
    return PoissonRemove(base, rate) if sign > 0 else PoissonAdd(base, rate)


def answers(pair: Pair, count: int, delta: float) -> list[Inverse[object]]:
    found = []
    for proof in (False, True):
        try:
            evaluator = prepare([(pair, count)], delta=delta, accuracy=ACCURACY, proof=proof)
            found.append(evaluator.inverse(delta, math.inf, ACCURACY))
        except UnsupportedMechanism:
            continue
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("block", range(6 - cases(2, 6), 6))  # odd ones remove, even ones add
def test_overlap(block: int) -> None:
    narrow = 0
    for sigma, rate, count, delta, sign in questions()[block::6]:
        found = answers(sampled(sigma, rate, sign), count, delta)
        if len(found) == 2:
            assert found[0].lower <= found[1].upper, (sigma, rate, count, delta, sign)
            assert found[1].lower <= found[0].upper, (sigma, rate, count, delta, sign)
        narrow += any(each.upper - each.lower <= max(ACCURACY * each.upper, 1e-12) for each in found)
    assert narrow >= 5, "nearly all questions are the contour's"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("tilt", [-0.5, 0.25, 1.0, 7.0, 63.0])
def test_moments(tilt: float, sign: int) -> None:
    """K at real points, where Renyi divergences come from."""
    sigma, rate = 1.3, 0.02
    with working_precision(128):
        truth = transforms.sampled_normal(sigma, rate, sign, acb(tilt)).real.log()
    for proof, width in ((False, 1e-11), (True, 1e-14)):
        low, high = log_moment(sampled(sigma, rate, sign), tilt, proof)
        assert arb(low) <= truth <= arb(high)
        assert high - low <= width * abs(high)
