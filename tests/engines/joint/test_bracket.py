"""The two pairs around a sample of a product: their order is checked in exact fractions, at every use and composed."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import tightrope as tr
from tests.engines.joint.test_engine import contains, dyadic, finite
from tests.oracle.enumeration import Outcomes, composed, delta, merged, sampled
from tests.search import FULL, cases
from tightrope.core.engines.joint.bracket import bracket
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.finite import finite_pair
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw
from tightrope.core.losses.operators.dyadic import DyadicPair
from tightrope.core.losses.operators.poisson import PoissonAdd, PoissonRemove
from tightrope.core.losses.operators.product import ProductPair
from tightrope.core.losses.pair import Pair


def pair_of(outcomes: Outcomes) -> FinitePair:
    return FinitePair(RationalLaw(tuple(p for p, _ in outcomes), tuple(q for _, q in outcomes)))


def outcomes_of(pair: Pair) -> Outcomes:
    assert isinstance(pair, DyadicPair)
    one = 1 << pair.bits
    assert sum(p for p, _ in pair.rows) == one
    assert sum(q for _, q in pair.rows) == one
    assert min(min(row) for row in pair.rows) >= 0
    return tuple((Fraction(p, one), Fraction(q, one)) for p, q in pair.rows)


def profile(outcomes: Outcomes, alpha: Fraction) -> Fraction:
    return sum((max(p - alpha * q, Fraction(0)) for p, q in outcomes), Fraction(0))


def alphas(rng: random.Random) -> list[Fraction]:
    return [Fraction(0), Fraction(1), *(Fraction(2.0 ** rng.uniform(-8.0, 8.0)) for _ in range(12))]


@pytest.mark.parametrize("proof", [False, True], ids=["float64", "ball"])
@pytest.mark.parametrize("seed", range(8))
def test_the_product_lies_between(seed: int, proof: bool) -> None:
    rng = random.Random(seed)
    one, other = dyadic(rng, 2), dyadic(rng, 3)
    counts = rng.choice([1, 2, 3, 7, 16, 50]), rng.choice([0, 1, 2])
    factors = [(outcomes, count) for outcomes, count in zip((one, other), counts, strict=True) if count]
    truth = composed(factors)
    pair = ProductPair(tuple((pair_of(outcomes), count) for outcomes, count in factors))
    found = bracket(pair, Resolution(rng.choice([8, 40, 150]), 1e-20, proof))
    below, above = outcomes_of(found.lower), outcomes_of(found.upper)
    for alpha in alphas(rng):
        assert profile(below, alpha) <= profile(truth, alpha) <= profile(above, alpha)
    back = [tuple((q, p) for p, q in each) for each in (below, truth, above)]
    for alpha in alphas(rng):
        assert profile(back[0], alpha) <= profile(back[1], alpha) <= profile(back[2], alpha)


@pytest.mark.parametrize("seed", range(6))
def test_samples_and_samples_of_samples_lie_between(seed: int) -> None:
    rng = random.Random(100 + seed)
    one, other = dyadic(rng, 2), dyadic(rng, 3)
    rate, again = rng.choice([1e-6, 0.01, 0.5, 0.99]), rng.choice([1e-3, 0.25])
    inner = ProductPair(((pair_of(one), 3), (pair_of(other), 1)))
    for layer, turned in ((PoissonRemove, False), (PoissonAdd, True)):

        def mixed(outcomes: Outcomes, share: float, turned: bool = turned) -> Outcomes:
            if not turned:
                return sampled(outcomes, Fraction(share))
            return merged((q, p) for p, q in sampled(merged((q, p) for p, q in outcomes), Fraction(share)))

        truth = mixed(composed([(mixed(composed([(one, 3), (other, 1)]), rate), 2), (other, 1)]), again)
        nested = layer(ProductPair(((layer(inner, rate), 2), (pair_of(other), 1))), again)
        found = bracket(nested, Resolution(60, 1e-20, False))
        for alpha in alphas(rng):
            here = profile(truth, alpha)
            assert profile(outcomes_of(found.lower), alpha) <= here <= profile(outcomes_of(found.upper), alpha)


@pytest.mark.parametrize("seed", range(6))
def test_several_uses_of_finite_products(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against every outcome of every use: product, mixture, composition, hockey stick."""
    monkeypatch.setattr(finite_pair, "PRODUCT_MAX", 0)
    rng = random.Random(200 + seed)
    one, other = dyadic(rng, 2), dyadic(rng, 2)
    rate, uses = rng.choice([0.01, 0.25, 0.9]), rng.choice([2, 3])
    run = (finite(one) * 2 + finite(other)).poisson(rate=rate) * uses + finite(other)
    once = sampled(composed([(one, 2), (other, 1)]), Fraction(rate))
    truth = composed([(once, uses), (other, 1)])
    for outcomes, direction in ((truth, "remove"), (merged((q, p) for p, q in truth), "add")):
        for epsilon in (0.0, 0.3, 1.5):
            bound = run.delta(epsilon, direction=direction, accuracy=None)
            assert contains(bound, delta(outcomes, epsilon)), (run, epsilon, direction)
            assert bound.width <= 2e-3 * bound.upper + 1e-12


