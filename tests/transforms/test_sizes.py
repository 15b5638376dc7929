"""Samples of samples: the inner one is drawn from as many records as the outer one has."""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope.errors import InvalidParameter, UnsupportedMechanism

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


@pytest.mark.parametrize("inner", [EITHER, BASE.truncated_poisson(rate=0.3, cap=2, records=4)])
def test_groups_of_runs_on_samples_are_those_of_the_samples(inner: tr.Mechanism) -> None:
    """The steps of a chain have data of other sizes: the pair of one size must not be chained."""
    once = inner.best_of(law="geometric", mean=1)
    for direction in ("remove", "add"):
        assert once.group(size=2).delta(0.5, direction=direction) == inner.group(size=2).delta(0.5, direction=direction)
    with pytest.raises(UnsupportedMechanism, match="group of each cell"):
        tr.parallel(inner, BASE).group(size=2).delta(0.5)


def test_two_records_of_their_own_are_not_in_every_batch() -> None:
    """Replacing x by x' in a Poisson sample takes both of them; a batch without x holds any other."""
    special = BASE.poisson(0.5, neighbours="replace")
    assert special.tight
    assert special.attained
    for sampled in (
        special.without_replacement(batch=1, records=3),
        special.without_replacement(batch=1, records=3, neighbours="add_remove"),
        special.with_replacement(batch=2, records=3),
    ):
        assert not sampled.tight
        assert not sampled.attained
        assert not sampled.delta(0.1).certificate.attained
    assert special.without_replacement(batch=3, records=3).attained


def test_a_group_is_no_larger_than_the_data() -> None:
    assert BATCH.group(size=20).size == 20
    with pytest.raises(InvalidParameter, match="size must be at most 20"):
        (BATCH * 3).group(size=21)
