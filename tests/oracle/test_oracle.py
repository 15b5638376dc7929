"""The oracle against integrals, enumerations and itself: two ways to each number."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb

from tests.oracle.continuous import Gaussian, Laplace
from tests.oracle.discrete_gaussian import DiscreteGaussian
from tests.oracle.exponentials import sign
from tests.oracle.finite import DiscreteLaplace, Histogram, Leaky, Product, response
from tests.oracle.fold import GaussianFold, Mixture, ResponseFold
from tests.oracle.laplace_fold import LaplaceFold
from tests.oracle.precision import ball, precision
from tests.oracle.truth import Law, Ratio, Truth

DIRECTIONS = ("remove", "add")


def close(value: arb, other: object, digits: int = 25) -> bool:
    with precision(300):
        return (
            abs(value - arb(mp.nstr(other, 60) if isinstance(other, mp.mpf) else other))
            <= abs(value) * arb(10) ** -digits
        )


def mixed(p: mp.mpf, q: mp.mpf, rate: float, direction: str) -> tuple[mp.mpf, mp.mpf]:
    mixture = (1 - mp.mpf(rate)) * q + mp.mpf(rate) * p
    return (mixture, q) if direction == "remove" else (q, mixture)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", (1.0, 0.3))
@pytest.mark.parametrize(
    "law, density, ends",
    (
        (Gaussian(1.5, 2.0), lambda x: mp.npdf(x, 0, mp.mpf("1.5")), (-30, 30)),
        (Laplace(2.0, 1.0), lambda x: mp.exp(-abs(x) / 2) / 4, (-200, 200)),
    ),
)
def test_noise_against_the_integral_over_outputs(
    law: Law, density: object, ends: tuple, rate: float, direction: str
) -> None:
    epsilon = 0.0625
    shift = mp.mpf(law.sensitivity)
    with mp.workdps(40):

        def excess(x: mp.mpf) -> mp.mpf:
            first, second = mixed(density(x - shift), density(x), rate, direction)
            return first - mp.exp(epsilon) * second

        crossing = mp.findroot(excess, (shift / 2 - mp.mpf("0.3"), shift / 2 + mp.mpf("0.4")), solver="anderson")
        points = sorted({mp.mpf(ends[0]), mp.mpf(0), shift, crossing, mp.mpf(ends[1]), mp.mpf(-5), mp.mpf(5)})
        whole = mp.quad(lambda x: max(excess(x), mp.mpf(0)), points)
        assert close(Truth(law, rate, direction).delta(epsilon), whole, 20)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", (1.0, 0.3))
@pytest.mark.parametrize("sensitivity", (1, 3))
def test_integer_noise_against_the_sum_over_outputs(sensitivity: int, rate: float, direction: str) -> None:
    epsilon = 0.125
    with mp.workdps(40):
        for law, weight, reach in (
            (DiscreteGaussian(2.5, sensitivity), lambda x: mp.exp(-(mp.mpf(x) ** 2) / mp.mpf("12.5")), 60),
            (DiscreteLaplace(2.0, sensitivity), lambda x: mp.exp(-mp.mpf(abs(x)) / 2), 260),
        ):
            total = mp.fsum(weight(x) for x in range(-reach, reach + 1))
            excess = []
            for x in range(-reach, reach + 1):
                first, second = mixed(weight(x - sensitivity) / total, weight(x) / total, rate, direction)
                excess.append(max(first - mp.exp(epsilon) * second, mp.mpf(0)))
            assert close(Truth(law, rate, direction).delta(epsilon), mp.fsum(excess))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", (1, Fraction(1, 3), 0))
@pytest.mark.parametrize(
    "law",
    (
        Histogram((0.5, 0.25, 0.25, 0.0, 0.0), (0.25, 0.25, 0.0, 0.5, 0.0)),
        response(0.75),
        response(0.125, categories=5),
        response(0),
        response(1, categories=3),
    ),
)
def test_histograms_in_rationals(law: Histogram, rate: Fraction, direction: str) -> None:
    # e^0 = 1, so that delta(0) is rational: half the distance between the two laws.
    distance = sum(abs(Fraction(p) - Fraction(q)) for p, q in zip(law.p, law.q, strict=True)) / 2
    assert Truth(law, rate, direction).delta(0).overlaps(ball(rate * distance))
    truth = Truth(law, rate, direction)
    p_above, q_above, p_below, q_below = truth.tails(0.0)
    mixture = [(1 - rate) * Fraction(q) + rate * Fraction(p) for p, q in zip(law.p, law.q, strict=True)]
    pairs = list(zip(mixture, map(Fraction, law.q), strict=True))
    pairs = pairs if direction == "remove" else [(q, p) for p, q in pairs]
    with precision(200):
        assert p_above.overlaps(ball(sum((p for p, q in pairs if p > q), Fraction(0))))
        assert q_above.overlaps(ball(sum((q for p, q in pairs if p > q), Fraction(0))))
        assert p_below.overlaps(ball(sum((p for p, q in pairs if p <= q), Fraction(0))))
        assert q_below.overlaps(ball(sum((q for p, q in pairs if p <= q), Fraction(0))))
    assert truth.infinite_mass() == sum((p for p, q in pairs if not q), Fraction(0))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_leaky_response_in_rationals(direction: str) -> None:
    # Odds of e^0 : 1 make every mass rational.
    law = Leaky(0, Fraction(1, 8), categories=4)
    assert Truth(law, 1, direction).delta(0).overlaps(ball(Fraction(1, 8)))
    assert Truth(law, Fraction(1, 2), direction).delta(0).overlaps(ball(Fraction(1, 16)))
    assert Truth(law, Fraction(1, 2), "remove").infinite_mass() == Fraction(1, 16)
    assert Truth(law, Fraction(1, 2), "add").infinite_mass() == 0
    assert Truth(law, Fraction(1, 2), "add").delta(1).is_zero()


def test_product_against_enumeration() -> None:
    one, two = Histogram((0.5, 0.5, 0.0), (0.25, 0.5, 0.25)), Histogram((0.75, 0.125, 0.125), (0.5, 0.5, 0.0))
    law = Product(((one, 3), (two, 2)))
    total = Fraction(0)
    for outcome in itertools.product(range(3), repeat=5):
        p = q = Fraction(1)
        for place, index in enumerate(outcome):
            source = one if place < 3 else two
            p, q = p * Fraction(source.p[index]), q * Fraction(source.q[index])
        total += max(p - q, Fraction(0))
    assert Truth(law).delta(0).overlaps(ball(total))
    assert law.alone() == (1 - Fraction(7, 8) ** 2, 1 - Fraction(3, 4) ** 3)


def test_binomial_sum_is_the_product() -> None:
    for epsilon in (0.0, 0.3, 0.5, 1.25, 2.5, 4.0):
        product = Truth(Product(((Leaky(0.25, 0.001), 10),))).delta(epsilon)
        assert ResponseFold(Ratio(Fraction(1), Fraction(0.25)), 0.001, 10).delta(epsilon).overlaps(product)
        odds = Fraction(0.625) / Fraction(0.375)
        other = Truth(Product(((response(0.625), 9),))).delta(epsilon)
        assert ResponseFold(Ratio(odds), 0, 9).delta(epsilon).overlaps(other)


def test_one_use_of_each_fold_is_the_single_use() -> None:
    for epsilon in (0.0, 0.1, 0.4375, 0.5, 3.0):
        assert LaplaceFold(((2.0, 1.0, 1),)).delta(epsilon).overlaps(Truth(Laplace(2.0, 1.0)).delta(epsilon))
        assert GaussianFold(((2.0, 1.0, 1),)).delta(epsilon).overlaps(Truth(Gaussian(2.0, 1.0)).delta(epsilon))
        assert GaussianFold(((2.0, 1.0, 4),)).delta(epsilon).overlaps(Truth(Gaussian(1.0, 1.0)).delta(epsilon))


def test_two_laplace_uses_against_the_integral() -> None:
    truth, epsilon = Truth(Laplace(2.0, 1.0)), 0.375
    with mp.workdps(30):

        def inner(x: mp.mpf) -> mp.mpf:
            loss = max(min((2 * x - 1) / 2, mp.mpf(1) / 2), -mp.mpf(1) / 2)
            value = truth.delta(Fraction(int(mp.floor((epsilon - loss) * 2**120)), 2**120))
            return mp.exp(-abs(x - 1) / 2) / 4 * mp.mpf(value.mid().str(40, radius=False))

        ends = sum(
            mass * mp.mpf(truth.delta(Fraction(epsilon) - loss).mid().str(40, radius=False))
            for mass, loss in ((mp.mpf(1) / 2, Fraction(1, 2)), (mp.exp(-mp.mpf(1) / 2) / 2, Fraction(-1, 2)))
        )
        # The integrand has a kink where the second use's loss must exceed its range.
        whole = ends + mp.quad(inner, [0, mp.mpf(3) / 8, mp.mpf(7) / 8, 1])
        assert close(LaplaceFold(((2.0, 1.0, 2),)).delta(epsilon), whole, 15)


def test_laplace_uses_in_any_order() -> None:
    for epsilon in (-0.5, 0.0, 0.3, 0.9):
        first, second = (2.0, 1.0, 2), (5.0, 1.0, 1)
        assert LaplaceFold((first, second)).delta(epsilon).overlaps(LaplaceFold((second, first)).delta(epsilon))


def test_laplace_with_response_is_a_mixture() -> None:
    fold = Mixture(Leaky(0.0, 0.25), LaplaceFold(((2.0, 1.0, 3),)))
    with precision(200):
        plain = LaplaceFold(((2.0, 1.0, 3),)).delta(0.5) * 3 / 4 + arb(1) / 4
    assert fold.delta(0.5).overlaps(plain)


def test_gaussian_with_response_is_a_mixture_of_gaussians() -> None:
    # A response with odds 1 : 1 adds nothing; one that always leaks gives everything away.
    fold = GaussianFold(((2.0, 1.0, 4),), Leaky(0.0, 0.25))
    with precision(200):
        plain = GaussianFold(((1.0, 1.0, 1),)).delta(0.5) * 3 / 4 + arb(1) / 4
    assert fold.delta(0.5).overlaps(plain)


def test_epsilon_inverts_delta() -> None:
    for truth in (Truth(Gaussian(1.0)), Truth(Laplace(2.0), 0.25, "add"), Truth(DiscreteLaplace(2.0, 3), 0.5)):
        epsilon = truth.epsilon(1e-3)
        assert epsilon is not None
        with precision(300):
            low, high = (Fraction(int(end.fmpq().p), int(end.fmpq().q)) for end in (epsilon.lower(), epsilon.upper()))
        assert truth.delta(low) >= 1e-3 >= truth.delta(high)


def test_exact_ties() -> None:
    assert sign([(Fraction(1), Fraction(1, 2)), (Fraction(-1), Fraction(1, 2))]) == 0
    assert sign([(Fraction(1), Fraction(1, 2)), (Fraction(-1), Fraction(1, 2) + Fraction(1, 10**300))]) == -1
    assert Truth(Laplace(2.0)).delta(0.5).is_zero()
    assert Truth(Leaky(0.7)).delta(0.7).is_zero()
    assert Truth(Leaky(0.7)).delta(0.7 - 2**-50) > 0
    assert Truth(Laplace(2.0)).tails(0.5).p_above.is_zero()
    with precision(200):
        assert Truth(Laplace(2.0)).tails(-0.5).p_below.overlaps((-arb(1) / 2).exp() / 2)
