"""A delta next to the infinite mass: what is left above it decides, however small it is."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb

import tightrope as tr
from tightrope.core.engines.loss_extremes import chance, leaked
from tightrope.core.numerics.balls import working_precision

LEAKY = tr.ApproximateDP(epsilon=0.5, delta=1e-5) * 3
SAMPLED = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 100
MASS = 1 - (1 - Fraction(1e-5)) ** 3


def above(steps: int) -> float:
    """The double so many steps above the infinite mass."""
    delta = float(MASS)
    while Fraction(delta) <= MASS:
        delta = math.nextafter(delta, 1.0)
    for _ in range(steps - 1):
        delta = math.nextafter(delta, 1.0)
    return delta


@pytest.mark.parametrize("steps", [1, 2, 1000])
def test_one_double_above(steps: int) -> None:
    """The same as the sealed composition at (delta - w)/(1 - w)."""
    delta = above(steps)
    found = (LEAKY + SAMPLED).epsilon(delta)
    rest = (Fraction(delta) - MASS) / (1 - MASS)
    sealed = tr.PureDP(epsilon=0.5) * 3 + SAMPLED
    assert found.width <= 1e-6 * found.upper
    assert sealed.delta(found.lower).upper >= rest * (1 - Fraction(1, 10**9))
    assert sealed.delta(found.upper).lower <= rest * (1 + Fraction(1, 10**9))


def test_the_refused_one() -> None:
    found = (LEAKY + SAMPLED).epsilon(2.9999700001000004e-05)
    assert 6.0 < found.lower <= found.upper < 8.0
    assert found.width <= 1e-6 * found.upper


def test_against_enumeration() -> None:
    """Leaky responses alone, in exact numbers."""
    run = tr.ApproximateDP(epsilon=1.0, delta=1e-3) * 2
    mass = 1 - (1 - Fraction(1e-3)) ** 2
    delta = float(mass) * (1.0 + 1e-13)
    found = run.epsilon(delta)
    with mpmath.workdps(60):
        truth_mass = (mpmath.e / (1 + mpmath.e)) ** 2  # of two true answers, whose loss is 2
        rest = Fraction(delta) - mass
        share = mpmath.mpf(rest.numerator) / rest.denominator / (1 - mpmath.mpf(mass.numerator) / mass.denominator)
        epsilon = 2 + mpmath.log1p(-share / truth_mass)
        assert found.lower <= epsilon <= found.upper
    assert found.width < 1e-9


def test_other_leaks_stay_as_they_are() -> None:
    """Masses that differ on both sides are not sealed, and still answered."""
    run = tr.Finite(p=(0.5, 0.25, 0.25), q=(0.5, 0.5, 0.0)) * 2
    delta = math.nextafter(1 - 0.75**2, 1.0)
    assert run.epsilon(delta).lower <= run.epsilon(delta).upper < math.inf


def test_a_mass_below_every_double() -> None:
    """1 - (1 - w)^n has no digits of it left."""
    pair = tr.BinomialNoise(trials=10**5).pair(tr.Direction.REMOVE)
    with working_precision(200):
        assert leaked([(pair, 3)]).overlaps(3 * arb(2) ** -(10**5) - 3 * arb(2) ** -(2 * 10**5))
    assert chance(leaked([(pair, 1)])) == ("1e-30103", "1e-30101")
    assert chance(arb(0.125)) == ("0.125", "0.125")


@pytest.mark.parametrize(
    ("mechanism", "mass"),
    [
        (tr.ApproximateDP(epsilon=1, delta=1e-5) + tr.Gaussian(sigma=1), 1e-5),
        (tr.Gaussian(sigma=2) * 3 + tr.ApproximateDP(epsilon=0.1, delta=0.25) * 2, 1 - 0.75**2),
        (tr.ZCDP(rho=0.1, delta=0.125) + tr.Gaussian(sigma=1), 0.125),
    ],
)
def test_at_the_mass_itself_losses_without_end_have_no_epsilon(mechanism: tr.Mechanism, mass: float) -> None:
    """delta(epsilon) less the mass is (1 - mass) times what Gaussian noise alone has at least, above 0 everywhere."""
    bound = mechanism.epsilon(mass)
    assert bound.lower == bound.upper == math.inf
    assert "never reaches it" in bound.certificate.reason
    above = mechanism.epsilon(mass * (1 + 1e-9)).upper
    assert above < math.inf


def test_at_the_mass_itself_losses_with_an_end_have_it() -> None:
    """Randomized response and Laplace noise lose at most 1 + 1/2 besides the leak."""
    bound = (tr.ApproximateDP(epsilon=1, delta=1e-5) + tr.Laplace(scale=2)).epsilon(1e-5)
    assert 1.5 in bound
    assert bound.width <= 1e-9
