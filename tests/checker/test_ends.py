"""Ends on the right side of the truth are proved, and the same ends on its wrong side refuted: of every law, by a hair.

The truth is what engines enclose, which share no code with the checker.
"""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope.checker.judge import judged

HAIR = 1e-9  # relative: far above the width of these answers, far below anything that a user would see
SECONDS = 60.0
QUESTIONS = [
    ("Gaussian(sigma=2) * 3", "delta", 1.0),
    ("Gaussian(sigma=2) + Gaussian(sigma=3) * 2", "epsilon", 1e-5),
    ("Gaussian(sigma=2)", "delta", -0.5),
    ("Gaussian(sigma=0.8).poisson(rate=0.2)", "delta", 0.1),
    ("Gaussian(sigma=0.8).poisson(rate=0.2)", "epsilon", 1e-3),
    ("Laplace(scale=2)", "delta", 0.3),
    ("Laplace(scale=2) * 5", "epsilon", 1e-3),
    ("Laplace(scale=2).poisson(rate=0.3)", "delta", 0.1),
    ("RandomizedResponse(p=0.7, neighbours='add_remove') * 6", "delta", 1.0),
    ("RandomizedResponse(p=0.7, neighbours='add_remove').poisson(rate=0.5) * 6", "delta", 0.6),
    ("RandomizedResponse(p=0.7, neighbours='add_remove') * 600", "epsilon", 1e-3),
    ("PureDP(epsilon=0.1) * 30", "epsilon", 1e-6),
    ("ApproximateDP(epsilon=0.1, delta=1e-7) * 30", "epsilon", 1e-5),
    ("DiscreteLaplace(scale=2) * 4", "delta", 1.0),
    ("DiscreteGaussian(sigma=2) * 4", "delta", 1.0),
    ("Finite(p=[0.5, 0.3, 0.2], q=[0.2, 0.5, 0.3]) * 5", "delta", 0.5),
    ("Finite(p=[0.5, 0.3, 0.2], q=[0.2, 0.8, 0.0]) * 5", "delta", 0.5),
    (
        "Finite(p=[0.5, 0.3, 0.2], q=[0.2, 0.8, 0.0]) * 2 + RandomizedResponse(p=0.6, neighbours='add_remove')",
        "delta",
        0.2,
    ),
]


ONE_WAY = [
    (*QUESTIONS[place], direction) for place in (3, 7, 9, 15, 16) for direction in ("add", "remove")
]  # where the directions differ


@pytest.mark.parametrize(
    ("expression", "quantity", "given", "only"), [*((*question, None) for question in QUESTIONS), *ONE_WAY]
)
def test_both_sides_of_the_truth(expression: str, quantity: str, given: float, only: str | None) -> None:
    run = tr.parse(expression)
    found = getattr(run, quantity)(given, direction=only, proof=True)
    assert found.width <= HAIR * found.upper
    above, below = found.upper * (1.0 + HAIR), found.lower * (1.0 - HAIR)
    name = "delta" if quantity == "epsilon" else "epsilon"
    asked = {"quantity": quantity, "expression": repr(run), name: given, "only": only, "direction": None}
    assert [each.verdict for each in judged({**asked, "lower": below, "upper": above}, SECONDS)] == ["proved"] * 2
    assert [each.verdict for each in judged({**asked, "lower": above, "upper": below}, SECONDS)] == ["refuted"] * 2
