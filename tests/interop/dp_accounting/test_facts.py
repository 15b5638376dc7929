"""What dp-accounting 0.6.0 expects of its own accountant for privacy loss distributions, held beside our intervals.

The numbers are those of its pld/pld_privacy_accountant_test.py, with the tolerance that it allows. Where one of them
lies outside of the interval, the row says why, and the interval is the truth.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pytest
from dp_accounting import NeighboringRelation, pld
from dp_accounting.dp_event import (
    DiscreteLaplaceDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    MixtureOfGaussiansDpEvent,
    PoissonSampledDpEvent,
    RandomizedResponseDpEvent,
    SelfComposedDpEvent,
    TruncatedSubsampledGaussianDpEvent,
)

from tightrope.interop.dp_accounting import TightropeAccountant

ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = NeighboringRelation.REPLACE_ONE
SPECIAL = NeighboringRelation.REPLACE_SPECIAL


class Fact(NamedTuple):
    uses: list[tuple[Any, int]]
    asked: dict[str, float]
    expected: float
    allowed: float
    relation: Any = ADD
    proof: bool = False
    why: str = ""  # their number is outside of the interval, and not the truth


GAUSS = [(GaussianDpEvent(math.sqrt(3)), 1), (GaussianDpEvent(math.sqrt(3)), 2)]
SAMPLED = PoissonSampledDpEvent(0.2, GaussianDpEvent(0.5))
LAPLACE = [(LaplaceDpEvent(1), 3), (LaplaceDpEvent(2), 2)]
SAMPLED_LAPLACE = [(PoissonSampledDpEvent(0.2, LaplaceDpEvent(0.5)), 1)] * 3
INTEGER = [(DiscreteLaplaceDpEvent(1, 1), 3), (DiscreteLaplaceDpEvent(0.5, 1), 2)]
MIXTURES = [
    (MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.0], [0.2, 0.6, 0.2]), 3),
    (MixtureOfGaussiansDpEvent(2.0, [0.0, 2.0, 3.0], [0.33, 0.34, 0.33]), 2),
]
CAPPED = [
    (TruncatedSubsampledGaussianDpEvent(4, 0.5, 2, 1.0), 3),
    (TruncatedSubsampledGaussianDpEvent(3, 0.5, 2, 1.0), 2),
]
SHOWN = "without noise a sample shows the record as often as it is drawn, and never else: delta is the rate"
FACTS = {
    "response": Fact([(RandomizedResponseDpEvent(4 / (3 + math.e), 4), 1)], {"epsilon": 1.0}, 0.0, 5e-8, REPLACE),
    "response against none": Fact(
        [(RandomizedResponseDpEvent((4 - math.e) / 3, 4), 1)], {"epsilon": 1.0}, 0.0, 5e-8, SPECIAL
    ),
    "two buckets": Fact([(RandomizedResponseDpEvent(math.exp(-1), 2), 1)], {"epsilon": 1.0}, 0.0, 5e-8, SPECIAL),
    "one bucket": Fact([(RandomizedResponseDpEvent(0.0, 1), 1)], {"epsilon": 0.0}, 0.0, 0.0, REPLACE),
    "one bucket, epsilon": Fact([(RandomizedResponseDpEvent(0.0, 1), 1)], {"delta": 0.0}, 0.0, 0.0, SPECIAL),
    "no noise": Fact([(RandomizedResponseDpEvent(0.0, 3), 1)], {"delta": 0.01}, math.inf, 0.0, SPECIAL),
    "no noise, delta": Fact(
        [(RandomizedResponseDpEvent(0.0, 3), 1)],
        {"epsilon": 1.0},
        1.0,
        0.0,
        SPECIAL,
        why="the special record is a bucket drawn at random, which is the true one with probability 1/3: delta is 2/3",
    ),
    "gauss": Fact(GAUSS, {"epsilon": 1.0}, 0.126936, 1e-3),
    "gauss, epsilon": Fact(GAUSS, {"delta": 0.126936}, 1.0, 1e-3),
    "sampled": Fact([(SAMPLED, 1), (SAMPLED, 2)], {"epsilon": 1.0}, 0.15594, 1e-3),
    "sampled, epsilon": Fact([(SAMPLED, 1), (SAMPLED, 2)], {"delta": 0.15594}, 1.0, 1e-3),
    "self composed": Fact([(SelfComposedDpEvent(SAMPLED, 3), 1)], {"epsilon": 1.0}, 0.15594, 1e-3),
    "laplace": Fact(LAPLACE, {"epsilon": 4.0}, 1e-14, 1e-6),
    "laplace, epsilon": Fact(LAPLACE, {"delta": 1e-14}, 4.0, 1e-6),
    "sampled laplace": Fact(SAMPLED_LAPLACE, {"epsilon": 2.46964}, 1e-14, 1e-6, proof=True),
    "sampled laplace, epsilon": Fact(SAMPLED_LAPLACE, {"delta": 1e-14}, 2.46964, 1e-3),
    "integer": Fact(INTEGER, {"epsilon": 4.0}, 0.0, 1e-6),
    "integer, epsilon": Fact(INTEGER, {"delta": 0.0}, 4.0, 1e-6),
    "mixtures": Fact(MIXTURES, {"epsilon": 17.193115}, 1e-6, 1e-12),
    "mixtures, epsilon": Fact(MIXTURES, {"delta": 1e-6}, 17.193115, 1e-6),
    # Of data with 4 and 3 records, the larger of two neighbours; ours covers those with one more, too.
    "capped": Fact(CAPPED, {"epsilon": 17.904330}, 1e-6, 1e-12),
    "capped, epsilon": Fact(CAPPED, {"delta": 1e-6}, 17.904330, 1e-6),
    "no noise, gauss": Fact([(GaussianDpEvent(0), 1)], {"epsilon": 1.0}, 1.0, 0.0),
    "no noise, laplace": Fact([(LaplaceDpEvent(0), 1)], {"delta": 0.01}, math.inf, 0.0),
    "no noise, mixture": Fact([(MixtureOfGaussiansDpEvent(0, [1, 2], [0.5, 0.5]), 1)], {"epsilon": 1.0}, 1.0, 0.0),
    "no noise, sampled": Fact([(PoissonSampledDpEvent(0.1, GaussianDpEvent(0)), 1)], {"delta": 0.01}, math.inf, 0.0),
    "no noise, sampled, delta": Fact(
        [(PoissonSampledDpEvent(0.1, GaussianDpEvent(0)), 1)], {"epsilon": 1.0}, 1.0, 0.0, why=SHOWN
    ),
    "no noise, sampled laplace, delta": Fact(
        [(PoissonSampledDpEvent(0.1, LaplaceDpEvent(0)), 1)], {"epsilon": 1.0}, 1.0, 0.0, why=SHOWN
    ),
    "rate 0": Fact([(PoissonSampledDpEvent(0, GaussianDpEvent(1)), 1)], {"epsilon": 0.0}, 0.0, 0.0),
    "rate 0, no noise": Fact([(PoissonSampledDpEvent(0, LaplaceDpEvent(0)), 1)], {"delta": 0.0}, 0.0, 0.0),
    "no shift": Fact([(MixtureOfGaussiansDpEvent(0, [0], [1.0]), 1)], {"delta": 0.0}, 0.0, 0.0),
}


@pytest.mark.parametrize("fact", FACTS.values(), ids=list(FACTS))
def test_expectations_are_met_or_not_the_truth(fact: Fact) -> None:
    accountant = TightropeAccountant(fact.relation, proof=fact.proof)
    for event, count in fact.uses:
        accountant.compose(event, count)
    bound = accountant.bound(**fact.asked)
    met = bound.lower - fact.allowed <= fact.expected <= bound.upper + fact.allowed
    assert met is not bool(fact.why), (bound, fact.why)
    assert bound.lower > 0.0 or bound.upper <= 1e-6  # an interval that says something
    (asked, at), *_ = fact.asked.items()
    answer = accountant.get_epsilon(at) if asked == "delta" else accountant.get_delta(at)
    assert answer == bound.upper


def test_what_differs_is_known_to_the_last_digit() -> None:
    response = TightropeAccountant(SPECIAL).compose(RandomizedResponseDpEvent(0.0, 3)).bound(epsilon=1.0)
    sampled = TightropeAccountant().compose(PoissonSampledDpEvent(0.1, GaussianDpEvent(0))).bound(epsilon=1.0)
    assert response.lower <= 2 / 3 <= response.upper <= 0.6666666667
    assert sampled.lower <= 0.1 <= sampled.upper <= 0.1000000001


def test_their_accountant_loses_the_count_of_randomized_response() -> None:
    """Ten reports of three buckets: the largest loss alone, as often as all ten are true, has more than their delta."""
    event = RandomizedResponseDpEvent(0.5, 3)
    theirs = pld.PLDAccountant(REPLACE).compose(event, 10).get_epsilon(1e-3)
    ours = TightropeAccountant(REPLACE).compose(event, 10).bound(delta=1e-3)
    assert theirs == pytest.approx(1.3848, abs=1e-3)
    assert 13.8035 < ours.lower <= ours.upper < 13.8036
    # All ten true has probability (2/3)^10 and the loss 10 log 4.
    assert (2 / 3) ** 10 * -math.expm1(theirs - 10 * math.log(4)) > 1e-3


@pytest.mark.parametrize(
    ("event", "relation", "epsilon"),
    [
        (LaplaceDpEvent(1.0), REPLACE, (1.9, 2.0)),
        (PoissonSampledDpEvent(0.1, LaplaceDpEvent(1.0)), REPLACE, (0.1, 0.3)),
        (DiscreteLaplaceDpEvent(0.1, 1), REPLACE, (0.19, 0.2000001)),
    ],
    ids=["laplace", "sampled laplace", "integer"],
)
def test_more_events_have_an_answer(event: Any, relation: Any, epsilon: tuple[float, float]) -> None:
    """Their accountant refuses these under REPLACE_ONE; a record moves a sum of norms up to C by up to 2 C."""
    assert not pld.PLDAccountant(relation).supports(event)
    bound = TightropeAccountant(relation).compose(event).bound(delta=1e-3)
    assert epsilon[0] < bound.lower <= bound.upper < epsilon[1]
