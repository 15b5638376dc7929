"""Samples of samples: the inner one is drawn from as many records as the outer one has."""

from __future__ import annotations

from fractions import Fraction

import pytest

import tightrope as tr
from tests.oracle.enumerate_data import pairs, reports, told_apart
from tightrope.core.values.errors import InvalidParameter

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
        lambda: BATCH.group(size=2).without_replacement(batch=20, records=50),
        lambda: tr.parallel(EITHER, BASE).poisson(1, neighbours="replace"),
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
    with pytest.raises(InvalidParameter, match="group of each part"):
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


def test_users_of_many_records_are_not_shuffled() -> None:
    """The clones need any two values of a user within the loss, which is that of one record of many replaced."""
    base = tr.RandomizedResponse(epsilon=5, categories=3).without_replacement(batch=1, records=100)
    for inner in (base, base + tr.PureDP(epsilon=1), tr.PureDP(epsilon=1).shuffle(users=3), base.group(size=99)):
        with pytest.raises(InvalidParameter, match=r"all that a user holds may differ; shuffle its .group"):
            inner.shuffle(users=13)
    with pytest.raises(InvalidParameter, match="all that a user holds may differ"):
        base.shuffle(users=1)
    assert base.group(size=100).shuffle(users=13).relation is base.relation
    # What the pair of a record would have said: a user of 100 records of one kind, or one of another.
    plain = told_apart(3, Fraction(5))
    drawn = [(99 * one + other) / 100 for one, other in zip(plain[0], plain[1], strict=True)]
    law = reports([plain[0], drawn, plain[2]])
    others = (2,) * 30
    shown = max(
        float(each.hockey_stick(1.8))
        for each in pairs(law, iter([((0, *others), (1, *others)), ((1, *others), (0, *others))]))
    )
    loss = base.renyi(float("inf")).upper
    assert shown > 4 * tr.PureDP(epsilon=loss).shuffle(users=31).delta(0.5877).upper
