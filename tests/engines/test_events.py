"""Lower bounds from single events: never above the truth, and close to it where one use decides."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import arb, ctx

from tests.engines.lattice.asking import terms_of
from tests.oracle import enumeration
from tests.oracle.finite import FiniteLaw, response
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tests.reference.integrals import stored
from tightrope.core.engines import fallback_bounds as events
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw


def finite_terms(parts: list[tuple[enumeration.Outcomes, int]]) -> list[tuple[FinitePair, int]]:
    """The same composition for the package."""
    terms: dict[FinitePair, int] = {}
    for single, count in parts:
        p, q = zip(*single, strict=True)
        pair = FinitePair(RationalLaw(p, q))
        terms[pair] = terms.get(pair, 0) + count
    return list(terms.items())


def test_events_stay_below_all_outcomes() -> None:
    """Random finite compositions, every outcome enumerated."""
    for seed in range(30):
        rng = random.Random(seed)
        parts = enumeration.random_composition(rng)
        outcomes, terms = enumeration.composed(parts), finite_terms(parts)
        for epsilon in (0.0, 0.1, 0.7, 2.0, 6.0):
            found = events.lower_by_events(terms, epsilon)
            assert Fraction(found) <= enumeration.delta(outcomes, epsilon)[1], (seed, epsilon)


def test_two_uses_of_a_sampled_gaussian() -> None:
    """Against an integral over both uses; with few hits the bound is close."""
    for sigma, rate, epsilon, share in ((1.0, 1e-3, 1.0, 0.99),):
        truth = float(stored("two sampled Gaussians", sigma, rate, epsilon))
        found = events.lower_by_events(terms_of(f"Gaussian(sigma={sigma}).poisson(rate={rate}) * 2", "remove"), epsilon)
        assert share * truth <= found <= truth * (1.0 + 1e-12), (sigma, rate, epsilon)


def test_every_use_at_its_top() -> None:
    """Just below the supremum of the loss only one outcome counts: P^k - e^eps Q^k, to the last digit."""
    uses, epsilon = 10, 4.999
    found = events.lower_by_events(terms_of(f"PureDP(epsilon=0.5) * {uses}", "remove"), epsilon)
    ctx_before, ctx.prec = ctx.prec, 200
    try:
        top = 1 / (1 + arb(-0.5).exp())
        exact = top**uses - arb(epsilon).exp() * (1 - top) ** uses
        assert arb(found) <= exact
        assert arb(found) >= exact * (1 - arb(2) ** -50)
    finally:
        ctx.prec = ctx_before


def test_one_use_is_met_from_below() -> None:
    """The best event of one use is delta itself; its lower end may not be the nearest double above."""
    law = response(Fraction(3, 4))
    assert isinstance(law, FiniteLaw)
    for step in range(40):
        epsilon = step / 40
        found = events.lower_by_events(terms_of("RandomizedResponse(p=0.75)", "remove"), epsilon)
        with precision(300):
            exact = Truth(law).delta(epsilon)
            assert arb(found) <= exact, epsilon
            assert arb(found) >= exact * (1 - arb(2) ** -50), epsilon


@pytest.mark.parametrize(
    "expression, epsilon, low, high",
    [
        # 1 - 0.9^10, less what Q has above the threshold
        ("Gaussian(sigma=0.02).poisson(rate=0.1) * 10", 0.5, 0.65132155, 0.65132157),
        # a thousand times delta of one use, which the oracle gives as 5.08e-67
        ("Gaussian(sigma=1).poisson(rate=1e-6) * 1000", 3.0, 5.0e-64, 1e-62),
    ],
)
def test_few_hits(expression: str, epsilon: float, low: float, high: float) -> None:
    value = lattice.prepare(terms_of(expression, "remove"), epsilon=epsilon, accuracy=0.1).delta(epsilon)
    assert low <= value.lower <= value.upper <= high


def test_the_proof_takes_events_too() -> None:
    terms = terms_of("Gaussian(sigma=0.02).poisson(rate=0.1) * 10", "remove")
    value = lattice.prepare(terms, epsilon=0.5, accuracy=1e-2, proof=True).delta(0.5)
    assert value.lower > 0.6513
    assert value.upper - value.lower <= sum(value.budget.upper.values()) + sum(value.budget.lower.values())


def test_no_use_no_loss() -> None:
    assert events.lower_by_events([], 0.0) == 0.0
