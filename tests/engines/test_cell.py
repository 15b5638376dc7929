"""The cell of a lattice: the losses beside t are told from it exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import tightrope as tr
from tightrope.core.engines.loss_tails import cell_of, place_of
from tightrope.core.losses.atoms import LatticeStep, SumLattice


def test_rational_steps_are_told_exactly() -> None:
    tenth = Fraction(0.1)
    lattice = SumLattice(LatticeStep(tenth, False), Fraction(0), ())
    assert place_of(lattice, 0.1) == 1
    assert place_of(lattice, math.nextafter(0.1, 0.0)) == 0
    assert place_of(lattice, -0.1) == -1
    assert place_of(lattice, math.nextafter(-0.1, -1.0)) == -2


@pytest.mark.parametrize("count", [2, 10, 10**9])
def test_logarithms_that_cancel_are_zero(count: int) -> None:
    ninths = LatticeStep(Fraction(9), True)
    lattice = SumLattice(ninths, Fraction(0), ((Fraction(1, 3), count),))
    assert place_of(lattice, 0.0) == count // 2
    assert place_of(lattice, -5e-324) == count // 2 - 1
    assert place_of(lattice, 5e-324) == count // 2
    odd = SumLattice(ninths, Fraction(0), ((Fraction(1, 3), count + 1),))
    assert place_of(odd, 0.0) == count // 2


def test_a_double_is_no_logarithm() -> None:
    """log 3 lies between two doubles: one of them is below it, the other is not."""
    lattice = SumLattice(LatticeStep(Fraction(3), True), Fraction(0), ())
    near = math.log(3.0)  # above: near - log 3 is 9e-17
    assert place_of(lattice, near) == 1
    assert place_of(lattice, math.nextafter(near, 0.0)) == 0


def test_the_cell_has_no_loss_inside() -> None:
    pair = (tr.RandomizedResponse(p=0.75)).pair(tr.Direction.REMOVE)
    cell = cell_of([(pair, 2)], 0.0)
    assert cell is not None
    assert 0.0 <= cell[0] <= 5e-324
    assert math.log(9.0) - 1e-15 < cell[1] <= math.log(9.0)
    gaussian = tr.Gaussian(sigma=1.0).pair(tr.Direction.REMOVE)
    assert cell_of([(pair, 2), (gaussian, 1)], 0.0) is None
