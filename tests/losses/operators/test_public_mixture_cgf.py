"""Contours of unions: uses of a union are a binomial mixture of uses of its parts, whose own contours are the truth."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from flint import arb

import tightrope as tr
from tightrope.core.engines.planner import Planner, Point
from tightrope.core.losses.operators.public_mixture import ExactWeights, PublicMixturePair
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction, Question

USES = 10


def delta(terms: list[tuple[Pair, int]], epsilon: float, proof: bool = False) -> tuple[float, float]:
    question = Question("delta", proof=proof, engine="contour")
    found = Planner([each for each in terms if each[1]], question, several=False).answer(Point("delta", epsilon), 1e-9)
    return found.lower, found.upper


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("rare", [Fraction(1, 3), Fraction(1, 10**6)])
def test_uses_of_a_union_are_a_mixture_of_uses(rare: Fraction, direction: Direction) -> None:
    one = tr.Gaussian(sigma=1.0).poisson(rate=0.2).pair(direction)
    two = tr.Gaussian(sigma=0.5).poisson(rate=0.1).pair(direction)
    union = PublicMixturePair(ExactWeights((1 - rare, rare)), (one, two))
    for epsilon in (1.0, 4.0):
        low = high = 0.0
        for hits in range(USES + 1):
            share = float(comb(USES, hits) * rare**hits * (1 - rare) ** (USES - hits))
            if share > 1e-40:
                ends = delta([(one, USES - hits), (two, hits)], epsilon)
                low, high = low + share * ends[0], high + share * ends[1]
        for proof in (False, True)[: 1 + (epsilon == 4.0 and rare < 0.1 and direction is Direction.ADD)]:
            lower, upper = delta([(union, USES)], epsilon, proof)
            assert lower <= high * (1.0 + 1e-12)
            assert upper >= low * (1.0 - 1e-12)
            assert upper - lower <= 1e-8 * upper


def test_a_union_of_one_pair_twice_is_that_pair() -> None:
    one = tr.Gaussian(sigma=1.0).poisson(rate=0.2).pair(Direction.REMOVE)
    known, plain = PublicMixturePair(ExactWeights((Fraction(1, 4), Fraction(3, 4))), (one, one)).cgf(), one.cgf()
    assert known is not None
    assert plain is not None
    with working_precision(200):
        law, truth = known.ball_tilted(2.0, 5.0, 60.0), plain.ball_tilted(2.0, 5.0, 60.0)
        assert law.log_mgf.overlaps(truth.log_mgf)
        assert law.log_mgf.rad() < arb("1e-20")
        assert all(mine.overlaps(theirs) for mine, theirs in zip(law.phi(0.5, 8), truth.phi(0.5, 8), strict=True))
    assert known.cumulants(2.0) == pytest.approx(plain.cumulants(2.0))
