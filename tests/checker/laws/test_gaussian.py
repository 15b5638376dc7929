"""Gaussian laws of the checker: tails, moments and decay, against quadrature with mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb

from tightrope.checker.law import exact, precision
from tightrope.checker.laws import gaussian
from tightrope.checker.laws.gaussian import GaussianLaw, SampledGaussianLaw

CASES = [
    (Fraction(1), Fraction(1, 64), Fraction(6), Fraction(1, 4)),
    (Fraction(1, 16), Fraction(1, 8), Fraction(40), Fraction(2)),
    (Fraction(9), Fraction(1, 2), Fraction(3, 2), Fraction(1, 2)),
]


def number(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def moment(law: SampledGaussianLaw, z: mp.mpc) -> mp.mpc:
    """E[g^{1 + z}] or E[g^{-z}] over a standard normal x."""
    mu, rate = mp.sqrt(number(law.square)), number(law.rate)
    power = -z if law.added else 1 + z
    middle = 0 if law.added else float(power.real) * mu

    def f(x: mp.mpf) -> mp.mpc:
        return mp.npdf(x) * mp.exp(power * mp.log(1 - rate + rate * mp.exp(mu * x - mu * mu / 2)))

    return mp.quad(f, mp.linspace(-12, float(middle) + 12, 16))


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_moments_contain_the_integral_and_decay_bounds_all_beyond(
    case: tuple[Fraction, Fraction, Fraction, Fraction], added: bool
) -> None:
    square, rate, tilt, step = case
    law = SampledGaussianLaw(square, rate, added)
    with mp.workdps(18), precision(96):
        found = law.moments(exact(tilt), exact(step), 24)
        truth = moment(law, mp.mpc(number(tilt), number(step) * 11))
        slack = arb(0, arb(mp.nstr(abs(truth) * mp.mpf(10) ** -13, 5)).upper())  # of the quadrature
        assert (found[11].real + slack).contains(arb(mp.nstr(truth.real, 17)))
        assert (found[11].imag + slack).contains(arb(mp.nstr(truth.imag, 17)))
        assert found[11].rel_accuracy_bits() > 40
        bound = law.decay(exact(tilt), exact(step * 7))
        assert all(abs(found[j]) / found[0].real <= bound for j in range(7, 24))
        assert bound < 1


@pytest.mark.parametrize("added", [False, True])
def test_tails_are_those_of_the_mixture(added: bool) -> None:
    law = SampledGaussianLaw(Fraction(1), Fraction(1, 4), added)
    with mp.workdps(25), precision(96):
        for x in (Fraction(-1, 4), Fraction(1, 8), Fraction(1, 4), Fraction(3)):
            p, q = law.tails(exact(x))
            cut = 1 + (mp.e ** (-number(x) if added else number(x)) - 1) * 4
            if cut <= 0:
                truth = (mp.mpf(0), mp.mpf(0)) if added else (mp.mpf(1), mp.mpf(1))
            else:
                place = mp.log(cut) + mp.mpf(1) / 2
                plain, moved = mp.ncdf(place), mp.ncdf(place - 1)
                mixed = (3 * plain + moved) / 4
                truth = (plain, mixed) if added else (1 - mixed, 1 - plain)
            for ball, value in zip((p, q), truth, strict=True):
                assert (ball + arb(0, 1e-22)).contains(arb(mp.nstr(value, 24)))


def test_where_the_cut_is_not_told_both_tails_hold_all_cases() -> None:
    rate = Fraction(1, 4)
    with precision(53):
        x = (-exact(rate)).log1p()  # a ball around the least loss
        p, q = SampledGaussianLaw(Fraction(1), rate).tails(x)
        assert p.contains(1)
        assert q.contains(1)


def test_a_gaussian_has_normal_losses() -> None:
    law = GaussianLaw(Fraction(4))
    with mp.workdps(30), precision(128):
        p, q = law.tails(arb(3))
        assert p.contains(arb(mp.nstr(mp.ncdf(-mp.mpf(1) / 2), 40))) or abs(p - arb("0.308537538725986896")) < 1e-17
        assert abs(q - arb(mp.nstr(mp.ncdf(-mp.mpf(5) / 2), 28))) < arb("1e-25")
        (value,) = law.moments(arb(1), arb(0), 1)
        assert value.real.contains(arb(4).exp())
        assert law.decay(arb(1), arb(2)).contains((-arb(8)).exp())


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("aim", [1, 2, 3, 5])
def test_a_coarse_rule_counts_what_it_misses(aim: int, added: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    law, tilt, step = SampledGaussianLaw(Fraction(4), Fraction(1, 4), added), Fraction(2), Fraction(3, 4)
    with precision(96):
        sharp = law.moments(exact(tilt), exact(step), 12)
        monkeypatch.setattr(gaussian, "aimed", lambda: arb(aim))
        coarse = law.moments(exact(tilt), exact(step), 12)
    assert sharp is not None
    assert coarse is not None
    assert all(wide.contains(narrow) for wide, narrow in zip(coarse, sharp, strict=True))
