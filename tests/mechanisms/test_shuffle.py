"""Shuffled reports against exact shuffles of every extremal randomizer, and what the transformation refuses."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
from flint import arb, fmpq

import tightrope as tr
from tests.oracle.shuffled import Randomizer, corners, counted, excess, in_turn
from tightrope.core.losses.atoms import LatticeStep
from tightrope.core.losses.operators.shuffle.shuffled import ShuffledPair
from tightrope.core.numerics.balls import upper_float, working_precision
from tightrope.core.values.question import Direction

F = Fraction


def ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def bound(ratio: Fraction, users: int, alpha: Fraction) -> Fraction:
    """Of any randomizer, above."""
    with working_precision(128):
        return F(upper_float(ShuffledPair(LatticeStep(ratio, True), users).ball_hockey_stick(ball(alpha).log())))


def alphas(ratio: Fraction) -> list[Fraction]:
    return [F(2, 3), F(1), 1 + (ratio - 1) / 5, (1 + ratio) / 2, ratio * F(9, 10)]


@pytest.mark.parametrize("ratio", [F(3, 2), F(3), F(12)], ids=str)
def test_no_randomizer_of_three_values_exceeds_the_clones(ratio: Fraction) -> None:
    known = list(corners(3, ratio))
    assert len(known) > 20
    closest = 0.0
    for users in (2, 3, 4):
        above = {alpha: bound(ratio, users, alpha) for alpha in alphas(ratio)}
        for laws in known:
            for others in itertools.combinations_with_replacement((0, 1, 2), users - 1):
                p, q = (counted([laws[first], *(laws[x] for x in others)]) for first in (0, 1))
                for alpha, most in above.items():
                    found = excess(p, q, alpha)
                    assert found <= most, (laws, others, alpha)
                    closest = max(closest, float(found / most)) if alpha > 1 else closest
    assert closest > 0.99


def test_four_values_and_four_outputs() -> None:
    rng, ratio = random.Random(3), F(4)
    known = rng.sample(list(corners(4, ratio)), 60)
    for users, alpha in itertools.product((2, 4), alphas(ratio)[1:4]):
        most = bound(ratio, users, alpha)
        for laws in known:
            others = [rng.randrange(4) for _ in range(users - 1)]
            p, q = (counted([laws[first], *(laws[x] for x in others)]) for first in (0, 1))
            assert excess(p, q, alpha) <= most, (laws, others)


def test_randomizers_that_look_at_the_reports_before() -> None:
    rng, ratio = random.Random(4), F(3)
    known = list(corners(3, ratio))
    for users, tries in ((2, 60), (3, 25)):
        above = {alpha: bound(ratio, users, alpha) for alpha in alphas(ratio)}
        for _ in range(tries):
            chosen: dict[tuple[int, ...], Randomizer] = {}

            def at(before: tuple[int, ...], chosen: dict[tuple[int, ...], Randomizer] = chosen) -> Randomizer:
                return chosen.setdefault(before, rng.choice(known))

            others = [rng.randrange(3) for _ in range(users - 1)]
            p, q = (in_turn(at, [first, *others]) for first in (0, 1))
            for alpha, most in above.items():
                assert excess(p, q, alpha) <= most


def test_randomizers_of_the_users_own_are_not_covered() -> None:
    """Why the docstring says so: disjoint outputs tell who reported."""
    one, other = (F(3, 4), F(1, 4), F(0), F(0)), (F(1, 4), F(3, 4), F(0), F(0))
    second = (F(0), F(0), F(3, 4), F(1, 4))
    p, q = counted([one, second]), counted([other, second])
    assert excess(p, q, F(1)) > bound(F(3), 2, F(1))


@pytest.mark.parametrize("categories", [2, 3, 4])
def test_randomized_response_lies_between_its_ends(categories: int) -> None:
    """All values of the others: the largest is at or below the upper end, and the lower end is shown by one of them."""
    ratio = F(3)
    z = 1 / (ratio + categories - 1)
    laws = [tuple(ratio * z if x == y else z for y in range(categories)) for x in range(categories)]
    mechanism = tr.RandomizedResponse(p=float(ratio * z), categories=categories).shuffle(users=4)
    off = 1e-12  # p is a double
    for alpha in alphas(ratio)[1:]:
        shown = F(0)
        for others in itertools.combinations_with_replacement(range(categories), 3):
            p, q = (counted([laws[first], *(laws[x] for x in others)]) for first in (0, 1))
            shown = max(shown, excess(p, q, alpha), excess(q, p, alpha))
        found = mechanism.delta(math.log(alpha))
        assert found.lower <= float(shown) + off
        assert found.upper >= float(shown) - off
        if categories < 4:
            assert found.lower >= 0.75 * float(shown)


def test_floors_are_real() -> None:
    mechanism = tr.PureDP(epsilon=2.0).shuffle(users=50)
    answer = mechanism.delta(0.5)
    assert answer.certificate is not None
    assert answer.certificate.attained
    assert not answer.certificate.tight
    assert answer.certificate.direction is None
    floors = [floor for each in Direction for floor in mechanism.witnesses(each)]
    with working_precision(128):
        best = max(float(floor.ball_hockey_stick(arb(0.5)).lower()) for floor in floors)
    assert answer.lower == pytest.approx(best, rel=1e-12)
    assert answer.lower < answer.upper
    laplace = tr.Laplace(scale=0.5).shuffle(users=50).delta(0.5)
    assert laplace.certificate is not None
    assert not laplace.certificate.attained
    assert laplace.upper == pytest.approx(answer.upper, rel=1e-9)


def test_parts_of_one_report_add_up() -> None:
    one = tr.PureDP(epsilon=2.0).shuffle(users=20).delta(0.5)
    for base in (tr.Laplace(scale=1.0) * 2, tr.PureDP(epsilon=0.5) * 4, tr.PureDP(0.5) + tr.Laplace(scale=2 / 3)):
        found = base.shuffle(users=20).delta(0.5)
        assert found.upper == pytest.approx(one.upper, rel=1e-9)
        assert found.upper >= one.upper * (1 - 1e-15)


def test_rounds_are_composed() -> None:
    rounds = tr.PureDP(epsilon=1.0).shuffle(users=8) * 2
    found = rounds.delta(0.5, seconds=4)
    assert found.certificate is not None
    assert found.certificate.engine == "joint"
    once = tr.PureDP(epsilon=1.0).shuffle(users=8).delta(0.5)
    assert once.upper < found.upper < 1.0
    assert once.lower <= found.lower < found.upper


@pytest.mark.parametrize(
    "text",
    [
        "PureDP(epsilon=0).shuffle(users=5)",
        "RandomizedResponse(p=0.5).shuffle(users=5)",
        "RandomizedResponse(p=0.25, categories=4).shuffle(users=3)",
    ],
)
def test_a_report_that_tells_nothing(text: str) -> None:
    mechanism = tr.parse(text)
    assert mechanism.delta(0.0).upper == 0.0
    assert mechanism.tight


def test_rare_truths() -> None:
    """p below 1/k: the truth is what is reported least."""
    shy = tr.RandomizedResponse(p=0.125, categories=4).shuffle(users=6).delta(0.25)
    with working_precision(128):
        loss = LatticeStep(F(7, 3), True)
        assert float(shy.upper) >= float(ShuffledPair(loss, 6).ball_hockey_stick(arb(0.25)).lower())
    assert 0.0 < shy.lower < shy.upper
    binary = [tr.RandomizedResponse(p=p).shuffle(users=6).delta(0.25) for p in (0.25, 0.75)]
    assert (binary[0].lower, binary[0].upper) == (binary[1].lower, binary[1].upper)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Gaussian(sigma=1).shuffle(users=5)", "its loss is not bounded"),
        ("ApproximateDP(epsilon=1, delta=1e-6).shuffle(users=5)", "which the theorem does not cover"),
        ("RandomizedResponse(p=1).shuffle(users=5)", "which the theorem does not cover"),
        ("(PureDP(epsilon=1) + Gaussian(sigma=1)).shuffle(users=5)", "its loss is not bounded"),
        ("PureDP(epsilon=1).poisson(rate=0.5).shuffle(users=5)", "under replacing a record"),
        ("PureDP(epsilon=1).shuffle(users=0)", "users must be a whole number"),
        ("PureDP(epsilon=1).shuffle(users=2.5)", "users must be a whole number"),
        ("PureDP(epsilon=1).shuffle(users=100000000000)", "what holds for fewer holds for them"),
        ("PureDP(epsilon=1).shuffle()", "shuffle needs users"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    with pytest.raises(tr.TightropeError, match=why):
        tr.parse(text)


def test_directions_and_other_neighbours_are_refused() -> None:
    mechanism = tr.PureDP(epsilon=1.0).shuffle(users=5)
    with pytest.raises(tr.InvalidParameter, match="direction must be left out"):
        mechanism.delta(0.5, direction="add")
    with pytest.raises(tr.InvalidParameter, match="disagree"):
        mechanism + tr.Gaussian(sigma=1.0).poisson(rate=0.5)


def test_extreme_losses() -> None:
    for epsilon, users in ((1e-9, 3), (1e-6, 1000), (50.0, 10**9), (800.0, 4), (30.0, 10**6)):
        mechanism = tr.PureDP(epsilon=epsilon).shuffle(users=users)
        found = mechanism.delta(epsilon / 3)
        assert 0.0 <= found.lower <= found.upper <= 1.0
        assert found.upper < 1.0 or epsilon > 40.0
        assert mechanism.delta(epsilon).upper == 0.0


def test_text_and_json() -> None:
    for text in ("PureDP(epsilon=1.0).shuffle(users=10)", "(Laplace(scale=1.0) * 2).shuffle(users=7)"):
        mechanism = tr.parse(text)
        assert repr(mechanism) == text
        assert tr.load(tr.dump(mechanism)) == mechanism == tr.parse(text)
    assert tr.PureDP(epsilon=1.0).shuffle(users=10.0) == tr.PureDP(epsilon=1.0).shuffle(users=10)
