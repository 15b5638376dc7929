"""Order: what is noisier, rarer or used less often is never certified to leak more.

Two intervals contradict an order only if the lower end of what must be smaller exceeds the upper end of what must be
larger.
"""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

import tightrope as tr
from tests.properties.strategies import brief, noise, probability, steady

directions = st.sampled_from(("remove", "add", None))
epsilons = st.floats(min_value=0.0, max_value=20.0)
deltas = st.floats(min_value=1e-30, max_value=0.5)
rates = st.floats(min_value=1e-8, max_value=1.0)


def at_most(smaller: tr.Bound, larger: tr.Bound) -> bool:
    return smaller.lower <= larger.upper


def leaf(kind: str, amount: float) -> tr.Mechanism:
    """A mechanism with this much noise; more noise, less leakage."""
    match kind:
        case "Gaussian":
            return tr.Gaussian(sigma=amount)
        case "Laplace":
            return tr.Laplace(scale=amount)
        case "DiscreteGaussian":
            return tr.DiscreteGaussian(sigma=amount)
        case "DiscreteLaplace":
            return tr.DiscreteLaplace(scale=amount)
        case "GDP":
            return tr.GDP(mu=1.0 / amount)
        case "ApproximateDP":
            return tr.ApproximateDP(epsilon=1.0 / amount, delta=1e-3)
        case _:
            return tr.RandomizedResponse(epsilon=1.0 / amount, categories=3, neighbours="add_remove")


NOISY = ("Gaussian", "Laplace", "DiscreteLaplace", "GDP", "ApproximateDP", "RandomizedResponse")
kinds = st.sampled_from((*NOISY, "DiscreteGaussian"))


@steady
@given(kinds, noise, rates, deltas, deltas, directions)
def test_epsilon_falls_with_delta(
    kind: str, amount: float, rate: float, one: float, two: float, direction: str | None
) -> None:
    mechanism = leaf(kind, amount).poisson(rate=rate)
    low, high = mechanism.epsilon(delta=sorted((one, two)), direction=direction)
    assert at_most(high, low)


@steady
@given(kinds, noise, rates, epsilons, epsilons, directions)
def test_delta_falls_with_epsilon(
    kind: str, amount: float, rate: float, one: float, two: float, direction: str | None
) -> None:
    mechanism = leaf(kind, amount).poisson(rate=rate)
    low, high = mechanism.delta(epsilon=sorted((one, two)), direction=direction)
    assert at_most(high, low)


@steady
@given(st.sampled_from(NOISY), noise, noise, rates, epsilons, directions)
def test_delta_falls_with_noise(
    kind: str, one: float, two: float, rate: float, epsilon: float, direction: str | None
) -> None:
    loud, quiet = (
        leaf(kind, amount).poisson(rate=rate).delta(epsilon=epsilon, direction=direction)
        for amount in sorted((one, two))
    )
    assert at_most(quiet, loud)


@brief
@given(kinds, noise, rates, rates, epsilons, deltas, directions)
def test_leakage_grows_with_rate(
    kind: str, amount: float, one: float, two: float, epsilon: float, delta: float, direction: str | None
) -> None:
    rarely, often = (leaf(kind, amount).poisson(rate=rate) for rate in sorted((one, two)))
    assert at_most(
        rarely.delta(epsilon=epsilon, direction=direction), often.delta(epsilon=epsilon, direction=direction)
    )
    assert at_most(rarely.epsilon(delta=delta, direction=direction), often.epsilon(delta=delta, direction=direction))


@steady
@given(
    st.sampled_from(("Gaussian", "Laplace", "ApproximateDP", "GDP")),
    noise,
    st.integers(0, 12),
    st.integers(0, 12),
    epsilons,
)
def test_leakage_grows_with_count(kind: str, amount: float, one: int, two: int, epsilon: float) -> None:
    few, many = (leaf(kind, amount) * count for count in sorted((one, two)))
    assert at_most(few.delta(epsilon=epsilon), many.delta(epsilon=epsilon))
    assert at_most(few.epsilon(delta=1e-5), many.epsilon(delta=1e-5))


@steady
@given(kinds, noise, rates, deltas, directions)
def test_delta_of_epsilon_is_delta(kind: str, amount: float, rate: float, delta: float, direction: str | None) -> None:
    """At the upper end of epsilon delta is certainly reached, at the lower end certainly not undercut."""
    mechanism = leaf(kind, amount).poisson(rate=rate)
    bound = mechanism.epsilon(delta=delta, direction=direction)
    assume(bound.upper < float("inf"))
    assert mechanism.delta(epsilon=bound.upper, direction=direction).lower <= delta
    if bound.lower > 0.0:
        assert mechanism.delta(epsilon=bound.lower, direction=direction).upper >= delta


@brief
@given(kinds, noise, rates, epsilons, directions)
def test_epsilon_of_delta_is_epsilon(
    kind: str, amount: float, rate: float, epsilon: float, direction: str | None
) -> None:
    mechanism = leaf(kind, amount).poisson(rate=rate)
    bound = mechanism.delta(epsilon=epsilon, direction=direction)
    assert mechanism.epsilon(delta=bound.upper, direction=direction).lower <= epsilon
    if bound.lower > 0.0:
        # delta(epsilon) >= bound.lower, so anything below bound.lower is reached only beyond epsilon.
        assert mechanism.epsilon(delta=bound.lower * (1.0 - 1e-9), direction=direction).upper >= epsilon


@steady
@given(kinds, noise, probability, epsilons)
def test_worse_direction_is_the_maximum(kind: str, amount: float, rate: float, epsilon: float) -> None:
    mechanism = leaf(kind, amount).poisson(rate=rate)
    both = mechanism.delta(epsilon=epsilon)
    remove, add = (mechanism.delta(epsilon=epsilon, direction=name) for name in ("remove", "add"))
    assert both.lower <= max(remove.upper, add.upper)
    assert both.upper >= max(remove.lower, add.lower)


@steady
@given(kinds, noise, rates, epsilons, directions)
def test_proof_and_float_overlap(kind: str, amount: float, rate: float, epsilon: float, direction: str | None) -> None:
    mechanism = leaf(kind, amount).poisson(rate=rate)
    quick = mechanism.delta(epsilon=epsilon, direction=direction)
    proven = mechanism.delta(epsilon=epsilon, direction=direction, proof=True)
    assert at_most(quick, proven)
    assert at_most(proven, quick)


def test_add_can_be_the_worse_direction() -> None:
    mechanism = tr.Laplace(scale=2.0).poisson(rate=0.3) * 2
    remove, add = (mechanism.delta(epsilon=0.06, direction=name) for name in ("remove", "add"))
    assert 0.050 < remove.lower <= remove.upper < 0.051 < 0.059 < add.lower <= add.upper < 0.060
    worse = mechanism.delta(epsilon=0.06)
    assert at_most(add, worse)
    assert at_most(worse, add)
