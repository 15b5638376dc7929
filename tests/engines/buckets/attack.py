"""Random plans for bucket lists, each held against every outcome listed in exact fractions.

A plan is: some finite laws (even or skewed over six orders, sampled or not, outcomes that only one side has), the
order and the counts in which they are composed and squared, factor, n, tilt, free_infinity_budget, the rule for
squaring, the shift of each leaf, direct sums or transforms, and the questions. Nothing in a plan may matter for truth.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import mpmath

from tests.oracle import enumeration
from tests.oracle.enumeration import Outcomes
from tightrope.core.engines.buckets.bucket_composition import compose, compose_adaptively, pair_leaf, repeat, square
from tightrope.core.engines.buckets.bucket_list import TreeBuckets
from tightrope.core.engines.buckets.engine import centre, prepare
from tightrope.core.engines.buckets.read import delta, delta_uncorrected, epsilon_at, probabilistic, renyi
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw
from tightrope.core.values.errors import InvalidParameter, UnsupportedMechanism

OUTCOMES_MAX = 250
EPSILON_SHARE = 0.1
Parts = list[tuple[Outcomes, int]]


@dataclass(frozen=True)
class Wrong:
    """A bound on the wrong side."""

    what: str
    at: float
    lower: float
    upper: float
    truth: float


def skewed(rng: random.Random) -> Outcomes:
    """Two to four outcomes whose masses span up to six orders, near to each other or far apart."""
    size = rng.randint(2, 4)
    first = [rng.randint(1, 10 ** rng.randint(0, 6)) for _ in range(size)]
    near = rng.choice((0.01, 0.3, 2.0))
    second = [max(round(mass * math.exp(rng.gauss(0.0, near))), 1) for mass in first]
    if rng.random() < 0.3:
        rng.choice((first, second))[rng.randrange(size)] = 0
    if not (any(first) and any(second)):
        return skewed(rng)
    p, q = ([Fraction(mass, sum(side)) for mass in side] for side in (first, second))
    return tuple(zip(p, q, strict=True))


def parts_of(rng: random.Random) -> Parts:
    """Laws with counts, few enough to list all outcomes."""
    if rng.random() < 0.4:
        parts = enumeration.random_composition(rng)
    else:
        parts = []
        for _ in range(rng.randint(1, 2)):
            law = skewed(rng)
            parts.append((law, rng.randint(1, {2: 40, 3: 12}.get(len(law), 5))))
    found = []
    for law, count in parts:
        if rng.random() < 0.25:
            law = enumeration.sampled(law, Fraction(rng.randint(1, 99), 100))
        found.append((tuple((q, p) for p, q in law) if rng.random() < 0.5 else law, count))
    size = math.prod(math.comb(count + len(law) - 1, count) for law, count in found)
    return found if size <= OUTCOMES_MAX else parts_of(rng)


def pair_of(law: Outcomes) -> FinitePair:
    return FinitePair(RationalLaw(tuple(p for p, _ in law), tuple(q for _, q in law)))


def by_hand(rng: random.Random, parts: Parts) -> TreeBuckets:
    """A tree of one's own: leaves with shifts of their own, composed and squared in any order."""
    step, n = 10.0 ** rng.uniform(-4.0, 0.0), 2 * rng.choice((1, 2, 5, 12, 40, 150))
    slope = rng.choice((0.0, 0.0, 0.3, 2.0, 15.0)) * step
    slope = min(slope, max(339.0 / n - step, 0.0))
    free, both, direct = rng.choice((0.0, 1e-15, 1e-4, 1.0)), rng.random() < 0.6, rng.choice((None, True, False))
    keep = rng.random() < 0.4
    forest = []
    for law, count in parts:
        pair = pair_of(law)
        shift = rng.choice((0.0, centre(pair), centre(pair), rng.gauss(0.0, 1.0), rng.choice((-40.0, 40.0))))
        leaf = pair_leaf(pair, step, n, slope, shift, keep_lost=keep)
        forest.append(square(leaf) if rng.random() < 0.1 else leaf)
        forest[-1] = repeat(forest[-1], count, free, direct, both)
    rng.shuffle(forest)
    while len(forest) > 1:
        one, other = forest.pop(), forest.pop()
        if one.step == other.step and rng.random() < 0.3:
            forest.append(compose(one, other, direct))
        else:
            forest.append(compose_adaptively(one, other, free, direct, both))
    return square(forest[0]) if rng.random() < 0.1 else forest[0]


