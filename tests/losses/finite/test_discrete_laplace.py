"""One use of discrete Laplace noise is a formula, in float64 arrays too; its list of atoms is the truth."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tightrope.core.losses.finite.geometric import DiscreteLaplaceLaw, GroupPrivacyLaw
from tightrope.core.losses.finite.laws import ResponseLaw, floats_of
from tightrope.core.numerics.balls import working_precision


@pytest.mark.parametrize(("scale", "size"), [(1.3, 7), (0.1, 4), (1e4, 3), (2.0, 1), (0.01, 20), (40.0, 300)])
def test_arrays_against_the_list_in_balls(scale: float, size: int) -> None:
    law = DiscreteLaplaceLaw(scale, size)
    quick, listed = law.floats, floats_of(law)
    for one, other in ((quick.p, listed.p), (quick.loss, listed.loss)):
        assert np.all(abs(one.value - other.value) <= one.radius + other.radius)
    for tail, exact in zip(quick.tails, listed.tails, strict=True):
        assert np.all(abs(tail - exact) <= 1e-13 * exact + 1e-313)


@pytest.mark.parametrize(("scale", "size"), [(1.3, 7), (0.25, 4), (2.0, 1), (40.0, 30)])
def test_the_profile_against_the_list(scale: float, size: int) -> None:
    law, rng = DiscreteLaplaceLaw(scale, size), random.Random(2)
    points = [rng.uniform(-1.5, 1.5) * size / scale for _ in range(30)]
    points += [(2 * x - size) / scale for x in range(size + 1)]
    with working_precision(200):
        for point in points:
            epsilon = arb(point)
            truth = sum((p * (-(epsilon - loss).expm1()).max(arb(0)) for p, _, loss in law.atoms()), arb(0))
            found = law.hockey_stick(epsilon)
            assert found is not None
            assert found.overlaps(truth)
            assert found.rad() < 1e-40
        lowest, highest = law.loss_range()
        assert min(float(atom.loss) for atom in law.atoms()) == float(lowest)
        assert max(float(atom.loss) for atom in law.atoms()) == float(highest)


def test_many_losses_and_one_use() -> None:
    """P[x >= m] - e Q[x >= m] with m in the middle: 1 up to e^-100000; sampled, its range needs no list either."""
    for proof in (False, True):
        bound = tr.DiscreteLaplace(1.0, sensitivity=199_999).delta(1.0, proof=proof)
        assert 1.0 - 1e-9 <= bound.lower <= bound.upper == 1.0
    sampled = tr.DiscreteLaplace(1e5, sensitivity=199_999).poisson(rate=0.1).delta(0.5)  # its losses end at 0.494
    assert sampled.upper == 0.0


@pytest.mark.parametrize("epsilon, steps", [(0.7, 2), (0.3, 5), (3.0, 4), (1e-3, 7)])
def test_chains_of_binary_responses_are_discrete_laplace_noise(epsilon: float, steps: int) -> None:
    with working_precision(128):
        links = ((ResponseLaw(epsilon, 0.0, 2), steps),)
        one = sorted(GroupPrivacyLaw(links).atoms(), key=lambda atom: float(atom.loss))
        other = sorted(DiscreteLaplaceLaw(epsilon, steps, inverse=True).atoms(), key=lambda atom: float(atom.loss))
        assert len(one) == len(other) == steps + 1
        for listed, known in zip(one, other, strict=True):
            assert all(mine.overlaps(theirs) for mine, theirs in zip(listed, known, strict=True))


def test_large_groups_of_pure_dp_are_answered() -> None:
    """Only the largest loss is above epsilon: delta = P - e^eps Q, P = 1/(1 + r), Q = r^D/(1 + r), r = e^-0.001."""
    bound = tr.PureDP(epsilon=0.001).group(size=100_000).epsilon(1e-6)
    with working_precision(128):
        ratio = (-arb(0.001)).exp()
        exact = ((1 / (1 + ratio) - arb(1e-6)) * (1 + ratio)).log() + 100_000 * arb(0.001)
        assert arb(bound.lower) <= exact <= arb(bound.upper)
    assert bound.width < 1e-9
