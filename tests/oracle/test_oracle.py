"""The oracle against integrals, enumerations and itself: two ways to each number."""

from __future__ import annotations

import itertools
from fractions import Fraction

import mpmath as mp
import pytest
from flint import arb

from tests.oracle.continuous import Gaussian, Growing, Laplace, Logistic
from tests.oracle.discrete_gaussian import DiscreteGaussian
from tests.oracle.exponentials import sign
from tests.oracle.finite import DiscreteLaplace, Histogram, Leaky, Product, response
from tests.oracle.fold import GaussianFold, Mixture, ResponseFold
from tests.oracle.laplace_fold import LaplaceFold
from tests.oracle.parts import moment
from tests.oracle.precision import ball, precision
from tests.oracle.truncated import Clamped, Cut, GaussianNoise, LaplaceNoise, Rounded, Window
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


def logistic(x: mp.mpf) -> mp.mpf:
    return 1 / (2 * mp.cosh(x / 2)) ** 2


def cut_normal(x: mp.mpf) -> mp.mpf:
    return mp.npdf(x, 0, 2) / (mp.ncdf(mp.mpf("2.5")) - mp.ncdf(-3)) if -6 <= x <= 5 else mp.mpf(0)


def growing(x: mp.mpf) -> mp.mpf:
    return mp.exp(x) / mp.expm1(1)


SEEN = (
    (Logistic(0.5), lambda x: logistic(x - mp.mpf("0.5")), logistic, (-90, -20, 0, 20, 90)),
    (Cut(GaussianNoise(2.0), 1.0, -6.0, 5.0), lambda x: cut_normal(x - 1), cut_normal, (-6, -5, 0, 5, 6)),
    (Growing(), growing, lambda x: mp.mpf(1), (0, 1)),
)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", (1.0, 0.3))
@pytest.mark.parametrize("law, p, q, places", SEEN, ids=lambda value: type(value).__name__)
def test_laws_against_the_integral_over_outputs(
    law: Law, p: object, q: object, places: tuple, rate: float, direction: str
) -> None:
    epsilon = mp.mpf("0.0625")
    with mp.workdps(30):

        def excess(x: mp.mpf) -> mp.mpf:
            first, second = mixed(p(x), q(x), rate, direction)
            return first - mp.exp(epsilon) * second

        pieces = []
        for low, high in itertools.pairwise(map(mp.mpf, places)):
            # Inside of each piece both densities are smooth, and their ratio rises: one crossing at most.
            ends = [low + (high - low) * share for share in (mp.mpf("1e-25"), 1 - mp.mpf("1e-25"))]
            signs = [mp.sign(excess(x)) for x in ends]
            if signs[0] * signs[1] < 0:
                root = mp.findroot(excess, ends, solver="anderson", tol=1e-40, maxsteps=200)
                ends = [root, ends[1]] if signs[1] > 0 else [ends[0], root]
            pieces += [mp.quad(excess, mp.linspace(*ends, 6))] if 1 in signs else []
        assert close(Truth(law, rate, direction).delta(0.0625), sum(pieces), 15)


LISTED = (
    Gaussian(1.5, 2.0),
    Laplace(2.0),
    Logistic(0.5),
    Growing(),
    DiscreteGaussian(3.0),
    Leaky(1.0, 0.25),
    Cut(GaussianNoise(2.0), 1.0, -6.0, 5.0),
    Cut(LaplaceNoise(2.0), 1.0, -9.0, 7.0),
    Clamped(LaplaceNoise(5.0), 3.0, 0.5, 2.0),
    Window(GaussianNoise(1.0), 1.0, -3.0, 4.0),
    Rounded(GaussianNoise(3.0), 2, -9, 7),
    Rounded(LaplaceNoise(3.0), 1, -7, 7, clamped=True),
)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", (1.0, 0.3))
@pytest.mark.parametrize("law", LISTED, ids=repr)
def test_moments_of_all_outputs(law: Law, rate: float, direction: str) -> None:
    """Without a tilt all that is finite is counted, and the mean of e^-l is what the second law has of it."""
    truth = Truth(law, rate, direction)
    other = Truth(law, rate, "add" if direction == "remove" else "remove")
    with precision(160):
        assert close(moment(truth, 0.0).real, 1 - ball(truth.infinite_mass()))
        assert close(moment(truth, -1.0).real, 1 - ball(other.infinite_mass()))


def test_clamping_and_rounding_lose() -> None:
    """What is clamped, or rounded, tells less than the noise itself, and a wide clamp as much."""
    noise, plain = GaussianNoise(2.0), Truth(Gaussian(2.0))
    wide = Truth(Clamped(noise, 1.0, -80.0, 80.0))
    for epsilon in (0.05, 0.1, 0.6):
        assert close(wide.delta(epsilon), plain.delta(epsilon), 20)
        assert Truth(Clamped(noise, 1.0, -3.0, 0.25)).delta(epsilon) < plain.delta(epsilon)
        assert Truth(Rounded(noise, 2, -40, 40, clamped=True)).delta(epsilon) < Truth(Gaussian(2.0, 2.0)).delta(epsilon)
