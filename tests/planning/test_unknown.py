"""The number that is open: it meets, the next one misses, and no batch with fewer steps meets either."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tightrope as tr
from tightrope.core.planning.unknown import solve

RUN = {"records": 1000, "batch": 20, "epochs": 5, "sigma": 1.5}
DELTA = 1e-4


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in RUN.items() if name not in names}


@pytest.mark.parametrize(
    ("unknown", "plan"),
    [
        ("sigma", without("sigma")),
        ("epochs", without("epochs")),
        ("batch", without("batch")),
        ("steps", without("epochs")),
        ("batch", {**without("batch", "epochs"), "steps": 250}),
    ],
)
def test_it_meets_and_the_next_one_misses(unknown: str, plan: dict[str, Any]) -> None:
    found = solve(plan, unknown, 2.0, DELTA)
    assert found.parameter == unknown
    assert found.mechanism == tr.training(**{**plan, unknown: found.value})
    assert found.mechanism.epsilon(DELTA).upper <= 2.0
    assert found.missed is not None
    assert found.missed.bound.lower > 2.0
    assert tr.training(**{**plan, unknown: found.missed.value}).epsilon(DELTA).lower > 2.0
    if unknown == "sigma":
        assert found.missed.value == pytest.approx(found.value, rel=2e-6)
    else:
        assert found.missed.value == found.value + 1


@pytest.mark.parametrize("epsilon", [1.9, 3.0, 6.0])
def test_no_larger_batch_meets_it(epsilon: float) -> None:
    """Where steps are few, epsilon falls with each step less: the least batch of each number of steps is asked."""
    plan, drawn = without("batch"), 5 * 1000
    found = solve(plan, "batch", epsilon, DELTA)
    assert found.mechanism.epsilon(DELTA).upper <= epsilon
    steps = math.ceil(drawn / found.value)
    larger = [math.ceil(drawn / fewer) for fewer in range(5, min(steps, 60))] + [int(found.value) + 1]
    for batch in larger:
        assert tr.training(**plan, batch=batch).epsilon(DELTA).lower > epsilon


def test_the_ends_of_a_batch() -> None:
    all_of_them = solve(without("batch"), "batch", 50.0, DELTA)
    assert all_of_them.value == 1000
    assert all_of_them.missed is None
    assert all_of_them.ended == "no batch may have more"
    shuffled = solve({**without("batch"), "sampling": "shuffled"}, "batch", 50.0, DELTA)
    assert (shuffled.value, shuffled.missed) == (1000, None)
    with pytest.raises(tr.BracketNotFound):
        solve({**without("batch"), "sigma": 0.3}, "batch", 0.001, DELTA)
    with pytest.raises(tr.InvalidParameter, match="epochs"):
        solve({**without("batch"), "epochs": -1}, "batch", 1.0, DELTA)
    with pytest.raises(tr.InvalidParameter, match="unknown"):
        solve(RUN, "delta", 1.0, DELTA)


@pytest.mark.parametrize("epsilon", [1e-6, 0.0])
def test_a_sigma_far_off_is_found_without_a_first_look(epsilon: float) -> None:
    found = solve(without("sigma"), "sigma", epsilon, DELTA)
    assert found.bound.upper <= epsilon
    assert found.missed is not None
    assert found.missed.bound.lower > epsilon