def by_engine(rng: random.Random, parts: Parts, epsilon: float) -> TreeBuckets:
    """As the engine makes it for a question."""
    terms = [(pair_of(law), count) for law, count in parts]
    fixed = rng.choice(({"n": 2 * rng.randint(1, 300)}, {"factor": 1.0 + 10.0 ** rng.uniform(-2.5, 0.0), "n": 200}))
    made = prepare(terms, epsilon=epsilon if rng.random() < 0.5 else None, delta=1e-5, **fixed)
    return made.buckets(rng.choice((made.tilt, made.tilt, 0.0, 3.0)))


def attack(rng: random.Random) -> list[Wrong] | None:
    """What one plan gets wrong: nothing, if all is well; None where the engine refused it."""
    parts = parts_of(rng)
    outcomes = enumeration.composed(parts)
    losses = [math.log(p / q) for p, q in outcomes if p and q and p / q < 10**300]
    places = [rng.choice((0.0, 0.01, 7.0, 900.0)), abs(rng.gauss(0.0, 2.0)), abs(rng.choice(losses or [1.0]))]
    try:
        made = by_hand(rng, parts) if rng.random() < 0.6 else by_engine(rng, parts, places[1])
    except (InvalidParameter, UnsupportedMechanism):
        return None
    found = [wrong for epsilon in places for wrong in _about_delta(made, Listed.of(outcomes), epsilon)]
    if rng.random() < EPSILON_SHARE:  # each is a search with some sixty readings
        found += _about_epsilon(made, outcomes, 10.0 ** rng.uniform(-12.0, -0.1))
    return found + list(_about_renyi(made, outcomes, rng.choice((2, 3, 7))))


@dataclass(frozen=True)
class Listed:
    """All outcomes in whole numbers: P and Q times one denominator."""

    p: list[int]
    q: list[int]
    whole: int

    @staticmethod
    def of(outcomes: Outcomes) -> Listed:
        whole = math.lcm(*(mass.denominator for pair in outcomes for mass in pair))
        p, q = ([int(pair[side] * whole) for pair in outcomes] for side in (0, 1))
        return Listed(p, q, whole)

    def above(self, alpha: Fraction) -> tuple[Fraction, Fraction]:
        """P - alpha Q and P, each summed where P > alpha Q."""
        top, bottom = alpha.numerator, alpha.denominator
        gains = [(bottom * p - top * q, p) for p, q in zip(self.p, self.q, strict=True)]
        kept = [(gain, p) for gain, p in gains if gain > 0]
        return (
            Fraction(sum(gain for gain, _ in kept), self.whole * bottom),
            Fraction(sum(p for _, p in kept), self.whole),
        )


def _about_delta(made: TreeBuckets, outcomes: Listed, epsilon: float) -> Iterator[Wrong]:
    alpha = enumeration.power(epsilon)
    (low, least), (high, most) = outcomes.above(alpha[1]), outcomes.above(alpha[0])
    truth, found = float(low), delta(made, epsilon)
    if not (0.0 <= found.lower <= high and low <= found.upper <= 1.0):
        yield Wrong("delta", epsilon, found.lower, found.upper, truth)
    lines = sum(found.budget.upper.values()) + sum(found.budget.lower.values())
    if not math.isclose(lines, found.upper - found.lower, rel_tol=1e-9, abs_tol=1e-300):
        yield Wrong("budget", epsilon, lines, lines, found.upper - found.lower)
    plain = delta_uncorrected(made, epsilon)
    if not low <= plain <= 1.0:
        yield Wrong("delta, uncorrected", epsilon, 0.0, plain, truth)
    told = probabilistic(made, epsilon)
    if not (told.lower <= most and least <= told.upper):
        yield Wrong("probabilistic", epsilon, told.lower, told.upper, float(least))


def _about_epsilon(made: TreeBuckets, outcomes: Outcomes, level: float) -> list[Wrong]:
    low, high = epsilon_at(made, level)
    leaked = sum((p for p, q in outcomes if not q), Fraction(0))
    below = leaked > level if low == math.inf else low == 0.0 or enumeration.delta(outcomes, low)[1] > level
    above = high == math.inf or enumeration.delta(outcomes, high)[0] <= level
    return [] if below and above else [Wrong("epsilon", level, low, high, math.nan)]


def _about_renyi(made: TreeBuckets, outcomes: Outcomes, order: int) -> Iterator[Wrong]:
    low, high = renyi(made, float(order))
    infinite = any(p and not q for p, q in outcomes)
    total = Fraction(0) if infinite else sum((p**order / q ** (order - 1) for p, q in outcomes if p), Fraction(0))
    with mpmath.workdps(40):
        truth = mpmath.inf if infinite else mpmath.log(mpmath.mpf(total.numerator) / total.denominator) / (order - 1)
        # Divergences are not negative; 1e-30 is what forty digits may leave of 0.
        if not low - mpmath.mpf("1e-30") <= truth <= high + mpmath.mpf("1e-30"):
            yield Wrong("renyi", float(order), low, high, float(truth))
