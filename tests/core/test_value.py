"""Bucket lists in hand against trees listed event by event, in fractions."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import tightrope as tr
from tests.oracle import bucket_truth
from tests.oracle.bucket_truth import Tree

# Masses are multiples of 1/64: exact as doubles and as fractions.
SKEWED = ((40, 20, 3, 1), (20, 37, 6, 1))
LEAKY = ((30, 31, 3, 0), (31, 30, 0, 3))
CLOSE = ((32, 20, 12), (30, 22, 12))
LAWS = (SKEWED, LEAKY, CLOSE)
FACTOR, N = 1.25, 12
EPSILONS = (0.0, 0.5, 1.3)
Law = tuple[tuple[int, ...], tuple[int, ...]]


def mechanism(law: Law) -> tr.Finite:
    return tr.Finite(p=[share / 64 for share in law[0]], q=[share / 64 for share in law[1]])


def leaf(law: Law, factor: float = FACTOR, n: int = N, **knobs: float) -> tr.BucketList:
    return tr.Buckets(factor=factor, buckets=n, **knobs).leaf(mechanism(law))


def listed(law: Law, factor: float = FACTOR, n: int = N) -> Tree:
    return bucket_truth.leaf(*([Fraction(share, 64) for share in side] for side in law), math.log(factor), n)


def fifth(tree: Tree, epsilon: float) -> mpmath.mpf:
    """Definition 5."""
    made = bucket_truth.lists(tree)
    with mpmath.workdps(50):
        total = mpmath.mpf(made.infinity.numerator) / made.infinity.denominator
        for place, mass in enumerate(made.masses):
            ahead = 1 - mpmath.exp(epsilon - (place - tree.n) * tree.step)
            total += max(ahead, 0) * mass.numerator / mass.denominator
        return total


def holds(found: tr.BucketList, tree: Tree) -> None:
    made = bucket_truth.lists(tree)
    assert (found.n, found.u) == (tree.n, tree.u)
    assert found.factor == pytest.approx(float(mpmath.exp(tree.step)), rel=1e-14)
    assert len(list(found)) == len(found) == 2 * tree.n + 2
    with mpmath.workdps(50):
        for bucket, mass, real, virtual in zip(found, made.masses, made.real, made.virtual, strict=False):
            assert bucket.mass.lower <= mass <= bucket.mass.upper
            assert bucket.mass.width < 1e-10
            assert bucket.virtual_error.lower <= virtual <= bucket.virtual_error.upper
            assert bucket.real_error.lower <= real <= bucket.real_error.upper or bucket.index == -tree.n
        assert found[math.inf].mass.lower <= made.infinity <= found[math.inf].mass.upper
        for epsilon in EPSILONS:
            delta, plain = found.delta(epsilon), found.delta(epsilon, error_correction=False)
            truth, (above, below) = bucket_truth.delta(tree, epsilon), bucket_truth.published(tree, epsilon)
            assert delta.lower <= truth <= delta.upper <= plain.upper
            assert delta.upper == pytest.approx(float(min(above, mpmath.mpf(1))), abs=1e-9)
            assert delta.lower >= below - mpmath.mpf("1e-9")
            assert plain.lower == delta.lower
            assert plain.upper == pytest.approx(float(min(fifth(tree, epsilon), mpmath.mpf(1))), abs=1e-9)
            assert plain.upper >= min(fifth(tree, epsilon), 1)
            assert bucket_truth.loss_above(tree, epsilon) in _spread(found.pdp(epsilon))
        for order in (1.5, 3.0):
            divergence = found.renyi(order)
            assert divergence.lower <= bucket_truth.renyi(tree, order) <= divergence.upper
        for level in (0.3, 0.01):
            epsilon_bound = found.epsilon(level)
            if epsilon_bound.upper < math.inf:
                assert bucket_truth.delta(tree, epsilon_bound.upper) <= level
            if 0.0 < epsilon_bound.lower < math.inf:
                assert bucket_truth.delta(tree, epsilon_bound.lower) > level


def _spread(bound: tr.Bound) -> _Between:
    return _Between(bound)


class _Between:
    """Bound.__contains__ for numbers with more digits."""

    def __init__(self, bound: tr.Bound) -> None:
        self.bound = bound

    def __contains__(self, value: mpmath.mpf) -> bool:
        return bool(self.bound.lower <= value <= self.bound.upper)


@pytest.mark.parametrize("law", LAWS)
def test_leaves(law: Law) -> None:
    holds(leaf(law), listed(law))


@pytest.mark.parametrize("law, other", [(SKEWED, SKEWED), (LEAKY, SKEWED), (CLOSE, LEAKY)])
def test_nodes_of_definition_4(law: Law, other: Law) -> None:
    one, two = leaf(law), leaf(other)
    tree, second = listed(law), listed(other)
    holds(one.squared().compose(two.squared()), bucket_truth.compose(*map(bucket_truth.square, (tree, second))))
    holds(one.compose(two).squared(), bucket_truth.square(bucket_truth.compose(tree, second)))


@pytest.mark.parametrize("factor, n", [(1.25, 12), (1.02, 40), (1.5, 4)])
@pytest.mark.parametrize("law", LAWS)
def test_figure_10(law: Law, factor: float, n: int) -> None:
    """Repeated squaring: T x T, of the squared list where B(infinity) would grow by more than 2.2."""
    found, tree = leaf(law, factor, n), listed(law, factor, n)
    for doubling in (1, 2):
        tree = _doubled(tree)
        found = found * 2
        assert found == leaf(law, factor, n) * 2**doubling
        holds(found, tree)
    asked = (mechanism(law) * 4).delta(
        0.4, engine=tr.Buckets(factor=factor, buckets=n, free_infinity=0.0), direction="remove"
    )
    assert asked.certificate is not None
    if asked.certificate.engine == "buckets":
        assert asked.upper == pytest.approx(found.delta(0.4).upper, rel=1e-6)
        assert asked.certificate.parameters["squarings"] == found.squarings
        assert asked.certificate.parameters["u"] == found.u


def _doubled(tree: Tree) -> Tree:
    tried = bucket_truth.compose(tree, tree)
    if bucket_truth.lists(tried).infinity > Fraction(22, 10) * bucket_truth.lists(tree).infinity:
        squared = bucket_truth.square(tree)
        return bucket_truth.compose(squared, squared)
    return tried


def test_a_free_budget_keeps_the_factor() -> None:
    found = leaf(SKEWED, 1.02, 40, free_infinity=1.0) * 4
    assert found.squarings == 0
    assert found.infinity.lower > 0.1
    assert leaf(SKEWED, 1.02, 40).free_infinity == 0.0


def test_a_tilt_keeps_digits_of_small_deltas() -> None:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) with mu = 1/2."""
    knobs = tr.Buckets(factor=1.002, buckets=5000, free_infinity=1e-30)
    upright, tilted = (knobs.leaf(tr.Gaussian(sigma=4.0), tilt=tilt) * 4 for tilt in (0.0, 18.0))
    with mpmath.workdps(40):
        mu, epsilon = mpmath.mpf("0.5"), mpmath.mpf(4)
        truth = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
        for found in (upright.delta(4.0), tilted.delta(4.0)):
            assert found.lower <= truth <= found.upper
    assert tilted.delta(4.0).lower > 0.0
    assert tilted.delta(4.0).width < 0.2 * tilted.delta(4.0).upper
    with pytest.raises(tr.InvalidParameter, match="equal tilt"):
        upright.compose(tilted)


