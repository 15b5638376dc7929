from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

import tightrope as tr
from tests.oracle.adaptive import adaptive, neighbours
from tests.oracle.channel import exact, profile
from tightrope.core.losses.finite.curves import channel_of
from tightrope.core.losses.finite.laws import RationalLaw

CROSSING = ((0.5, 0.25, 0.25), (0.25, 0.5, 0.25), (0.125, 0.0625, 0.8125))
SILENT = ((0.5, 0.5, 0.0), (0.25, 0.25, 0.5), (0.0, 0.5, 0.5))


def drawn(rows: int, columns: int, seed: int) -> list[list[float]]:
    """Random rows, some of them with zeros, tiny masses and ties."""
    draw, found = random.Random(seed), []
    for _ in range(rows):
        row = [draw.choice((0.0, 1.0, 1.0, 2.0, draw.random(), 10.0 ** -draw.randint(1, 20))) for _ in range(columns)]
        row[draw.randrange(columns)] += 1.0
        whole = math.fsum(row)
        found.append([mass / whole for mass in row])
    return found


def read(law: RationalLaw, alpha: Fraction) -> Fraction:
    return sum((max(p - alpha * q, Fraction(0)) for p, q in zip(law.p, law.q, strict=True)), Fraction(0))


@pytest.mark.parametrize("seed", range(12))
def test_the_profile_is_the_largest_of_all_pairs_of_rows(seed: int) -> None:
    rows = drawn(2 + seed % 5, 2 + seed % 6, seed)
    found = channel_of([tuple(exact(row)) for row in rows])
    for alpha in (Fraction(2) ** k + Fraction(k, 97) for k in range(-6, 7)):
        truth = profile(rows, alpha)
        assert read(found.law, alpha) == truth
        # Between them the chosen pairs of rows have the same largest profile.
        assert max([max(1 - alpha, Fraction(0)), *(read(way, alpha) for way in found.ways)]) == truth


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_chosen_anew_at_each_use_are_contained(seed: int) -> None:
    rows = drawn(3, 3, seed + 50)
    response = tr.RandomizedResponse(channel=rows)
    bound = (response * 3).delta(0.5)
    pairs = [neighbours(map(float, one), map(float, two)) for one, two in permutations(map(exact, rows), 2)]
    chosen = float(adaptive([pairs] * 3, [math.exp(0.5)])[0])
    assert bound.lower <= chosen + 1e-12 <= bound.upper + 2e-12
    assert bound.lower >= 0.9 * chosen


def test_one_use_is_known_exactly() -> None:
    response = tr.RandomizedResponse(channel=CROSSING)
    assert not response.tight
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        truth = float(profile(CROSSING, Fraction(math.exp(epsilon))))
        bound = response.delta(epsilon)
        assert bound.lower <= truth * (1 + 1e-13)
        assert bound.upper >= truth * (1 - 1e-13)
        assert bound.upper - bound.lower <= 1e-12


def test_symmetric_channels_are_randomized_response_and_tight() -> None:
    rows = [[0.625 if i == j else 0.125 for j in range(4)] for i in range(4)]
    response, named = tr.RandomizedResponse(channel=rows), tr.RandomizedResponse(p=0.625, categories=4)
    assert response.tight
    assert response.witnesses(tr.Direction.ADD) == (response.pair(tr.Direction.ADD),)
    for epsilon in (0.0, 0.7, 1.6, 4.0):
        one, two = (response * 5).delta(epsilon), (named * 5).delta(epsilon)
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert one.upper - two.lower <= 1e-11


def test_equal_rows_tell_nothing() -> None:
    assert tr.RandomizedResponse(channel=[[0.5, 0.5]] * 3).delta(0.0).upper == 0.0


def test_zeros_are_infinite_losses() -> None:
    response = tr.RandomizedResponse(channel=SILENT)
    assert response.delta(50.0).lower == pytest.approx(0.5)
    assert response.epsilon(0.25).lower == math.inf


def test_a_channel_is_shuffled_by_its_largest_loss() -> None:
    rows = ((0.75, 0.25), (0.5, 0.5))
    shuffled = tr.RandomizedResponse(channel=rows).shuffle(users=100).epsilon(1e-6)
    generic = tr.PureDP(epsilon=math.log(2)).shuffle(users=100).epsilon(1e-6)
    assert shuffled.upper == pytest.approx(generic.upper, rel=1e-9)
    with pytest.raises(tr.InvalidParameter, match="cannot be shuffled"):
        tr.RandomizedResponse(channel=SILENT).shuffle(users=100)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"channel": [[0.5, 0.5]]}, "at least two rows"),
        ({"channel": [[0.5, 0.5], [0.5, 0.25]]}, r"channel\[1\] must sum to 1"),
        ({"channel": [[0.5, 0.5], [1.5, -0.5]]}, r"channel\[1\]\[0\] must be a probability"),
        ({"channel": [[0.5, 0.5], [1.0]]}, "rows of one length"),
        ({"channel": [0.5, 0.5]}, "list of rows"),
        ({"channel": "abc"}, "list of rows|not the text"),
        ({"channel": [[1.0, 0.0], [0.0, 1.0]], "categories": 3}, "categories must be left out"),
        ({"channel": [[1.0, 0.0], [0.0, 1.0]], "p": 0.5}, "either p"),
        ({"channel": [[1.0] + [0.0] * 99] * 100}, "at most 60,000"),
    ],
)
def test_what_is_no_channel_is_refused(given: Any, said: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=said):
        tr.RandomizedResponse(**given)
