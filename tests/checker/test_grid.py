"""Intervals from a grid hold what lists of all outcomes, and oracles, say; a finer step makes them narrower."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from flint import arb

from tests.search import cases
from tightrope.checker.clock import now
from tightrope.checker.grid import enclosed
from tightrope.checker.law import CheckedLaw
from tightrope.checker.laws import listed
from tightrope.checker.laws.finite import GeometricLaw, LeakyResponseLaw, RatiosLaw, response
from tightrope.checker.laws.laplace import LaplaceLaw
from tightrope.checker.laws.sampled import sampled

SECONDS = 60.0


def interval(
    terms: list[tuple[CheckedLaw, int]], epsilon: float, step: float | None = None, tilt: float | None = None
) -> tuple[arb, arb]:
    hints = (None if step is None else arb(step), None if tilt is None else arb(tilt))
    found = enclosed(terms, arb(epsilon), arb(0), hints, now() + SECONDS)
    assert found is not None
    return found


def holds(found: tuple[arb, arb], truth: arb) -> bool:
    """Whether no end is on the wrong side for certain."""
    return not found[0] > truth and not found[1] < truth


@pytest.mark.parametrize("tilt", [None, 0.0, 100.0])
def test_any_tilt_and_step_holds_the_truth(tilt: float | None) -> None:
    terms: list[tuple[CheckedLaw, int]] = [(LaplaceLaw(Fraction(1, 2)), 3), (response(Fraction(3, 5), 3), 2)]
    for epsilon in (-0.5, 2.2):
        truth = listed.enclosed(terms, arb(epsilon))
        assert truth is not None
        for step in (1.0, 0.03):
            lower, upper = interval(terms, epsilon, step, tilt)
            assert holds((lower, upper), truth)


def test_half_the_step_is_a_quarter_of_the_width() -> None:
    laplace = sampled(LaplaceLaw(Fraction(1, 2)), Fraction(0.3), False)
    assert laplace is not None
    widths = []
    for step in (4e-3, 2e-3, 1e-3):
        lower, upper = interval([(laplace, 10)], 1.0, step, 8.34)
        assert lower <= 0.00313739798854919
        assert upper >= 0.0031373978032589824
        widths.append(upper - lower)
    assert widths[1] < widths[0] / 3
    assert widths[2] < widths[1] / 3


def test_tiny_deltas_are_as_sharp_as_others() -> None:
    """Response with 2 log odds a use: 2000 uses have a delta of 2e-203, and the grid its lattice."""
    terms: list[tuple[CheckedLaw, int]] = [(LeakyResponseLaw(Fraction(1, 4)), 2000)]
    truth = listed.enclosed(terms, arb(375))
    assert truth is not None
    assert truth < 1e-150
    lower, upper = interval(terms, 375.0, 0.25)
    assert holds((lower, upper), truth)
    assert (upper - lower) < 1e-6 * upper


def test_infinite_losses_are_in_both_ends() -> None:
    terms: list[tuple[CheckedLaw, int]] = [
        (LeakyResponseLaw(Fraction(1, 4), Fraction(1, 100)), 20),
        (LaplaceLaw(Fraction(1, 8)), 1),
    ]
    truth = listed.enclosed(terms, arb(30))
    assert truth is not None
    assert truth > 0.18
    lower, upper = interval(terms, 30.0, 0.05)
    assert holds((lower, upper), truth)
    assert upper - lower < 1e-12


def test_random_compositions_of_finite_laws() -> None:
    for seed in range(cases(6, 300)):
        random = Random(seed)
        size = random.randint(2, 4)
        p, q = ([Fraction(random.randint(0, 20)) for _ in range(size)] for _ in range(2))
        base: CheckedLaw = RatiosLaw((*p, Fraction(1)), (*q, Fraction(1)))
        law = random.choice(
            [base, sampled(base, Fraction(random.random()), random.random() < 0.5), GeometricLaw(Fraction(2), 2)]
        )
        assert law is not None
        terms = [(law, random.randint(1, 6)), (LeakyResponseLaw(Fraction(random.random())), random.randint(1, 3))]
        epsilon = random.uniform(-1, 6)
        truth = listed.enclosed(terms, arb(epsilon))
        assert truth is not None
        lower, upper = interval(terms, epsilon, random.choice([None, 0.3, 0.02]), random.choice([None, 2.0]))
        assert holds((lower, upper), truth), seed


def test_out_of_time_or_out_of_size_is_no_answer() -> None:
    laplace = LaplaceLaw(Fraction(1, 2))
    assert enclosed([(laplace, 3)], arb(1), arb(0), (arb(1e-3), None), now() - 1) is None
    assert enclosed([(laplace, 3)], arb(1), arb(0), (arb(1e-9), None), now() + SECONDS) is None
    assert enclosed([(CheckedLaw(), 3)], arb(1), arb(0), (arb(1e-3), None), now() + SECONDS) is None
