"""Hostile choices: whatever tilts, steps and ranges are chosen, the ends stay on their side, or there are none.

Truths are formulas that share nothing with contours and grids: one Gaussian, and lists of all outcomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from flint import acb, arb

from tests.search import cases
from tightrope.checker import contour, grid
from tightrope.checker.clock import now
from tightrope.checker.law import CheckedLaw, Term, cgf, exact
from tightrope.checker.laws import listed
from tightrope.checker.laws.discrete import DiscreteGaussianLaw
from tightrope.checker.laws.finite import GeometricLaw, LeakyResponseLaw, RatiosLaw, response
from tightrope.checker.laws.gaussian import GaussianLaw
from tightrope.checker.laws.laplace import LaplaceLaw
from tightrope.checker.laws.sampled import sampled

LAWS: Sequence[CheckedLaw | None] = [
    GaussianLaw(Fraction(1, 2)),
    response(Fraction(2, 3), 3),
    LeakyResponseLaw(Fraction(1, 2), Fraction(1, 8)),
    GeometricLaw(Fraction(3), 2),
    RatiosLaw((Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(1, 8), Fraction(5, 8), Fraction(1, 4))),
    sampled(response(Fraction(3, 4), 2), Fraction(1, 3), True),
    sampled(LeakyResponseLaw(Fraction(1), Fraction(1, 4)), Fraction(1, 3), False),
    LaplaceLaw(Fraction(3, 4)),
]


def truth_of(law: CheckedLaw, count: int, epsilon: arb) -> arb:
    if isinstance(law, GaussianLaw):
        p, q = GaussianLaw(law.square * count).tails(epsilon)
        return p - epsilon.exp() * q
    found = listed.enclosed([(law, count)], epsilon)
    assert found is not None
    return found


def anything(random: Random) -> arb:
    return arb(2) ** arb(random.uniform(-8, 8)) * random.choice([1, 1, 1, 1, -1])


@pytest.mark.parametrize("seed", range(cases(8, 2000)))
def test_hostile_choices_leave_ends_on_their_side(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    monkeypatch.setattr(contour, "LINE_NODES_MAX", 300)
    monkeypatch.setattr(contour, "CIRCLE_MAX", 300)
    for law in LAWS:
        assert law is not None
        count, epsilon = random.choice([1, 2, 5]), exact(Fraction(random.choice([0.0, 0.5, random.uniform(0, 3)])))
        truth, terms = truth_of(law, count, epsilon), [(law, count)]
        far, period = anything(random), anything(random)
        monkeypatch.setattr(contour, "aliases", lambda *_, found=(far, period): found)
        ranges = [(anything(random), anything(random))]
        step = (ranges[0][1] - ranges[0][0]) / random.randint(-5, 60) if random.random() < 0.8 else anything(random)
        plan = ranges, step.mid(), anything(random).mid() if random.random() < 0.5 else arb(0)
        monkeypatch.setattr(grid, "chosen", lambda *_, found=plan: found)
        monkeypatch.setattr(grid, "CUT", random.choice([0, 1 << 32, 1 << 90, 1 << 96]))
        for found in (
            contour.enclosed(terms, epsilon, anything(random), random.choice([2, 30]), lambda: False),
            grid.enclosed(terms, epsilon, arb(0), (None, None), now() + 20.0),
        ):
            if found is not None:
                assert not found[0].lower() > truth
                assert not found[1].upper() < truth


def test_tilts_in_the_wrong_order_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    terms: list[Term] = [(GaussianLaw(Fraction(1)), 1)]
    for tilt, far, period in ((2, 1, 9), (1, 1, 9), (-1, 2, 9), (0, 1, 9), (1, 2, -9), (1, 2, 0), (1, "nan", 9)):
        choice = arb(far), arb(period)
        monkeypatch.setattr(contour, "aliases", lambda *_, found=choice: found)
        assert contour.enclosed(terms, arb(1), arb(tilt), 30, lambda: False) is None


def test_the_power_of_an_unknown_ratio_is_unknown() -> None:
    for ratio in (acb("nan"), acb(arb(0, arb("inf"))), acb(arb(0, 2), 0)):
        power = contour._raised(ratio, 5)
        assert power.contains(acb(1))
        assert power.contains(acb(-1))
    assert contour._raised(acb(0), 5) == 0


def test_a_first_loss_that_is_unknown_by_more_than_one_is_refused() -> None:
    near = 1 + Fraction(1, 3 * 2**39)  # whose log, in 53 bits, has 13 that are right
    half, other = Fraction(1, 2), Fraction(1, 2) * near
    law = RatiosLaw((half, other), (half * 3, other * 3 * near))
    assert contour._circle((law, 1), arb(1), arb(1), exact(Fraction(1, 2**38))) is None


def test_moments_that_are_too_many_bound_nothing() -> None:
    assert not cgf([(DiscreteGaussianLaw(Fraction(10**12), 1), 1)], arb(1)) < 1000
