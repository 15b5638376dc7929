"""Mechanisms as events: round trips, and what has no event."""

from __future__ import annotations

import math
from typing import Any

import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.dp_event import (
    ComposedDpEvent,
    DiscreteLaplaceDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    MixtureOfGaussiansDpEvent,
    NonPrivateDpEvent,
    NoOpDpEvent,
    PoissonSampledDpEvent,
    RandomizedResponseDpEvent,
    RepeatAndSelectDpEvent,
    SampledWithoutReplacementDpEvent,
    SampledWithReplacementDpEvent,
    SelfComposedDpEvent,
    SingleEpochTreeAggregationDpEvent,
    TruncatedSubsampledGaussianDpEvent,
    ZCDpEvent,
)

import tightrope as tr
from tightrope.interop.dp_accounting import UnsupportedEvent, from_event, to_event

ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = NeighboringRelation.REPLACE_ONE
SPECIAL = NeighboringRelation.REPLACE_SPECIAL
GAUSS = GaussianDpEvent(1.1)
SAMPLED = PoissonSampledDpEvent(0.01, GAUSS)
EVENTS = [
    (NoOpDpEvent(), (ADD, REPLACE, SPECIAL)),
    (NonPrivateDpEvent(), (ADD, REPLACE, SPECIAL)),
    (GAUSS, (ADD, REPLACE, SPECIAL)),
    (LaplaceDpEvent(0.3), (ADD, REPLACE, SPECIAL)),
    (DiscreteLaplaceDpEvent(0.125, 3), (ADD, REPLACE, SPECIAL)),
    (RandomizedResponseDpEvent(0.5, 2), (REPLACE,)),
    (MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.5], [0.25, 0.5, 0.25]), (ADD, SPECIAL)),
    (ZCDpEvent(0.1), (ADD, REPLACE, SPECIAL)),
    (ZCDpEvent(0.0, 0.2), (ADD, REPLACE, SPECIAL)),
    (SingleEpochTreeAggregationDpEvent(2.0, 100), (REPLACE, SPECIAL)),
    (SelfComposedDpEvent(SAMPLED, 1000), (ADD, REPLACE, SPECIAL)),
    (ComposedDpEvent([GAUSS, SelfComposedDpEvent(LaplaceDpEvent(2.0), 3)]), (ADD, REPLACE, SPECIAL)),
    (PoissonSampledDpEvent(0.1, ComposedDpEvent([GAUSS, LaplaceDpEvent(2.0)])), (ADD, REPLACE, SPECIAL)),
    (SampledWithoutReplacementDpEvent(100, 5, GAUSS), (ADD, REPLACE)),
    (SampledWithoutReplacementDpEvent(100, 5, SAMPLED), (ADD, REPLACE)),
    (SampledWithReplacementDpEvent(100, 5, GAUSS), (REPLACE,)),
    (TruncatedSubsampledGaussianDpEvent(100, 0.1, 20, 1.1), (ADD,)),
    *[(RepeatAndSelectDpEvent(GAUSS, 5.0, shape), (ADD, REPLACE, SPECIAL)) for shape in (0.0, 0.5, 1.0, math.inf)],
]


@pytest.mark.parametrize(
    ("event", "relation"), [(event, each) for event, relations in EVENTS for each in relations], ids=str
)
def test_events_come_back(event: Any, relation: Any) -> None:
    mechanism = from_event(event, relation)
    assert to_event(mechanism, relation) == event
    assert from_event(to_event(mechanism.named("run"), relation), relation) == mechanism


def test_a_sensitivity_of_ones_own() -> None:
    assert to_event(tr.Gaussian(3.0, sensitivity=2.0)) == GaussianDpEvent(1.5)
    assert to_event(tr.Gaussian(3.0, sensitivity=2.0), REPLACE) == GaussianDpEvent(3.0)
    assert to_event(tr.ZCDP(0.1) + tr.RenyiCurve([math.inf], [0.2])) == ComposedDpEvent(
        [ZCDpEvent(0.0, 0.2), ZCDpEvent(0.1)]
    )


@pytest.mark.parametrize(
    ("mechanism", "relation", "why"),
    [
        (tr.Gaussian(1.0, sensitivity=3.0), ADD, "sigma/sensitivity is no double"),
        (tr.DiscreteLaplace(10.0), ADD, "1/scale is no double"),
        (tr.DiscreteLaplace(4.0, sensitivity=3), REPLACE, "odd"),
        (tr.RandomizedResponse(p=0.75), ADD, "REPLACE_ONE"),
        (tr.RandomizedResponse(p=0.25), REPLACE, "less often"),
        (tr.RandomizedResponse(epsilon=1.0), REPLACE, "only p"),
        (tr.PureDP(0.1), ADD, "epsilon-DP"),
        (tr.ApproximateDP(0.1, 0.1), ADD, "delta"),
        (tr.ZCDP(0.1, delta=1e-9), ADD, "approximate"),
        (tr.Gaussian(1).poisson(0.1), REPLACE, "ADD_OR_REMOVE_ONE or REPLACE_SPECIAL"),
        (tr.Gaussian(1).poisson(0.1, neighbours="replace"), ADD, "it is about REPLACE_ONE"),
        (tr.ZCDP(0.1).poisson(0.1), SPECIAL, "its claim"),
        (tr.Laplace(1).truncated_poisson(rate=0.1, cap=3, records=9), ADD, "Gaussian noise only"),
        (tr.Gaussian(1).best_of("binomial", 2, 5), ADD, "no such law"),
        (tr.TreeAggregation(1, steps=4), ADD, "may move all others"),
        (tr.TreeAggregation(1, steps=4, epochs=2), REPLACE, "one tree, and a record"),
        (tr.TreeAggregation(1, steps=4, restart=2), REPLACE, "one tree, and a record"),
        (tr.Staircase(1.0) * 3 + tr.Gaussian(1), ADD, "no event of dp-accounting"),
    ],
    ids=str,
)
def test_what_has_no_event(mechanism: Any, relation: Any, why: str) -> None:
    with pytest.raises(UnsupportedEvent, match=why):
        to_event(mechanism, relation)


def test_a_run_is_its_expression() -> None:
    run = tr.training(records=60000, batch=256, epochs=2, sigma=1.1)
    assert from_event(to_event(run)).epsilon(1e-5) == run.epsilon(1e-5)
    with pytest.raises(tr.InvalidParameter, match="mechanism must be"):
        to_event("Gaussian(sigma=1)")
