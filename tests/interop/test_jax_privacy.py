"""jax-privacy's plans are the runs that its own events and losses describe."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dp_accounting import NeighboringRelation, pld
from jax_privacy import batch_selection
from jax_privacy.experimental import execution_plan

import tightrope as tr
from tightrope.cli.app import run as command
from tightrope.interop.dp_accounting import from_event
from tightrope.interop.jax_privacy import from_config, from_sampling, monte_carlo

BANDS = np.array([1.0, 0.5, 0.25, 0.125])
UNIT = BANDS / np.linalg.norm(BANDS)
# The names of BandMFConfig in version 2.2.0, with their defaults.
NEWER: dict[str, Any] = {
    "iterations": 104,
    "expected_participations": 10.4,
    "strategy": BANDS,
    "noise_multiplier": 1.5,
    "l2_clip_norm": 1.0,
    "rescale_to_unit_norm": True,
    "normalize_by": 1.0,
    "truncated_batch_size": None,
    "num_examples": None,
    "column_normalize": False,
}


def config(**more: Any) -> Any:
    """Of the version that is installed."""
    given = {"strategy": BANDS, "iterations": 104, "sampling_prob": 0.4, "noise_multiplier": 1.5}
    return execution_plan.BandMFExecutionPlanConfig(epsilon=None, delta=None, **{**given, **more})


@pytest.mark.parametrize("iterations", [104, 103, 4])
@pytest.mark.parametrize("normalised", [False, True])
def test_a_plan_has_at_most_what_its_event_has(iterations: int, normalised: bool) -> None:
    """The event counts the largest column for each round; the last columns are shorter, unless they are made alike."""
    plan = config(iterations=iterations, strategy=UNIT, column_normalize=normalised)
    run, event = from_config(plan), from_event(plan.plan.dp_event, NeighboringRelation.ADD_OR_REMOVE_ONE)
    mine, theirs = run.epsilon(1e-5), event.epsilon(1e-5)
    assert mine.upper <= theirs.upper * (1 + 1e-9)
    assert theirs.upper <= mine.upper * (1.0 + (1e-9 if normalised else 0.1 if iterations > 4 else 9.0))


def test_noise_is_in_units_of_the_norm_of_the_strategy() -> None:
    run, larger = from_config(config()), from_config(config(strategy=3 * BANDS))
    assert larger.epsilon(1e-5).upper == pytest.approx(run.epsilon(1e-5).upper, rel=1e-9)
    assert isinstance(run, tr.MatrixMechanism)
    assert run.sigma == pytest.approx(1.5 * math.hypot(*BANDS))
    assert (run.rate, run.groups, run.steps) == (0.4, 4, 104)


def test_the_names_of_the_newer_version() -> None:
    assert from_config(SimpleNamespace(**NEWER)) == from_config(config())
    assert from_config(SimpleNamespace(**{**NEWER, "noise_multiplier": None}), 1.5) == from_config(config())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"noise_multiplier": None}, "give one, from_config.config, noise_multiplier=1.0."),
        ({"truncated_batch_size": 5}, "make the configuration without it"),
        ({"noise_multiplier": 0.0}, "noise_multiplier must be a finite number above 0"),
    ],
)
def test_refusals_say_what_to_change(more: dict[str, Any], words: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=words):
        from_config(SimpleNamespace(**{**NEWER, **more}))


def test_a_record_that_is_replaced_is_refused() -> None:
    replaced = config(accountant=pld.PLDAccountant(NeighboringRelation.REPLACE_ONE))
    with pytest.raises(tr.InvalidParameter, match="ADD_OR_REMOVE_ONE or REPLACE_SPECIAL"):
        from_config(replaced)


def test_calibration_of_a_configuration() -> None:
    found = tr.calibrate(lambda sigma: from_config(config(), sigma), epsilon=4.0, delta=1e-5)
    assert found.missed is not None
    assert found.bound.upper <= 4.0 < found.missed.bound.lower


def test_batches_that_are_drawn() -> None:
    bins = from_sampling(batch_selection.BallsInBinsSampling(iterations=100, cycle_length=10), 6.25, UNIT)
    assert bins == tr.MatrixMechanism(sigma=6.25, toeplitz=UNIT.tolist(), steps=100, bins=10)
    cyclic = batch_selection.CyclicPoissonSampling(sampling_prob=0.4, iterations=104, cycle_length=4)
    assert from_sampling(cyclic, 1.5 * float(np.linalg.norm(BANDS)), BANDS) == from_config(config())
    for other in (
        batch_selection.FixedBatchSampling(batch_size=3, iterations=10),
        batch_selection.CyclicPoissonSampling(sampling_prob=0.4, iterations=104, truncated_batch_size=5),
    ):
        with pytest.raises(tr.InvalidParameter, match="has no bound where steps share their noise"):
            from_sampling(other, 1.0, [1.0])


@pytest.mark.parametrize(("sigma", "bins", "delta"), [(3.34, 10, 1e-2), (2.0, 5, 1e-1)])
def test_their_draws_lie_around_our_interval(sigma: float, bins: int, delta: float) -> None:
    """6 deviations of their delta on either side."""
    run = tr.MatrixMechanism(sigma=sigma, toeplitz=UNIT.tolist(), steps=4 * bins, bins=bins)
    estimate = monte_carlo(run, delta, samples=4000)
    less, more = (run.epsilon(min(delta * (1 + sign * 6 * estimate.delta_error), 1.0)) for sign in (1, -1))
    assert less.lower <= estimate.epsilon <= more.upper
    assert estimate.delta_error < 0.12
    with pytest.raises(tr.InvalidParameter, match="balls in bins for a Toeplitz C"):
        monte_carlo(tr.MatrixMechanism(sigma=1, toeplitz=[1, 0.5], steps=4, epochs=2), 1e-2)


def test_the_command_line_has_it_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["train", "--records", "100", "--matrix", "banded:2", "--epochs", "2", "--bins", "5", "--sigma", "4"]
    assert command([*asked, "--delta", "1e-3", "--compare"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Monte Carlo of jax-privacy" in told
    assert "an estimate, no bound" in told
