"""The lattice engine on the reference vectors, on its hard corners, and on what it promises of its certificate."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tests.engines.lattice.asking import epsilon_interval, terms_of
from tests.search import FULL
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.values.errors import UnsupportedMechanism

VECTORS = json.loads((Path(__file__).parents[2] / "reference" / "vectors.json").read_text())["vectors"]
NATIVE = ("RandomizedResponse", "ApproximateDP", "DiscreteGaussian")
CASES = [
    (vector["expression"], float(vector["delta"]), direction, float(vector[direction]))
    for vector in VECTORS
    for direction in ("remove", "add")
    if direction in vector and (FULL or direction == "remove" or "00000" not in vector["expression"])
] + [
    (vector["expression"], float(vector["delta"]), "remove", float(vector["epsilon"]))
    for vector in VECTORS
    if "remove" not in vector
]


@pytest.mark.parametrize("expression, delta, direction, truth", CASES)
def test_vectors_are_contained_and_narrow(expression: str, delta: float, direction: str, truth: float) -> None:
    accuracy = 1e-9 if expression.startswith(NATIVE) else 1e-4 if FULL or "1000000" not in expression else 1e-3
    lower, upper, _ = epsilon_interval(expression, direction, delta, accuracy)
    assert lower <= truth * (1.0 + 1e-14)
    assert truth * (1.0 - 1e-14) <= upper
    assert upper - lower <= accuracy * upper


def test_the_worse_direction_may_be_add() -> None:
    """Laplace(scale=2).poisson(rate=0.3) * 2 at epsilon 0.06: 0.0597 for add, 0.0505 for remove."""
    found = {}
    for direction in ("remove", "add"):
        evaluator = lattice.prepare(terms_of("Laplace(scale=2).poisson(rate=0.3) * 2", direction), epsilon=0.06)
        found[direction] = evaluator.delta(0.06)
    assert 0.0504 < found["remove"].lower <= found["remove"].upper < 0.0506
    assert 0.0596 < found["add"].lower <= found["add"].upper < 0.0598


def test_a_billion_uses_go_through_an_evolving_grid() -> None:
    expression = "Laplace(scale=10).poisson(rate=0.1) * 1000000000"
    fine = 1e-4 if FULL else 1e-3
    lower, upper, evaluator = epsilon_interval(expression, "remove", 1e-6, fine)
    grids = evaluator.parameters["grids"]
    assert isinstance(grids, list)
    assert len(grids) >= 3
    assert upper - lower <= 2 * fine * upper
    again = epsilon_interval(expression, "remove", 1e-6, 10 * fine)
    assert again[0] <= upper
    assert lower <= again[1]


def test_one_tilt_answers_for_a_stretch_of_epsilons() -> None:
    """Far from its aim the evaluator is wider, but delta stays monotone within its intervals."""
    evaluator = lattice.prepare(
        terms_of("Gaussian(sigma=1.0).poisson(rate=0.1) * 100", "remove"), epsilon=2.0, accuracy=1e-5
    )
    values = [evaluator.delta(0.25 * step) for step in range(41)]
    for before, after in itertools.pairwise(values):
        assert after.lower <= before.upper
    assert values[8].upper - values[8].lower <= 1e-5 * values[8].upper


def test_the_budget_names_every_line() -> None:
    evaluator = lattice.prepare(
        terms_of("Gaussian(sigma=1.0).poisson(rate=0.01) * 1000", "remove"), epsilon=2.0, accuracy=1e-3
    )
    value = evaluator.delta(2.0)
    for side in (value.budget.upper, value.budget.lower):
        assert side["discretisation"] > 0.0
        assert side["rounding"] > 0.0
    slack = sum(value.budget.upper.values()) + sum(value.budget.lower.values())
    assert value.upper - value.lower <= slack


def test_refuses_a_loss_that_is_all_infinite() -> None:
    with pytest.raises(UnsupportedMechanism):
        lattice.prepare(terms_of("Finite(p=[0.5, 0.5, 0], q=[0, 0, 1]) * 2", "remove"), epsilon=1.0)