def test_fifty_uses_against_the_exact_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """A response on a sample: the k-fold law of its three losses is short enough to list."""
    monkeypatch.setattr(finite_pair, "PRODUCT_MAX", 0)
    one = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    for rate in (0.01, 0.5)[: cases(1, 2)]:
        once = sampled(composed([(one, 2)]), Fraction(rate))
        run = (finite(one) * 2).poisson(rate=rate) * 50
        truth = composed([(once, 50)])
        for epsilon in (4.0, 0.1)[: cases(1, 2)]:
            bound = run.delta(epsilon, direction="remove", accuracy=1e-2)
            assert contains(bound, delta(truth, epsilon)), (rate, epsilon)


@pytest.mark.parametrize("proof", [False, True])
def test_gaussian_products_against_their_own_family(proof: bool) -> None:
    """Beside a mechanism that says next to nothing, Gaussians are no longer joined: the answers must agree."""
    joined = (tr.Gaussian(sigma=3) * 10).poisson(rate=0.01) * 20
    apart = (tr.Gaussian(sigma=3) * 10 + tr.PureDP(epsilon=1e-12)).poisson(rate=0.01) * 20
    for direction in ("remove", "add") if FULL else ("remove",) if proof else ("add",):
        exact, found = (run.epsilon(1e-6, direction=direction, proof=proof and run is apart) for run in (joined, apart))
        assert found.lower <= exact.upper + 1e-9
        assert exact.lower <= found.upper
        assert found.width <= (2e-2 if proof else 1e-5) * found.upper


def test_infinite_losses_and_what_p_never_shows() -> None:
    leaky = tr.ApproximateDP(epsilon=0.3, delta=1e-4) + tr.Laplace(scale=2.0)
    run = leaky.poisson(rate=0.1) * 5
    mass = 1.0 - (1.0 - 1e-5) ** 5
    remove, add = (run.delta(50.0, direction=direction) for direction in ("remove", "add"))
    assert remove.lower <= mass * (1 + 1e-9)
    assert mass * (1 - 1e-9) <= remove.upper
    assert remove.width < 1e-12
    assert add.upper == 0.0  # an infinite loss of the base is a finite one of the sample
    assert run.epsilon(4e-5).lower == float("inf")
    assert run.epsilon(1e-4).upper < 2.0


def test_a_sample_of_the_best_runs_is_not_made_one_law_twice() -> None:
    """What is above may be known between finite pairs only: its planner narrows it, and a coarse law would not."""
    best = tr.Finite(p=(0.1, 0.2, 0.3, 0.4), q=(0.4, 0.3, 0.2, 0.1)).best_of("geometric", mean=4)
    bound = best.with_replacement(batch=10, records=1000).epsilon(4.59e-15)
    assert bound.lower <= 0.0418
    assert 0.0417 <= bound.upper < 9.3  # 12.02 from the coarse law
