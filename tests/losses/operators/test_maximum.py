"""The largest of several profiles: exact at one use, between two finite pairs at several, in exact fractions."""

from __future__ import annotations

import random

import pytest
from flint import arb

import tightrope as tr
from tests.engines.joint.test_bracket import alphas, outcomes_of, pair_of, profile
from tests.engines.joint.test_engine import dyadic
from tests.oracle.enumeration import Outcomes, composed, delta
from tightrope.core.engines.planner import Answer, Planner, Point
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.operators.extremes import MaximumPair, maximum_pair
from tightrope.core.losses.operators.polygon import around
from tightrope.core.losses.operators.product import ProductPair, product_pair
from tightrope.core.losses.operators.registered import (
    alternatives_of,
    dominates,
    factors_of,
    has_bracket_only,
    is_opaque,
    remake,
    sampled_in_family,
)
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.core.values.question import Direction, Question

REMOVE, ADD = Direction.REMOVE, Direction.ADD
GAUSSIAN, LAPLACE = tr.Gaussian(sigma=1.0).pair(REMOVE), tr.Laplace(scale=0.9).pair(REMOVE)
PLAIN: dict[str, Pair] = {
    "Gaussian": GAUSSIAN,
    "Laplace": LAPLACE,
    "sampled": tr.Gaussian(sigma=0.8).poisson(rate=0.05).pair(REMOVE),
    "sampled, add": tr.Gaussian(sigma=0.8).poisson(rate=0.05).pair(ADD),
    "leaky": tr.ApproximateDP(epsilon=1.0, delta=0.01).pair(REMOVE),
    "discrete": tr.DiscreteGaussian(sigma=1.3).pair(REMOVE),
    "truncated": tr.TruncatedGaussian(sigma=1.0, bounds=(-3.0, 2.0)).pair(REMOVE),
    "far": tr.Gaussian(sigma=0.02).pair(REMOVE),
    "near": tr.Gaussian(sigma=1e5).pair(REMOVE),
    "largest": maximum_pair([GAUSSIAN, LAPLACE]),
}
EPSILONS = (-3.0, -0.5, 0.0, 0.4, 1.0, 2.5, 7.0)


def answer(pair: Pair, count: int, quantity: str, given: float, proof: bool = False) -> Answer:
    return Planner(((pair, count),), Question("delta", proof=proof), several=False).answer(Point(quantity, given), 1e-4)


