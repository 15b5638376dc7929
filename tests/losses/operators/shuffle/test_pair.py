"""Pairs of counts against sums over all counts in fractions, and float64 against balls."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from flint import arb, fmpq

from tests.oracle.shuffled import of_counts
from tightrope.core.losses.atoms import LatticeStep
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.operators.shuffle.report_law import Counts, at_least, at_most, mass
from tightrope.core.losses.operators.shuffle.report_rows import gone
from tightrope.core.losses.operators.shuffle.shuffled import CELLS_COARSE, CELLS_FINE, ShuffledPair, cells
from tightrope.core.losses.operators.shuffle.shuffled_response import ShuffledRandomizedResponsePair
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact

F = Fraction
BITS = 192


def fraction(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def truth(pair: ShuffledPair | ShuffledRandomizedResponsePair, alpha: Fraction) -> Fraction:
    """By all counts; p is a fraction."""
    p, n, k = pair.epsilon.number, pair.users, pair.categories
    if isinstance(pair, ShuffledRandomizedResponsePair):
        z = 1 / (1 / p + pair.categories - 1) if pair.shy else 1 / (p + pair.categories - 1)
        held, not_held = (1 - z / p, 1 - z) if pair.shy else (p * z, z)
        v = (not_held / held, (1 - not_held) / (1 - held))
        one = (F(1), F(1))
        return of_counts(n, (held, 1 - held), *((v, one) if pair.turned else (one, v)), alpha)
    if pair.third and k is not None:
        z, w = 1 / (p + k - 1), F(k - 2) / (p + k - 3)
        return of_counts(n, (z, z, 1 - 2 * z), (p, F(1), w), (F(1), p, w), alpha)
    z = 1 / (p + (k or 2) - 1)
    more = ((k or 2) - 2) * z
    return of_counts(n, (z, z, more, (p - 1) * z), (p, F(1), F(1), F(0)), (F(1), p, F(1), F(0)), alpha)


PAIRS: list[ShuffledPair | ShuffledRandomizedResponsePair] = [
    *(ShuffledPair(LatticeStep(p, True), n) for p in (F(9, 8), F(3), F(40)) for n in (2, 3, 9)),
    *(ShuffledPair(LatticeStep(F(3), True), n, k) for n in (1, 2, 6) for k in (3, 7)),
    *(ShuffledPair(LatticeStep(p, True), n, k, third=True) for p in (F(5, 4), F(9)) for n in (2, 7) for k in (3, 8)),
    *(
        ShuffledRandomizedResponsePair(LatticeStep(p, True), n, k, shy, turned)
        for p, n in ((F(5, 4), 1), (F(3), 2), (F(9), 11))
        for k in (2, 5)
        for shy in (False, True)
        for turned in (False, True)
    ),
]


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
def test_profiles_are_sums_over_all_counts(pair: ShuffledPair | ShuffledRandomizedResponsePair) -> None:
    p = pair.epsilon.number
    for alpha in (F(1), (1 + p) / 2, p * F(15, 16), p, 1 / ((1 + 2 * p) / 3), F(1, 100), 2 * p):
        known = truth(pair, alpha)
        with working_precision(BITS):
            found = pair.ball_hockey_stick(fraction(alpha).log())
            assert found.overlaps(fraction(known)), alpha
            assert found.rad() < 1e-40 + 1e-30 * float(known)
        # The double next to log alpha: profiles fall, and not steeply.
        with working_precision(BITS):
            epsilon = float(fraction(alpha).log().mid())
            off = abs(fraction(alpha) - arb(epsilon).exp()) + 1e-15
        enclosed = pair.hockey_stick(exact(epsilon))
        assert arb(float(enclosed.lower)) <= fraction(known) + off
        assert arb(float(enclosed.upper)) >= fraction(known) - off
        assert float(enclosed.radius) <= 1e-12


@pytest.mark.parametrize("pair", PAIRS[::3], ids=repr)
def test_tails_have_the_profile_for_their_difference(pair: Pair) -> None:
    for t in (-3.0, -0.25, 0.0, 0.125, 1.0, 5.0):
        with working_precision(BITS):
            tails, alpha = pair.ball_tails(arb(t)), arb(t).exp()
            delta = pair.ball_hockey_stick(arb(t))
            assert (tails.p_above - alpha * tails.q_above).overlaps(delta)
            assert (tails.p_above + tails.p_below).overlaps(arb(1))
            assert (tails.q_above + tails.q_below).overlaps(arb(1))
            back = pair.reversed().ball_tails(arb(-t))
            assert tails.p_below.overlaps(back.q_above) or t == 0.0
            floats = pair.tails(double_double(t))
            for value, ball in zip(floats, tails, strict=True):
                assert abs(arb(float(value.ravel()[0])) - ball.mid()) <= 1e-13 * abs(ball.mid()) + ball.rad() + 1e-310
    ends = pair.ball_tails(arb.pos_inf()), pair.ball_tails(arb.neg_inf())
    assert ends[0].p_above.is_zero()
    assert ends[1].p_below.is_zero()


def test_float64_encloses_the_balls() -> None:
    rng = random.Random(5)
    asked = [(10**4, 1.0, 0.0), (3 * 10**4, 1.0, 0.05), (10**4, 1e-4, 1e-6), (10**5, 6.0, 0.4), (2000, 0.02, 0.003)]
    asked += [(int(10 ** rng.uniform(3, 4.3)), 10 ** rng.uniform(-3, 0.8), rng.random() ** 4) for _ in range(12)]
    for users, epsilon, share in asked:
        step = LatticeStep(Fraction(epsilon), False)
        for pair in (ShuffledPair(step, users), ShuffledPair(step, users, 5, third=True)):
            at = share * epsilon if share < 1e-2 * epsilon or share > epsilon else share
            with working_precision(128):
                known = pair.ball_hockey_stick(arb(at))
            for point, delta in ((at, known), (-at, None)):
                found = pair.hockey_stick(exact(point))
                with working_precision(128):
                    truth = pair.ball_hockey_stick(arb(point)) if delta is None else delta
                    assert arb(float(found.lower)) <= truth
                    assert arb(float(found.upper)) >= truth
                    assert float(found.radius) <= 1e-7 * float(truth.upper()) + 1e-300


def test_a_million_users_next_to_nothing() -> None:
    pair = ShuffledPair(LatticeStep(Fraction(1), False), 10**6)
    found = pair.hockey_stick(exact(0.046))
    assert 1e-300 < float(found.lower) < float(found.upper) < 1e-290
    assert float(found.radius) <= 1e-6 * float(found.value)
    with working_precision(128):
        known = pair.ball_hockey_stick(arb(0.046))
        assert arb(float(found.lower)) <= known <= arb(float(found.upper))


def test_a_billion_users() -> None:
    pair = ShuffledPair(LatticeStep(Fraction(1), False), 10**9)
    found = pair.hockey_stick(exact(0.0005))
    assert abs(float(found.value) - 6.4966797506449498855e-42) <= 1e-6 * 6.5e-42
    assert float(found.lower) <= 6.4966797506449498855e-42 <= float(found.upper)


FINENESS = (Resolution(128, 1e-9, False), Resolution(64, 1e-6, True))


@pytest.mark.parametrize("fine", FINENESS, ids=["float64", "proof"])
@pytest.mark.parametrize(
    "pair",
    [
        ShuffledPair(LatticeStep(Fraction(1), False), 8),
        ShuffledPair(LatticeStep(Fraction(2), False), 700),
        ShuffledPair(LatticeStep(Fraction(2), False), 90, 4),
        ShuffledPair(LatticeStep(Fraction(2), False), 90, 4, third=True),
        ShuffledRandomizedResponsePair(LatticeStep(Fraction(2), False), 500, 3),
        ShuffledRandomizedResponsePair(LatticeStep(Fraction(2), False), 40, 3, True, True),
    ],
    ids=repr,
)
def test_finite_pairs_lie_on_both_sides(pair: ShuffledPair | ShuffledRandomizedResponsePair, fine: Resolution) -> None:
    below, above = pair.bracket(fine)
    narrow = isinstance(pair, ShuffledRandomizedResponsePair) or pair.third or pair.categories is None
    for epsilon in (-1.5, -0.3, -0.01, 0.0, 0.004, 0.07, 0.21, 0.5, 1.2, 2.5):
        with working_precision(256):
            truth = pair.ball_hockey_stick(arb(epsilon))
            low, high = below.ball_hockey_stick(arb(epsilon)), above.ball_hockey_stick(arb(epsilon))
            assert low.lower() <= truth.upper()
            assert high.upper() >= truth.lower()
            assert high - low <= (0.05 if narrow else 0.8) * truth + 2 * fine.tail


def test_cells_cover_all_counts() -> None:
    with working_precision(128):
        for users in (5, 64, 65, 1000, 10**5):
            for chance in (arb("0.001"), arb("0.3"), arb("0.99")):
                for steps in (CELLS_FINE, CELLS_COARSE):
                    found = cells(users, chance, steps)
                    total = sum((cell.mass for cell in found), arb(0))
                    assert total.contains(arb(1))
                    assert total.rad() < 1e-20
                    assert [cell.least for cell in found] == [0, *(cell.greatest + 1 for cell in found[:-1])]
                    assert found[-1].greatest == users


def test_binomial_tails_are_sums() -> None:
    with working_precision(128):
        p = arb(2) / 7
        for n in (1, 6, 200):
            masses = [mass(n, k, p, 1 - p) for k in range(n + 1)]
            for k in (0, 1, n // 3, n // 2, n, n + 1):
                assert at_least(n, k, p, 1 - p).overlaps(sum(masses[k:], arb(0)))
                assert at_most(n, k, p, 1 - p).overlaps(sum(masses[: k + 1], arb(0)))
        far = at_least(10**9, 3 * 10**8, p, 1 - p)  # by the beta function
        near = at_least(10**6, 286_000, p, 1 - p)
        assert far < 1e-300
        assert 0.2 < near < 0.8


def test_what_lies_below_every_double() -> None:
    for users, epsilon in ((10**6, 0.2), (10**6, 0.9), (3 * 10**4, 0.5)):
        for pair in (
            ShuffledPair(LatticeStep(Fraction(1), False), users),
            ShuffledPair(LatticeStep(Fraction(1), False), users, 6, third=True),
        ):
            found = pair.hockey_stick(exact(epsilon))
            assert float(found.lower) <= 0.0
            assert 0.0 < float(found.upper) < 1e-300
    with working_precision(128):  # the bound, where it is not so far away
        law = Counts(LatticeStep(Fraction(1), False), 40, 5)
        assert not gone(law, law.scores(arb(0.5)), law.chances())
