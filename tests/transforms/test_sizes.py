"""Samples of samples: the inner one is drawn from as many records as the outer one has."""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope.errors import InvalidParameter

BASE = tr.Gaussian(sigma=1)
BATCH = BASE.without_replacement(batch=5, records=20)
EITHER = BASE.without_replacement(batch=5, records=20, neighbours="add_remove")


@pytest.mark.parametrize(
    "make",
    [
        lambda: BATCH.without_replacement(batch=10, records=50),
        lambda: (BATCH * 3 + BASE).without_replacement(batch=10, records=50),
        lambda: BATCH.with_replacement(batch=10, records=50),
        lambda: EITHER.poisson(0.1),
        lambda: (EITHER.poisson(1) + BASE).poisson(0.1),
        lambda: EITHER.group(size=2).poisson(0.1),
        lambda: tr.parallel(EITHER, BASE).poisson(0.1),
        lambda: EITHER.truncated_poisson(rate=0.1, cap=20, records=100),
        lambda: BASE.truncated_poisson(rate=0.1, cap=20, records=100).poisson(0.5),
    ],
)
def test_a_sample_of_another_size_is_refused(make: object) -> None:
    with pytest.raises(InvalidParameter, match="make the sizes agree"):
        make()  # type: ignore[operator]


def test_a_batch_of_a_batch_is_one_batch() -> None:
    """5 of 20 of 50 is 5 of 50, in law."""
    twice = BATCH.without_replacement(batch=20, records=50)
    once = BASE.without_replacement(batch=5, records=50)
    for epsilon in (0.1, 1.0):
        assert twice.delta(epsilon).upper == pytest.approx(once.delta(epsilon).upper, rel=1e-9)
    assert EITHER.poisson(1).delta(1.0) == EITHER.delta(1.0)
