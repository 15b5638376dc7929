"""The oracle of readings against itself: closed forms, fractions and drawn outputs are three ways to one number."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from tests.oracle import attacker
from tests.oracle.continuous import Gaussian, Laplace
from tests.oracle.readings import (
    DIGITS,
    Family,
    GaussianReadings,
    LaplaceReadings,
    ResponseReadings,
    Two,
    gaussian_hockey_stick,
    gaussian_mu,
    posterior,
    real,
)
from tests.oracle.truth import Truth

F = Fraction
LEAKY = Two.of((0.0, 0.5, 0.25, 0.25), (0.125, 0.25, 0.625, 0.0))
SKEWED = Two.of((0.5, 0.25, 0.25), (0.125, 0.125, 0.75))
RATES = [F(k, 16) for k in range(17)]
QUANTILES = (0.05, 0.5, 0.95)
SLOPES = [mp.exp(mp.mpf(k) / 20) for k in range(-40, 60)]


def random_two(seed: int) -> Two:
    rng = random.Random(seed)
    size = rng.randint(1, 4)
    return Two.of([rng.randint(0, 8) for _ in range(size)] + [1], [rng.randint(0, 8) for _ in range(size)] + [1])


@pytest.mark.parametrize("two", [LEAKY, SKEWED, *map(random_two, range(12))])
def test_the_tradeoff_is_the_conjugate_of_the_profile(two: Two) -> None:
    """H is linear between ratios, so the largest 1 - H(a) - a x is at one of them."""
    ratios = {F(0), *(p / q for p, q in zip(two.p, two.q, strict=True) if q)}
    for x in RATES:
        assert two.tradeoff(x) == max(max(1 - two.hockey_stick(a) - a * x for a in ratios), F(0))
    for a in (F(1, 3), F(1), F(5, 2)):
        assert two.hockey_stick(a) == max(tpr - a * fpr for fpr, tpr in two.corners())


@pytest.mark.parametrize("two", [LEAKY, SKEWED, *map(random_two, range(12))])
def test_the_symmetric_one_is_that_of_the_larger_profile(two: Two) -> None:
    back = two.reversed()
    corners = two.symmetric()
    slopes = {F(0), F(1)}
    slopes |= {(t - s) / (y - x) for (x, s), (y, t) in itertools.pairwise(corners) if y > x}
    larger = {a: max(two.hockey_stick(a), back.hockey_stick(a)) for a in slopes}
    for x in RATES:
        below = max(1 - height - a * x for a, height in larger.items())
        assert 1 - two.symmetric_tpr(x) == max(below, F(0))
        assert two.symmetric_tpr(x) >= max(two.tpr(x), back.tpr(x))
    for fpr, tpr in corners:  # its own mirror image
        assert two.symmetric_tpr(1 - tpr) == 1 - fpr or tpr == 1 or fpr == 0


@pytest.mark.parametrize("two", [LEAKY, SKEWED, *map(random_two, range(12))])
def test_readings_of_one_law_belong_together(two: Two) -> None:
    assert two.advantage() == two.hockey_stick(F(1)) == max(tpr - fpr for fpr, tpr in two.corners())
    assert two.bayes_accuracy(F(1, 2)) == (1 + two.advantage()) / 2
    for prior in (F(1, 10), F(2, 3)):
        assert two.bayes_accuracy(prior) == 1 - prior + prior * two.hockey_stick((1 - prior) / prior)
    assert two.merged().corners() == two.corners()
    assert two.renyi(math.inf) >= two.renyi(2) >= two.kl()
    coarse = two.processed([0, 0, *range(1, len(two.p) - 1)])
    assert all(coarse.tpr(x) <= two.tpr(x) for x in RATES)
    assert coarse.gdp() <= two.gdp()


def test_inverses_and_atoms() -> None:
    for fpr, tpr in SKEWED.corners():
        assert SKEWED.reversed().tradeoff(1 - tpr) == fpr
    ends = SKEWED.tpr(F(1, 8)), SKEWED.tpr(F(1, 4))
    assert SKEWED.tpr(F(3, 16)) == sum(ends) / 2  # a coin between two corners
    assert LEAKY.tpr(F(0)) == F(1, 4)
    assert posterior(F(1, 4), F(1, 10), F(0)) == 1


@pytest.mark.parametrize("two", [SKEWED, LEAKY, random_two(3), random_two(5)])
@pytest.mark.parametrize("least", [F(0), F(1, 20), F(1, 4)])
def test_the_least_mu_covers_and_no_less_does(two: Two, least: Fraction) -> None:
    with mp.workdps(DIGITS):
        mu = two.gdp(least)
        if mu == mp.inf:
            assert not least or two.hockey_stick(F(10**9)) >= least or two.reversed().hockey_stick(F(10**9)) >= least
            return
        grid = [mp.mpf(k) / 8 for k in range(33)]
        heights = [(mp.exp(t), each.hockey_stick(F(str(mp.exp(t))))) for t in grid for each in (two, two.reversed())]
        counted = [(a, real(height)) for a, height in heights if height >= least]
        assert all(gaussian_hockey_stick(mu, a) >= height - mp.mpf(10) ** -25 for a, height in counted)
        found = max((gaussian_mu(a, height) for a, height in counted), default=mp.mpf(0))
        assert mu * mp.mpf("0.9") <= found <= mu + mp.mpf(10) ** -25


def test_the_least_rho() -> None:
    low, high = SKEWED.zcdp()
    found = [(float(each.renyi(1 + k / 8) / (1 + k / 8))) for k in range(1, 80) for each in (SKEWED, SKEWED.reversed())]
    assert max(found) <= high <= low * (1 + 2e-3)
    assert max(SKEWED.kl(), SKEWED.reversed().kl()) <= low
    assert SKEWED.zcdp(most=1.5)[0] <= high
    assert LEAKY.zcdp()[0] == mp.inf


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_closed_forms_of_responses(epsilon: float) -> None:
    with mp.workdps(DIGITS):
        share = F(str(mp.nstr(1 / (1 + mp.exp(-mp.mpf(epsilon))), 29)))
        two, family = Two((share, 1 - share), (1 - share, share)), ResponseReadings(mp.mpf(epsilon))
        agree(family.gdp(), two.gdp())
        low, high = two.zcdp()
        assert low * (1 - mp.mpf(10) ** -25) <= family.zcdp() <= high * (1 + mp.mpf(10) ** -25)
        for x in (F(1, 100), F(1, 2), F(9, 10)):
            agree(family.tpr(real(x)), two.tpr(x))
            agree(family.hockey_stick(4 * real(x)), two.hockey_stick(4 * x))
            agree(family.renyi(1 + 4 * real(x)), two.renyi(1 + 4 * x))
            agree(family.bayes_accuracy(real(x)), two.bayes_accuracy(x))
            agree(family.posterior(mp.mpf(1) / 4, real(x)), two.posterior(F(1, 4), x))


@pytest.mark.parametrize(
    "family, law",
    (
        (GaussianReadings(mp.mpf(1) / 2), Gaussian(2.0, 1.0)),
        (LaplaceReadings(mp.mpf(1) / 2), Laplace(2.0, 1.0)),
    ),
)
def test_closed_forms_of_noise(family: Family, law: object) -> None:
    """Against the other oracle at single points, and by integrals and slopes."""
    with mp.workdps(DIGITS):
        for t in (-0.75, -0.25, 0.0, 0.25, 0.75):
            agree(family.hockey_stick(mp.exp(t)), mp.mpf(Truth(law).delta(t, bits=120).str(40, radius=False)), 1e-25)
        for x in (mp.mpf(1) / 1000, mp.mpf(3) / 10, mp.mpf(9) / 10):
            touch = max((family.tpr(x) - (family.hockey_stick(a) + a * x) for a in SLOPES), key=float)
            assert -1e-3 < touch <= 0  # f is the conjugate of H
        # D_o by the profile: E_Q[(P/Q)^o] = 1 + o (o - 1) int a^(o-2) (H(a) - (1 - a)_+) da
        ends = [0, mp.exp(mp.mpf(-1) / 2), 1, mp.exp(mp.mpf(1) / 2), 4, 16]
        with mp.workdps(15):
            moment = 1 + 2 * mp.quad(lambda a: family.hockey_stick(a) - max(1 - a, mp.mpf(0)) if a else 0, ends)
        agree(family.renyi(mp.mpf(2)), mp.log(moment), 1e-6)
        agree(family.renyi(mp.mpf(1)), family.renyi(1 + mp.mpf(10) ** -12), 1e-10)
        mu = family.gdp()
        needed = max(
            gaussian_mu(mp.exp(mp.mpf(k) / 64), family.hockey_stick(mp.exp(mp.mpf(k) / 64))) for k in range(32)
        )
        assert mu * mp.mpf("0.99") <= needed <= mu + mp.mpf(10) ** -25
        tops = [family.renyi(1 + mp.mpf(k) / 8) / (1 + mp.mpf(k) / 8) for k in range(80)]
        agree(max(tops), family.zcdp(), 1e-25)


def agree(value: mp.mpf, other: mp.mpf | Fraction, tolerance: float = 1e-25) -> None:
    assert abs(value - real(other)) <= tolerance * max(1, abs(value))


PARTS = (
    (attacker.GaussianPart(sigma=2.0), Gaussian(2.0, 1.0), 1.0),
    (attacker.GaussianPart(rate=0.25, sigma=0.5), Gaussian(0.5, 1.0), 0.25),
    (attacker.LaplacePart(rate=0.25, scale=4.0, shift=3.0), Laplace(4.0, 3.0), 0.25),
)


@pytest.mark.parametrize("direction", ("remove", "add"))
@pytest.mark.parametrize("part, law, rate", PARTS)
def test_drawn_outputs_have_the_tails_of_the_other_oracle(
    part: attacker.Part, law: object, rate: float, direction: str
) -> None:
    for attack in attacker.attacks([(part, 1)], direction, 11, 20_000, QUANTILES):
        below, above = (Truth(law, rate, direction).tails(attack.threshold + side) for side in (-1e-9, 1e-9))
        assert attack.tpr[0] <= float(below.p_above)
        assert float(above.p_above) <= attack.tpr[1]
        assert attack.fpr[0] <= float(below.q_above)
        assert float(above.q_above) <= attack.fpr[1]


@pytest.mark.parametrize("direction", ("remove", "add"))
@pytest.mark.parametrize(
    "part, two",
    (
        (attacker.response(0.75), Two.of((0.75, 0.25), (0.25, 0.75)).power(3)),
        (attacker.response(0.5, 3), Two.of((0.5, 0.25, 0.25), (0.25, 0.5, 0.25)).power(3)),
        (attacker.TablePart(1.0, (0.0, 0.5, 0.5), (0.25, 0.75, 0.0)), Two.of((0, 2, 2), (1, 3, 0)).power(3)),
        (attacker.TablePart(0.5, (0.0, 1.0), (0.5, 0.5)), Two.of((0, 1), (1, 1)).sampled(0.5).power(3)),
    ),
)
def test_a_drawn_test_is_on_the_curve(part: attacker.Part, two: Two, direction: str) -> None:
    law = two if direction == "remove" else two.reversed()
    for attack in attacker.attacks([(part, 3)], direction, 5, 20_000, QUANTILES):
        assert attack.tpr[0] <= law.tpr(F(attack.fpr[1]))
        assert law.tpr(F(attack.fpr[0])) <= attack.tpr[1]


def test_whole_noise_and_error_bars() -> None:
    for part in (attacker.discrete_gaussian(1.5, 2), attacker.discrete_laplace(2.0, 3)):
        assert math.fsum(part.p) == pytest.approx(1.0, abs=1e-15)
        assert math.fsum(part.q) == pytest.approx(1.0, abs=1e-15)
        assert part.ratios(np.array([20.0]))[0] == math.log(part.p[20]) - math.log(part.q[20])
    low, high = attacker.rate(100, 10_000)
    assert 0.005 < low < 0.0055
    assert 0.0160 < high < 0.0166
    assert attacker.rate(0, 10_000) == (0.0, pytest.approx(15.06 / 10_000, rel=1e-2))
    assert attacker.rate(7, 7)[1] == 1.0
