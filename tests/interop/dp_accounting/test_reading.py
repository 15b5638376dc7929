"""Events as mechanisms: each pair against its definition, summed or integrated here; refusals; hostile numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import dp_accounting
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.dp_event import (
    ComposedDpEvent,
    DiscreteLaplaceDpEvent,
    DpEvent,
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
    UnsupportedDpEvent,
    ZCDpEvent,
)
from scipy.integrate import quad

import tightrope as tr
from tightrope.interop.dp_accounting import TightropeAccountant, UnsupportedEvent, from_event

ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = NeighboringRelation.REPLACE_ONE
SPECIAL = NeighboringRelation.REPLACE_SPECIAL
GAUSS = GaussianDpEvent(1.5)
Law = Callable[[float], float]


def integral(p: Law, q: Law, epsilon: float) -> float:
    """The larger of both directions of the integral of (p - e^epsilon q)_+, on [-45, 45]."""
    found = []
    for one, two in ((p, q), (q, p)):
        pieces = [
            quad(lambda x, one=one, two=two: max(one(x) - math.exp(epsilon) * two(x), 0.0), left, left + 1, limit=200)[
                0
            ]
            for left in range(-45, 45)
        ]
        found.append(math.fsum(pieces))
    return max(found)


def listed(p: dict[Any, float], q: dict[Any, float], epsilon: float) -> float:
    sums = [math.fsum(max(a[x] - math.exp(epsilon) * b[x], 0.0) for x in a) for a, b in ((p, q), (q, p))]
    return max(sums)


def gauss(*parts: tuple[float, float], sigma: float = 1.5) -> Law:
    return lambda x: math.fsum(
        weight * math.exp(-0.5 * ((x - centre) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))
        for weight, centre in parts
    )


def laplace(*parts: tuple[float, float]) -> Law:
    return lambda x: math.fsum(weight * math.exp(-abs(x - centre) / 2) / 4 for weight, centre in parts)


def geometric(centre: int, decay: float) -> dict[int, float]:
    return {x: math.exp(-decay * abs(x - centre)) * math.tanh(decay / 2) for x in range(-4000, 4001)}


def response(told: int | None, noise: float, buckets: int) -> dict[int, float]:
    return {x: 1 / buckets if told is None else (1 - noise) * (x == told) + noise / buckets for x in range(buckets)}


LAWS = [
    (GAUSS, ADD, gauss((1, 1)), gauss((1, 0))),
    (GAUSS, SPECIAL, gauss((1, 1)), gauss((1, 0))),
    (GAUSS, REPLACE, gauss((1, 1)), gauss((1, -1))),
    (LaplaceDpEvent(2.0), SPECIAL, laplace((1, 1)), laplace((1, 0))),
    (LaplaceDpEvent(2.0), REPLACE, laplace((1, 1)), laplace((1, -1))),
    (PoissonSampledDpEvent(0.3, GAUSS), ADD, gauss((0.3, 1), (0.7, 0)), gauss((1, 0))),
    (PoissonSampledDpEvent(0.3, GAUSS), SPECIAL, gauss((0.3, 1), (0.7, 0)), gauss((1, 0))),
    (PoissonSampledDpEvent(0.3, GAUSS), REPLACE, gauss((0.3, 1), (0.7, 0)), gauss((0.3, -1), (0.7, 0))),
    (PoissonSampledDpEvent(0.5, PoissonSampledDpEvent(0.6, GAUSS)), ADD, gauss((0.3, 1), (0.7, 0)), gauss((1, 0))),
    (PoissonSampledDpEvent(0.3, LaplaceDpEvent(2.0)), ADD, laplace((0.3, 1), (0.7, 0)), laplace((1, 0))),
    (
        MixtureOfGaussiansDpEvent(1.5, [0, 1, 2], [0.2, 0.5, 0.3]),
        ADD,
        gauss((0.2, 0), (0.5, 1), (0.3, 2)),
        gauss((1, 0)),
    ),
    # One of four records in a batch of one: its place is taken by another one, which may lie 2 away.
    (SampledWithoutReplacementDpEvent(4, 1, GAUSS), ADD, gauss((0.25, 2), (0.75, 0)), gauss((1, 0))),
    (SampledWithoutReplacementDpEvent(4, 1, GAUSS), REPLACE, gauss((0.25, 2), (0.75, 0)), gauss((1, 0))),
    # Seven steps: a record of the first is in 3 nodes.
    (SingleEpochTreeAggregationDpEvent(1.5, [3, 7, 0]), SPECIAL, gauss((1, math.sqrt(3))), gauss((1, 0))),
    (SingleEpochTreeAggregationDpEvent(1.5, 7), REPLACE, gauss((1, 2 * math.sqrt(3))), gauss((1, 0))),
]


@pytest.mark.parametrize(("event", "relation", "p", "q"), LAWS, ids=lambda value: str(value)[:60])
def test_laws_are_those_of_the_definition(event: Any, relation: Any, p: Law, q: Law) -> None:
    for epsilon in (0.0, 0.4):
        bound = from_event(event, relation).delta(epsilon)
        assert bound.lower - 1e-7 <= integral(p, q, epsilon) <= bound.upper + 1e-7
        assert bound.upper - bound.lower < 1e-6


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.29])
@pytest.mark.parametrize(("relation", "shift"), [(ADD, 3), (SPECIAL, 3), (REPLACE, 6)])
def test_discrete_laplace(relation: Any, shift: int, epsilon: float) -> None:
    bound = TightropeAccountant(relation).compose(DiscreteLaplaceDpEvent(0.1, 3)).bound(epsilon=epsilon)
    assert bound.lower - 1e-12 <= listed(geometric(shift, 0.1), geometric(0, 0.1), epsilon) <= bound.upper + 1e-12


@pytest.mark.parametrize(("relation", "other"), [(REPLACE, 1), (SPECIAL, None)])
def test_randomized_response_three_times(relation: Any, other: int | None) -> None:
    p, q = (
        {at: math.prod(law[x] for x in at) for at in product(range(4), repeat=3)}
        for law in (response(0, 0.3, 4), response(other, 0.3, 4))
    )
    for epsilon in (0.0, 1.0, 2.5):
        bound = TightropeAccountant(relation).compose(RandomizedResponseDpEvent(0.3, 4), 3).bound(epsilon=epsilon)
        assert bound.lower - 1e-12 <= listed(p, q, epsilon) <= bound.upper + 1e-12


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (DiscreteLaplaceDpEvent(0.1, 1), ADD),
        (RandomizedResponseDpEvent(0.1, 3), REPLACE),
        (RandomizedResponseDpEvent(0.1, 7), SPECIAL),
    ],
)
def test_what_is_rounded_is_around_the_event(event: Any, relation: Any) -> None:
    """The largest loss, exactly known, lies between what is dominated and what dominates."""
    known = {
        (0.1, 1): math.log(math.e) * 0.1,
        (0.1, 3): math.log((0.9 + 0.1 / 3) / (0.1 / 3)),
        (0.1, 7): math.log(1 / 0.1),  # of a bucket that is not the true one, when nothing is told
    }
    *_, parameters = [tuple(getattr(event, name) for name in type(event).__slots__ if name != "__weakref__")]
    bound = TightropeAccountant(relation).compose(event).bound(delta=0.0)
    assert bound.lower <= known[parameters] * (1 + 1e-15)
    assert bound.upper >= known[parameters] * (1 - 1e-15)
    assert bound.upper - bound.lower < 1e-13


def test_names_of_ours() -> None:
    assert from_event(NoOpDpEvent()) == tr.compose()
    assert from_event(ComposedDpEvent([])) == tr.compose()
    assert from_event(SelfComposedDpEvent(GAUSS, 0)) == tr.compose()
    assert from_event(ZCDpEvent(0.1)) == tr.ZCDP(0.1)
    assert from_event(ZCDpEvent(0.0, 0.2), REPLACE) == tr.RenyiCurve([math.inf], [0.2])
    assert from_event(RepeatAndSelectDpEvent(GAUSS, 10.0, math.inf)) == tr.Gaussian(1.5).best_of("poisson", mean=10)
    assert from_event(RepeatAndSelectDpEvent(GAUSS, 10, 1), REPLACE) == tr.Gaussian(1.5, sensitivity=2).best_of(
        "geometric", mean=10
    )
    assert from_event(RepeatAndSelectDpEvent(GAUSS, 10, 0)).law == "logarithmic"  # type: ignore[attr-defined]
    assert from_event(RepeatAndSelectDpEvent(GAUSS, 10, 0.5)) == tr.Gaussian(1.5).best_of("negative_binomial", 10, 0.5)
    assert from_event(SampledWithReplacementDpEvent(100, 5, GAUSS), REPLACE) == tr.Gaussian(
        1.5, sensitivity=2
    ).with_replacement(batch=5, records=100)
    assert from_event(TruncatedSubsampledGaussianDpEvent(100, 0.1, 20, 1.5)) == tr.Gaussian(1.5).truncated_poisson(
        rate=0.1, cap=20, records=100
    )
    one_sample = PoissonSampledDpEvent(0.1, ComposedDpEvent([GAUSS, SelfComposedDpEvent(LaplaceDpEvent(2), 3)]))
    assert from_event(one_sample) == (tr.Gaussian(1.5) + tr.Laplace(2) * 3).poisson(0.1)


@pytest.mark.parametrize("shape", [0.5, math.inf])
def test_selection_is_below_their_bound(shape: float) -> None:
    event = RepeatAndSelectDpEvent(GaussianDpEvent(5.0), 10.0, shape)
    theirs = dp_accounting.rdp.RdpAccountant().compose(event).get_epsilon(1e-6)
    assert 0.0 < TightropeAccountant().compose(event).bound(delta=1e-6).lower < theirs


def test_zcdp_with_a_constant_is_below_the_conversion_and_above_what_has_it() -> None:
    """Gaussian noise of rho, and randomized response of xi beside it, keep to the curve."""
    event = ZCDpEvent(0.02, 0.1)
    theirs = dp_accounting.rdp.RdpAccountant().compose(event, 3).get_epsilon(1e-5)
    bound = TightropeAccountant().compose(event, 3).bound(delta=1e-5)
    real = (tr.Gaussian(5.0) * 3 + tr.PureDP(0.1) * 3).epsilon(1e-5)
    assert real.lower < bound.lower <= bound.upper < theirs


class Own(DpEvent):  # type: ignore[misc]
    pass


class Mine(GaussianDpEvent):  # type: ignore[misc]
    """May mean something else."""


SIZED = SampledWithoutReplacementDpEvent(10, 2, GAUSS)
TREE = SingleEpochTreeAggregationDpEvent(1.0, 8)
REFUSED = [
    (UnsupportedDpEvent(), ADD, UnsupportedDpEvent, "nobody described"),
    (Own(), ADD, Own, "no event that is known"),
    (Mine(1.0), ADD, Mine, "a subclass may mean something else"),
    (RandomizedResponseDpEvent(0.1, 3), ADD, RandomizedResponseDpEvent, "ADD_OR_REMOVE_ONE"),
    (PoissonSampledDpEvent(0.1, RandomizedResponseDpEvent(0.1, 3)), SPECIAL, RandomizedResponseDpEvent, "wanted here"),
    (
        SampledWithoutReplacementDpEvent(9, 1, RandomizedResponseDpEvent(0.1, 3)),
        REPLACE,
        RandomizedResponseDpEvent,
        "not s",
    ),
    (MixtureOfGaussiansDpEvent(1.0, [0, 1], [0.5, 0.5]), REPLACE, MixtureOfGaussiansDpEvent, "REPLACE_ONE"),
    (
        PoissonSampledDpEvent(0.1, MixtureOfGaussiansDpEvent(1.0, [1], [1])),
        REPLACE,
        MixtureOfGaussiansDpEvent,
        "replaced",
    ),
    (PoissonSampledDpEvent(0.1, ZCDpEvent(0.1)), REPLACE, ZCDpEvent, "its claim is about REPLACE_ONE"),
    (PoissonSampledDpEvent(0.1, ZCDpEvent(0.1)), SPECIAL, ZCDpEvent, "its claim is about REPLACE_SPECIAL"),
    (TREE, ADD, SingleEpochTreeAggregationDpEvent, "may move all others"),
    (PoissonSampledDpEvent(0.1, TREE), SPECIAL, SingleEpochTreeAggregationDpEvent, "wanted here"),
    (SIZED, SPECIAL, SampledWithoutReplacementDpEvent, "in the place of"),
    (PoissonSampledDpEvent(0.1, SIZED), ADD, PoissonSampledDpEvent, "data of 10 records"),
    (SampledWithReplacementDpEvent(10, 2, GAUSS), ADD, SampledWithReplacementDpEvent, "replaced"),
    (
        TruncatedSubsampledGaussianDpEvent(10, 0.1, 2, 1.0),
        REPLACE,
        TruncatedSubsampledGaussianDpEvent,
        "added or removed",
    ),
    (DiscreteLaplaceDpEvent(0, 1), ADD, DiscreteLaplaceDpEvent, "noise_parameter must be"),
    (DiscreteLaplaceDpEvent(1e-310, 1), ADD, DiscreteLaplaceDpEvent, "too close to 0"),
    (GaussianDpEvent(-1.0), ADD, GaussianDpEvent, "noise_multiplier must be"),
    (GaussianDpEvent(math.nan), ADD, GaussianDpEvent, "noise_multiplier must be"),
    (GaussianDpEvent("much"), ADD, GaussianDpEvent, "noise_multiplier must be"),
    (SelfComposedDpEvent(GAUSS, -1), ADD, SelfComposedDpEvent, "count must be"),
    (SelfComposedDpEvent(GAUSS, 2.5), ADD, SelfComposedDpEvent, "count must be"),
    (PoissonSampledDpEvent(1.5, GAUSS), ADD, PoissonSampledDpEvent, "rate must"),
    (RandomizedResponseDpEvent(0.1, 0), REPLACE, RandomizedResponseDpEvent, "num_buckets must be"),
    (RepeatAndSelectDpEvent(GAUSS, 10.0, -0.5), ADD, RepeatAndSelectDpEvent, "shape must be 0 or more"),
    (RepeatAndSelectDpEvent(GAUSS, 0.5, 1.0), ADD, RepeatAndSelectDpEvent, "mean must be"),
    (SingleEpochTreeAggregationDpEvent(1.0, []), SPECIAL, SingleEpochTreeAggregationDpEvent, "trees"),
    (MixtureOfGaussiansDpEvent(1.0, [0, 1], [0.5]), ADD, MixtureOfGaussiansDpEvent, "same length"),
    (MixtureOfGaussiansDpEvent(1.0, [0, 0], [0.5, 0.1]), ADD, MixtureOfGaussiansDpEvent, "sum to 1"),
    (ZCDpEvent(-0.1), ADD, ZCDpEvent, "rho must be"),
    ("GaussianDpEvent", ADD, str, "no event that is known"),
]


@pytest.mark.parametrize(("event", "relation", "culprit", "why"), REFUSED, ids=lambda value: str(value)[:50])
@pytest.mark.parametrize("nest", [lambda e: e, lambda e: ComposedDpEvent([GAUSS, e])], ids=["bare", "composed"])
def test_refusals_name_the_event_and_say_why(event: Any, relation: Any, culprit: type, why: str, nest: Any) -> None:
    with pytest.raises(UnsupportedEvent, match=why) as caught:
        from_event(nest(event), relation)
    assert type(caught.value.event) is culprit
    assert str(caught.value).startswith(f"{culprit.__name__}: ")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, tr.TightropeError)


def test_no_noise() -> None:
    for event in (GaussianDpEvent(0), NonPrivateDpEvent(), SampledWithoutReplacementDpEvent(5, 5, LaplaceDpEvent(0.0))):
        bound = from_event(event, REPLACE).delta(3.0)
        assert (bound.lower, bound.upper) == (1.0, 1.0)
    still = from_event(MixtureOfGaussiansDpEvent(0, [0, 1, 0], [0.5, 0.25, 0.25])).delta(1.0)
    assert still.lower <= 0.25 <= still.upper < 0.26