def test_a_list_that_ran_over_says_so() -> None:
    """Every use has a loss of 100 or so, and the last bucket ends at 0.4: nothing is known, and that is said."""
    found = tr.Buckets(factor=1.01, buckets=40).leaf(tr.Laplace(scale=0.01)) * 64
    assert found.infinity.upper == 1.0
    assert (found.delta(1.0).upper, found.pdp(1.0).upper) == (1.0, 1.0)
    assert found.epsilon(1e-3).upper == found.renyi(2.0).upper == math.inf
    assert "B(inf) in [0" in repr(found)
    assert all(bucket.mass.lower >= 0.0 for bucket in found)
    assert np.all(found.virtual_error.lower <= found.virtual_error.upper)


def test_trees_are_told_as_written() -> None:
    a, b = leaf(CLOSE), leaf(SKEWED)
    name, other = str(mechanism(CLOSE)), str(mechanism(SKEWED))
    assert a.tree == name
    assert a.compose(a).compose(a.compose(a)).tree == f"{name} x2 x ({name} x2)"
    four = a.compose(a)
    assert four.compose(four).squared().compose(b.squared()).tree == f"{name} x4 squared x ({other} squared)"
    assert (a * 5).tree.startswith(f"{name} x (")
    assert (a * 5).uses == 5
    assert (a * 5).run == mechanism(CLOSE) * 5
    assert a.compose(b).run == mechanism(CLOSE) + mechanism(SKEWED)
    chain = a
    for _ in range(60):
        chain = chain.compose(b)
    assert len(chain.tree) < 2100
    assert chain.uses == 61


