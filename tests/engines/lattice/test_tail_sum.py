"""Ends from their parts, against fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
from flint import arb, fmpq

from tests.oracle.precision import precision
from tightrope.core.engines.lattice.compose import LowerSum, ends, weights_from
from tightrope.core.numerics.rounding import UNIT


def test_no_end_is_rounded_to_the_wrong_side() -> None:
    dice = random.Random(5)
    for _ in range(200):
        masses = dice.random() / 3, dice.random() / 3
        low = LowerSum(dice.random() / 3, 0.0, 0.0, 0.0)
        high = SimpleNamespace(upper=dice.random() / 3)
        lower, upper = ends(masses, low, high)  # type: ignore[arg-type]
        assert Fraction(lower) <= Fraction(masses[0]) + Fraction(low.lower)
        assert Fraction(upper) >= Fraction(masses[1]) + Fraction(high.upper)


def test_weights_err_by_no_more_than_their_units() -> None:
    for scale in (Fraction(1, 3), Fraction(-2000, 7), Fraction(1999, 3)):
        total = SimpleNamespace(log_scale=scale, slope=0.37, masses=np.ones(40))
        found, units = weights_from(total, 3, Fraction(1, 9))  # type: ignore[arg-type]
        with precision(200):
            for index, weight in enumerate(found):
                exponent = scale + Fraction(1, 9) - Fraction(0.37) * (3 + index)
                truth = arb(fmpq(exponent.numerator, exponent.denominator)).exp()
                assert abs(truth - float(weight)) <= truth * float(units[index]) * UNIT
        assert np.all(units >= 16.0)
