"""Poisson samples where a record is replaced: Gaussian noise by its own pair, other bases by a chain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tightrope as tr
from tests.oracle import enumerate_data as data
from tests.oracle.adaptive import ERROR, adaptive
from tightrope.core.values.question import Direction, Relation

GAUSSIAN = tr.Gaussian(sigma=1.0)


def test_which_is_tight() -> None:
    run = GAUSSIAN.poisson(rate=0.1, neighbours="replace")
    assert run.tight
    assert run.relation is Relation.REPLACE
    assert run.pair(Direction.ADD) == run.pair(Direction.REMOVE)
    assert run.delta(0.1).lower > GAUSSIAN.poisson(rate=0.1).delta(0.1).upper
    other = tr.Laplace(scale=1.0).poisson(rate=0.1, neighbours="replace")
    assert not other.tight
    assert other.attained
    bound = other.delta(0.1)
    assert bound.lower >= tr.Laplace(scale=1.0).poisson(rate=0.1).delta(0.1).lower * (1.0 - 1e-9)
    assert bound.lower < bound.upper <= 2.5 * bound.lower


def test_no_sampling_and_nothing() -> None:
    for base, twice in ((GAUSSIAN, tr.Gaussian(sigma=0.5)), (tr.Laplace(scale=1.0), tr.Laplace(scale=0.5))):
        assert base.poisson(rate=1.0, neighbours="replace").delta(0.5).upper == pytest.approx(twice.delta(0.5).upper)
        assert base.poisson(rate=0.0, neighbours="replace").delta(0.0).upper == 0.0


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(3, 4)])
def test_all_neighbours_of_tiny_data(rate: Fraction) -> None:
    noise = data.laplace_on_integers(Fraction(1, 2))
    real = data.of_sums(data.poisson(rate), noise, data.replacing(2))
    run = tr.DiscreteLaplace(scale=2.0).poisson(rate=float(rate), neighbours="replace")
    points = np.linspace(-3.0, 3.0, 7) + 0.03125
    truth = adaptive([real], np.exp(points))
    for exact, bound in zip(truth, run.delta(points.tolist()), strict=True):
        assert bound.lower - ERROR <= exact <= bound.upper + ERROR


def test_text_and_errors() -> None:
    run = GAUSSIAN.poisson(rate=0.1, neighbours="replace")
    assert repr(run) == "Gaussian(sigma=1.0).poisson(rate=0.1, neighbours='replace')"
    assert repr(GAUSSIAN.poisson(rate=0.1)) == "Gaussian(sigma=1.0).poisson(rate=0.1)"
    assert tr.parse(repr(run * 3)) == run * 3
    assert tr.load(tr.dump(run)) == run
    with pytest.raises(tr.InvalidParameter, match="direction must be left out"):
        run.delta(0.1, direction="add")
    with pytest.raises(tr.InvalidParameter, match="neighbours must be 'add_remove' or 'replace'"):
        GAUSSIAN.poisson(rate=0.1, neighbours="swap")
    with pytest.raises(tr.InvalidParameter, match="disagree"):
        run + GAUSSIAN.poisson(rate=0.1)
