"""Adaptive lower bounds against the recursion itself, over finite pairs."""

from __future__ import annotations

import math
import random

import mpmath
import numpy as np
import pytest

import tightrope as tr
from tests.oracle.adaptive import ERROR, Neighbours, adaptive, neighbours
from tests.search import cases
from tightrope.core.losses.pair import Pair
from tightrope.core.lower_bounds.adaptive_bound import Everywhere, delta_at_least, epsilon_at_least
from tightrope.core.values import compute_budget
from tightrope.core.values.question import Direction

EPSILONS = (-1.3, -0.2, 0.0, 0.1, 0.5, 1.1, 2.5)
SAMPLED = tr.DiscreteGaussian(sigma=1.0).poisson(rate=0.5)
ONE_WAY = SAMPLED.pair(Direction.REMOVE)
TWO = [((ONE_WAY, ONE_WAY.reversed()), 2)]


def integers() -> Neighbours:
    """The sample of integer noise that TWO is about, cell by cell."""
    with mpmath.workdps(30):
        noise = [mpmath.exp(-mpmath.mpf(x * x) / 2) for x in range(-16, 18)]
        total = mpmath.fsum(mpmath.exp(-mpmath.mpf(x * x) / 2) for x in range(-40, 41))
        q = [each / total for each in noise]
        p = [here / 2 + before / 2 for here, before in zip(q, [mpmath.mpf(0), *q], strict=False)]
        return neighbours([float(each) for each in p], [float(each) for each in q])


def drawn(rng: random.Random, size: int) -> tuple[Pair, Neighbours]:
    """A finite pair with masses that doubles hold; some outputs have no P, some no Q."""

    def column() -> list[float]:
        cuts = sorted(rng.sample(range(1, 63), size - 1))
        return [(b - a) / 64 for a, b in zip([0, *cuts], [*cuts, 64], strict=True)]

    p, q = column(), column()
    if rng.random() < 0.4:
        p[0], p[1] = 0.0, p[0] + p[1]
    if rng.random() < 0.4:
        q[-1], q[-2] = 0.0, q[-1] + q[-2]
    return tr.Finite(p=p, q=q).pair(Direction.REMOVE), neighbours(p, q)


def truth(steps: list[list[Neighbours]], epsilon: float) -> float:
    return float(adaptive(steps, np.exp(np.longdouble(epsilon))))


def test_choosing_anew_shows_more_than_any_pair_throughout() -> None:
    pair = integers()
    for epsilon in (0.5, -0.5):
        exact = truth([[pair, pair.swapped]] * 2, epsilon)
        throughout = max(truth([[each]] * 2, epsilon) for each in (pair, pair.swapped))
        found = delta_at_least(TWO, epsilon)
        assert throughout < found <= exact + ERROR
        assert found >= (1.0 - 1e-9) * exact
    assert delta_at_least(TWO, 0.5) == pytest.approx(0.153528748541102, rel=1e-10)


@pytest.mark.parametrize("seed", range(cases(6, 200)))
def test_random_pairs(seed: int) -> None:
    """At or below the recursion, and near it: cells lose little, and the policy is the best of its mesh."""
    rng = random.Random(seed)
    some = [drawn(rng, rng.randint(2, 5)) for _ in range(rng.randint(2, 3))]
    alone = [drawn(rng, 3) for _ in range(rng.randint(0, 1))]
    uses = rng.randint(1 if alone else 2, 2)
    steps = [*(((pair,), 1) for pair, _ in alone), (tuple(pair for pair, _ in some), uses)]
    exact = [*([law] for _, law in alone), *([[law for _, law in some]] * uses)]
    for epsilon in EPSILONS:
        most = truth(exact, epsilon)
        for proof in (False, True) if epsilon == 0.5 else (False,):
            found = delta_at_least(steps, epsilon, proof=proof)
            assert found <= most + ERROR, (seed, epsilon, proof)
            assert found >= 0.99 * most - 1e-9, (seed, epsilon, proof, most)
    everywhere = Everywhere(steps, proof=False)
    for epsilon in (0.0, 0.5, 2.5):
        assert (
            0.98 * truth(exact, epsilon) - 1e-9 <= everywhere.delta_at_least(epsilon) <= truth(exact, epsilon) + ERROR
        )
    for delta in (0.02, 0.2, 0.6):
        found = epsilon_at_least(steps, delta)
        if found == math.inf:
            assert truth(exact, 50.0) > delta - ERROR
        elif found > 0.0:
            assert truth(exact, found) >= delta - ERROR
            assert truth(exact, found + 0.05) <= delta + 0.03


def test_many_uses_stay_between_one_pair_throughout_and_what_dominates_both() -> None:
    run = tr.RandomizedResponse(p=0.75, neighbours="add_remove").poisson(rate=0.3) * 70
    pair = run.parts[0][0].pair(Direction.REMOVE)
    steps = [((pair, pair.reversed()), 70)]
    fixed, above = run.delta(3.0), tr.RandomizedResponse(p=0.75, neighbours="add_remove") * 70
    assert 0.999 * fixed.lower <= delta_at_least(steps, 3.0, known=fixed.lower) <= above.delta(3.0).upper


def test_extremes() -> None:
    """No number is on the wrong side where it is far out; little work gives little."""
    leaky = tr.ApproximateDP(epsilon=1.0, delta=0.25).pair(Direction.REMOVE)
    steps = [((leaky, leaky.reversed()), 2)]
    assert delta_at_least(steps, 1e6) == pytest.approx(1 - 0.75**2) == delta_at_least(steps, math.inf)
    assert 1.0 - 1e-15 <= delta_at_least(steps, -1e6) <= 1.0
    assert 1.0 - 1e-15 <= delta_at_least(steps, -math.inf) <= 1.0
    assert epsilon_at_least(steps, 0.2) == math.inf
    assert epsilon_at_least(TWO, 1.0) == 0.0 == epsilon_at_least(TWO, 0.0)
    assert delta_at_least(TWO, 500.0) == 0.0  # at or below, whatever it is
    with compute_budget.allowance(0.005):
        assert 0.0 <= delta_at_least(TWO, 0.5) <= 0.1535288
    assert delta_at_least([((ONE_WAY,), 2)], 0.5) == 0.0  # nothing to choose: engines answer
