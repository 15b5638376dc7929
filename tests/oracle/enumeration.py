"""Compositions of finite pairs with all outcomes enumerated in exact fractions.

Every outcome of a composition has a probability under P and one under Q; delta(eps) is the sum of (P - e^eps Q)_+
over outcomes.
Outcomes of equal (P, Q) ratio may be added up first. Only e^eps is not rational: it is enclosed by fractions.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq

Outcome = tuple[Fraction, Fraction]
Outcomes = tuple[Outcome, ...]


def merged(outcomes: Iterable[Outcome]) -> Outcomes:
    """Outcomes of equal ratio added up; those without any mass dropped."""
    sums: dict[Fraction | None, Outcome] = {}
    for p, q in outcomes:
        if p or q:
            key = p / q if q else None
            before = sums.get(key, (Fraction(0), Fraction(0)))
            sums[key] = (before[0] + p, before[1] + q)
    return tuple(sums.values())


def composed(parts: Sequence[tuple[Outcomes, int]]) -> Outcomes:
    """All outcomes of all uses."""
    total: Outcomes = ((Fraction(1), Fraction(1)),)
    for outcomes, count in parts:
        for _ in range(count):
            total = merged((p * a, q * b) for p, q in total for a, b in outcomes)
    return total


def delta(outcomes: Outcomes, epsilon: float) -> tuple[Fraction, Fraction]:
    """delta at epsilon, between two fractions a factor 1 + 2^-180 apart or less."""
    low, high = power(epsilon)
    return (
        sum((max(p - high * q, Fraction(0)) for p, q in outcomes), Fraction(0)),
        sum((max(p - low * q, Fraction(0)) for p, q in outcomes), Fraction(0)),
    )


def power(epsilon: float) -> tuple[Fraction, Fraction]:
    """Fractions around e^epsilon."""
    before = ctx.prec
    ctx.prec = 256
    try:
        ball = arb(epsilon).exp()
        low, high = fmpq(ball.lower().fmpq()), fmpq(ball.upper().fmpq())
    finally:
        ctx.prec = before
    return Fraction(int(low.p), int(low.q)), Fraction(int(high.p), int(high.q))


def random_outcomes(rng: random.Random) -> Outcomes:
    """Two to five outcomes with small denominators; now and then one where P or Q vanishes."""
    size = rng.randint(2, 5)

    def law(zero: float) -> list[Fraction]:
        while True:
            weights = [0 if rng.random() < zero else rng.randint(1, 60) for _ in range(size)]
            if sum(weights):
                return [Fraction(weight, sum(weights)) for weight in weights]

    zero = rng.choice([0.0, 0.0, 0.2])
    return tuple(zip(law(zero), law(zero), strict=True))


def random_composition(rng: random.Random) -> list[tuple[Outcomes, int]]:
    """Up to four mechanisms and six uses."""
    parts: list[tuple[Outcomes, int]] = []
    left = 6
    for _ in range(rng.randint(1, 4)):
        if left:
            count = rng.randint(1, min(left, 3))
            parts.append((random_outcomes(rng), count))
            left -= count
    return parts


def sampled(outcomes: Outcomes, rate: Fraction) -> Outcomes:
    """((1 - rate) Q + rate P, Q): what a Poisson sample makes of the pair, for remove."""
    return merged(((1 - rate) * q + rate * p, q) for p, q in outcomes)
