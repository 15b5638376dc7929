"""Questions with an exact answer, and questions that are refused."""

from __future__ import annotations

import math

import pytest

import tightrope as tr

UNBOUNDED = (tr.Gaussian(sigma=1.0), tr.DiscreteGaussian(sigma=2.0), tr.GDP(mu=0.1), tr.Gaussian(sigma=2.0) * 7)
INF = math.inf


def ends(bound: tr.Bound) -> tuple[float, float]:
    return bound.lower, bound.upper


@pytest.mark.parametrize("proof", (False, True))
@pytest.mark.parametrize("mechanism", UNBOUNDED, ids=repr)
def test_unbounded_losses_have_no_pure_epsilon(mechanism: tr.Mechanism, proof: bool) -> None:
    assert ends(mechanism.epsilon(delta=0.0, proof=proof)) == (INF, INF)
    assert ends(mechanism.delta(epsilon=1e9, proof=proof)) in ((0.0, 0.0), (0.0, 5e-324))
    assert mechanism.delta(epsilon=1e9, proof=proof).upper == 5e-324, "delta is positive at every epsilon"


@pytest.mark.parametrize("proof", (False, True))
def test_infinite_mass_above_delta(proof: bool) -> None:
    leaky = tr.ApproximateDP(epsilon=1.0, delta=0.25)
    for mechanism, mass in (
        (leaky, 0.25),
        (leaky * 2, 0.4375),
        (leaky.poisson(rate=0.5), 0.125),
        (leaky + tr.Gaussian(sigma=1.0), 0.25),
        (tr.Finite(p=(0.5, 0.5, 0.0), q=(0.0, 0.75, 0.25)), 0.5),
        (tr.RandomizedResponse(p=1.0), 1.0),
    ):
        for delta in (0.0, 1e-300, mass / 2, math.nextafter(mass, 0.0)):
            assert ends(mechanism.epsilon(delta=delta, proof=proof)) == (INF, INF), (mechanism, delta)
        if mass < 1.0:
            assert mechanism.epsilon(delta=mass * 1.01, proof=proof).upper < INF
        assert (
            mechanism.delta(epsilon=1e4, proof=proof).lower <= mass <= mechanism.delta(epsilon=1e4, proof=proof).upper
        )


@pytest.mark.parametrize("proof", (False, True))
def test_infinite_mass_exactly_delta(proof: bool) -> None:
    """delta equal to the infinite mass is paid for: epsilon is the largest finite loss."""
    bound = tr.ApproximateDP(epsilon=1.0, delta=0.25).epsilon(delta=0.25, proof=proof)
    assert bound.lower <= 1.0 <= bound.upper
    assert bound.width <= 1e-12


@pytest.mark.parametrize("rate", (1e-8, 0.3, 0.999))
def test_leak_of_a_sample_shows_in_one_direction_only(rate: float) -> None:
    mechanism = tr.ApproximateDP(epsilon=1.0, delta=0.25).poisson(rate=rate)
    assert ends(mechanism.epsilon(delta=0.0, direction="remove")) == (INF, INF)
    bound = mechanism.epsilon(delta=0.0, direction="add")
    assert bound.lower <= -math.log1p(-rate) * (1 + 1e-15)
    assert bound.upper >= -math.log1p(-rate) * (1 - 1e-15)
    assert bound.width <= 1e-12 * bound.upper


@pytest.mark.parametrize("proof", (False, True))
@pytest.mark.parametrize(
    "mechanism, supremum",
    (
        (tr.Laplace(scale=2.0), 0.5),
        (tr.Laplace(scale=2.0) * 5, 2.5),
        (tr.DiscreteLaplace(scale=2.0, sensitivity=3), 1.5),
        (tr.PureDP(epsilon=0.7), 0.7),
        (tr.PureDP(epsilon=0.5) * 8 + tr.Laplace(scale=4.0), 4.25),
        (tr.PureDP(epsilon=0.0), 0.0),
        (tr.RandomizedResponse(p=0.5), 0.0),
        (tr.RandomizedResponse(p=0.25, categories=4), 0.0),
        (tr.Finite(p=(0.3, 0.7), q=(0.3, 0.7)), 0.0),
        (tr.Gaussian(sigma=1.0) * 0, 0.0),
        (tr.Gaussian(sigma=1.0).poisson(rate=0.0), 0.0),
    ),
    ids=repr,
)
def test_supremum_of_the_loss(mechanism: tr.Mechanism, supremum: float, proof: bool) -> None:
    bound = mechanism.epsilon(delta=0.0, proof=proof)
    assert bound.lower <= supremum <= bound.upper
    assert bound.width <= 1e-12
    for epsilon in (math.nextafter(bound.upper, INF), supremum + 1.0, 1e9):
        assert ends(mechanism.delta(epsilon=epsilon, proof=proof)) == (0.0, 0.0)
    if supremum > 0.0:
        assert mechanism.delta(epsilon=supremum * 0.999, proof=proof).lower > 0.0


