"""Random compositions of finite pairs against all outcomes, enumerated in fractions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from tests.oracle import enumeration
from tests.search import cases
from tightrope.core.engines.lattice import engine as lattice
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw

EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0)


@pytest.mark.parametrize("block", range(cases(2, 20)))
def test_random_finite_compositions_are_contained(block: int) -> None:
    """25 compositions per block, both directions, at the epsilon asked and at another one."""
    for seed in range(25 * block, 25 * block + 25):
        rng = random.Random(seed)
        parts = enumeration.random_composition(rng)
        epsilon = rng.choice(EPSILONS)
        for reverse in (False, True):
            outcomes = enumeration.composed(parts)
            if reverse:
                outcomes = tuple((q, p) for p, q in outcomes)
            terms: dict[FinitePair, int] = {}
            for single, count in parts:
                p, q = zip(*single, strict=True)
                pair = FinitePair(RationalLaw(q, p) if reverse else RationalLaw(p, q))
                terms[pair] = terms.get(pair, 0) + count
            if not any(p and q for p, q in outcomes):
                continue  # every loss is infinite: refused, delta is 1
            evaluator = lattice.prepare(list(terms.items()), epsilon=epsilon, accuracy=1e-2)
            for asked in (epsilon, epsilon + 0.3):
                low, high = enumeration.delta(outcomes, asked)
                value = evaluator.delta(asked)
                assert Fraction(value.lower) <= high, (seed, reverse, asked)
                assert low <= Fraction(value.upper), (seed, reverse, asked)
                assert value.lower <= value.upper, (seed, reverse, asked)
                if asked == epsilon and low > 0:
                    assert value.upper - value.lower <= 0.05 * value.upper, (seed, reverse, asked)
