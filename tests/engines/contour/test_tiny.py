"""Sampled Gaussians with much noise or tiny rates at a small delta: epsilon may be 1e-11, and the tilt 1e13.

The whole law has no saddle there that a contour could use: outputs far rarer than delta rule it, and are cut off.
"""

from __future__ import annotations

import math
import random

import mpmath as mp
import pytest

import tightrope as tr
from tests.engines.test_chernoff import bound, gaussian_delta
from tests.reference.integrals import stored
from tests.search import cases
from tightrope.core.engines.contour import engine as contour
from tightrope.core.engines.planner import meets
from tightrope.core.engines.saddle import delta_above
from tightrope.core.values.question import Direction

KNOWN = [
    (3045.03, 1.2232542933129984e-08, 5, 5.2322205090767314e-55),
    (1793.335, 6.607017769695371e-12, 33415, 2.5143921376407905e-55),
    (18030.876, 7.647889981740033e-08, 203, 4.06576376103826e-35),
    (437.5398, 9.755838500538873e-07, 1043, 6.081594754075477e-11),
    (5615.0467, 3.89792596133033e-11, 49154, 1.896857389381658e-14),
    (4.68199, 5.19979991121221e-12, 272, 2.4738304723483455e-30),
    (583973.36, 1.9757339311347356e-09, 138446, 8.517180716178322e-36),
    (901609.0857, 0.0003654882, 63, 4.49e-15),
    (7998.7568, 0.00069679, 6831, 2.03e-14),
]


def drawn(cases: int) -> list[tuple[float, float, int, float]]:
    """sigma, rate, count and delta, log-uniform."""
    source = random.Random(12)
    ends = ((30.0, 1e6), (1e-11, 1e-4), (2.0, 1e6), (1e-58, 1e-14))
    logs = [[math.exp(source.uniform(math.log(low), math.log(high))) for low, high in ends] for _ in range(cases)]
    return [(sigma, rate, round(count), delta) for sigma, rate, count, delta in logs]


def uses(sigma: float, rate: float, count: int) -> tr.Mechanism:
    return tr.Gaussian(sigma=sigma).poisson(rate=rate) * count


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), KNOWN + drawn(cases(1, 20)))
def test_narrow_and_both_arithmetics_overlap(sigma: float, rate: float, count: int, delta: float) -> None:
    found, proven = (uses(sigma, rate, count).epsilon(delta, proof=proof) for proof in (False, True))
    assert found.lower <= proven.upper
    assert proven.lower <= found.upper
    assert meets(found.lower, found.upper, 1e-6, "epsilon")


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "delta"),
    [(4.653791, 1.0614e-07, 3, 9.96e-59), (0.3378, 0.0028646, 8, 5e-34)][: cases(1, 2)],
)
def test_hits_that_join(sigma: float, rate: float, count: int, delta: float) -> None:
    """Few uses decide, and more than one of them; delta on both sides agrees."""
    mechanism = uses(sigma, rate, count)
    found = mechanism.epsilon(delta)
    assert meets(found.lower, found.upper, 1e-6, "epsilon")
    above, below = (mechanism.delta(epsilon) for epsilon in (found.lower, found.upper))
    assert above.upper >= delta >= below.lower


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), [KNOWN[0], KNOWN[2], KNOWN[6]])
def test_questions_for_delta(sigma: float, rate: float, count: int, delta: float, direction: Direction) -> None:
    """delta at an epsilon on either side of the answer is on the other side of the delta that was asked."""
    mechanism = uses(sigma, rate, count)
    found = mechanism.epsilon(delta, direction=direction.value)
    above, below = (mechanism.delta(found.upper * part, direction=direction.value) for part in (1.0 - 1e-6, 1.0 + 1e-6))
    assert above.lower > delta > below.upper
    assert meets(above.lower, above.upper, 1e-5, "delta")


