"""Corners of the closed forms: losses that cannot be told apart in doubles, and losses beyond them."""

from __future__ import annotations

import math

import mpmath
import pytest

import tightrope as tr


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "truth"),
    [
        (tr.PureDP(epsilon=1e300).poisson(rate=0.5), 1.0, 0.5),
        (tr.RandomizedResponse(epsilon=1e155, categories=3, neighbours="add_remove").poisson(rate=0.25), 0.1, 0.25),
        (tr.DiscreteLaplace(scale=1e-80).poisson(rate=0.25), 0.1, 0.25),
        (tr.ApproximateDP(epsilon=1e155, delta=0.1).poisson(rate=0.5), 1.0, 0.5),
    ],
    ids=repr,
)
def test_losses_beyond_doubles(mechanism: tr.Mechanism, epsilon: float, truth: float, proof: bool) -> None:
    assert truth in mechanism.delta(epsilon, direction="remove", proof=proof)


@pytest.mark.parametrize("proof", [False, True])
def test_two_losses_in_one_double(proof: bool) -> None:
    p = (0.02636989307456735, 0.026369893074567347, 0.9472602138508652, 7.28583859910259e-17)
    for order in ((0, 1, 2, 3), (1, 0, 2, 3)):
        q = (2.0**-24, 2.0**-24, 0.5, 0.5 - 2.0**-23)
        mechanism = tr.Finite(p=[p[i] for i in order], q=[q[i] for i in order])
        bound = mechanism.delta(13.0, direction="remove", proof=proof)
        with mpmath.workdps(60):
            alpha = mpmath.exp(13)
            total = sum(map(mpmath.mpf, p))
            truth = sum(max(mpmath.mpf(a) / total - alpha * mpmath.mpf(b), 0) for a, b in zip(p, q, strict=True))
            assert 2.7e-18 < truth < 2.8e-18
            assert mpmath.mpf(bound.lower) <= truth <= mpmath.mpf(bound.upper)


def test_binomial_tail_orders_by_proof() -> None:
    p1 = 0.25
    q1 = p1 * 2.0**-20
    p2, q2 = math.nextafter(0.75 - 2.0**-20, 1.0), (0.75 - 2.0**-20) * 2.0**-20
    for one, other in (((p1, q1), (p2, q2)), ((p2, q2), (p1, q1))):
        pair = tr.Finite(p=[1 - p1 - p2, one[0], other[0], 0.0], q=[0.0, one[1], other[1], 1 - q1 - q2])
        assert 1.0 in (pair * 20000).delta(1.0, direction="remove", proof=True)


@pytest.mark.parametrize(
    ("mechanism", "truth"),
    [
        (tr.TruncatedGaussian(sigma=1e-5, bounds=(-1.0, 5.0), mode="clamp"), 4.5e10),
        (tr.Laplace(scale=1e-300, sensitivity=1e300).poisson(rate=0.5), math.nextafter(math.inf, 0.0)),
    ],
    ids=repr,
)
def test_a_supremum_that_is_not_known_is_not_infinite(mechanism: tr.Mechanism, truth: float) -> None:
    assert mechanism.epsilon(0.0, direction="remove").lower <= truth * (1 + 1e-6)