def test_values_print_pickle_and_compare() -> None:
    a = leaf(CLOSE)
    assert pickle.loads(pickle.dumps(a)) == a
    assert hash(a * 2) == hash(a * 2)
    assert a + a == a * 2 == 2 * a
    assert a != leaf(SKEWED)
    assert a != 3
    lines = str(a * 4).splitlines()
    assert lines[0] == (a * 4).tree
    assert lines[1].startswith("4 uses, factor ")
    assert lines[2].split() == ["index", "loss", "up", "to", "B", "l", "l~"]
    assert lines[-1].split()[0] == "inf"
    assert repr(a).startswith("<BucketList: Finite(")
    assert np.all(a.masses.lower <= a.masses.centre)
    assert np.all(a.masses.centre <= a.masses.upper)
    assert a.losses[a.n + 1] == math.log(FACTOR)
    with pytest.raises(ValueError, match="read-only"):
        a.masses.lower[0] = 1.0


def test_certificates_say_what_was_done() -> None:
    found = (leaf(LEAKY) * 4).delta(0.5, error_correction=False)
    assert found.certificate is not None
    assert found.certificate.engine == "buckets"
    assert found.certificate.direction is tr.Direction.REMOVE
    parameters = found.certificate.parameters
    assert parameters["error_correction"] is False
    assert parameters["n"] == N
    assert str(parameters["tree"]).startswith("Finite(")
    measured = tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.9)
    sure = tr.Buckets(factor=1.1, buckets=20).leaf(measured).delta(0.1).certificate
    assert sure is not None
    assert sure.confidence == 0.9


@pytest.mark.parametrize(
    "ask, told",
    [
        (lambda: tr.Buckets(factor=1.1).leaf(tr.Gaussian(sigma=1.0)), "a list needs a factor and buckets"),
        (lambda: tr.Buckets(factor=1.1, buckets=4).leaf(tr.Gaussian(sigma=1.0) * 2), "a leaf is one use"),
        (lambda: tr.Buckets(factor=1.1, buckets=4).leaf("Gaussian"), "not of 'Gaussian'"),
        (lambda: tr.Buckets(factor=1.1, buckets=4000).leaf(tr.Gaussian(sigma=1.0)), "may be at most 340"),
        (lambda: leaf(CLOSE).compose(leaf(CLOSE, n=8)), "equal n"),
        (lambda: leaf(CLOSE).compose(leaf(CLOSE).squared()), "equal factor"),
        (lambda: leaf(CLOSE).compose(3), "not with 3"),
        (lambda: leaf(CLOSE) + tr.Gaussian(sigma=1.0), "make its leaf first"),
        (lambda: tr.Gaussian(sigma=1.0) + leaf(CLOSE), "make its leaf first"),
        (lambda: leaf(CLOSE) * 0, "1 to 2"),
        (lambda: leaf(CLOSE) * 2**63, "at most"),
        (lambda: leaf(CLOSE).delta(-1.0), "0 or above"),
        (lambda: leaf(CLOSE).delta(math.inf), "finite"),
        (lambda: leaf(CLOSE).epsilon(2.0), "in \\[0, 1\\]"),
        (lambda: leaf(CLOSE).renyi(1.0), "above 1"),
        (
            lambda: leaf(CLOSE) + tr.Buckets(factor=FACTOR, buckets=N).leaf(mechanism(CLOSE), direction="add"),
            "one direc",
        ),
    ],
)
def test_refusals(ask: object, told: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=told) as refused:
        ask()  # type: ignore[operator]
    assert "\n" not in str(refused.value)


def test_lists_are_summed() -> None:
    one, other = leaf(CLOSE), leaf(SKEWED)
    assert sum([one, other, one]) == one + other + one
    with pytest.raises(TypeError):
        1 + one


def test_indices_outside() -> None:
    a = leaf(CLOSE)
    for index in (N + 1, -N - 1, 0.5, "1"):
        with pytest.raises(IndexError, match="-12 to 12"):
            a[index]  # type: ignore[index]
    assert a[3.0] == a[3]


@pytest.mark.parametrize("log", [False, True])
def test_pictures(tmp_path: Path, log: bool) -> None:
    figure = (leaf(SKEWED) * 8).plot(tmp_path / "list.png", log=log)
    assert (tmp_path / "list.png").read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    assert axes.get_title(loc="left").startswith("8 uses of Finite(")
    assert axes.get_ylim()[1] > 1.02 * max(bar.get_y() + bar.get_height() for bar in axes.patches)
    other = leaf(LEAKY).plot(ax=figure.axes[0], log=log)
    assert other is figure


def test_an_order_of_its_own_is_not_composed_where_a_record_is_replaced() -> None:
    """A use may show either order of its two laws, and a list holds one of them."""
    settings = tr.Buckets(factor=1.05, buckets=100)
    one_way = settings.leaf(tr.PrivacyCurve(epsilons=[0.5], deltas=[0.1], both_directions=False))
    batch = settings.leaf(tr.RandomizedResponse(epsilon=0.3).without_replacement(batch=1, records=2))
    alike = settings.leaf(tr.RandomizedResponse(epsilon=0.3))
    assert (batch + alike).uses == 2
    with pytest.raises(tr.InvalidParameter, match="either order"):
        batch + one_way
