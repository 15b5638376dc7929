"""Unions of pairs against finite laws written out in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import acb, arb

import tightrope as tr
from tightrope.core.losses.cgf import cumulant_above
from tightrope.core.losses.operators.public_mixture import ExactWeights, PublicMixturePair
from tightrope.core.losses.operators.registered import remake
from tightrope.core.losses.pair import TAIL_ERROR
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.question import Direction

SHARES = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
LAWS = (
    tr.Finite(p=[0.5, 0.25, 0.25, 0.0], q=[0.25, 0.25, 0.25, 0.25]),
    tr.Finite(p=[0.125, 0.875], q=[0.5, 0.5]),
    tr.Finite(p=[0.75, 0.25, 0.0], q=[0.0, 0.5, 0.5]),
)
UNION = PublicMixturePair(ExactWeights(SHARES), tuple(law.pair(Direction.REMOVE) for law in LAWS))
# The same as one law: every output tells which of the three it is of.
WHOLE = tr.Finite(
    p=[float(share * Fraction(p)) for share, law in zip(SHARES, LAWS, strict=True) for p in law.p],
    q=[float(share * Fraction(q)) for share, law in zip(SHARES, LAWS, strict=True) for q in law.q],
).pair(Direction.REMOVE)
POINTS = np.array([-9.0, -1.5, -0.7, -0.1, 0.0, 0.1, 0.5, 0.6, 1.0, 9.0])


def test_it_is_the_law_of_all_outputs() -> None:
    for pair, whole in ((UNION, WHOLE), (UNION.reversed(), WHOLE.reversed())):
        profile, truth = pair.hockey_stick(exact(POINTS)), whole.hockey_stick(exact(POINTS))
        assert np.all(abs(profile.value - truth.value) <= profile.radius + truth.radius)
        for one, other in zip(pair.tails(double_double(POINTS)), whole.tails(double_double(POINTS)), strict=True):
            assert np.all(abs(one - other) <= 2.0 * TAIL_ERROR * other)
        with working_precision(128):
            assert pair.infinite_mass().overlaps(whole.infinite_mass())
            for one, other in zip(pair.loss_range(), whole.loss_range(), strict=True):
                assert one.overlaps(other)
            for point in POINTS:
                assert pair.ball_hockey_stick(arb(point)).overlaps(whole.ball_hockey_stick(arb(point)))
                tails = zip(pair.ball_tails(arb(point)), whole.ball_tails(arb(point)), strict=True)
                assert all(one.overlaps(other) for one, other in tails)


def test_atoms_and_moments() -> None:
    atoms = UNION.atoms()
    assert atoms is not None
    assert np.all(np.diff(atoms.loss.value) >= 0.0)
    assert float(atoms.p.sum().value + atoms.infinite.value) == 1.0
    assert float(atoms.q.sum().value + atoms.lost.value) == 1.0
    assert np.all(abs(np.log(atoms.p.value / atoms.q.value) - atoms.loss.value) < 1e-12)
    with working_precision(128):
        one, other = UNION.moments().log_moment(acb(0.5)), WHOLE.moments().log_moment(acb(0.5))
        assert one is not None
        assert other is not None
        assert one.overlaps(other)
        assert UNION.moments().log_moment_above(2.0) >= cumulant_above(WHOLE, 2.0) - 1e-9
    mixed = PublicMixturePair(
        ExactWeights((Fraction(1, 2),) * 2), (UNION.pairs[0], tr.Gaussian(sigma=1.0).pair(Direction.ADD))
    )
    assert mixed.atoms() is None
    assert mixed.bases() == mixed.pairs
    assert remake(mixed, mixed.bases()) == mixed
    assert math.isinf(float(mixed.loss_range().highest))
