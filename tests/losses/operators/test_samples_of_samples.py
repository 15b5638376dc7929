"""A sample of a sample is one sample at the product of the rates, which need not be a double."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import arb

import tightrope as tr
from tests.oracle import continuous
from tests.oracle.truth import Truth
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.poisson import PoissonAdd, PoissonRemove, sampled_once
from tightrope.core.values.question import Direction

BASE = GaussianPair(((1.0, 1.0, 1),))


@pytest.mark.parametrize("kind", [PoissonRemove, PoissonAdd])
def test_the_doubles_next_to_the_product(kind: type[PoissonRemove] | type[PoissonAdd]) -> None:
    rng = random.Random(1)
    for _ in range(200):
        rates = [rng.random() * 10.0 ** -rng.randrange(4) for _ in range(rng.randrange(2, 4))]
        pair, product = BASE, Fraction(1)
        for rate in rates:
            pair, product = kind(pair, rate), product * Fraction(rate)  # type: ignore[assignment]
        below, above = sampled_once(pair)
        assert isinstance(below, kind)
        assert isinstance(above, kind)
        assert below.base is above.base is BASE
        assert Fraction(below.rate) <= product <= Fraction(above.rate)
        assert above.rate - below.rate <= 2.0**-52 * above.rate
    assert sampled_once(kind(kind(BASE, 0.5), 0.25)) == (kind(BASE, 0.125), kind(BASE, 0.125))


def test_what_is_left_alone() -> None:
    """One sample, another direction's sample inside, and a product below every normal double."""
    for pair in (
        BASE,
        PoissonRemove(BASE, 0.1),
        PoissonRemove(PoissonAdd(BASE, 0.1), 0.1),
        PoissonRemove(PoissonRemove(BASE, 1e-200), 1e-200),
    ):
        assert sampled_once(pair) == (pair, pair)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("proof", [False, True])
def test_one_use_against_the_exact_rate(direction: str, proof: bool) -> None:
    truth = Truth(continuous.Gaussian(1.0), Fraction(0.1) * Fraction(0.3), direction)
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.1).poisson(rate=0.3)
    for epsilon in (0.0, 0.01, 0.5 if direction == "remove" else 0.02):
        bound = run.delta(epsilon, direction=direction, proof=proof)
        value = truth.delta(epsilon)
        assert arb(bound.lower) <= value <= arb(bound.upper)
        assert bound.upper - bound.lower <= 1e-9 * bound.upper


@pytest.mark.parametrize("direction", list(Direction))
def test_many_uses_against_the_pair_as_it_is_nested(direction: Direction) -> None:
    """The lattice knows nothing of products: it takes the nested pair."""
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.3).poisson(rate=0.1) * 100 + tr.Laplace(scale=5.0)
    terms = tuple((part.pair(direction), count) for part, count in run.terms)
    for epsilon in (0.3, 1.0):
        nested = lattice.prepare(terms, epsilon=epsilon, accuracy=1e-5).delta(epsilon)
        bound = run.delta(epsilon, direction=direction.value)
        assert bound.certificate.engine == "contour"
        assert nested.lower <= bound.upper
        assert bound.lower <= nested.upper
        assert bound.upper - bound.lower <= 1e-9 * bound.upper
    assert repr(run.terms[0][0]) == "Gaussian(sigma=1.0).poisson(rate=0.3).poisson(rate=0.1)"
    assert tr.parse(repr(run)) == run


def test_an_exact_product_is_the_same_answer() -> None:
    one = tr.Gaussian(sigma=1.0).poisson(rate=0.125) * 50
    two = tr.Gaussian(sigma=1.0).poisson(rate=0.5).poisson(rate=0.25) * 50
    assert one.epsilon(1e-6) == two.epsilon(1e-6)
