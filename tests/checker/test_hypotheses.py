"""The checker's own table of needs and facts says what the accountant's says, which was written elsewhere."""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope.checker import hypotheses
from tightrope.checker.expression import run_of
from tightrope.checker.judge import judged
from tightrope.checker.law import NotCheckable
from tightrope.core.mechanisms import theorems
from tightrope.core.mechanisms.theorems import Fact, Theorem
from tightrope.core.values.errors import TightropeError

NAMES = {
    Fact.ADD_REMOVE: hypotheses.ADD_REMOVE,
    Fact.REPLACE: hypotheses.REPLACE,
    Fact.SIZE: hypotheses.SIZE,
    Fact.OTHERS: hypotheses.OTHERS,
    Fact.EVERYWHERE: hypotheses.EVERYWHERE,
    Fact.GROUPS: hypotheses.GROUPS,
    Fact.GAUSSIAN: hypotheses.GAUSSIAN,
}
THEOREMS = {
    "poisson": theorems.POISSON,
    "truncated_poisson": theorems.CAPPED_POISSON,
    "random_allocation": theorems.ALLOCATION,
    "without_replacement": theorems.WITHOUT_REPLACEMENT,
    "with_replacement": theorems.WITH_REPLACEMENT,
    "shuffled_batches": theorems.SHUFFLED_BATCHES,
    "group": theorems.GROUP,
}
BASES = [
    "Gaussian(sigma=2.0)",
    "GDP(mu=1.0) * 3",
    "Laplace(scale=2.0)",
    "GaussianMixture(sigma=2.0, shifts=(0.0, 1.0), weights=(0.5, 0.5))",
    "TruncatedGaussian(sigma=2.0, bounds=(-9.0, 9.0))",
    "TruncatedGaussian(sigma=2.0, bounds=(-9.0, 9.0), mode='clamp')",
    "RandomizedResponse(p=0.75)",
    "RandomizedResponse(p=0.75, neighbours='add_remove')",
    "SubsetSelection(epsilon=1.0, categories=5, size=2)",
    "PureDP(epsilon=1.0)",
    "ZCDP(rho=0.5)",
    "Skellam(variance=9.0)",
    "training(records=100, batch=10, steps=5, sigma=1.0)",
    "Gaussian(sigma=2.0).poisson(rate=0.5)",
    "Gaussian(sigma=2.0).without_replacement(batch=10, records=100)",
    "Gaussian(sigma=2.0).with_replacement(batch=10, records=100)",
    "Gaussian(sigma=2.0).truncated_poisson(rate=0.1, cap=20, records=100)",
    "Gaussian(sigma=2.0).group(size=2)",
    "NoisyMax(scale=3.0, monotone=True)",
    "Gaussian(sigma=2.0).random_allocation(steps=5)",
    "Gaussian(sigma=2.0) + RandomizedResponse(p=0.75)",
]
CALLS = {
    "poisson": ".poisson(rate=0.25)",
    "truncated_poisson": ".truncated_poisson(rate=0.1, cap=20, records=100)",
    "without_replacement": ".without_replacement(batch=10, records=100)",
    "with_replacement": ".with_replacement(batch=10, records=100)",
    "group": ".group(size=2)",
    "random_allocation": ".random_allocation(steps=4)",
    "shuffled_batches": ".shuffled_batches(steps=4)",
}


def test_needs_are_those_of_the_theorems() -> None:
    assert set(THEOREMS) == set(hypotheses.NEEDS)
    for name, theorem in THEOREMS.items():
        assert {NAMES[fact] for fact in theorem.needs} == hypotheses.NEEDS[name]


@pytest.mark.parametrize("text", BASES)
def test_no_fact_is_claimed_that_the_accountant_does_not_have(text: str) -> None:
    facts = run_of(text).facts
    for fact, name in NAMES.items():
        theorem = Theorem("test", "claim", "", "", (fact,))
        if name in facts:
            assert theorem.holds(tr.parse(text)), name


@pytest.mark.parametrize("text", BASES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_the_accountant_refuses_is_not_checkable(text: str, call: str) -> None:
    whole = f"({text}){call}"
    try:
        tr.parse(whole).epsilon(0.1, seconds=1.0)
    except TightropeError:
        with pytest.raises(NotCheckable):
            run_of(whole)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_known_by_divergences_has_no_samples(call: str) -> None:
    case = {"quantity": "delta", "expression": f"ZCDP(rho=0.1, delta=0.01){call}", "epsilon": "inf", "lower": 0.0}
    assert judged({**case, "upper": 0.001}, 2.0)[1].verdict != "proved"


def test_relations_that_clash_are_not_checkable() -> None:
    for text in (
        "RandomizedResponse(p=0.75).poisson(rate=0.5)",
        "RandomizedResponse(p=0.75) + Gaussian(sigma=1.0).poisson(rate=0.5)",
        "Finite(p=(0.5, 0.5), q=(0.25, 0.75)) * 2 + RandomizedResponse(p=0.75)",  # either order at each use
    ):
        case = {"quantity": "delta", "expression": text, "epsilon": 0.5, "lower": 0.0, "upper": 0.99}
        assert judged(case, 5.0)[1].verdict == "not checkable"
