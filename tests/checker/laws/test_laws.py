"""Tails and moments of the checker's laws against sums and integrals over outputs, by mpmath."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import mpmath as mp
import pytest
from flint import acb, arb

from tightrope.checker.law import CheckedLaw, precision
from tightrope.checker.laws.discrete import DiscreteGaussianLaw
from tightrope.checker.laws.finite import GeometricLaw, LeakyResponseLaw, RatiosLaw, response
from tightrope.checker.laws.laplace import LaplaceLaw
from tightrope.checker.laws.sampled import sampled

Density = Callable[[mp.mpf], mp.mpf]
DIGITS = 30


class Case(NamedTuple):
    """A law, P and Q of an output, and the outputs: all of them, or breaks of an integral."""

    law: CheckedLaw
    p: Density
    q: Density
    outputs: list[mp.mpf]
    listed: bool


def integers(reach: int) -> list[mp.mpf]:
    return [mp.mpf(x) for x in range(-reach, reach + 1)]


def noise(decay: Density, shift: float, reach: int) -> tuple[Density, Density, list[mp.mpf]]:
    norm = mp.fsum(decay(x) for x in integers(reach))
    return (lambda x: decay(x - shift) / norm), (lambda x: decay(x) / norm), integers(reach)


def rows(p: tuple[float, ...], q: tuple[float, ...]) -> tuple[Density, Density, list[mp.mpf]]:
    sums = mp.fsum(p), mp.fsum(q)
    return (
        lambda x: mp.mpf(p[int(x)]) / sums[0],
        lambda x: mp.mpf(q[int(x)]) / sums[1],
        [mp.mpf(i) for i in range(len(p))],
    )


def cases() -> dict[str, Case]:
    with mp.workdps(DIGITS + 10):
        found: dict[str, Case] = {}

        def laplace(x: mp.mpf) -> mp.mpf:
            return mp.exp(-abs(x) / mp.mpf(2)) / 4

        breaks = [mp.mpf(x) for x in (-40, -20, -10, 0, 1, 10, 20, 40)]
        found["Laplace"] = Case(LaplaceLaw(Fraction(1, 2)), lambda x: laplace(x - 1), laplace, breaks, False)
        normal = noise(lambda x: mp.exp(-x * x / (2 * mp.mpf(1.5) ** 2)), 2, 40)
        found["discrete Gaussian"] = Case(DiscreteGaussianLaw(Fraction(9, 4), 2), *normal, True)
        odd = noise(lambda x: mp.exp(-abs(x) / mp.mpf(0.75)), 3, 60)
        found["discrete Laplace"] = Case(GeometricLaw(Fraction(3, 4), 3), *odd, True)
        p, q = (0.1, 0.2, 0.3, 0.15, 0.25, 0.0), (0.25, 0.1, 0.2, 0.0, 0.125, 0.325)
        found["finite"] = Case(RatiosLaw(tuple(map(Fraction, p)), tuple(map(Fraction, q))), *rows(p, q), True)
        other = (1 - Fraction(0.6)) / 3
        found["response"] = Case(
            response(Fraction(0.6), 4), *rows((0.6, *[other] * 3), (other, 0.6, other, other)), True
        )
        truth = 0.75 / (1 + 2 * mp.exp(-mp.mpf(0.5)))
        rest = truth * mp.exp(-mp.mpf(0.5))
        leaky = rows((truth, rest, rest, 0.25, 0.0), (rest, truth, rest, 0.0, 0.25))
        found["leaky response"] = Case(LeakyResponseLaw(Fraction(1, 2), Fraction(1, 4), 3), *leaky, True)
        for name, case in list(found.items()):
            for added in (False, True):
                law = sampled(case.law, Fraction(0.25), added)
                assert law is not None

                def mixed(x: mp.mpf, case: Case = case) -> mp.mpf:
                    return (1 - mp.mpf(0.25)) * case.q(x) + mp.mpf(0.25) * case.p(x)

                both = (case.q, mixed) if added else (mixed, case.q)
                found[f"sampled {name}, {'add' if added else 'remove'}"] = case._replace(law=law, p=both[0], q=both[1])
        return found


CASES = cases()


def total(case: Case, value: Density) -> mp.mpf:
    """The sum or the integral over the outputs that both laws have."""
    if case.listed:
        return mp.fsum(value(x) for x in case.outputs if case.p(x) > 0 and case.q(x) > 0)
    return mp.fsum(mp.quad(value, piece) for piece in pairwise(case.outputs))


def above(case: Case, measure: Density, x: mp.mpf) -> mp.mpf:
    """The mass of the finite losses above x."""
    return total(case, lambda y: measure(y) if mp.log(case.p(y) / case.q(y)) > x else mp.mpf(0))


def near(ball: arb, value: mp.mpf, error: mp.mpf) -> bool:
    """Whether the ball holds a number within the error of the value."""
    return bool(ball.overlaps(arb(mp.nstr(value, DIGITS), mp.nstr(error, 5))))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.listed])
def test_tails_are_those_of_the_outputs(name: str) -> None:
    case = CASES[name]
    with mp.workdps(DIGITS + 10), precision(160):
        for x in (-0.7, -0.01, 0.06, 0.4):
            found = case.law.tails(arb(x))
            assert found is not None
            for ball, measure in zip(found, (case.p, case.q), strict=True):
                assert near(ball, above(case, measure, mp.mpf(x)), mp.mpf(10) ** -25)
                assert ball.rad() < 1e-30


def test_tails_of_a_laplace_use_by_its_outputs() -> None:
    """l > x for the outputs beyond (1 + 2 x)/2 under the scale 2; and the hull where a ball does not tell."""
    law = LaplaceLaw(Fraction(1, 2))
    with precision(160):
        for x in (-0.4, 0.0, 0.3):
            found = law.tails(arb(x))
            cut = arb(0.5) + arb(x)
            assert found[0].overlaps(1 - (cut / 2 - arb(0.5)).exp() / 2)
            assert found[1].overlaps((-cut / 2).exp() / 2)
        assert law.tails(arb(0.5)) == (0, 0)
        assert law.tails(arb(-0.5))[0] < 1 == law.tails(arb(-0.6))[0]
        near_top = law.tails(arb(0.5, 1e-9))
        assert near_top[0].contains(0)
        assert near_top[0].contains(0.5)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.law.moments(arb(1), arb(1), 1)])
def test_moments_are_those_of_the_outputs(name: str) -> None:
    case = CASES[name]
    with mp.workdps(DIGITS + 10), precision(160):
        found = case.law.moments(arb(1.25), arb(0.75), 2)
        assert found is not None
        for j, ball in enumerate(found):
            z = mp.mpc(1.25, 0.75 * j)
            value = total(case, lambda y, z=z: case.p(y) * mp.exp(z * mp.log(case.p(y) / case.q(y))))
            error = mp.mpf(10) ** (-25 if case.listed else -8)
            assert near(ball.real, value.real, error)
            assert near(ball.imag, value.imag, error)


@pytest.mark.parametrize("name", CASES)
def test_infinite_loss_and_lattices(name: str) -> None:
    case = CASES[name]
    with mp.workdps(DIGITS + 10), precision(160):
        if case.listed:
            infinite = mp.fsum(case.p(x) for x in case.outputs if case.p(x) > 0 and case.q(x) == 0)
            assert near(case.law.infinite(), infinite, mp.mpf(10) ** -25)
        lattice = case.law.lattice()
        for x in case.outputs if lattice else ():
            if case.p(x) > 0 and case.q(x) > 0 and abs(x) < 10:
                loss = arb(mp.nstr(mp.log(case.p(x) / case.q(x)), DIGITS), 1e-20)
                assert ((loss - lattice[0]) / lattice[1]).contains_integer()


def test_decay_bounds_the_moment() -> None:
    with precision(128):
        law = LaplaceLaw(Fraction(3))
        for reach in (5, 20, 100):
            most = law.decay(arb(2), arb(reach))
            values: list[acb] = law.moments(arb(2), arb(1), reach + 50)
            assert most < 1 or reach == 5
            assert all(abs(each) <= most * values[0].real for each in values[reach:])


def test_a_rational_law_knows_its_lattice() -> None:
    """Ratios 1/4, 1/2, 2 and 8 are powers of two; 1/4, 1/2 and 3/2 are on none that is found."""
    powers = RatiosLaw(
        (Fraction(1, 10), Fraction(2, 10), Fraction(4, 10), Fraction(3, 10)),
        (Fraction(4, 10), Fraction(4, 10), Fraction(2, 10), Fraction(3, 80)),
    )
    lattice = powers.lattice()
    assert lattice is not None
    step = lattice[1]
    assert step.overlaps(arb(2).log())
    assert (
        RatiosLaw(
            (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 6), Fraction(1, 3))
        ).lattice()
        is not None
    )  # two ratios
    assert (
        RatiosLaw(
            (Fraction(1, 7), Fraction(2, 7), Fraction(4, 7)), (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5))
        ).lattice()
        is None
    )
