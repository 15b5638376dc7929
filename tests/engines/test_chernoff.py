"""The bound by one moment: never below the exact delta, and both directions still count."""

from __future__ import annotations

import math

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.core.engines import saddle as chernoff
from tightrope.core.engines.saddle import delta_above
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

DISTINCT = tr.compose(
    tr.Gaussian(sigma=0.8 + 0.03 * index).poisson(rate=0.001 + 0.0005 * index) * 3 for index in range(40)
)


def gaussian_delta(mu: float, epsilon: float) -> mp.mpf:
    """The exact delta of a Gaussian shift mu."""
    with mp.workdps(60):
        half, ratio = mp.mpf(mu) / 2, mp.mpf(epsilon) / mp.mpf(mu)
        return mp.ncdf(half - ratio) - mp.exp(epsilon) * mp.ncdf(-half - ratio)


def bound(mechanism: tr.Mechanism, epsilon: float, direction: Direction, mass: float = 0.0) -> float:
    return delta_above([(part.pair(direction), count) for part, count in mechanism.terms], epsilon, mass)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.3, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0, 50.0])
def test_gaussian(sigma: float, epsilon: float, direction: Direction) -> None:
    mu = 1.0 / sigma
    assert bound(tr.Gaussian(sigma=sigma), epsilon, direction) >= gaussian_delta(mu, epsilon)
    twice = tr.Gaussian(sigma=2.0 * sigma) * 2 + tr.Gaussian(sigma=sigma * math.sqrt(2.0))
    assert bound(twice, epsilon, direction) >= gaussian_delta(mu * (1.0 - 1e-12), epsilon)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.5])
def test_sampled_gaussian(rate: float, epsilon: float) -> None:
    with mp.workdps(60):
        below = mp.log1p(mp.expm1(epsilon) / rate)  # remove: delta = rate delta_base(log(1 + (e^eps - 1)/rate))
        exact = rate * gaussian_delta(1.0, below)
    assert bound(tr.Gaussian(sigma=1.0).poisson(rate=rate), epsilon, Direction.REMOVE) >= exact


def test_infinite_mass_is_added() -> None:
    leaky = tr.ApproximateDP(epsilon=0.5, delta=1e-3)
    assert bound(leaky, 0.499, Direction.REMOVE, 1e-3) >= 1e-3
    assert bound(leaky, 0.499, Direction.REMOVE, 1e-3) >= leaky.delta(0.499).lower


def test_unknown_cgf_promises_nothing() -> None:
    assert bound(tr.DiscreteGaussian(sigma=1.0).poisson(rate=0.5), 1.0, Direction.REMOVE) == math.inf


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.4])
def test_many_terms(epsilon: float) -> None:
    for direction in Direction:
        assert bound(DISTINCT, epsilon, direction) >= DISTINCT.delta(epsilon, direction=direction.value).lower
    assert bound(DISTINCT, epsilon, Direction.ADD) <= 1000.0 * DISTINCT.delta(epsilon, direction="add").upper


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-30])
def test_the_worse_direction_wins(delta: float) -> None:
    """Also where the quick bound decides, and where it does not."""
    for run in (DISTINCT, tr.Laplace(scale=2.0).poisson(rate=0.3) + tr.Gaussian(sigma=3.0).poisson(rate=0.2) * 4):
        both = run.epsilon(delta)
        each = [run.epsilon(delta, direction=direction.value) for direction in Direction]
        assert both.upper >= max(one.lower for one in each)
        assert both.lower <= max(one.upper for one in each)
        assert both.width <= 4.0 * max(one.width for one in each) + 1e-12


@pytest.mark.parametrize("epsilon", [2.0, 3.0, 5.0])
def test_what_a_moment_leaves_out_is_added(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """So much is called rare that the losses beyond epsilon are all left out: their probability alone is the bound."""
    sigma, rate = 1.0, 0.01
    inner = math.log1p(math.expm1(epsilon) / rate)
    truth = rate * gaussian_delta(1.0 / sigma, inner)
    monkeypatch.setattr(chernoff, "RARE", 1e7)
    pair = tr.Gaussian(sigma=sigma).poisson(rate=rate).pair(Direction.REMOVE)
    wanted = float(truth) * 1e-5
    plain = delta_above([(pair, 1)], epsilon, 0.0)
    found = delta_above([(pair, 1)], epsilon, 0.0, wanted)
    assert truth <= found <= plain
    parts, _ = chernoff.without_rare(
        [(chernoff.cgf_of(pair), 1)],
        math.log(1e7 * wanted),
        lambda shape, start: chernoff.find_saddle(shape, epsilon, None, start=start),
    )
    with working_precision(128):
        assert mp.mpf(float(parts.rare_mass().lower())) > truth, "what is left out decides"
