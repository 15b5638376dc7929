"""Lists of atoms in float64: against the same laws in balls, also after sampling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.core.losses.atoms import Atoms, FiniteLaw
from tightrope.core.losses.discrete_gaussian import DiscreteGaussianPair
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw, SampledLaw
from tightrope.core.losses.operators.dyadic import dyadic_pair
from tightrope.core.losses.operators.poisson import PoissonAdd, PoissonRemove
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.enclosures import Enclosure
from tightrope.core.values.question import Direction

EIGHTHS = ((4, 2), (1, 4), (2, 0), (0, 1), (1, 1))
LAW = RationalLaw(tuple(Fraction(p, 8) for p, _ in EIGHTHS), tuple(Fraction(q, 8) for _, q in EIGHTHS))
BASES = (FinitePair(LAW), dyadic_pair(EIGHTHS, 3))


def holds(found: Enclosure, truth: arb) -> bool:
    return bool(arb(float(found.lower)) <= truth) and bool(truth <= arb(float(found.upper)))


def check(listed: Atoms | None, law: FiniteLaw) -> None:
    assert listed is not None
    with precision(200):
        truth = sorted(law.atoms(), key=lambda atom: float(atom.loss))
        assert len(truth) == len(listed.loss.value)
        for index, atom in enumerate(truth):
            assert holds(listed.p[index], atom.p)
            assert holds(listed.q[index], atom.q)
            assert holds(listed.loss[index], atom.loss)
        assert holds(listed.infinite, law.infinite_mass())
        assert holds(listed.lost, law.lost_mass())
        low, high = listed.infinite_ends()
        assert arb(low) <= law.infinite_mass() <= arb(high)
    radii = np.concatenate([listed.p.radius, listed.q.radius, listed.loss.radius])
    assert float(np.max(radii)) < 1e-14
    assert listed.left_out == 0.0


@pytest.mark.parametrize("base", BASES, ids=("finite", "dyadic"))
def test_lists_hold_every_atom_also_after_sampling(base: Pair) -> None:
    check(base.atoms(), LAW)
    for rate in (0.25, 1e-3):
        check(PoissonRemove(base, rate).atoms(), SampledLaw(LAW, rate, Direction.REMOVE))
        check(PoissonAdd(base, rate).atoms(), SampledLaw(LAW, rate, Direction.ADD))
    twice = PoissonAdd(PoissonRemove(base, 0.5), 0.25).atoms()
    check(twice, SampledLaw(SampledLaw(LAW, 0.5, Direction.REMOVE), 0.25, Direction.ADD))


@pytest.mark.parametrize("sigma", [0.02, 0.3, 20.0])
def test_lists_of_the_discrete_gaussian_stay_finite(sigma: float) -> None:
    """Losses beyond the logarithm of the largest double are moved by another formula."""
    for pair in (DiscreteGaussianPair(sigma, 2), PoissonRemove(DiscreteGaussianPair(sigma, 2), 0.01)):
        listed = pair.atoms()
        assert listed is not None
        assert 0.0 < listed.left_out < 1e-300
        assert np.all(np.isfinite(listed.loss.upper))
        assert np.all(np.diff(listed.loss.value) >= 0.0)
        assert abs(float(np.sum(listed.p.value)) - 1.0) < 1e-12


def test_too_many_outputs_are_not_listed() -> None:
    assert DiscreteGaussianPair(1e5, 1).atoms() is None
    assert PoissonAdd(DiscreteGaussianPair(1e5, 1), 0.1).atoms() is None


@pytest.mark.parametrize("place", range(3))
def test_what_is_left_out_counts_as_infinite(place: int) -> None:
    """A list without one of its atoms: its mass may have any loss."""
    listed = BASES[0].atoms()
    assert listed is not None
    kept = [index for index in range(len(listed.loss.value)) if index != place]
    hidden = max(float(listed.p[place].upper), float(listed.q[place].upper))
    short = listed._replace(p=listed.p[kept], q=listed.q[kept], loss=listed.loss[kept], left_out=hidden)
    for some, whole in ((short, LAW.infinite_mass()), (short.reversed(), LAW.lost_mass())):
        low, high = some.infinite_ends()
        assert arb(low) <= whole
        assert whole + arb(hidden) <= arb(high)
        assert high - low <= 1.0 + 1e-12
    sampled = PoissonRemove(BASES[0], 0.25).atoms()
    assert sampled is not None
    assert sampled._replace(left_out=0.125).infinite_ends()[1] > sampled.infinite_ends()[1] + 0.1249
