"""Readings of three families against closed forms, and of random finite laws against fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tests.oracle.readings import (
    DIGITS,
    Family,
    GaussianReadings,
    LaplaceReadings,
    ResponseReadings,
    Two,
    posterior,
    real,
)
from tests.search import FULL, cases

RATES = (0.0, 1e-9, 0.03125, 0.25, 0.5, 0.875, 1.0)
DIRECTIONS = ("remove", "add", None)
PRIORS = (0.0625, 0.5, 0.75)
FLAT = mp.mpf(10) ** -25  # what DIGITS digits are good for


def holds(bound: tr.Bound, value: mp.mpf | Fraction, most: mp.mpf | None = None) -> None:
    """The interval contains a number that is known to DIGITS digits, or meets one that is known by two ends."""
    with mp.workdps(DIGITS):
        low = real(value) if isinstance(value, Fraction) else value
        high = low if most is None else most
        assert mp.mpf(bound.lower) <= high * (1 + FLAT)
        assert low * (1 - FLAT) <= mp.mpf(bound.upper)


def narrow(bound: tr.Bound) -> bool:
    return bound.lower == bound.upper or bound.width <= 1e-6 * bound.upper


with mp.workdps(DIGITS):
    FAMILIES: tuple[tuple[tr.Mechanism, Family], ...] = (
        (tr.Gaussian(sigma=1.0), GaussianReadings(mp.mpf(1))),
        (tr.Gaussian(sigma=4.0, sensitivity=2.0) * 16, GaussianReadings(mp.mpf(2))),
        (tr.GDP(mu=0.01), GaussianReadings(mp.mpf(0.01))),
        (tr.Laplace(scale=2.0), LaplaceReadings(mp.mpf(1) / 2)),
        (tr.Laplace(scale=0.25), LaplaceReadings(mp.mpf(4))),
        (tr.RandomizedResponse(epsilon=0.5, neighbours="add_remove"), ResponseReadings(mp.mpf(1) / 2)),
        (tr.PureDP(epsilon=3.0), ResponseReadings(mp.mpf(3))),
    )


@pytest.mark.parametrize("place", range(len(FAMILIES) * cases(1, len(DIRECTIONS))))
def test_closed_forms(place: int) -> None:
    """All three are their own mirror image."""
    run, family = FAMILIES[place % len(FAMILIES)]
    asked = {"direction": DIRECTIONS[place % len(DIRECTIONS)]}
    with mp.workdps(DIGITS):
        powers = [family.tpr(mp.mpf(x)) if 0.0 < x < 1.0 else mp.mpf(x) for x in RATES]
        for power, f, g in zip(powers, run.tradeoff(RATES, **asked), run.tpr(RATES, **asked), strict=True):
            holds(g, power)
            holds(f, 1 - power)
            assert narrow(g)
            assert narrow(f)
        for x, found in zip(RATES[1:], run.posterior(0.25, RATES[1:], **asked), strict=True):
            holds(found, family.posterior(mp.mpf(0.25), mp.mpf(x)) if x < 1.0 else mp.mpf(0.25))
        for reading in (run.advantage, run.total_variation):
            holds(reading(**asked), family.advantage())
        for prior, found in zip(PRIORS, run.bayes_accuracy(PRIORS, **asked), strict=True):
            holds(found, family.bayes_accuracy(mp.mpf(prior)))
            assert narrow(found)
        for order in (1.0, 1.5, 8.0):
            holds(run.renyi(order, **asked), family.renyi(mp.mpf(order)))
        holds(run.mean_loss(**asked), family.renyi(mp.mpf(1)))
        holds(run.reconstruction(1e-9), family.tpr(mp.mpf(1e-9)))


def law(seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Masses in 64ths, some of them zero."""
    rng = random.Random(seed)
    size = rng.randint(2, 4)

    def masses() -> tuple[float, ...]:
        cuts = sorted(rng.randint(0, 64) for _ in range(size - 1))
        return tuple((high - low) / 64 for low, high in zip([0, *cuts], [*cuts, 64], strict=True))

    return masses(), masses()


def finite(seed: int) -> tuple[tr.Mechanism, Two]:
    """One to three uses, every other one sampled."""
    p, q = law(seed)
    count, rate = 1 + seed % 3, (1.0, 0.25)[seed % 2]
    run = tr.Finite(p=p, q=q) if rate == 1.0 else tr.Finite(p=p, q=q).poisson(rate=rate)
    return run * count, Two.of(p, q).sampled(rate).power(count)


@pytest.mark.parametrize("seed", range(cases(2, 60)))
def test_finite_laws(seed: int) -> None:
    run, two = finite(seed)
    for direction, truth in (("remove", two), ("add", two.reversed()), (None, two)):
        back, asked = truth.reversed(), {"direction": direction}
        corners = [float(fpr) for fpr, _ in truth.corners()[1:]]
        rates = (*RATES[1:], corners[seed % len(corners)])  # at the end of an atom, and between
        rates = rates if direction or FULL else rates[::2]
        found = run.tpr(rates, **asked), run.tradeoff(rates, **asked), run.posterior(0.125, rates, **asked)
        for x, g, f, after in zip(rates, *found, strict=True):
            power = truth.tpr(Fraction(x)) if direction else truth.symmetric_tpr(Fraction(x))
            holds(g, power)
            holds(f, 1 - power)
            holds(after, posterior(power, Fraction(1, 8), Fraction(x)))
        holds(run.tpr(0.0, **asked), truth.tpr(Fraction(0)) if direction else truth.symmetric_tpr(Fraction(0)))
        holds(run.advantage(**asked), truth.advantage())
        for prior, found in zip(PRIORS, run.bayes_accuracy(PRIORS, **asked), strict=True):
            values = [each.bayes_accuracy(Fraction(prior)) for each in (truth, back)]
            holds(found, values[0] if direction else max(values))
        for order in (0.5, 1.0, 2.5, math.inf):
            divergences = truth.renyi(order), back.renyi(order)
            holds(run.renyi(order, **asked), divergences[0] if direction else max(divergences))
        holds(run.mean_loss(**asked), truth.kl() if direction else max(truth.kl(), back.kl()))
    holds(run.reconstruction(0.03125), two.tpr(Fraction(1, 32)))


def test_processing_the_output_tells_less() -> None:
    fine = tr.Finite(p=[0.5, 0.25, 0.25], q=[0.125, 0.125, 0.75])
    coarse = tr.Finite(p=[0.75, 0.25], q=[0.25, 0.75])
    for x in RATES:
        assert coarse.tpr(x).lower <= fine.tpr(x).upper
    for name in ("advantage", "mean_loss"):
        assert getattr(coarse, name)().lower <= getattr(fine, name)().upper


def test_between_the_ends_of_an_atom_the_tradeoff_is_linear() -> None:
    """2 log 3 has the Q-mass 1/16, 0 the Q-mass 3/8."""
    run = tr.RandomizedResponse(p=0.75, neighbours="add_remove") * 2
    left, right = 0.0625, 0.4375
    for direction in ("remove", "add", None):
        xs = [left + (right - left) * k / 8 for k in range(9)]
        for k, found in enumerate(run.tradeoff(xs, direction=direction)):
            holds(found, Fraction(7, 16) - Fraction(3, 8) * Fraction(k, 8))
