"""Flower's strategies with our accountant inside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import (
    GaussianPrivacyEvent,
    NeighboringRelation,
    PrivacyAccountant,
    PrivacyConfig,
    SamplingMethod,
)
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg

import tightrope as tr
from tightrope.interop.flwr import FlowerAccountant

CLIENTS = 4


def config(method: SamplingMethod = SamplingMethod.NO_AMPLIFICATION, **more: Any) -> PrivacyConfig:
    replaced = method is SamplingMethod.WITHOUT_REPLACEMENT
    relation = NeighboringRelation.REPLACE_ONE if replaced else NeighboringRelation.ADD_OR_REMOVE_ONE
    return PrivacyConfig(
        target_delta=1e-5, population_size=100, neighboring_relation=relation, sampling_method=method, **more
    )


def event(noise: float = 2.0) -> GaussianPrivacyEvent:
    return GaussianPrivacyEvent(noise_multiplier=noise, sample_size=10, population_size=100)


def content(value: float) -> RecordDict:
    return RecordDict(
        {"arrays": ArrayRecord({"w": Array(np.full(3, value))}), "metrics": MetricRecord({"num-examples": 1})}
    )


class Averaged(FedAvg):  # type: ignore[misc]
    """FedAvg that asks no network for its clients."""

    def configure_train(self, server_round: int, arrays: Any, config: Any, grid: Any) -> Iterable[Message]:
        return [Message(content(0.0), dst_node_id=node + 1, message_type="train") for node in range(CLIENTS)]


@pytest.fixture
def _a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of a server that runs no network."""
    from flwr.supercore.task_identity import TaskIdentity

    for name in ("_task_id", "_run_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def rounds(accountant: PrivacyAccountant, count: int) -> None:
    strategy = DifferentialPrivacyServerSideFixedClipping(
        Averaged(), noise_multiplier=2.0, clipping_norm=1.0, num_sampled_clients=CLIENTS, accountant=accountant
    )
    arrays = ArrayRecord({"w": Array(np.zeros(3))})
    for number in range(1, count + 1):
        sent = list(strategy.configure_train(number, arrays, ConfigRecord(), None))
        replies = [Message(content(0.1), reply_to=message) for message in sent]
        arrays, _ = strategy.aggregate_train(number, replies)
        assert arrays is not None
    assert strategy.privacy_spent().epsilon == accountant.get_epsilon(1e-5)


@pytest.mark.usefixtures("_a_run")
def test_rounds_of_a_strategy_are_counted() -> None:
    accountant = FlowerAccountant(config())
    assert accountant.get_epsilon(1e-5) == 0.0
    rounds(accountant, 3)
    expected = (tr.Gaussian(sigma=2.0) * 3).epsilon(delta=1e-5)
    assert accountant.num_releases == 3
    assert accountant.bound() == expected
    spent = accountant.get_privacy_spent()
    assert (spent.epsilon, spent.delta, spent.num_releases) == (expected.upper, 1e-5, 3)
    assert spent.accounting_method == "tightrope"


@pytest.mark.usefixtures("_a_run")
def test_a_budget_ends_the_rounds() -> None:
    limit = (tr.Gaussian(sigma=2.0) * 2).epsilon(delta=1e-5).upper
    with pytest.raises(PrivacyBudgetExhausted):
        rounds(FlowerAccountant(config(max_epsilon=limit)), 3)


@pytest.mark.parametrize(
    ("method", "release"),
    [
        (SamplingMethod.POISSON, tr.Gaussian(sigma=2.0).poisson(rate=0.1)),
        (
            SamplingMethod.WITHOUT_REPLACEMENT,
            tr.Gaussian(sigma=2.0, sensitivity=2.0).without_replacement(batch=10, records=100),
        ),
        (SamplingMethod.NO_AMPLIFICATION, tr.Gaussian(sigma=2.0)),
    ],
)
def test_what_the_methods_mean(method: SamplingMethod, release: tr.Mechanism) -> None:
    accountant = FlowerAccountant(config(method))
    accountant.compose(event(), 4)
    accountant.compose(event())
    assert accountant.run == release * 5
    assert accountant.get_delta(1.0) == (release * 5).delta(epsilon=1.0).upper
    assert not accountant.would_exceed(event(), max_epsilon=100.0)
    assert accountant.would_exceed(event(), max_epsilon=1e-3)
    assert accountant.num_releases == 5


def test_states_round_trip_and_flowers_own_are_taken_over() -> None:
    pytest.importorskip("dp_accounting")
    from flwr.serverapp import RdpAccountant

    theirs, ours = RdpAccountant(config(SamplingMethod.POISSON)), FlowerAccountant(config(SamplingMethod.POISSON))
    for noise in (1.0, 2.0):
        theirs.compose(event(noise), 50)
        ours.compose(event(noise), 50)
    for state in (theirs.state_dict(), ours.state_dict()):
        again = FlowerAccountant(config(SamplingMethod.POISSON))
        again.load_state_dict(json.loads(json.dumps(state)))
        assert again.run == ours.run
    assert 0.0 < ours.bound().lower <= ours.get_epsilon(1e-5) < theirs.get_epsilon(1e-5)
    with pytest.raises(tr.InvalidParameter, match="configuration"):
        FlowerAccountant(config()).load_state_dict(ours.state_dict())


def test_what_is_no_release_is_refused() -> None:
    accountant = FlowerAccountant(config())
    with pytest.raises(tr.InvalidParameter, match="population_size"):
        accountant.compose(GaussianPrivacyEvent(noise_multiplier=1.0, sample_size=1, population_size=5))
    with pytest.raises(tr.InvalidParameter, match="count"):
        accountant.compose(event(), 0)
    with pytest.raises(tr.InvalidParameter, match="max_epsilon"):
        accountant.would_exceed(event())
    assert accountant.num_releases == 0
