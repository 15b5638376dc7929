"""All mechanisms for up to three coins, and all outcomes of a few runs, in fractions: no bound is below the truth."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests.oracle import audits
from tests.oracle.audits import Bounded
from tests.search import cases
from tightrope.audit.betting import CoinBets, RoundBets
from tightrope.audit.certificates import multipliers
from tightrope.audit.claims import ClaimSlope, SlopeClaim
from tightrope.audit.many_runs import CountEvent, RankEvent
from tightrope.audit.one_run import GuessEvent

EPSILONS = (0.0, 0.4, 1.0)


def below_exp(epsilon: float) -> Fraction:
    """At or below e^epsilon by its series: a mechanism that obeys at this a obeys at e^epsilon."""
    x, term, total = Fraction(epsilon), Fraction(1), Fraction(0)
    for order in range(1, 40):
        total += term
        term = term * x / order
    return total


def claim_of(slopes: Sequence[tuple[float, float, float]]) -> tuple[SlopeClaim, list[Bounded]]:
    """The same claim for the package and in fractions."""
    return (
        SlopeClaim(tuple(ClaimSlope(*each) for each in slopes)),
        [Bounded(below_exp(epsilon), Fraction(remove), Fraction(add)) for epsilon, remove, add in slopes],
    )


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [0.001, 0.1])
def test_no_mechanism_is_right_more_often(m: int, epsilon: float, delta: float) -> None:
    """The published bound fails here; where the program has all slopes that count it is attained."""
    claim, exact = claim_of([(epsilon, delta, delta)])
    for least in range(1, m + 1):
        table = audits.strongest(m, least, exact, audits.coins(m))
        truth = audits.chance(table, m, audits.coins(m), least, Fraction(1, 2))
        event = GuessEvent(m, m, least)
        by_slope, found = event.p_upper(claim), multipliers(event, claim)
        assert found is not None
        assert Fraction(by_slope) >= truth
        bound = Fraction(found.bound(event, claim))
        assert truth <= bound <= Fraction(by_slope) + Fraction(1, 10**12)
        assert bound - truth <= Fraction(1, 10**12)


@pytest.mark.parametrize("m", [1, 2])
def test_no_mechanism_is_right_more_often_under_a_curve(m: int) -> None:
    """Slopes of a curve, symmetric: the bound is the largest chance of all mechanisms."""
    claim, exact = claim_of([(0.0, 0.3, 0.3), (0.3, 0.2, 0.2), (0.8, 0.08, 0.08), (1.5, 0.01, 0.01)])
    for least in range(1, m + 1):
        table = audits.strongest(m, least, exact, audits.coins(m))
        truth = audits.chance(table, m, audits.coins(m), least, Fraction(1, 2))
        event = GuessEvent(m, m, least)
        found = multipliers(event, claim)
        assert found is not None
        bound = Fraction(found.bound(event, claim))
        assert truth <= bound <= truth + Fraction(1, 10**10)


@pytest.mark.parametrize("number", range(cases(40, 2000)))
def test_random_mechanisms_with_abstention_and_coins(number: int) -> None:
    """Guesses in, out or both, some coins not guessed; slopes as the mechanism has them exactly."""
    draw = random.Random(number)
    m = draw.choice([1, 2, 3])
    sides = draw.choice(["in", "out", "both"])
    coin = Fraction(1, 2) if sides == "both" else Fraction(draw.choice([1, 2, 4, 6, 7]), 8)
    outputs = draw.randint(2, 5)
    table = [_law(draw, outputs) for _ in audits.coins(m)]
    r = draw.randint(1, m)
    guesses = [_guesses(draw, m, r, sides) for _ in range(outputs)]
    exact = []
    for epsilon in EPSILONS:
        a = below_exp(epsilon)
        pairs = list(audits.flips(m))
        remove = max(audits.excess(table[one], table[two], a) for one, two in pairs)
        add = max(audits.excess(table[two], table[one], a) for one, two in pairs)
        exact.append((epsilon, _up(remove), _up(add)))
    claim = SlopeClaim(tuple(ClaimSlope(*each) for each in exact))
    for least in range(1, r + 1):
        truth = audits.chance(table, m, guesses, least, coin)
        event = GuessEvent(m, r, least, sides, float(coin))
        # The slopes hold at a just below e^epsilon, so at e^epsilon too.
        assert Fraction(event.p_upper(claim)) >= truth
        found = multipliers(event, claim)
        assert found is not None
        assert Fraction(found.bound(event, claim)) >= truth


@pytest.mark.parametrize("number", range(cases(12, 300)))
def test_ranks_and_counts_of_a_few_runs(number: int) -> None:
    """Every outcome of two laws on few scores, which tie: P(p <= t) <= t."""
    draw = random.Random(number)
    size, n1, n0 = draw.randint(2, 4), draw.randint(1, 3), draw.randint(1, 3)
    p, q = _law(draw, size), _law(draw, size)
    slopes = []
    for epsilon in EPSILONS:
        a = below_exp(epsilon)
        slopes.append(ClaimSlope(epsilon, _up(audits.excess(p, q, a)), _up(audits.excess(q, p, a))))
    claim = SlopeClaim(tuple(slopes))
    for rank, least in product(range(1, n0 + 1), range(1, n1 + 1)):
        truth = audits.rank_chance(p, q, n1, n0, rank, least)
        assert Fraction(RankEvent(n1, n0, rank, least).p_upper(claim)) >= truth
    back = list(reversed(p)), list(reversed(q))
    for rank, least in product(range(1, n1 + 1), range(1, n0 + 1)):  # from the other end: low scores, roles exchanged
        truth = audits.rank_chance(back[1], back[0], n0, n1, rank, least)
        assert Fraction(RankEvent(n0, n1, rank, least, reverse=True).p_upper(claim)) >= truth
    threshold = draw.randrange(size)
    high = sum(p[threshold:], Fraction(0)), sum(q[threshold:], Fraction(0))
    rows = [
        (CountEvent(n1, n0, fp, tp).p_upper(claim), mass) for tp, fp, mass in audits.count_laws(*high, n1, n0) if mass
    ]
    for level, _ in rows:
        assert sum((mass for p_value, mass in rows if p_value <= level), Fraction(0)) <= Fraction(level)


@pytest.mark.parametrize("number", range(cases(20, 500)))
def test_bets_on_coins(number: int) -> None:
    """E2 on random mechanisms: the rule that rejects at p <= t rejects at most so often; r is random."""
    draw = random.Random(number)
    m, outputs = draw.choice([2, 3]), draw.randint(2, 4)
    table = [_law(draw, outputs) for _ in audits.coins(m)]
    guesses = [_guesses(draw, m, draw.randint(1, m), "both") for _ in range(outputs)]
    pairs = list(audits.flips(m))
    for epsilon in EPSILONS:
        a = below_exp(epsilon)
        delta = _up(
            max(audits.excess(table[x], table[y], a) for one, two in pairs for x, y in ((one, two), (two, one)))
        )
        claim = SlopeClaim((ClaimSlope(epsilon, delta, delta),))

        def p_of(right: list[bool], claim: SlopeClaim = claim) -> float:
            return CoinBets.of(np.array(right, dtype=bool), GuessEvent(m, m, 0)).p_upper(claim)

        levels = {p_of(list(right)) for r in range(1, m + 1) for right in product((False, True), repeat=r)}
        for level in levels:
            assert audits.rejections(table, m, guesses, lambda right, t=level: p_of(right) <= t) <= Fraction(level)


def test_bets_at_many_slopes_pay_for_the_largest_summand() -> None:
    """With a chance p all coins are published by randomised response of e^5, else nothing: that is (0, p (2 q - 1)) and
    (5, 0)-private. Bets on epsilon 0 win all there is then; the mean of the summands would be below the truth."""
    p, q, m = Fraction(1, 16_000), 1 - 1 / (1 + below_exp(5.0)), 60
    slopes = [
        ClaimSlope(0.0, *2 * (_up(p * (2 * q - 1)),)),
        *(ClaimSlope(5.0 + index / 64, 0.0, 0.0) for index in range(63)),
    ]
    found = CoinBets.of(np.ones(m, dtype=bool), GuessEvent(m, m, m)).p_upper(SlopeClaim(tuple(slopes)))
    assert Fraction(found) >= p * q**m + (1 - p) * Fraction(1, 2**m)


def test_bets_on_rounds() -> None:
    """E1, two laws on three scores, every outcome of four rounds: P(p <= t) <= t."""
    draw = random.Random(7)
    for _ in range(cases(2, 40)):
        p, q = _law(draw, 3), _law(draw, 3)
        slopes = [
            ClaimSlope(
                epsilon, _up(audits.excess(p, q, below_exp(epsilon))), _up(audits.excess(q, p, below_exp(epsilon)))
            )
            for epsilon in EPSILONS
        ]
        claim = SlopeClaim(tuple(slopes))
        found: dict[float, Fraction] = {}
        for xs, ys in product(product(range(3), repeat=3), repeat=2):
            mass = Fraction(1)
            for x, y in zip(xs, ys, strict=True):
                mass *= p[x] * q[y]
            level = RoundBets.of(np.array(xs, dtype=float), np.array(ys, dtype=float)).p_upper(claim)
            found[level] = found.get(level, Fraction(0)) + mass
        total = Fraction(0)
        for level in sorted(found):
            total += found[level]
            assert total <= Fraction(level)


def _law(draw: random.Random, size: int) -> list[Fraction]:
    numbers = [draw.choice([0, 1, 1, 2, 5, 20]) for _ in range(size)]
    numbers[draw.randrange(size)] += 1
    return [Fraction(number, sum(numbers)) for number in numbers]


def _guesses(draw: random.Random, m: int, r: int, sides: str) -> list[int]:
    """So many guesses, the others abstain."""
    chosen = set(draw.sample(range(m), r))
    kinds = {"in": [1], "out": [0], "both": [0, 1]}[sides]
    return [draw.choice(kinds) if i in chosen else -1 for i in range(m)]


def _up(value: Fraction) -> float:
    """A double at or above."""
    found = float(value)
    while Fraction(found) < value:
        found = float(np.nextafter(found, 2.0))
    return found
