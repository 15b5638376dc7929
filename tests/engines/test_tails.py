"""Tails and quantiles of compositions against enumeration, integrals and the normal law."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import pytest

import tightrope as tr
from tests.oracle.enumeration import Outcomes, composed, sampled
from tightrope.core.engines import loss_tails as tails
from tightrope.core.engines.selection import CLOSED_FORM, Candidate
from tightrope.core.values.question import Question

mpmath.mp.dps = 60


def above(outcomes: Outcomes, t: float) -> Fraction:
    """P[l > t]: a ratio other than 1 is told from e^t by 60 digits."""
    return sum((p for p, q in outcomes if p and (not q or (t < 0 if p == q else log_ratio(p, q) > t))), Fraction(0))


def log_ratio(p: Fraction, q: Fraction) -> mpmath.mpf:
    return mpmath.log(mpmath.mpf(p.numerator) * q.denominator / (mpmath.mpf(q.numerator) * p.denominator))


def law(p: tuple[float, ...], q: tuple[float, ...]) -> Outcomes:
    return tuple((Fraction(a), Fraction(b)) for a, b in zip(p, q, strict=True))


def atoms(outcomes: Outcomes) -> list[float]:
    return sorted({float(log_ratio(p, q)) for p, q in outcomes if p and q})


FINITE = {
    "response": (tr.RandomizedResponse(p=0.75, neighbours="add_remove"), law((0.75, 0.25), (0.25, 0.75))),
    "skewed": (tr.Finite(p=(0.5, 0.25, 0.25), q=(0.25, 0.5, 0.25)), law((0.5, 0.25, 0.25), (0.25, 0.5, 0.25))),
    "unrelated": (tr.Finite(p=(0.5, 0.375, 0.125), q=(0.25, 0.25, 0.5)), law((0.5, 0.375, 0.125), (0.25, 0.25, 0.5))),
    "leaking": (
        tr.Finite(p=(0.5, 0.25, 0.25, 0.0), q=(0.25, 0.625, 0.0, 0.125)),
        law((0.5, 0.25, 0.25, 0.0), (0.25, 0.625, 0.0, 0.125)),
    ),
}


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("rate", [1.0, 0.125])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_finite_laws(name: str, count: int, rate: float, direction: str) -> None:
    mechanism, outcomes = FINITE[name]
    if rate < 1.0:
        mechanism, outcomes = mechanism.poisson(rate=rate), sampled(outcomes, Fraction(rate))
    if direction == "add":
        outcomes = tuple((q, p) for p, q in outcomes)
    total, run = composed([(outcomes, count)]), mechanism * count
    points = [-1e6, 1e6, 0.0, 5e-324, -5e-324]
    for loss in random.Random(count).sample(atoms(total), 3):
        points += [loss, math.nextafter(loss, -math.inf), math.nextafter(loss, math.inf)]
    found, under = run.pdp(points, direction=direction), run.loss_cdf(points, direction=direction)
    for t, bound, other in zip(points, found, under, strict=True):
        truth = above(total, t)
        assert bound.lower <= truth <= bound.upper, (t, bound, float(truth))
        assert other.lower <= 1 - truth <= other.upper, (t, other, float(1 - truth))
        # Without a lattice, ratios that cancel are not told from 0.
        assert bound.width < 1e-12 or (abs(t) < 1e-9 and name in ("unrelated", "leaking")), (t, bound)


@pytest.mark.parametrize("engine", ["closed_form", "contour", "lattice", "buckets"])
@pytest.mark.parametrize("t", [-1.5, -1.0986122886681098, 0.0, 0.5, 2.0])
def test_every_engine_holds_it(engine: str, t: float) -> None:
    outcomes = law((0.75, 0.25), (0.25, 0.75))
    truth = above(composed([(outcomes, 8)]), t)
    found = (tr.RandomizedResponse(p=0.75, neighbours="add_remove") * 8).pdp(t, engine=engine)
    assert found.lower <= truth <= found.upper
    assert found.width < (1e-6 if engine != "buckets" else 0.3), found


def test_gaussians_are_normal() -> None:
    run = tr.Gaussian(sigma=2.0) * 3 + tr.GDP(mu=0.5)
    variance = mpmath.mpf(3) / 4 + mpmath.mpf(1) / 4
    for t in (-1e6, -40.0, -1.0, 0.0, 0.7, 5.0, 37.0, 1e6):
        beyond = (mpmath.mpf(t) - variance / 2) / mpmath.sqrt(variance)
        for found, truth in ((run.pdp(t), mpmath.ncdf(-beyond)), (run.loss_cdf(t), mpmath.ncdf(beyond))):
            assert found.lower <= truth <= found.upper
            assert found.width <= max(1e-15 * found.upper, 1e-320)
    for p in (1e-300, 1e-9, 0.5, 1.0 - 2.0**-53):
        found = run.loss_quantile(p, accuracy=1e-9)
        low, high = (
            mpmath.ncdf((mpmath.mpf(end) - variance / 2) / mpmath.sqrt(variance)) for end in (found.lower, found.upper)
        )
        assert low <= p <= high


def laplaces(t: float) -> mpmath.mpf:
    """P[l1 + l2 > t] of two Laplace losses of reach 1, by the law of the first: atoms 1/2 and e^-1/2, and a density."""

    def single(x: mpmath.mpf) -> mpmath.mpf:
        if x >= 1:
            return mpmath.mpf(0)
        return mpmath.mpf(1) if x < -1 else 1 - mpmath.exp((x - 1) / 2) / 2

    ends = sorted({mpmath.mpf(-1), mpmath.mpf(1), *(x for x in (mpmath.mpf(t) - 1, mpmath.mpf(t) + 1) if -1 < x < 1)})
    middle = mpmath.quad(lambda x: mpmath.exp((x - 1) / 2) / 4 * single(t - x), ends)
    return single(mpmath.mpf(t) - 1) / 2 + mpmath.exp(-1) / 2 * single(mpmath.mpf(t) + 1) + middle


@pytest.mark.parametrize("t", [-2.0, -1.999, -1.0, -1e-9, 0.0, 1e-9, 0.5, 1.0, 1.999, 2.0])
def test_two_laplaces(t: float) -> None:
    run = tr.Laplace(scale=1.0) * 2
    found, truth = run.pdp(t), laplaces(t)
    assert found.lower - 1e-25 <= truth <= found.upper + 1e-25
    assert found.width < 1e-12


@pytest.mark.parametrize("t", [-1.0, 0.25])
def test_two_laplaces_on_a_grid(t: float) -> None:
    found = (tr.Laplace(scale=1.0) * 2).pdp(t, engine="lattice", seconds=2.0)
    assert found.lower <= laplaces(t) <= found.upper
    assert found.width < 1e-3


def two_sampled(t: float, rate: float, remove: bool) -> mpmath.mpf:
    """P[l1 + l2 > t] for two Poisson-sampled Gaussians of sigma 1, by quadrature over the first output."""
    r = mpmath.mpf(rate)

    def tail(loss: mpmath.mpf) -> mpmath.mpf:
        ratio = mpmath.exp(loss if remove else -loss)
        if ratio <= 1 - r:
            return mpmath.mpf(1 if remove else 0)
        x = mpmath.log((ratio - 1 + r) / r) + mpmath.mpf(1) / 2  # where 1 - r + r e^(x - 1/2) is the ratio
        return (1 - r) * mpmath.ncdf(-x) + r * mpmath.ncdf(1 - x) if remove else mpmath.ncdf(x)

    def weighted(x: mpmath.mpf) -> mpmath.mpf:
        ratio = 1 - r + r * mpmath.exp(x - mpmath.mpf(1) / 2)
        density = mpmath.npdf(x) * (ratio if remove else 1)
        return density * tail(t - (1 if remove else -1) * mpmath.log(ratio))

    with mpmath.workdps(25):
        return mpmath.quad(weighted, [-14, -6, -3, -1, 0, 1, 2, 3, 4, 6, 9, 14])


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("t", [-0.3, 1.0])
def test_two_sampled_gaussians(t: float, direction: str) -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.25) * 2
    truth = two_sampled(t, 0.25, direction == "remove")
    found = run.pdp(t, direction=direction, seconds=2.0)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.width < 1e-6


def test_outlines_below_zero_are_about_the_number_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """However sharp an outline is: a loss between t < 0 and 0 counts, and none is read at 0 instead."""
    rest = math.ldexp(1.0, -13)
    mechanism = tr.Finite(p=(0.5, 0.125, 0.375), q=(0.5 + rest, 0.375, 0.125 - rest))
    terms = ((mechanism.pair(tr.Direction.REMOVE), 1),)
    monkeypatch.setattr(
        tails.fallback_bounds, "prepare", lambda terms, proof: Candidate(CLOSED_FORM, "ball").prepare(terms, math.inf)
    )
    found = tails.LossTails(terms, Question("pdp"))._first._fall_back(-5e-4, None, tails.Wish(1e-6))
    assert found.lower <= 0.875 <= found.upper