def single_delta(sigma: float, rate: float, epsilon: mp.mpf) -> mp.mpf:
    """delta of one use that is removed, at any epsilon: P - e^eps Q beyond the x whose loss is epsilon."""
    mu, excess = 1 / mp.mpf(sigma), mp.expm1(epsilon) + mp.mpf(rate)
    if excess <= 0:
        return -mp.expm1(epsilon)
    x = (mp.log(excess / mp.mpf(rate)) + mu * mu / 2) / mu
    return mp.mpf(rate) * mp.ncdf(mu - x) - excess * mp.ncdf(-x)


def two_uses(sigma: float, rate: float, epsilon: float) -> mp.mpf:
    """E_P of the delta of one use at what the other leaves, by a plain sum: for bells it errs by e^(-pi^2/step^2)."""

    def integrand(x: mp.mpf) -> mp.mpf:
        mu = 1 / mp.mpf(sigma)
        gain = mp.mpf(rate) * mp.expm1(mu * x - mu * mu / 2)
        return mp.npdf(x) * (1 + gain) * single_delta(sigma, rate, mp.mpf(epsilon) - mp.log1p(gain))

    with mp.workdps(60):
        return mp.fsum(integrand(mp.mpf(place) / 5) for place in range(-5 * 25, 5 * 45)) / 5


NOISY = [(3e5, 1e-9), (2000.0, 1e-4), (60.0, 1e-11), (40.0, 1e-6)]
HOW_FAR = [(1.0, True), (16.0, False), (1.0, False), (16.0, True), (8.0, False), (8.0, True)]


@pytest.mark.parametrize(
    ("sigma", "rate", "places", "proof"),
    [(*each, *far) for each in NOISY for far in HOW_FAR][
        :: cases(7, 1)
    ],  # each once, near and far, in both arithmetics
)
def test_one_and_two_uses(sigma: float, rate: float, places: float, proof: bool) -> None:
    """Next to the exact delta, at an epsilon of so many standard deviations of one loss."""
    epsilon = places * rate / sigma
    pair = tr.Gaussian(sigma=sigma).poisson(rate=rate).pair(Direction.REMOVE)
    with mp.workdps(60):
        both = mp.mpf(stored("two noisy samples", sigma, rate, epsilon))
        for count, exact in ((1, single_delta(sigma, rate, mp.mpf(epsilon))), (2, both)):
            found = contour.prepare([(pair, count)], epsilon=epsilon, accuracy=1e-6, proof=proof).delta(epsilon)
            assert mp.mpf(found.lower) <= exact <= mp.mpf(found.upper)
            assert found.upper - found.lower <= 1e-5 * found.upper


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), [case for case in KNOWN + drawn(20) if case[0] > 1e4])
def test_nearly_gaussian(sigma: float, rate: float, count: int, delta: float) -> None:
    """With much noise all uses together are a Gaussian of shift rate sqrt(count)/sigma, up to some parts of 1/sigma."""
    found = uses(sigma, rate, count).epsilon(delta)
    shift = rate * math.sqrt(count) / sigma
    with mp.workdps(80):
        assert gaussian_delta(shift, found.lower * (1.0 - 60.0 / sigma)) > delta
        assert gaussian_delta(shift, found.upper * (1.0 + 60.0 / sigma)) < delta


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), KNOWN[:3])
def test_moments_without_what_is_rare(sigma: float, rate: float, count: int, delta: float) -> None:
    """The bound by a moment is of use there too, and not below delta."""
    mechanism = uses(sigma, rate, count)
    epsilon = mechanism.epsilon(delta).upper
    terms = [(part.pair(Direction.REMOVE), count) for part, count in mechanism.terms]
    above = delta_above(terms, epsilon, 0.0, delta)
    assert mechanism.delta(epsilon).lower <= above <= 1e3 * delta
    assert bound(mechanism, epsilon, Direction.ADD) <= 1e3 * delta
