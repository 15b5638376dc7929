"""The reference vectors: contained, as narrow as promised, and derived a second time by the oracle."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.containment import relative_width
from tests.oracle.finite import Leaky
from tests.oracle.fold import GaussianFold, ResponseFold
from tests.oracle.laplace_fold import LaplaceFold
from tests.oracle.precision import ball, precision
from tests.oracle.truth import Ratio

VECTORS = json.loads((Path(__file__).parents[1] / "reference" / "vectors.json").read_text())["vectors"]
DECIMAL = Fraction(1, 10**14)  # the parameters are decimals there and doubles here

# What has a closed form, and its oracle in exact decimals.
ORACLES = {
    "Gaussian(sigma=10) * 100": GaussianFold(((10, 1, 100),)),
    "Gaussian(sigma=100) * 10000": GaussianFold(((100, 1, 10000),)),
    "Gaussian(sigma=5) * 3 + Gaussian(sigma=8) * 5 + PureDP(epsilon=0.1)": GaussianFold(
        ((5, 1, 3), (8, 1, 5)), Leaky(Fraction(1, 10))
    ),
    "RandomizedResponse(p=0.51) * 512": ResponseFold(Ratio(Fraction(51, 49)), 0, 512),
    "ApproximateDP(epsilon=0.1, delta=1e-8) * 100": ResponseFold(
        Ratio(Fraction(1), Fraction(1, 10)), Fraction(1, 10**8), 100
    ),
    "Laplace(scale=2) * 5": LaplaceFold(((2, 1, 5),)),
}
EXACT = [vector for vector in VECTORS if vector["expression"] in ORACLES]
OTHERS = [vector for vector in VECTORS if vector["expression"] not in ORACLES]


def name(vector: dict[str, str]) -> str:
    return f"{vector['expression']} at {vector['delta']}"


def contains(bound: tr.Bound, value: str) -> bool:
    exact = Fraction(value)
    return Fraction(bound.lower) <= exact * (1 + DECIMAL) and exact * (1 - DECIMAL) <= Fraction(bound.upper)


@pytest.mark.parametrize("vector", EXACT, ids=name)
def test_closed_form(vector: dict[str, str]) -> None:
    mechanism, delta = tr.parse(vector["expression"]), float(vector["delta"])
    for proof, accuracy in ((False, 1e-9), (True, 1e-12)):
        bound = mechanism.epsilon(delta=delta, proof=proof, accuracy=accuracy)
        assert contains(bound, vector["epsilon"]), bound
        assert relative_width(bound) <= accuracy
        default = mechanism.epsilon(delta=delta, proof=proof)
        assert contains(default, vector["epsilon"]), default
        assert relative_width(default) <= accuracy


@pytest.mark.parametrize("vector", EXACT, ids=name)
def test_oracle_derives_the_vector(vector: dict[str, str]) -> None:
    """delta crosses the level within one part in 10^17 of the value, or half a unit of its last digit."""
    oracle, value, level = ORACLES[vector["expression"]], Fraction(vector["epsilon"]), Fraction(vector["delta"])
    reach = max(value / 10**17, Fraction(1, 10 ** len(vector["epsilon"].partition(".")[2])))
    with precision(300):
        assert oracle.delta(value - reach) > ball(level) > oracle.delta(value + reach)


@pytest.mark.parametrize("direction", ("remove", "add", None))
@pytest.mark.parametrize("vector", OTHERS, ids=name)
def test_other_vectors_are_contained_or_refused(vector: dict[str, str], direction: str | None) -> None:
    mechanism, delta = tr.parse(vector["expression"]), float(vector["delta"])
    try:
        bound = mechanism.epsilon(delta=delta, direction=direction)
    except tr.UnsupportedMechanism as error:
        refusal: tr.UnsupportedMechanism | None = error
    else:
        refusal = None
    if refusal is not None:
        assert refusal.mechanism
        assert refusal.hint
    else:
        assert contains(bound, vector.get(direction or "epsilon", vector["epsilon"])), bound


def test_smallest_delta_of_a_gaussian() -> None:
    bound = (tr.Gaussian(sigma=1.0) * 3).epsilon(delta=1e-200)
    fold = GaussianFold(((1, 1, 3),))
    assert fold.delta(bound.lower) >= arb(1e-200) >= fold.delta(bound.upper)
    assert relative_width(bound) <= 1e-9
