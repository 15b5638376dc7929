"""Random compositions: every pair of readings agrees within its intervals, and with an attacker who draws outputs.

Each statement follows from the definitions alone, so that it holds for the truth; an interval is wrong where it fails.
There and back never narrows: what one reading proves of another contains what that one says itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest

import tightrope as tr
from tests.metrics.compositions import ALL, composition
from tests.oracle.attacker import Part, attacks
from tests.search import cases

DRAWS = cases(4_000, 40_000)
RATES = (0.003, 0.1, 0.6)
NEAR = 1e-9
OTHER = {"remove": "add", "add": "remove"}
SECONDS = 2.0  # an answer that is wide for want of time holds the truth too


@dataclass(frozen=True)
class Asked:
    """A run whose every question has so many seconds."""

    run: tr.Mechanism

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(getattr(self.run, name), seconds=SECONDS)


@cache
def case(seed: int) -> tuple[Asked, list[tuple[Part, int]], str]:
    run, parts, direction = composition(seed)
    return Asked(run), parts, direction


def seeds(first: int) -> list[int]:
    """Each test has a composition of its own, some two; a full search has all for each."""
    return [(first + step) % ALL for step in range(cases(1 + first % 2, ALL))]


def meet(one: tr.Bound, other: tr.Bound) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


def up(value: float) -> float:
    """A little more, for what a few operations in float64 round."""
    return value + NEAR * max(abs(value), 1e-6)


def around(bound: tr.Bound, least: float, most: float) -> bool:
    """Whether the interval meets [least, most]."""
    return bound.lower <= up(most) and least <= up(bound.upper)


@pytest.mark.parametrize("seed", seeds(2))
def test_the_tradeoff_lies_above_the_tangents_of_the_profile(seed: int) -> None:
    """f(x) >= 1 - H(e^t) - e^t x for every t, and H(e^t) >= 1 - f(x) - e^t x for every x."""
    run, _, direction = case(seed)
    ts = (-1.0, 0.0, 0.25, 1.0, 3.0)
    for x, found in zip(RATES, run.tradeoff(RATES, direction=direction), strict=True):
        for t, delta in zip(ts, run.delta(ts, direction=direction), strict=True):
            assert 1.0 - delta.upper - math.exp(t) * x <= up(found.upper)
            assert 1.0 - found.upper - math.exp(t) * x <= up(delta.upper)


@pytest.mark.parametrize("seed", seeds(4))
def test_the_tradeoff_passes_through_events(seed: int) -> None:
    """{l > t} is a best test: f(Q[l > t]) = P[l <= t], and H(e^t) = P[l > t] - e^t Q[l > t] touches there."""
    run, _, direction = case(seed)
    for t in (0.0, 0.3):
        p = run.pdp(t, direction=direction)
        # Q[l > t] is the probability, under Q, that the reversed loss is below -t.
        q_low = run.loss_cdf(-t - NEAR, direction=OTHER[direction]).lower
        q_high = run.loss_cdf(-t, direction=OTHER[direction]).upper
        at_most, at_least = (run.tradeoff(q, direction=direction) for q in (q_low, q_high))
        assert 1.0 - p.upper <= up(at_most.upper)
        assert at_least.lower <= up(1.0 - p.lower)
        delta = run.delta(t, direction=direction)
        assert delta.lower <= up(1.0 - at_least.lower - math.exp(t) * q_low)
        if t == 0.0:  # the advantage is the largest 1 - x - f(x)
            advantage = run.advantage(direction=direction)
            assert around(advantage, 1.0 - q_high - at_least.upper, 1.0 - q_low - at_least.lower)


@pytest.mark.parametrize("seed", seeds(1))
def test_an_attacker_gets_as_far_as_the_tradeoff_says(seed: int) -> None:
    run, parts, direction = case(seed)
    for attack in attacks(parts, direction, seed, DRAWS, (0.02, 0.5, 0.9, 0.99)):
        assert attack.tpr[0] <= run.tpr(attack.fpr[1], direction=direction).upper
        assert run.tpr(attack.fpr[0], direction=direction).lower <= attack.tpr[1]
        # Who says yes where the loss exceeds t tells the worlds apart no better than the advantage allows.
        assert attack.tpr[0] - attack.fpr[1] <= run.advantage().upper


@pytest.mark.parametrize("seed", seeds(8))
def test_distances(seed: int) -> None:
    run, _, direction = case(seed)
    advantage = run.advantage(direction=direction)
    assert meet(advantage, run.total_variation(direction=direction))
    assert meet(advantage, run.delta(0.0, direction=direction))
    assert meet(advantage, run.advantage(direction=OTHER[direction]))  # the distance of two laws has no direction
    even = run.bayes_accuracy(0.5, direction=direction)
    assert around(even, (1.0 + advantage.lower) / 2.0, (1.0 + advantage.upper) / 2.0)
    for prior in (0.125, 0.75):
        found = run.bayes_accuracy(prior, direction=direction)
        delta = run.delta(math.log((1.0 - prior) / prior), direction=direction)
        assert around(found, 1.0 - prior + prior * delta.lower, 1.0 - prior + prior * delta.upper)
        assert found.upper >= max(prior, 1.0 - prior)
        # Whoever guesses right about one law guesses right about the other.
        assert meet(found, run.bayes_accuracy(1.0 - prior, direction=OTHER[direction]))


@pytest.mark.parametrize("seed", seeds(10))
def test_rates_and_what_is_believed_after_them(seed: int) -> None:
    run, _, direction = case(seed)
    for x in RATES:
        f, g = run.tradeoff(x, direction=direction), run.tpr(x, direction=direction)
        assert around(g, 1.0 - f.upper, 1.0 - f.lower)
        assert g.upper >= x  # a coin needs no output
        assert f.lower <= 1.0 - x
        after = run.posterior(0.25, x, direction=direction)
        low, high = (0.25 * end / (0.25 * end + 0.75 * x) for end in (g.lower, g.upper))
        assert around(after, low, high)
        rebuilt = run.reconstruction(x)
        assert meet(rebuilt, run.tpr(x, direction="remove"))


@pytest.mark.parametrize("seed", seeds(13))
def test_both_directions_are_inverse_and_the_symmetric_one_is_below(seed: int) -> None:
    run, _, direction = case(seed)
    for x in RATES:
        there = run.tradeoff(x, direction=direction)
        assert run.tradeoff(min(up(there.upper), 1.0), direction=OTHER[direction]).lower <= up(x)
        if there.lower > 0.0:
            assert x <= up(run.tradeoff(there.lower, direction=OTHER[direction]).upper)
        both = run.tradeoff(x)
        assert both.lower <= there.upper
        assert both.lower <= run.tradeoff(x, direction=OTHER[direction]).upper
        back = run.tradeoff(min(up(both.upper), 1.0))  # its own inverse
        assert back.lower <= up(x)


@pytest.mark.parametrize("seed", seeds(14))
def test_epsilon_and_delta_and_rates(seed: int) -> None:
    """(epsilon, delta)-DP: no test has more than e^epsilon x + delta true positives."""
    run, _, direction = case(seed)
    delta = 1e-3
    epsilon = run.epsilon(delta, direction=direction)
    for x in RATES:
        if epsilon.upper < math.inf:
            most = math.exp(min(epsilon.upper, 700.0)) * x + delta
            assert run.tpr(x, direction=direction).lower <= up(most)
    if math.inf > epsilon.lower > 0.0:
        assert run.delta(epsilon.lower, direction=direction).upper >= delta
        assert run.delta(epsilon.upper, direction=direction).lower <= delta


@pytest.mark.parametrize("seed", seeds(1))
def test_more_uses_tell_more(seed: int) -> None:
    run, _, direction = case(seed)
    twice = Asked(run.run * 2)
    assert run.advantage().lower <= twice.advantage().upper
    found = run.tpr(RATES, direction=direction), twice.tpr(RATES, direction=direction)
    assert all(less.lower <= more.upper for less, more in zip(*found, strict=True))


def test_runs_that_tie() -> None:
    """Several real runs with the same ends: none is worse than another, and their certificates have no order."""
    run = tr.Laplace(scale=1.0).without_replacement(batch=1, records=10) * 2
    found = run.reconstruction(5e-324, proof=True, seconds=0.2)
    assert found.lower <= 5e-324 <= found.upper
