"""Opacus with our accountant inside: real training loops on a small model, and what its history means."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")

import tightrope as tr  # noqa: E402
from tightrope.interop.opacus import OpacusAccountant  # noqa: E402

RECORDS, BATCH, DELTA = 400, 20, 1e-5


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Opacus warns of its random numbers and of its hooks; neither is ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class Trained:
    """A linear model on random records, made private, and trained."""

    def __init__(self, *, poisson_sampling: bool = True, clipping: str = "flat", **target: Any) -> None:
        torch.manual_seed(1)
        self.engine = opacus.PrivacyEngine(accountant="tightrope")
        model = torch.nn.Linear(5, 2)
        data = torch.utils.data.TensorDataset(torch.randn(RECORDS, 5), torch.randint(0, 2, (RECORDS,)))
        clip = [1.0, 1.0] if clipping == "per_layer" else 1.0
        make = self.engine.make_private if "noise_multiplier" in target else self.engine.make_private_with_epsilon
        self.model, self.optimizer, self.loader = make(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(data, batch_size=BATCH),
            max_grad_norm=clip,
            poisson_sampling=poisson_sampling,
            clipping=clipping,
            **target,
        )
        self.accountant: OpacusAccountant = self.engine.accountant

    def epoch(self, every: int = 1) -> None:
        for index, (records, labels) in enumerate(self.loader):
            torch.nn.functional.cross_entropy(self.model(records), labels).backward()
            if (index + 1) % every == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()


def sampled(sigma: float, steps: int, rate: float = BATCH / RECORDS) -> tr.Mechanism:
    return tr.Gaussian(sigma=sigma).poisson(rate=rate) * steps


def test_a_training_loop() -> None:
    trained = Trained(noise_multiplier=1.1)
    assert len(trained.accountant) == 0
    assert trained.engine.get_epsilon(DELTA) == 0.0
    trained.epoch()
    trained.epoch()
    expected = sampled(1.1, 2 * RECORDS // BATCH).epsilon(delta=DELTA)
    assert trained.accountant.history == [(1.1, BATCH / RECORDS, 2 * RECORDS // BATCH)]
    assert len(trained.accountant) == 2 * RECORDS // BATCH
    assert trained.engine.get_epsilon(DELTA) == expected.upper
    assert trained.accountant.bound(DELTA) == expected


def test_noise_for_a_target() -> None:
    """Opacus's own search, which stops 0.01 below the target, ends where the certified end meets it."""
    trained = Trained(target_epsilon=2.0, target_delta=DELTA, epochs=3)
    sigma = trained.optimizer.noise_multiplier
    for _ in range(3):
        trained.epoch()
    assert trained.accountant.history == [(sigma, BATCH / RECORDS, 3 * RECORDS // BATCH)]
    assert 1.99 <= trained.engine.get_epsilon(DELTA) <= 2.0


def test_settings_of_others_and_ours_pass_through_its_search() -> None:
    from opacus.accountants.utils import get_noise_multiplier

    common = {"target_epsilon": 3.0, "target_delta": 1e-6, "sample_rate": 0.01, "steps": 1000}
    sigma = get_noise_multiplier(accountant="tightrope", seconds=5.0, eps_error=0.1, **common)
    assert 2.99 <= sampled(sigma, 1000, 0.01).epsilon(delta=1e-6).upper <= 3.0
    assert get_noise_multiplier(accountant="rdp", **common) > sigma


def test_a_run_of_no_steps_does_not_search_for_ever() -> None:
    from opacus.accountants.utils import get_noise_multiplier

    with pytest.raises(tr.InvalidParameter, match="steps must be a whole number from 1"):
        get_noise_multiplier(target_epsilon=1.0, target_delta=1e-6, sample_rate=0.1, steps=0, accountant="tightrope")


def test_checkpoints(tmp_path: Path) -> None:
    trained = Trained(noise_multiplier=1.3)
    trained.epoch()
    scheduler = opacus.schedulers.ExponentialNoise(trained.optimizer, gamma=0.9)
    path = tmp_path / "checkpoint.pt"
    trained.engine.save_checkpoint(
        path=path, module=trained.model, optimizer=trained.optimizer, noise_scheduler=scheduler
    )
    again = Trained(noise_multiplier=1.3)
    again.engine.load_checkpoint(path=path, module=again.model, optimizer=again.optimizer)
    assert again.accountant.history == trained.accountant.history
    again.epoch()
    assert again.accountant.history == [(1.3, BATCH / RECORDS, 2 * RECORDS // BATCH)]


def test_state_dicts_and_pickles() -> None:
    accountant = OpacusAccountant()
    for noise in (1.0, 1.0, 2.0):
        accountant.step(noise_multiplier=noise, sample_rate=0.1)
    state = accountant.state_dict()
    assert state == {"history": [(1.0, 0.1, 2), (2.0, 0.1, 1)], "mechanism": "tightrope"}
    other = OpacusAccountant()
    other.load_state_dict(state)
    other.step(noise_multiplier=2.0, sample_rate=0.1)
    assert (len(other), len(accountant), state["history"][-1]) == (4, 3, (2.0, 0.1, 1))
    assert pickle.loads(pickle.dumps(other)).history == other.history
    with pytest.raises(ValueError, match="rdp"):
        other.load_state_dict({"history": [], "mechanism": "rdp"})
    with pytest.raises(tr.InvalidParameter, match="an entry of history"):
        other.load_state_dict({"history": [(1.0, 2)], "mechanism": "tightrope"})
    assert len(other) == 4


def test_a_history_of_another_accountant_is_taken_over() -> None:
    theirs = opacus.accountants.RDPAccountant()
    for _ in range(100):
        theirs.step(noise_multiplier=1.0, sample_rate=0.01)
    ours = OpacusAccountant()
    ours.history = theirs.history
    assert 0.0 < ours.bound(1e-6).lower <= ours.get_epsilon(1e-6) < theirs.get_epsilon(1e-6)


def test_noise_that_changes_by_a_scheduler() -> None:
    trained = Trained(noise_multiplier=2.0)
    scheduler = opacus.schedulers.ExponentialNoise(trained.optimizer, gamma=0.5)
    trained.epoch()
    scheduler.step()
    trained.epoch()
    steps = RECORDS // BATCH
    # A scheduler takes its first step when it is made.
    assert [(noise, count) for noise, _, count in trained.accountant.history] == [(2.0, steps), (1.0, steps)]
    expected = (sampled(2.0, steps) + sampled(1.0, steps)).epsilon(delta=DELTA)
    assert trained.accountant.bound(DELTA) == expected


def test_batches_that_are_not_poisson_are_counted_as_if_they_were() -> None:
    """Opacus leaves the loader as it is, and tells the accountant the same rate; docs/interop.md says what to do."""
    trained = Trained(noise_multiplier=1.1, poisson_sampling=False)
    trained.epoch()
    assert isinstance(trained.loader.sampler, torch.utils.data.SequentialSampler)
    assert trained.accountant.history == [(1.1, BATCH / RECORDS, RECORDS // BATCH)]


def test_batches_that_are_summed_before_a_step() -> None:
    """A record may be in each of four Poisson batches: more than a sample at four times the rate."""
    trained = Trained(noise_multiplier=1.1, poisson_sampling=False)
    trained.epoch(every=4)
    assert trained.accountant.history == [(1.1, BATCH / RECORDS, RECORDS // BATCH // 4, 4)]
    rate = BATCH / RECORDS
    weights = [math.comb(4, hits) * rate**hits * (1 - rate) ** (4 - hits) for hits in range(5)]
    mixture = tr.GaussianMixture(sigma=1.1, shifts=[0, 1, 2, 3, 4], weights=weights) * 5
    bound, expected = trained.accountant.bound(DELTA), mixture.epsilon(delta=DELTA)
    assert max(bound.lower, expected.lower) <= min(bound.upper, expected.upper) * (1 + 1e-12)
    assert bound.lower > sampled(1.1, 5, 4 * rate).epsilon(delta=DELTA).upper


def test_large_batches_in_small_pieces_are_one_step() -> None:
    from opacus.utils.batch_memory_manager import BatchMemoryManager

    trained = Trained(noise_multiplier=1.1)
    small = BatchMemoryManager(data_loader=trained.loader, max_physical_batch_size=8, optimizer=trained.optimizer)
    with small as pieces:
        trained.loader = pieces
        trained.epoch()
    assert trained.accountant.history == [(1.1, BATCH / RECORDS, RECORDS // BATCH)]


def test_clipping_by_layers_and_adaptively() -> None:
    """Layers clipped to c_i each have the norm sqrt(sum c_i^2) together, to which Opacus scales the noise."""
    trained = Trained(noise_multiplier=1.1, clipping="per_layer")
    trained.epoch()
    assert trained.accountant.history == [(1.1, BATCH / RECORDS, RECORDS // BATCH)]
    adaptive = Trained(
        noise_multiplier=1.1,
        clipping="adaptive",
        target_unclipped_quantile=0.5,
        clipbound_learning_rate=0.2,
        max_clipbound=10.0,
        min_clipbound=0.1,
        unclipped_num_std=1.0,
    )
    adaptive.epoch()
    assert adaptive.accountant.history == [(1.1, BATCH / RECORDS, RECORDS // BATCH)]


def test_an_optimizer_of_several_workers(tmp_path: Path) -> None:
    """One worker of one: noise is added by the first alone, and the rate is the same on all."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    try:
        from opacus.distributed import DifferentiallyPrivateDistributedDataParallel as Parallel

        model = Parallel(torch.nn.Linear(5, 2))
        data = torch.utils.data.TensorDataset(torch.randn(RECORDS, 5), torch.randint(0, 2, (RECORDS,)))
        engine = opacus.PrivacyEngine(accountant="tightrope")
        model, optimizer, loader = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(data, batch_size=BATCH),
            noise_multiplier=1.1,
            max_grad_norm=1.0,
        )
        assert type(optimizer).__name__ == "DistributedDPOptimizer"
        for records, labels in loader:
            torch.nn.functional.cross_entropy(model(records), labels).backward()
            optimizer.step()
            optimizer.zero_grad()
        assert engine.accountant.history == [(1.1, BATCH / RECORDS, RECORDS // BATCH)]
    finally:
        torch.distributed.destroy_process_group()


def test_corners() -> None:
    accountant = OpacusAccountant()
    assert accountant.get_epsilon(1e-6) == 0.0
    accountant.step(noise_multiplier=2.0, sample_rate=1.0)
    assert accountant.bound(1e-6) == tr.Gaussian(sigma=2.0).epsilon(delta=1e-6)
    accountant.step(noise_multiplier=2.0, sample_rate=0.0)
    assert accountant.bound(1e-6) == tr.Gaussian(sigma=2.0).epsilon(delta=1e-6)
    accountant.step(noise_multiplier=0.0, sample_rate=0.1)
    assert accountant.get_epsilon(1e-6) == math.inf
    assert accountant.get_epsilon(0.2) < math.inf  # it is seen with probability 0.1 only
    accountant.step(noise_multiplier=torch.tensor(1.5), sample_rate=torch.tensor(0.5, dtype=torch.float64))
    assert accountant.history[-1] == (1.5, 0.5, 1)


@pytest.mark.parametrize(("noise", "rate"), [(-1.0, 0.1), (math.nan, 0.1), (math.inf, 0.1), (1.0, 1.5), (1.0, -0.1)])
def test_what_is_no_step_is_refused_at_once(noise: float, rate: float) -> None:
    accountant = OpacusAccountant()
    with pytest.raises(tr.InvalidParameter, match=r"noise_multiplier|sample_rate"):
        accountant.step(noise_multiplier=noise, sample_rate=rate)
    assert accountant.history == []


def test_ten_thousand_steps_of_changing_noise() -> None:
    accountant = OpacusAccountant()
    for index in range(10_000):
        accountant.step(noise_multiplier=0.8 + 0.6 * index / 10_000, sample_rate=0.004)
    assert len(accountant.history) == len(accountant) == 10_000
    bound = accountant.bound(DELTA)
    # Noise that is smaller, or larger, in each hundred of steps.
    less, more = (
        tr.compose([sampled(0.8 + 0.006 * (index + side), 100, 0.004) for index in range(100)]).epsilon(delta=DELTA)
        for side in (0, 1)
    )
    assert more.lower <= bound.lower < bound.upper <= less.upper
    assert bound.width < 1e-3 * bound.upper
    assert accountant.get_epsilon(DELTA) == bound.upper
