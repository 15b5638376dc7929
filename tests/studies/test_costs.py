"""Recorded costs: every question under both engines, and intervals that speak of the same delta."""

from __future__ import annotations

import pytest

from studies.tight_on_budget import costs


@pytest.mark.parametrize("key", costs.ASKED)
def test_both_engines_were_asked_the_same(key: str) -> None:
    buckets, default = (costs.read()[key, engine] for engine in costs.ENGINES)
    assert buckets.bound.lower <= default.bound.upper
    assert default.bound.lower <= buckets.bound.upper
    assert buckets.bound.lower <= costs.ASKED[key].level  # asked at the upper end of its epsilon
    assert min(cost.seconds * cost.megabytes for cost in (buckets, default)) > 0.0


def test_a_question_is_measured() -> None:
    found, recorded = costs.measured("few", "buckets"), costs.read()["few", "buckets"]
    assert found.bound.lower <= recorded.bound.upper
    assert recorded.bound.lower <= found.bound.upper
    assert found.seconds > 0.0
    assert found.megabytes > 10.0
