"""What a certificate claims beside its ends: tight is never said where nobody attains the pair."""

from __future__ import annotations

from flint import arb

import tightrope as tr
from tightrope.core.losses.operators.product import merged
from tightrope.core.mechanisms.composition import fixed_choices
from tightrope.core.mechanisms.groups import group_sizes
from tightrope.core.mechanisms.poisson import sampled_pair

LOPSIDED = tr.Finite(p=[0.5, 0.3, 0.2], q=[0.2, 0.5, 0.3])


def test_a_part_with_two_pairs_is_not_tight_where_records_are_replaced() -> None:
    """Which of the two orders a replaced record makes is left open; a symmetric pair leaves nothing open."""
    replaced = tr.Gaussian(sigma=1.0).poisson(rate=0.1, neighbours="replace")
    assert LOPSIDED.tight
    assert replaced.tight
    assert not (replaced + LOPSIDED).tight
    assert not (replaced + LOPSIDED).group_tight(1)
    assert (replaced + tr.Gaussian(sigma=2.0)).tight


def test_a_group_of_groups_is_as_large_as_their_product() -> None:
    """Two pairs of users are four, and nobody attains the chain of randomized response for more than one."""
    assert tr.RandomizedResponse(p=0.7).group_tight(1)
    assert not tr.RandomizedResponse(p=0.7).group(size=2).group_tight(2)
    assert tr.Gaussian(sigma=1.0).group(size=2).group_tight(2)
    pair = tr.Gaussian(sigma=1.0).group(size=2).group(size=3).pair(tr.Direction.ADD)
    assert pair == tr.Gaussian(sigma=1.0).group(size=6).pair(tr.Direction.ADD)


def test_what_shuffled_reports_show_at_least_is_shown_by_a_real_randomizer() -> None:
    """Of any loss of 1 at most, randomized response of three kinds is one: it is the floor, and no better than it."""
    for direction in tr.Direction:
        floors = tr.PureDP(epsilon=1.0).shuffle(users=20).witnesses(direction)
        real = tr.RandomizedResponse(epsilon=1.0, categories=3).shuffle(users=20).witnesses(direction)
        assert real[-1] in floors
        for epsilon in (0.1, 0.5):
            third = tr.PureDP(epsilon=1.0).shuffle(users=20).pair(direction).ball_hockey_stick(arb(epsilon))
            assert real[-1].ball_hockey_stick(arb(epsilon)) < third


def test_sizes_of_groups_in_all_parts() -> None:
    base = tr.Gaussian(sigma=1.0)
    assert group_sizes(base) == {1}
    assert group_sizes(base.group(size=2).poisson(rate=0.1)) == {2}
    assert group_sizes(base.group(size=2) + base) == {1, 2}


def test_parts_without_so_many_floors_have_their_last() -> None:
    one, two, three = (tr.Gaussian(sigma=sigma).pair(tr.Direction.ADD) for sigma in (1.0, 2.0, 3.0))
    found = fixed_choices([((one, two), 1), ((three,), 2)])
    assert [set(run) for run in found] == [set(merged([(one, 1), (three, 2)])), set(merged([(two, 1), (three, 2)]))]


def test_a_batch_of_what_nobody_attains_is_attained_by_nobody() -> None:
    for neighbours in ("replace", "add_remove"):
        assert not tr.Exponential(epsilon=1.0).without_replacement(batch=3, records=10, neighbours=neighbours).attained
        assert tr.Laplace(scale=1.0).without_replacement(batch=3, records=10, neighbours=neighbours).attained


def test_a_sample_of_nothing_loses_nothing() -> None:
    for direction in tr.Direction:
        found = sampled_pair(tr.Gaussian(sigma=1.0).pair(direction), 0.0, direction)
        assert found.ball_hockey_stick(arb(0)) == 0
        assert found.loss_range().highest == 0
