"""Random compositions of continuous mechanisms: two accuracies, two grids, two tilts, and the intervals overlap."""

from __future__ import annotations

import random

import pytest

from tests.engines.lattice.asking import terms_of
from tests.search import cases
from tightrope.core.engines.lattice import engine as lattice


def random_expression(rng: random.Random) -> str:
    """One to three parts, sampled or not, used once to a few thousand times."""
    parts = []
    for _ in range(rng.randint(1, 3)):
        noise = 10.0 ** rng.uniform(-0.3, 1.2)
        base = rng.choice([f"Gaussian(sigma={noise:.4g})", f"Laplace(scale={noise:.4g})"])
        if rng.random() < 0.6:
            base += f".poisson(rate={10.0 ** rng.uniform(-3.0, -0.1):.4g})"
        parts.append(f"{base} * {int(10.0 ** rng.uniform(0.0, 3.3))}")
    return " + ".join(parts)


@pytest.mark.parametrize("block", range(cases(2, 10)))
def test_two_accuracies_overlap(block: int) -> None:
    """6 compositions per block, 20 in a full search, either direction, delta asked at two epsilons."""
    for seed in range(20 * block, 20 * block + cases(6, 20)):
        rng = random.Random(seed)
        expression, direction = random_expression(rng), rng.choice(["remove", "add"])
        terms = terms_of(expression, direction)
        delta = 10.0 ** -rng.uniform(2.0, 14.0)
        rough = lattice.prepare(terms, delta=delta, accuracy=3e-2)
        epsilon = rng.uniform(0.5, 1.5) * rng.choice([0.1, 1.0, 5.0])
        fine = lattice.prepare(terms, epsilon=epsilon, accuracy=1e-2)
        for asked in (epsilon, 1.1 * epsilon):
            one, other = rough.delta(asked), fine.delta(asked)
            assert one.lower <= other.upper, (seed, expression, direction, asked)
            assert other.lower <= one.upper, (seed, expression, direction, asked)
