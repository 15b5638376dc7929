"""The accountant beside dp-accounting's own: its abstract tests, its ledger, its search."""

from __future__ import annotations

import math
import pickle
from typing import Any

import dp_accounting
import pytest
from dp_accounting import NeighboringRelation, mechanism_calibration, privacy_accountant_test
from dp_accounting.dp_event import (
    ComposedDpEvent,
    GaussianDpEvent,
    LaplaceDpEvent,
    NonPrivateDpEvent,
    NoOpDpEvent,
    PoissonSampledDpEvent,
    RandomizedResponseDpEvent,
    SelfComposedDpEvent,
    UnsupportedDpEvent,
)

import tightrope as tr
from tightrope.interop.dp_accounting import TightropeAccountant, UnsupportedEvent, from_event

STEP = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))


class TestOfTheirs(privacy_accountant_test.PrivacyAccountantTest):  # type: ignore[misc]
    """What they demand of every accountant: unsupported, no and non-private events, however nested."""

    def _make_test_accountants(self) -> list[TightropeAccountant]:
        return [TightropeAccountant(relation) for relation in NeighboringRelation]


def test_it_is_one_of_theirs() -> None:
    accountant = TightropeAccountant()
    assert isinstance(accountant, dp_accounting.PrivacyAccountant)
    assert accountant.neighboring_relation is NeighboringRelation.ADD_OR_REMOVE_ONE
    assert accountant.compose(STEP, 500).compose(STEP, 500) is accountant
    assert accountant.ledger == SelfComposedDpEvent(STEP, 1000)
    assert accountant.mechanism == tr.Gaussian(1.0).poisson(0.01) * 1000
    assert accountant.get_epsilon(1e-6) == accountant.bound(delta=1e-6).upper == pytest.approx(2.12451517112)
    assert 1e-6 in accountant.bound(epsilon=2.12451517112) or accountant.get_delta(2.12451517112) == pytest.approx(1e-6)


def test_questions_take_the_options_of_the_accountant() -> None:
    proven = TightropeAccountant(proof=True).compose(GaussianDpEvent(2.0)).bound(delta=1e-6)
    assert proven.certificate is not None
    assert proven.certificate.arithmetic != "float64"
    with pytest.raises(tr.InvalidParameter, match="seconds"):
        TightropeAccountant(seconds=-1)
    with pytest.raises(tr.InvalidParameter, match="neighboring_relation must be a dp_accounting"):
        TightropeAccountant("add")
    with pytest.raises(tr.InvalidParameter, match="either delta or epsilon"):
        TightropeAccountant().bound()
    with pytest.raises(ValueError, match="delta"):
        TightropeAccountant().get_epsilon(-0.1)


@pytest.mark.parametrize("count", [0, -1])
def test_counts_that_are_none(count: int) -> None:
    with pytest.raises(ValueError):
        TightropeAccountant().compose(STEP, count)


def test_what_fails_leaves_everything_as_it_was() -> None:
    accountant = TightropeAccountant().compose(STEP, 10)
    before = accountant.ledger, accountant.get_epsilon(1e-5)
    for event in (
        UnsupportedDpEvent(),
        ComposedDpEvent([STEP, RandomizedResponseDpEvent(0.1, 3)]),
        GaussianDpEvent(-1),
    ):
        assert not accountant.supports(event)
        with pytest.raises(dp_accounting.UnsupportedEventError, match="caused by subevent"):
            accountant.compose(event)
    with pytest.raises(TypeError):
        accountant.compose("GaussianDpEvent")
    assert (accountant.ledger, accountant.get_epsilon(1e-5)) == before


def test_events_are_read_when_they_are_composed() -> None:
    steps = [STEP]
    accountant = TightropeAccountant().compose(ComposedDpEvent(steps))
    before = accountant.get_epsilon(1e-6)
    steps.append(NonPrivateDpEvent())
    assert accountant.get_epsilon(1e-6) == before
    assert accountant.compose(NoOpDpEvent()).get_epsilon(1e-6) == before


def test_not_private_however_deep() -> None:
    accountant = TightropeAccountant().compose(PoissonSampledDpEvent(0.1, NonPrivateDpEvent()))
    assert accountant.get_epsilon(0.5) == math.inf
    assert accountant.get_delta(1.0) == 1.0
    assert accountant.bound(epsilon=1.0).upper == pytest.approx(0.1)


def test_thousands_of_steps_one_by_one() -> None:
    accountant = TightropeAccountant()
    for index in range(4000):
        accountant.compose(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0 + index % 2)))
    assert len(accountant.mechanism.parts) == 2
    together = from_event(STEP) * 2000 + tr.Gaussian(2.0).poisson(0.01) * 2000
    assert accountant.bound(delta=1e-6) == together.epsilon(1e-6)


def test_it_crosses_processes() -> None:
    accountant = pickle.loads(pickle.dumps(TightropeAccountant(seconds=5).compose(STEP, 7)))
    assert accountant.compose(STEP, 993).get_epsilon(1e-6) == pytest.approx(2.12451517112)
    error = pickle.loads(pickle.dumps(UnsupportedEvent(STEP, "why not")))
    assert (str(error), error.event) == ("PoissonSampledDpEvent: why not", STEP)


@pytest.mark.parametrize(
    ("make", "least", "options"),
    [
        (lambda sigma: SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(sigma)), 1000), 1.56266, {}),
        (lambda scale: SelfComposedDpEvent(LaplaceDpEvent(scale), 10), 9.98979, {}),
        (
            lambda count: SelfComposedDpEvent(STEP, count),
            None,
            {"discrete": True, "bracket_interval": mechanism_calibration.LowerEndpointAndGuess(1, 10)},
        ),
    ],
    ids=["sigma", "scale", "count"],
)
def test_their_search_runs_with_ours_inside(make: Any, least: float | None, options: dict[str, Any]) -> None:
    """It begins at noise 0, where epsilon is inf, and ends on the side that meets the target."""
    probed = []

    def probe(value: float) -> Any:
        probed.append(value)
        return make(value)

    found = dp_accounting.calibrate_dp_mechanism(TightropeAccountant, probe, 1.0, 1e-6, **options)
    accountant = TightropeAccountant().compose(make(found))
    assert accountant.get_epsilon(1e-6) <= 1.0
    if least is None:
        assert TightropeAccountant().compose(make(found + 1)).bound(delta=1e-6).lower > 1.0
    else:
        assert probed[0] == 0
        assert found == pytest.approx(least, abs=2e-5)


def test_no_noise_and_very_much() -> None:
    for sigma, epsilon in ((0.0, math.inf), (0, math.inf), (1e9, 0.0), (2.0**1000, 0.0)):
        event = SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(sigma)), 1000)
        assert TightropeAccountant().compose(event).get_epsilon(1e-6) == epsilon
    assert TightropeAccountant().compose(NoOpDpEvent()).get_epsilon(0.0) == 0.0