@pytest.mark.parametrize("proof", [False, True], ids=["float64", "ball"])
@pytest.mark.parametrize("name", PLAIN)
def test_a_pair_lies_between_the_finite_ones_around_it(name: str, proof: bool) -> None:
    pair, widths = PLAIN[name], []
    for points in (60, 240):
        lower, upper = around(pair, Resolution(points, 1e-15, proof))
        with working_precision(300):
            gaps = []
            for epsilon in EPSILONS:
                truth = pair.ball_hockey_stick(arb(epsilon))
                below, above = (end.ball_hockey_stick(arb(epsilon)) for end in (lower, upper))
                assert not below > truth
                assert not truth > above
                gaps.append(float((above - below).mid()))
        widths.append(max(gaps))
    assert widths[1] <= max(0.2 * widths[0], 1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_of_finite_laws(seed: int) -> None:
    rng = random.Random(seed)
    laws = [dyadic(rng, rng.choice([2, 3, 4])) for _ in range(rng.choice([2, 3]))]
    pair = maximum_pair(pair_of(law) for law in laws)
    assert isinstance(pair, MaximumPair)
    fine = Resolution(64, 1e-20, False)
    ends = [outcomes_of(end) for end in pair.bracket(fine)]
    swapped = [tuple((q, p) for p, q in law) for law in laws]
    with working_precision(200):
        for alpha in alphas(rng)[1:]:
            truth = max(profile(law, alpha) for law in laws)
            mirror = max(profile(law, alpha) for law in swapped)
            assert profile(ends[0], alpha) <= truth <= profile(ends[1], alpha) <= profile(ends[0], alpha) + 2.0**-50
            epsilon = arb(float(alpha)).log()
            assert pair.ball_hockey_stick(epsilon).overlaps(arb(truth.numerator) / arb(truth.denominator))
            assert pair.reversed().ball_hockey_stick(epsilon).overlaps(arb(mirror.numerator) / arb(mirror.denominator))
            tails = pair.ball_tails(epsilon + arb(2) ** -40)  # next to it, where there is no atom
            assert (tails.p_above - (epsilon + arb(2) ** -40).exp() * tails.q_above).overlaps(
                pair.ball_hockey_stick(epsilon + arb(2) ** -40)
            )


@pytest.mark.parametrize("proof", [False, True], ids=["float64", "ball"])
@pytest.mark.parametrize("seed", range(3))
def test_the_largest_composed_contains_every_mixture_of_uses(seed: int, proof: bool) -> None:
    """Against the composition of the polygon in fractions, and above each run that takes one law or the other."""
    rng = random.Random(seed)
    one, two = dyadic(rng, 3), dyadic(rng, 2)
    pair = maximum_pair([pair_of(one), pair_of(two)])
    count, epsilon = 3, rng.choice([0.0, 0.3, 1.0])
    lower, upper = (outcomes_of(end) for end in pair.bracket(Resolution(32, 1e-20, True)))
    found = answer(pair, count, "delta", epsilon, proof)
    assert found.lower <= float(delta(composed([(upper, count)]), epsilon)[1]) * (1 + 1e-12)
    assert found.upper >= float(delta(composed([(lower, count)]), epsilon)[0]) * (1 - 1e-12)
    for first in range(count + 1):
        mixed: list[tuple[Outcomes, int]] = [(law, k) for law, k in ((one, first), (two, count - first)) if k]
        assert found.upper >= float(delta(composed(mixed), epsilon)[0]) * (1 - 1e-12)
    assert found.width <= 1e-4 * found.upper


def test_one_use_has_the_largest_answer() -> None:
    pair = maximum_pair([GAUSSIAN, LAPLACE])
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        known = [answer(each, 1, "delta", epsilon) for each in (GAUSSIAN, LAPLACE)]
        found = answer(pair, 1, "delta", epsilon)
        assert found.lower <= max(each.upper for each in known)
        assert found.upper >= max(each.lower for each in known)
        assert found.width <= 1e-12
    several = maximum_pair([ProductPair(((GAUSSIAN, 2), (LAPLACE, 1))), ProductPair(((GAUSSIAN, 1), (LAPLACE, 3)))])
    parts = [Planner(factors_of(each) or (), Question("delta"), False) for each in alternatives_of(several)]
    for quantity, given in (("delta", 1.0), ("epsilon", 1e-5)):
        known = [part.answer(Point(quantity, given), 1e-6) for part in parts]
        found = answer(several, 1, quantity, given)
        assert found.lower <= max(each.upper for each in known)
        assert found.upper >= max(each.lower for each in known)


def test_the_simplest_pair_that_it_is() -> None:
    assert maximum_pair([GAUSSIAN]) is GAUSSIAN
    assert maximum_pair([GAUSSIAN, GAUSSIAN]) == GAUSSIAN
    nested = maximum_pair([maximum_pair([GAUSSIAN, LAPLACE]), LAPLACE])
    assert alternatives_of(nested) == nested.bases() == (GAUSSIAN, LAPLACE)
    assert nested == maximum_pair([GAUSSIAN, LAPLACE])
    assert hash(nested) == hash(maximum_pair([GAUSSIAN, LAPLACE]))
    assert remake(nested, (GAUSSIAN, GAUSSIAN)) == GAUSSIAN
    assert nested.reversed() == nested  # both are their own reverse
    assert has_bracket_only(nested)
    assert not is_opaque(nested)
    assert nested.infinite_mass().is_zero()
    with pytest.raises(UnsupportedMechanism, match="joint"):
        nested.tails(double_double([0.0]))


def test_ends_and_masses() -> None:
    leaky, wide = PLAIN["leaky"], tr.PureDP(epsilon=3.0).pair(REMOVE)
    pair = maximum_pair([leaky, wide])
    with working_precision(100):
        assert pair.infinite_mass().overlaps(leaky.infinite_mass())
        lowest, highest = pair.loss_range()
        # The profile of PureDP falls below 0.01 before its loss ends.
        assert highest.contains(arb(2.9))
        assert not highest > 3
        assert lowest.contains(arb(-2.9))
        plain = maximum_pair([wide, LAPLACE]).loss_range()
        assert plain.highest == 3
        assert plain.lowest == -3


def test_a_sample_of_the_largest_is_the_largest_of_samples() -> None:
    pair = sampled_in_family(maximum_pair([GAUSSIAN, LAPLACE]), 0.1, REMOVE)
    assert pair is not None
    assert len(alternatives_of(pair)) == 2
    with working_precision(100):
        for epsilon in (-0.05, 0.0, 0.3):
            found = pair.ball_hockey_stick(arb(epsilon))
            alone = [tr.Gaussian(sigma=1.0), tr.Laplace(scale=0.9)]
            truth = max(
                (each.poisson(rate=0.1).pair(REMOVE).ball_hockey_stick(arb(epsilon)) for each in alone),
                key=lambda ball: float(ball.mid()),
            )
            assert found.overlaps(truth)
    value = pair.hockey_stick(exact([0.3]))
    assert value.lower[0] <= float(found.mid()) <= value.upper[0]


def test_pairs_that_another_dominates_are_left_out() -> None:
    orders: list[tuple[tr.Mechanism, tr.Mechanism]] = [
        (tr.Gaussian(sigma=1.0), tr.Gaussian(sigma=2.0)),
        (tr.Gaussian(sigma=1.0) * 4, tr.Gaussian(sigma=1.0, sensitivity=1.5)),
        (tr.Laplace(scale=1.0), tr.Laplace(scale=1.1)),
        (tr.PureDP(epsilon=1.0), tr.RandomizedResponse(epsilon=1.0, categories=3)),
        (tr.ApproximateDP(epsilon=1.0, delta=0.1), tr.PureDP(epsilon=0.9)),
        (tr.Gaussian(sigma=1.0).poisson(rate=0.2), tr.Gaussian(sigma=1.5).poisson(rate=0.1)),
        (tr.Laplace(scale=1.0), tr.Laplace(scale=1.5).poisson(rate=0.1)),
    ]
    for one, two in orders:
        for way in Direction:
            larger, smaller = (
                product_pair((part.pair(way), count) for part, count in each.terms) for each in (one, two)
            )
            assert maximum_pair([larger, smaller]) == larger == maximum_pair([smaller, larger])
            assert not dominates(smaller, larger)
    listed = [part.pair(way) for each in orders for law in each for part, _ in law.terms for way in Direction]
    with working_precision(200):
        for first in (*listed, *PLAIN.values()):
            for second in (*listed, *PLAIN.values()):
                if dominates(first, second):
                    for epsilon in EPSILONS:
                        assert not first.ball_hockey_stick(arb(epsilon)) < second.ball_hockey_stick(arb(epsilon))
    run = tr.parallel(tr.Gaussian(sigma=1.0), tr.Gaussian(sigma=2.0)) * 10
    assert run.epsilon(1e-5) == (tr.Gaussian(sigma=1.0) * 10).epsilon(1e-5)
