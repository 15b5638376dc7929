"""The law in parts: what is rare cut off, and only what has a hit summed, against integrals that share no code."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf

import tightrope as tr
from tests.oracle import transforms
from tests.reference.integrals import stored
from tests.search import FULL
from tightrope.core.engines import saddle as contour_parts
from tightrope.core.engines import tuning
from tightrope.core.engines.contour import engine as contour
from tightrope.core.engines.contour.engine import tried
from tightrope.core.engines.contour.way import HITS, WHOLE, Approach, ContourLaw, ContourTarget, Fallen, log_product
from tightrope.core.engines.saddle import find_saddle
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.contour_sum import NodeSpectrum, contour_sum, hits, power, smooth
from tightrope.core.numerics.enclosures import exact
from tightrope.core.numerics.quadrature import Transform
from tightrope.core.values.question import Direction

# sigma, rate, epsilon: heavy single hits below and above a loss of 1, a law that is all but normal, and mild ones.
TWO_USES = [
    (3.53, 2.1e-5, 6.5e-4),
    (0.713, 2.5e-5, 0.8),
    (0.547, 0.0015, 5.87),
    (17.9, 0.0023, 0.0032),
    (1.42, 4.4e-5, 0.0037),
    (0.9, 0.3, 0.05),
    (1.59, 2.2e-4, 0.36),
]


SLOWEST = TWO_USES[4]  # 6 s in float64, 4 s in balls
SLOW_IN_BALLS = (TWO_USES[0], TWO_USES[1], TWO_USES[2], TWO_USES[6])  # 3 s each

Terms = list[tuple[Pair, int]]


def removal(expression: str) -> Terms:
    return [(part.pair(Direction.REMOVE), uses) for part, uses in tr.parse(expression).terms]


def sampled(sigma: float, rate: float, count: int) -> Terms:
    return removal(f"Gaussian(sigma={sigma!r}).poisson(rate={rate!r}) * {count}")


def two_uses(sigma: float, rate: float, epsilon: float) -> mpf:
    with mp.workdps(60):
        return mpf(stored("two sampled Gaussians", sigma, rate, epsilon))


def test_the_stored_integrals_are_computed_here() -> None:
    """The cheapest of them; the others by `python -m tests.reference.integrals`."""
    with mp.workdps(60):
        assert abs(transforms.two_uses(*TWO_USES[3]) / two_uses(*TWO_USES[3]) - 1) <= mpf("1e-39")


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), [case for case in TWO_USES if FULL or case != SLOWEST])
def test_two_uses(sigma: float, rate: float, epsilon: float) -> None:
    exact_delta = two_uses(sigma, rate, epsilon)
    for proof in (False, True) if FULL or (sigma, rate, epsilon) not in SLOW_IN_BALLS else (False,):
        found = contour.prepare(sampled(sigma, rate, 2), epsilon=epsilon, accuracy=1e-6, proof=proof).delta(epsilon)
        assert mpf(found.lower) <= exact_delta <= mpf(found.upper)
        assert found.upper - found.lower <= 1e-3 * found.upper


@pytest.mark.parametrize(
    ("expression", "delta"),
    [
        ("Gaussian(sigma=1).poisson(rate=1e-5) * 10 + Gaussian(sigma=0.6).poisson(rate=1e-4) * 10", 1e-15),
        ("Gaussian(sigma=0.5).poisson(rate=1e-4) * 20 + Laplace(scale=50)", 1e-9),
        ("Gaussian(sigma=0.7).poisson(rate=1e-5) * 40 + ApproximateDP(epsilon=0.1, delta=1e-20)", 1e-15),
    ],
)
def test_all_engines_overlap(expression: str, delta: float) -> None:
    """Mixed terms, an infinite mass: float64, balls and the lattice have a point in common."""
    mechanism = tr.parse(expression)
    asked = [
        mechanism.epsilon(delta, direction="remove", engine="contour"),
        mechanism.epsilon(delta, direction="remove", engine="lattice", accuracy=None if FULL else 1e-2),
    ]
    if FULL or "Laplace" in expression:  # the others take 4 s and 13 s
        asked.append(mechanism.epsilon(delta, direction="remove", engine="contour", proof=True))
    assert max(bound.lower for bound in asked) <= min(bound.upper for bound in asked)
    assert asked[0].upper - asked[0].lower <= 1e-5 * asked[0].upper


def cut_and_split(share: float) -> tuple[Approach, contour_parts.Parts, float]:
    """Two uses whose split lies at `share` of epsilon: for more than 1, hits that count are left to the body."""
    sigma, rate, epsilon = TWO_USES[1]
    cgfs = [(cgf_of(pair), count) for pair, count in sampled(sigma, rate, 2)]
    approach = Approach(ContourLaw(cgfs, arb(0)), ContourTarget(epsilon, None, None, 1e-6), HITS)
    log_left_out = math.log(1e-25)
    cut = contour_parts.cut_at(cgfs, log_left_out, 0)
    parts = contour_parts.split_at(cut, share * epsilon, epsilon, log_left_out, 8.0)
    return approach, contour_parts.with_body_bound(parts, epsilon)[0], epsilon


def test_body() -> None:
    """What is left to the body counts for a part of delta that one can see."""
    approach, parts, epsilon = cut_and_split(1.05)
    found = tried(approach, parts, find_saddle(parts, epsilon, None)).bound.delta(epsilon)
    exact_delta = two_uses(*TWO_USES[1])
    assert mpf(found.lower) <= exact_delta <= mpf(found.upper)
    assert mpf(found.lower) < 0.99 * exact_delta, "the body was too small to see"


@pytest.mark.parametrize("proof", [False, True])
def test_rare(monkeypatch: pytest.MonkeyPatch, proof: bool) -> None:
    """A cut far too low: what is rare counts for a part of delta that one can see."""
    monkeypatch.setattr(tuning, "LEFT_OUT", 3e5)
    monkeypatch.setattr(tuning, "CORRECTIONS_MAX", 1)
    sigma, rate, epsilon = TWO_USES[1]
    monkeypatch.setattr(contour, "ways_of", lambda law, quick: (HITS,))
    found = contour.prepare(sampled(sigma, rate, 2), epsilon=epsilon, accuracy=1e-6, proof=proof).delta(epsilon)
    exact_delta = two_uses(sigma, rate, epsilon)
    assert mpf(found.lower) <= exact_delta <= mpf(found.upper)
    assert mpf(found.lower) < 0.99 * exact_delta, "what is rare was too small to see"


@pytest.mark.parametrize(("claimed", "enough"), [(1.0, True), (0.4, False)])
@pytest.mark.parametrize("part", ["body", "hits"])
def test_hits_need_all_of_their_radius(part: str, claimed: float, enough: bool) -> None:
    """(A + B)^k - A^k from transforms that are off by e: the claimed error covers it, less than half of it does not."""
    count, error, ratio = 50, 1e-6, 1e-12
    body, hit = mpf("0.97"), mpf("0.5")
    off_body, off_hit = (error, 0.0) if part == "body" else (0.0, error)

    def near(value: mpf, off: float) -> Transform:
        moved = complex(value + off - 1)
        return Transform(np.array([moved]), np.array([claimed * off]), np.zeros(1))

    times = np.zeros(1)
    at_body, at_hits = near(body, off_body), near(hit, off_hit)
    found = hits(at_body, at_hits, exact(math.log(ratio)), exact(0.0), times, float(count))
    spectrum = NodeSpectrum(times, math.pi, exact(0.0), power(at_body, float(count)), found)
    value = contour_sum(spectrum, smooth(1.0, times), exact(0.0))
    with mp.workdps(50):
        small = hit * mp.exp(mpf(math.log(ratio)))
        truth = ((body + small) ** count - body**count) / 4
        assert bool(abs(truth - value.value) <= value.quadrature + value.rounding) is enough


@pytest.mark.parametrize("proof", [False, True])
def test_a_loose_accuracy(proof: bool) -> None:
    """What may be left out is never more than a part of delta."""
    bound = tr.parse("Gaussian(sigma=0.5).poisson(rate=1e-4) * 10").epsilon(1e-3, accuracy=0.1, proof=proof)
    sharp = tr.parse("Gaussian(sigma=0.5).poisson(rate=1e-4) * 10").epsilon(1e-3)
    assert bound.lower <= sharp.upper
    assert sharp.lower <= bound.upper


def test_a_term_whose_hits_lie_beyond_its_law() -> None:
    """The common loss of the split leaves nothing of a weak term to hit."""
    expression = (
        "Gaussian(sigma=1.0305950883706947).poisson(rate=0.05873214221750066) * 233"
        " + Gaussian(sigma=3.84279287491264).poisson(rate=0.00011064591267859314) * 6"
    )
    try:
        bound = tr.parse(expression).delta(14.686399548705085, accuracy=1e-13)
    except tr.AccuracyNotReached as refusal:
        bound = refusal.bound
    sharp = tr.parse(expression).delta(14.686399548705085)
    assert bound.lower <= sharp.upper
    assert sharp.lower <= bound.upper


@pytest.mark.parametrize("proof", [False, True])
def test_a_saddle_that_promises_too_much(proof: bool) -> None:
    """A log delta above 0 would ask for a negative step, and a bound of the decay before it begins."""
    terms = removal("Gaussian(sigma=1) + Laplace(scale=2)")
    cgfs = [(cgf_of(pair), count) for pair, count in terms]
    approach = Approach(ContourLaw(cgfs, arb(0)), ContourTarget(1.0, None, None, 1e-6, proof), WHOLE)
    parts = contour_parts.Parts(cgfs)
    saddle = dataclasses.replace(find_saddle(parts, 1.0, None), log_delta=30.0)
    bound = tried(approach, parts, saddle).bound
    found = bound.delta(1.0)
    sharp = tr.parse("Gaussian(sigma=1) + Laplace(scale=2)").delta(1.0, direction="remove", engine="lattice")
    assert found.lower <= sharp.upper
    assert sharp.lower <= found.upper
    assert bound.nodes.plan.height > 0.0


def test_bounds_of_many_hits_do_not_stop_growing() -> None:
    few, many = (log_product((Fallen(0.0, count, 0.5),)) for count in (1000, 4000))
    assert many > few + 2900.0
    assert log_product((Fallen(-2000.0, 5, 0.5),)) > -math.inf
