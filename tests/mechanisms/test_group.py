"""`.group`: what it is equal to, what it distributes over, and when it is tight."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import tightrope as tr
from tightrope.core.values.question import Relation

A, B = tr.Gaussian(sigma=2.0), tr.Laplace(scale=3.0)


def test_it_distributes_over_sums_and_counts() -> None:
    assert (A * 1000).group(size=3) == A.group(size=3) * 1000
    assert (A * 2 + B).group(size=3) == A.group(size=3) * 2 + B.group(size=3)
    assert tr.parse("(Gaussian(sigma=2) * 2 + Laplace(scale=3)).group(size=3)") == (A * 2 + B).group(size=3)


def test_names_change_no_answer() -> None:
    named = (A * 5).named("training").group(size=3, name="user level")
    assert named.nameless == A.group(size=3) * 5
    assert named.label == "user level"
    assert named.epsilon(1e-5) == (A.group(size=3) * 5).epsilon(1e-5)
    assert tr.parse(repr(named)) == named
    assert tr.load(tr.dump(named)) == named
    assert (A * 5).group(size=3, name="user level").label == "user level"


def test_users_are_sampled_before_and_records_after() -> None:
    users, records = A.group(size=3).poisson(rate=0.1), A.poisson(rate=0.1).group(size=3)
    assert users != records
    assert users.delta(1.0).lower > records.delta(1.0).upper


def test_groups_of_groups_multiply() -> None:
    for base in (A, tr.Exponential(epsilon=0.1), tr.PureDP(epsilon=0.25)):
        assert base.group(size=2).group(size=3).delta(0.3) == base.group(size=6).delta(0.3)


@pytest.mark.parametrize(
    ("mechanism", "tight"),
    [
        (A, True),
        (tr.Laplace(scale=3, sensitivity=0.1), True),
        (tr.DiscreteGaussian(sigma=3), True),
        (tr.DiscreteLaplace(scale=3), True),
        (tr.GDP(mu=0.1), True),
        (tr.PureDP(epsilon=0.1), True),
        (tr.ApproximateDP(epsilon=0.1, delta=0.01), True),
        (tr.TradeoffCurve(fprs=[0, 0.25, 1], fnrs=[1, 0.25, 0]), True),
        (tr.RandomizedResponse(epsilon=0.1), False),
        (tr.Exponential(epsilon=0.1), False),
        (tr.Finite(p=[0.5, 0.5], q=[0.25, 0.75]), False),
    ],
    ids=str,
)
def test_tight_where_a_chain_of_neighbours_attains_it(mechanism: tr.Mechanism, tight: bool) -> None:
    group = mechanism.group(size=3)
    assert group.tight is tight
    assert (group * 2).tight is tight
    assert group.relation is mechanism.relation
    bound = group.delta(0.2)
    assert bound.certificate.tight is tight
    assert bound.upper - bound.lower <= 1e-9 * bound.upper
    assert mechanism.group(size=1).tight is mechanism.tight


def test_an_open_base_stays_open_and_a_sampled_one_keeps_its_relation() -> None:
    assert A.group(size=2).relation is None
    assert A.poisson(rate=0.5).group(size=2).relation is tr.Relation.ADD_REMOVE


@pytest.mark.parametrize("size", [0, -1, 1.5, "3", None, float("inf")])
def test_a_size_is_a_whole_number(size: object) -> None:
    with pytest.raises(tr.InvalidParameter, match="size"):
        A.group(size=size)  # type: ignore[arg-type]


def test_a_composition_of_chains_is_between_two_finite_pairs() -> None:
    """What has no name for its shift is composed all the same: three logistic steps of 0.1 are one of about 0.3."""
    found = (tr.Exponential(epsilon=0.1).group(size=3) * 3).delta(0.2, direction="remove", accuracy=1e-3)
    near = (tr.Exponential(epsilon=0.3) * 3).delta(0.2, direction="remove")
    assert found.lower <= near.upper * (1 + 1e-12)
    assert near.lower * (1 - 1e-12) <= found.upper


def test_of_a_product_that_only_the_joint_engine_knows() -> None:
    """One sample for two mechanisms, and groups of that: at least that of one record, at most without a sample."""
    base = (tr.Exponential(epsilon=0.5) + B).poisson(rate=0.25)
    one, three = (each.delta(0.2, direction="remove", accuracy=1e-3) for each in (base, base.group(size=3)))
    assert one.upper < three.lower
    assert three.upper < (tr.Exponential(epsilon=0.5) + B).group(size=3).delta(0.2).lower


def test_chains_of_what_has_no_tails_are_answered() -> None:
    """A cell with an infinite mass beside one that is known by its divergences."""
    curve = tr.RenyiCurve(orders=(2.0, 8.0), divergences=(0.019, 0.076))
    cells = tr.parallel(tr.ApproximateDP(epsilon=1.2, delta=3.8e-13), curve)
    found = cells.truncated_poisson(rate=4.6e-09, cap=5, records=20).delta(1e-6)
    assert found.lower <= 4.6e-09 * 3.8e-13 <= found.upper < 2e-21


@pytest.mark.parametrize(
    ("base", "tight"),
    [
        (A, True),
        (A * 3 + tr.GDP(mu=0.1), True),
        (tr.Laplace(scale=3).group(size=2), True),
        (tr.PureDP(epsilon=0.1), True),
        (tr.Laplace(scale=3) * 2, False),
        (tr.Laplace(scale=3) + A, False),
        (tr.DiscreteLaplace(scale=3) * 2, False),
        (tr.PureDP(epsilon=0.1) * 2, False),
        (A.poisson(rate=0.5), False),
        (tr.RandomizedResponse(epsilon=0.1, neighbours="add_remove"), False),
    ],
    ids=str,
)
def test_samples_of_products_and_of_samples_chain_more_than_a_group_shows(base: tr.Mechanism, tight: bool) -> None:
    """Twice the product of Laplace noise at rate 0.3, epsilon 0.5: the chain has 0.1805, no neighbours above 0.1734."""
    runs = [base.poisson(rate=0.3)]
    if base.relation is None:
        runs.append(base.without_replacement(batch=2, records=9, neighbours="add_remove"))
    for run in runs:
        assert run.group(size=2).tight is run.group(size=2).attained is tight
        assert run.group(size=1).tight is run.tight
    assert base.poisson(rate=1.0).group(size=2).tight is base.group(size=2).tight


def test_a_sample_of_a_sample_says_no_more_than_the_sample_that_it_is() -> None:
    twice = tr.Gaussian(sigma=1).poisson(rate=0.5).poisson(rate=0.25).group(size=2).delta(0.5)
    once = tr.Gaussian(sigma=1).poisson(rate=0.125).group(size=2).delta(0.5)
    assert once.upper < twice.lower
    assert once.certificate.attained
    assert not twice.certificate.attained


@pytest.mark.parametrize(
    "group",
    [
        lambda base: base.group(size=2),
        lambda base: base.best_of(law="geometric", mean=1).group(size=2),
        lambda base: base.group(size=2).best_of(law="geometric", mean=1),
    ],
)
def test_replaced_records_may_each_meet_another_order(group: Callable[[tr.Mechanism], tr.Mechanism]) -> None:
    """{b}, {b, c} alike, {c}: neighbours in either order of one pair, and nothing in common after two of them."""
    one_way = tr.PrivacyCurve(epsilons=[math.log(2)], deltas=[0], both_directions=False)
    run = group(one_way) + tr.PureDP(epsilon=0).poisson(1, neighbours="replace")
    assert run.relation is Relation.REPLACE
    assert run.delta(0).upper >= 1 - 1e-6
    assert not run.tight


def test_parts_of_a_run_may_each_meet_another_order() -> None:
    """A leak on removing and a leak on adding, both at once: that of the best run as that of the run."""
    one_way = tr.PrivacyCurve(epsilons=[0.5], deltas=[0], both_directions=False)
    replaced = tr.PureDP(epsilon=0.1).without_replacement(batch=1, records=2)
    run = one_way + one_way.group(size=1) + replaced
    best = (one_way * 2).best_of(law="geometric", mean=1) + replaced
    assert best.delta(0.1).upper >= run.delta(0.1).upper * (1 - 1e-6)
