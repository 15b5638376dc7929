"""Finite pairs from points of a profile and from events, against profiles in exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import accumulate

import pytest
from flint import arb, fmpq

from tests.engines.joint.test_bracket import alphas, outcomes_of, profile
from tests.engines.joint.test_engine import dyadic
from tests.oracle.enumeration import Outcomes
from tightrope.core.losses.operators.dyadic import dyadic_pair
from tightrope.core.losses.operators.polygon import above, below, concave, highest, mirrors
from tightrope.core.numerics.balls import working_precision

CLOSE = Fraction(1, 2**55)


def ball(number: Fraction, radius: float = 0.0) -> arb:
    return arb(fmpq(number.numerator, number.denominator)) + arb(0, radius)


def hull(points: list[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """The least of the chords over alpha, and of the levels before it."""
    points = [(Fraction(0), Fraction(1)), *points]
    found = [d for x, d in points if x <= alpha]
    for x, d in points:
        for y, e in points:
            if x < alpha <= y:
                found.append(d + (e - d) * (alpha - x) / (y - x))
    return min(found)


@pytest.mark.parametrize("seed", range(6))
def test_points_lie_below_the_pair_above_and_no_further_than_their_hull(seed: int) -> None:
    rng = random.Random(seed)
    truth = dyadic(rng, rng.choice([2, 3, 5]))
    places = [Fraction(2.0 ** rng.uniform(-6.0, 6.0)) for _ in range(rng.choice([1, 2, 6, 20]))]
    # Some lie higher than they must, and so leave the hull.
    points = [(x, min(profile(truth, x) + rng.choice([0, 0, Fraction(1, 50)]), Fraction(1))) for x in places]
    with working_precision(128):
        found = outcomes_of(above((ball(x), ball(d)) for x, d in points))
        wide = outcomes_of(above((ball(x, 1e-9), ball(d, 1e-9)) for x, d in points))
    for alpha in [*alphas(rng), *places]:
        exact = hull(points, alpha)
        assert profile(truth, alpha) <= exact <= profile(found, alpha) <= exact + CLOSE
        assert exact <= profile(wide, alpha)


def test_one_point_and_its_mirror_are_leaky_randomized_response() -> None:
    alpha, delta = Fraction(3), Fraction(1, 16)
    with working_precision(128):
        point = [(ball(alpha), ball(delta))]
        found = outcomes_of(above([*point, *mirrors(point)]))
    kept = (1 - delta) / (alpha + 1)
    response = ((delta, Fraction(0)), (alpha * kept, kept), (kept, alpha * kept), (Fraction(0), delta))
    for place in [Fraction(n, 7) for n in range(60)]:
        assert 0 <= profile(found, place) - profile(response, place) <= CLOSE


def test_what_says_nothing_is_left_out() -> None:
    apart = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    with working_precision(128):
        nothing = [(arb(-1), arb(0)), (arb(0, 1), arb(0)), (arb("nan"), arb(0)), (arb(1), arb("nan")), (arb(2), arb(1))]
        assert outcomes_of(above(nothing)) == apart
        same = outcomes_of(below([(arb(0), arb(1)), (arb("nan"), arb(0)), (arb(1), arb("inf"))]))
        # Below 1 - alpha is no profile.
        least = outcomes_of(above([(arb(fmpq(1, 2)), arb(0)), (arb(1), arb(0))]))
    assert same == least == ((Fraction(1), Fraction(1)),)


def test_the_smallest_numbers_are_rounded_to_their_safe_side() -> None:
    with working_precision(128):
        tiny = arb(2) ** -(1 << 40)
        found = outcomes_of(above([(arb(1), tiny), (1 / tiny, arb(0)), (tiny, arb(1) / 2), (tiny, tiny)]))
        assert 0 < found[0][0] < Fraction(1, 2**4000)
        assert outcomes_of(below([(tiny, arb(0))])) == ((Fraction(1), Fraction(1)),)
        (first, _), *_ = outcomes_of(below([(arb(1) / 2, tiny)]))
        assert first == Fraction(1, 2)


def corners_of(outcomes: Outcomes) -> list[tuple[Fraction, Fraction]]:
    falling = sorted(outcomes, key=lambda row: row[0] / (row[0] + row[1]) if row[0] + row[1] else 0, reverse=True)
    return list(accumulate(falling, lambda one, two: (one[0] + two[0], one[1] + two[1])))


@pytest.mark.parametrize("seed", range(6))
def test_the_pair_below_has_the_events_and_nothing_more(seed: int) -> None:
    rng = random.Random(seed)
    truth = dyadic(rng, rng.choice([2, 3, 6]))
    events = corners_of(truth)
    with working_precision(128):
        whole = outcomes_of(below((ball(p), ball(q)) for p, q in events))
        some = outcomes_of(below((ball(p, 1e-9), ball(q, 1e-9)) for p, q in rng.sample(events, 2)))
    for alpha in alphas(rng):
        assert profile(truth, alpha) - CLOSE <= profile(whole, alpha) <= profile(truth, alpha)
        assert profile(some, alpha) <= profile(truth, alpha)


@pytest.mark.parametrize("seed", range(6))
def test_the_highest_has_the_largest_profile(seed: int) -> None:
    rng = random.Random(seed)
    several = [dyadic(rng, rng.choice([2, 3])) for _ in range(3)]
    pairs = []
    for each in several:
        bits = 40 + rng.randrange(20)
        pairs.append(dyadic_pair([(int(p * 2**bits), int(q * 2**bits)) for p, q in each], bits))
    found = outcomes_of(highest(pairs))
    for alpha in [Fraction(0), *alphas(rng)]:
        assert profile(found, alpha) == max(profile(outcomes_of(pair), alpha) for pair in pairs)
    back = highest([pair.reversed() for pair in pairs])
    assert back == highest(pairs).reversed()


def test_corners_under_a_chord_and_twice_are_nothing() -> None:
    assert concave([(2, 8), (2, 5), (8, 9), (4, 8), (2, 8), (0, 3)], 4).rows == ((3, 0), (5, 2), (8, 14))
