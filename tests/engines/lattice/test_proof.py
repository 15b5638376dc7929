"""The lattice in integers: contained, overlapping with float64, and free of transforms."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import fmpz

from tests.engines.lattice.asking import epsilon_ends, terms_of
from tests.oracle import enumeration
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.engines.lattice.proof import WholeUpper
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw


def test_finite_compositions_in_integers() -> None:
    """Random finite compositions, all outcomes enumerated."""
    for seed in range(1000, 1016):
        rng = random.Random(seed)
        parts = enumeration.random_composition(rng)
        outcomes = enumeration.composed(parts)
        if not any(p and q for p, q in outcomes):
            continue
        terms: dict[FinitePair, int] = {}
        for single, count in parts:
            p, q = zip(*single, strict=True)
            pair = FinitePair(RationalLaw(p, q))
            terms[pair] = terms.get(pair, 0) + count
        evaluator = lattice.prepare(list(terms.items()), epsilon=0.25, accuracy=0.05, proof=True)
        for epsilon in (0.0, 0.25, 1.0, 3.0, 30.0):
            low, high = enumeration.delta(outcomes, epsilon)
            value = evaluator.delta(epsilon)
            assert Fraction(value.lower) <= high, (seed, epsilon)
            assert low <= Fraction(value.upper), (seed, epsilon)


@pytest.mark.parametrize(
    "expression, delta, truth",
    [
        ("Gaussian(sigma=1.0).poisson(rate=0.01) * 1000", 1e-6, 2.124515171120121328960),
        ("Gaussian(sigma=10) * 100", 1e-100, 21.6275080936483822105),
        ("Gaussian(sigma=5) * 3 + Gaussian(sigma=8) * 5 + PureDP(epsilon=0.1)", 1e-6, 2.031589328756581752777),
    ],
)
def test_vectors_in_integers(expression: str, delta: float, truth: float) -> None:
    evaluator = lattice.prepare(terms_of(expression, "remove"), delta=delta, accuracy=1e-3, proof=True)
    assert evaluator.arithmetic == "ball"
    lower, upper = epsilon_ends(evaluator, delta, 4.0, 1e-3)
    assert lower <= truth <= upper
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_proof_and_float_overlap(direction: str) -> None:
    terms = terms_of("Laplace(scale=2).poisson(rate=0.3) * 3 + DiscreteGaussian(sigma=2)", direction)
    for epsilon in (0.1, 1.0):
        proven = lattice.prepare(terms, epsilon=epsilon, accuracy=1e-2, proof=True).delta(epsilon)
        quick = lattice.prepare(terms, epsilon=epsilon, accuracy=1e-4).delta(epsilon)
        assert proven.lower <= quick.upper
        assert quick.lower <= proven.upper
        assert proven.upper - proven.lower <= 2e-2 * proven.upper


def test_the_proof_makes_no_transform(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.fft

    def refuse(*_: object, **__: object) -> object:
        raise RuntimeError("float64 inside a proof")

    monkeypatch.setattr(scipy.fft, "rfft", refuse)
    monkeypatch.setattr(scipy.fft, "irfft", refuse)
    value = lattice.prepare(terms_of("Laplace(scale=1) * 4", "remove"), epsilon=1.0, accuracy=0.05, proof=True).delta(
        1.0
    )
    assert 0.0 < value.lower <= value.upper < 1.0


def test_a_cut_larger_than_the_law_keeps_its_mass() -> None:
    """None of it may vanish from the upper law."""
    law, unit = WholeUpper([fmpz(30)] * 3, 0, 0), WholeUpper([fmpz(1 << 20)], 0, 0)
    for cut in (1, 40, 60, 1000):
        product = law.times(unit, 20, cut)
        assert sum(map(int, product.masses)) + product.infinite >= 90
