"""Contours of the checker, against truths that were computed elsewhere, and laws whose delta is a formula."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath as mp
import pytest
from flint import arb

from tightrope.checker import contour
from tightrope.checker.choices import saddle
from tightrope.checker.law import exact, precision
from tightrope.checker.laws.finite import response
from tightrope.checker.laws.gaussian import GaussianLaw, SampledGaussianLaw


def never() -> bool:
    return False


@pytest.mark.parametrize(("epsilon", "goal"), [("1.5", 40), ("4", 96)])
def test_a_gaussian_twice_is_a_gaussian(epsilon: str, goal: int) -> None:
    terms, point = [(GaussianLaw(Fraction(1, 4)), 8)], arb(epsilon)
    tilt = saddle(terms, point)
    assert tilt is not None
    found = contour.enclosed(terms, point, tilt, goal, never)
    assert found is not None
    with mp.workdps(60), precision(200):
        mu, e = mp.sqrt(2), mp.mpf(epsilon)
        truth = arb(mp.nstr(mp.ncdf(mu / 2 - e / mu) - mp.e**e * mp.ncdf(-mu / 2 - e / mu), 50))
        assert found[0].lower() <= truth <= found[1].upper()
        assert found[1] - found[0] < truth * arb(2) ** (12 - goal)
        assert contour.chernoff(terms, point, tilt) > truth


def test_a_sampled_gaussian_has_its_known_delta() -> None:
    # epsilon at delta 1e-6 is 2.12451517112 to twelve digits, as the reference vectors say
    terms, point = [(SampledGaussianLaw(Fraction(1), Fraction(0.01)), 1000)], arb("2.12451517112")
    tilt = saddle(terms, point)
    assert tilt is not None
    found = contour.enclosed(terms, point, tilt, 50, never)
    assert found is not None
    assert arb("1e-6") * (1 - arb("1e-10")) < found[0] <= found[1] < arb("1e-6") * (1 + arb("1e-10"))


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(5), Fraction(30)])
def test_a_circle_sums_a_binomial(epsilon: Fraction) -> None:
    chance, count = Fraction(3, 4), 40
    law = response(chance, 2)
    tilt = saddle([(law, count)], exact(epsilon))
    assert tilt is not None
    found = contour.enclosed([(law, count)], exact(epsilon), tilt, 80, never)
    assert found is not None
    with mp.workdps(60), precision(250):
        scale = mp.e ** (mp.mpf(epsilon.numerator) / epsilon.denominator)
        total = mp.mpf(0)
        for hits in range(count + 1):
            odds = mp.mpf(3) ** (2 * hits - count)
            mass = comb(count, hits) * mp.mpf(3) ** hits / mp.mpf(4) ** count
            total += max(mass * (1 - scale / odds), mp.mpf(0))
        truth = arb(mp.nstr(total, 50))
        assert found[0].lower() <= truth <= found[1].upper()
        assert found[1] - found[0] < truth * arb(2) ** -60


def test_a_point_of_the_lattice_may_be_the_question_itself() -> None:
    law, count = response(Fraction(3, 4), 2), 3
    with precision(64):
        point = arb(3).log()  # a ball around the second loss
        tilt = saddle([(law, count)], point)
        assert tilt is not None
        found = contour.enclosed([(law, count)], point.mid(), tilt, 60, never)
    assert found is not None
    truth = arb(27) / 64 * (1 - arb(3) / 27)
    assert found[0] < truth + arb("1e-15")
    assert found[1] > truth - arb("1e-15")
    assert found[1] - found[0] < arb("1e-14")


def test_laws_without_moments_have_no_contour() -> None:
    from tightrope.checker.law import CheckedLaw

    assert saddle([(CheckedLaw(), 1)], arb(1)) is None


def test_atoms_alone_do_not_decay() -> None:
    terms = [(response(Fraction(3, 4), 2), 2), (response(Fraction(2, 3), 2), 2)]
    tilt = saddle(terms, arb(1))
    assert tilt is not None
    assert contour.enclosed(terms, arb(1), tilt, 30, never) is None


@pytest.mark.parametrize("goal", [1, 2, 4])
def test_nodes_that_are_left_out_are_counted(goal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contour, "LINE_NODES_MIN", 1)
    for quarters in range(1, 24):
        terms, point = [(GaussianLaw(Fraction(2)), 1)], exact(Fraction(quarters, 4))
        tilt = saddle(terms, point)
        assert tilt is not None
        coarse, sharp = (contour.enclosed(terms, point, tilt, each, never) for each in (goal, 60))
        assert coarse is not None
        assert sharp is not None
        assert coarse[0].lower() <= sharp[1].upper()
        assert coarse[1].upper() >= sharp[0].lower()
