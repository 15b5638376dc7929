"""The record of the least noise: every best row holds again, on both sides, and clamping is as it is told."""

from __future__ import annotations

import pytest

from studies.tight_on_budget import least_noise as least
from studies.tight_on_budget.vuvuzela import DIAL_MANY, TARGET, Noise, dialing


@pytest.mark.parametrize("case", least.CASES, ids=lambda case: f"{case.protocol}-{case.rounds}")
@pytest.mark.parametrize("shape", ["GS", "LP"])
def test_the_best_meets_the_target_and_two_messages_less_miss_it(case: least.Case, shape: str) -> None:
    row = least.best(least.read(), case, shape)
    assert row.mean - row.missed == 2.0
    meets = case.run(Noise(shape, row.mean, row.spread), case.rounds).delta(least.EPSILON)
    misses = case.run(Noise(shape, row.missed, row.spread), case.rounds).delta(least.ABOVE)
    assert meets.upper <= TARGET[1] < misses.lower
    assert meets.lower <= row.upper
    assert row.lower <= misses.upper


def test_every_row_is_on_both_sides_of_the_target() -> None:
    found = least.read()
    assert len(found) >= len(least.CASES) * 2 * len(least.SHARES)
    assert all(row.upper <= TARGET[1] < row.lower and row.missed < row.mean for row in found)


def test_clamped_noise_leaks_less_with_a_lower_mean() -> None:
    low, high = (dialing(Noise("GS", mean, 833.0), DIAL_MANY).delta(least.EPSILON) for mean in (0.0, 4_100.0))
    assert low.upper < high.lower
