"""The same noise at several times its shift is the pair of that sensitivity, whatever a double can hold."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, fmpq

from tightrope import (
    GDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    RandomizedResponse,
    TruncatedGaussian,
    TruncatedLaplace,
)
from tightrope.core.losses.operators.registered import shifted_pair
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.enclosures import exact
from tightrope.core.numerics.rounding import exact_product
from tightrope.core.values.question import Direction


def shifted(mechanism: Mechanism, times: int) -> Pair | None:
    return shifted_pair(mechanism.pair(Direction.REMOVE), times)


@pytest.mark.parametrize(
    ("one", "several"),
    [
        (Gaussian(sigma=2, sensitivity=0.5), Gaussian(sigma=2, sensitivity=1.5)),
        (GDP(mu=0.25), GDP(mu=0.75)),
        (Laplace(scale=3, sensitivity=2), Laplace(scale=3, sensitivity=6)),
        (DiscreteGaussian(sigma=3, sensitivity=2), DiscreteGaussian(sigma=3, sensitivity=6)),
        (DiscreteLaplace(scale=3), DiscreteLaplace(scale=3, sensitivity=3)),
        (Exponential(epsilon=0.5), Exponential(epsilon=1.5)),
        (TruncatedGaussian(sigma=3, bounds=[-9, 9]), TruncatedGaussian(sigma=3, bounds=[-9, 9], sensitivity=3)),
        (TruncatedLaplace(scale=3, bounds=[-9, 9]), TruncatedLaplace(scale=3, bounds=[-9, 9], sensitivity=3)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_it_is_the_pair_of_the_longer_shift(one: Mechanism, several: Mechanism) -> None:
    assert shifted(one, 3) == several.pair(Direction.REMOVE)
    assert shifted(one, 1) == one.pair(Direction.REMOVE)


@pytest.mark.parametrize(
    "mechanism",
    [
        RandomizedResponse(epsilon=1, categories=3),
        Exponential(epsilon=0.1),  # three times 0.1 is no double
        TruncatedGaussian(sigma=3, bounds=[-9, 8]),
        TruncatedLaplace(scale=3, bounds=[-9, 9], mode="clamp"),
        TruncatedLaplace(scale=3, bounds=[-9, 9], sensitivity=0.1),
    ],
    ids=str,
)
def test_what_is_no_shift_of_symmetric_noise_declines(mechanism: Mechanism) -> None:
    assert shifted(mechanism, 3) is None
    assert shifted(mechanism, 1) == mechanism.pair(Direction.REMOVE)


@pytest.mark.parametrize("times", [3, 7, 10**6 + 3, 2**60 + 1])
def test_a_shift_that_is_no_double_is_not_rounded(times: int) -> None:
    """Of 0.1 and an odd number: mu and the edge of the loss are those of the exact product."""
    assert exact_product(0.1, times) is None
    wide = Fraction(0.1) * times
    with working_precision(256):
        exactly = arb(fmpq(wide.numerator, wide.denominator))
        gaussian, laplace = (shifted(each, times) for each in (Gaussian(5, 0.1), Laplace(5, 0.1)))
        assert gaussian is not None
        assert laplace is not None
        mu = gaussian.ball_mu()  # type: ignore[attr-defined]
        edge = laplace.loss_range().highest
        for found in (mu, edge):
            assert found.overlaps(exactly / 5)
            assert found.rad() < exactly * arb(2) ** -240
        if times < 1000:
            for pair in (gaussian, laplace):
                exact_hockey_stick = pair.ball_hockey_stick(arb(0.01))
                floats = pair.hockey_stick(exact([0.01]))
                assert arb(float(floats.lower[0])) <= exact_hockey_stick <= arb(float(floats.upper[0]))


def test_shifts_of_shifts_multiply() -> None:
    for mechanism in (Gaussian(5, 0.1), Laplace(5, 0.1)):
        once = shifted(mechanism, 21)
        twice = shifted(mechanism, 3)
        assert once is not None
        assert twice is not None
        assert shifted_pair(twice, 7) == once