@pytest.mark.parametrize("proof", (False, True))
def test_exact_supremum_gives_exact_zero(proof: bool) -> None:
    for mechanism, supremum in (
        (tr.Laplace(scale=2.0), 0.5),
        (tr.PureDP(epsilon=0.7), 0.7),
        (tr.PureDP(epsilon=0.0), 0.0),
    ):
        assert ends(mechanism.delta(epsilon=supremum, proof=proof)) == (0.0, 0.0)


@pytest.mark.parametrize("proof", (False, True))
@pytest.mark.parametrize("epsilon", (45.0, 100.0, 1e3, 1e6))
def test_underflow(epsilon: float, proof: bool) -> None:
    assert ends(tr.Gaussian(sigma=1.0).delta(epsilon=epsilon, proof=proof)) == (0.0, 5e-324)


def test_everything_may_leak() -> None:
    for mechanism in (tr.Gaussian(sigma=1e-6), tr.Laplace(scale=1.0) * 3, tr.RandomizedResponse(p=1.0)):
        assert ends(mechanism.epsilon(delta=1.0)) == (0.0, 0.0)


@pytest.mark.parametrize("epsilon", (math.nan, "nan", "0.5", None))
def test_an_epsilon_that_is_no_number_is_refused(epsilon: float) -> None:
    with pytest.raises(tr.InvalidParameter):
        tr.Gaussian(sigma=1.0).delta(epsilon=epsilon)


@pytest.mark.parametrize("mechanism", UNBOUNDED, ids=repr)
def test_at_minus_infinity_delta_is_one(mechanism: tr.Mechanism) -> None:
    assert ends(mechanism.delta(epsilon=-INF)) == (1.0, 1.0)


@pytest.mark.parametrize("delta", (-1e-300, 1.0000000000000002, 2.0, INF, math.nan))
def test_delta_outside_the_unit_interval_is_refused(delta: float) -> None:
    with pytest.raises(tr.InvalidParameter):
        tr.Gaussian(sigma=1.0).epsilon(delta=delta)


def test_accuracy_out_of_reach_is_said_with_the_bound() -> None:
    with pytest.raises(tr.AccuracyNotReached) as raised:
        tr.Gaussian(sigma=1.0).delta(epsilon=1.0, accuracy=1e-30)
    bound = raised.value.bound
    assert raised.value.wanted == 1e-30
    assert bound.lower < bound.upper
    assert bound.width <= 1e-12 * bound.upper


def test_sequences_answer_like_single_questions() -> None:
    mechanism = tr.Laplace(scale=2.0).poisson(rate=0.3)
    epsilons, deltas = (0.0, 0.06, 0.1), (1e-3, 1e-2)
    assert mechanism.delta(epsilon=epsilons) == tuple(mechanism.delta(epsilon=epsilon) for epsilon in epsilons)
    assert mechanism.epsilon(delta=deltas) == tuple(mechanism.epsilon(delta=delta) for delta in deltas)


@pytest.mark.parametrize("epsilon", [1e4, 1e15, 1e300, 1.7e308])
def test_an_epsilon_beyond_all_losses_is_answered_in_integers_too(epsilon: float) -> None:
    from tightrope.core.engines.lattice.engine import prepare
    from tightrope.core.values.question import Direction

    run = tr.Laplace(scale=2.0) * 3 + tr.ApproximateDP(epsilon=0.5, delta=1e-3)
    terms = [(part.pair(Direction.REMOVE), count) for part, count in run.terms]
    value = prepare(terms, epsilon=1.0, accuracy=1e-3, proof=True).delta(epsilon)
    assert value.lower <= 1e-3 <= value.upper < 1.1e-3
