"""One sample for several mechanisms, against exact fractions and closed forms in mpmath."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

import tightrope as tr
from tests.oracle.enumeration import Outcomes, composed, delta, merged, sampled
from tightrope.core.losses.finite import finite_pair

RATES = (1e-6, 0.01, 0.25, 0.5, 0.9, 1.0)
EPSILONS = (0.0, 1e-3, 0.1, 0.7, 2.0)


def finite(outcomes: Outcomes) -> tr.Finite:
    return tr.Finite(p=[float(p) for p, _ in outcomes], q=[float(q) for _, q in outcomes])


def contains(bound: tr.Bound, truth: tuple[Fraction, Fraction]) -> bool:
    return Fraction(bound.lower) <= truth[1] and truth[0] <= Fraction(bound.upper)


def dyadic(rng: random.Random, size: int) -> Outcomes:
    """Masses that doubles hold exactly: some outcomes have no P, some no Q."""

    def column() -> list[int]:
        cuts = sorted(rng.sample(range(1, 255), size - 1))
        return [b - a for a, b in zip([0, *cuts], [*cuts, 256], strict=True)]

    p, q = column(), column()
    if rng.random() < 0.4:
        p[0], p[1] = 0, p[0] + p[1]
    if rng.random() < 0.4:
        q[-1], q[-2] = 0, q[-1] + q[-2]
    return tuple((Fraction(a, 256), Fraction(b, 256)) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "by the engine"])
@pytest.mark.parametrize("seed", range(6))
def test_one_use_of_finite_products(seed: int, listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Product, mixture and hockey stick in exact fractions, both directions."""
    if not listed:
        monkeypatch.setattr(finite_pair, "PRODUCT_MAX", 0)
    rng = random.Random(seed)
    one, other = dyadic(rng, 3), dyadic(rng, 4)
    for rate in (1e-6, 0.25, 0.9, 1.0):
        run = (finite(one) * 2 + finite(other)).poisson(rate=rate)
        outcomes = sampled(composed([(one, 2), (other, 1)]), Fraction(rate))
        back = merged((q, p) for p, q in outcomes)
        for epsilon in EPSILONS:
            for truth, direction in ((outcomes, "remove"), (back, "add")):
                bound = run.delta(epsilon, direction=direction)
                assert contains(bound, delta(truth, epsilon)), (run, epsilon, direction)
                assert bound.width <= 1e-5 * bound.upper + 1e-15


def test_epsilon_of_one_use_is_where_delta_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finite_pair, "PRODUCT_MAX", 0)
    rng = random.Random(11)
    one, other = dyadic(rng, 3), dyadic(rng, 3)
    outcomes = sampled(composed([(one, 3), (other, 1)]), Fraction(0.25))
    run = (finite(one) * 3 + finite(other)).poisson(rate=0.25)
    for direction, truth in (("remove", outcomes), ("add", merged((q, p) for p, q in outcomes))):
        mass = float(delta(truth, 700.0)[1])
        for level in (mass + 1e-4, mass + 1e-2, mass + 0.05):
            bound = run.epsilon(level, direction=direction)
            assert delta(truth, bound.upper)[0] <= Fraction(level)
            assert bound.lower == 0.0 or delta(truth, bound.lower)[1] >= Fraction(level)


def gaussian_hockey_stick(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    a = mu / 2 - epsilon / mu
    return mpmath.ncdf(a) - mpmath.exp(epsilon) * mpmath.ncdf(a - mu)


def remove_truth(profile: object, rate: float, epsilon: float) -> mpmath.mpf:
    return mpmath.mpf(rate) * profile(mpmath.log1p(mpmath.expm1(epsilon) / mpmath.mpf(rate)))  # type: ignore[operator]


def add_truth(profile: object, rate: float, epsilon: float) -> mpmath.mpf:
    r = mpmath.mpf(rate)
    factor = 1 - (1 - r) * mpmath.exp(epsilon)
    if factor <= 0:
        return mpmath.mpf(0)
    return factor * profile(mpmath.log(r * mpmath.exp(epsilon) / factor))  # type: ignore[operator]


@pytest.mark.parametrize("rate", RATES)
def test_gaussians_join(rate: float) -> None:
    run = (tr.Gaussian(sigma=3.0) * 10 + tr.Gaussian(sigma=2.0)).poisson(rate=rate)
    with mpmath.workdps(60):
        mu = mpmath.sqrt(mpmath.mpf(10) / 9 + mpmath.mpf(1) / 4)
        for epsilon in EPSILONS:
            for direction, truth in (("remove", remove_truth), ("add", add_truth)):
                bound = run.delta(epsilon, direction=direction)
                exact = truth(lambda at: gaussian_hockey_stick(mu, at), rate, epsilon)
                assert bound.lower <= exact <= bound.upper
                assert bound.width <= 1e-9 * bound.upper + 1e-300


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_a_gaussian_times_a_leaky_response(rate: float, proof: bool) -> None:
    """delta of the product is w plus the mean of the Gaussian profile over the atoms of the response."""
    run = (tr.Gaussian(sigma=3.0) * 10 + tr.ApproximateDP(epsilon=0.5, delta=1e-3)).poisson(rate=rate)
    with mpmath.workdps(60):
        mu, leak = mpmath.sqrt(mpmath.mpf(10)) / 3, mpmath.mpf(0.001)
        truthful = (1 - leak) / (1 + mpmath.exp(-0.5))

        def profile(at: mpmath.mpf) -> mpmath.mpf:
            return (
                leak
                + truthful * gaussian_hockey_stick(mu, at - 0.5)
                + truthful * mpmath.exp(-0.5) * gaussian_hockey_stick(mu, at + 0.5)
            )

        for epsilon in EPSILONS:
            for direction, truth in (("remove", remove_truth), ("add", add_truth)):
                bound = run.delta(epsilon, direction=direction, proof=proof)
                assert bound.lower <= truth(profile, rate, epsilon) <= bound.upper, (epsilon, direction)
                assert bound.width <= 1e-9 * bound.upper + 1e-300


def test_sampling_twice_is_sampling_at_the_product_of_the_rates() -> None:
    base = tr.Gaussian(sigma=2.0) * 3 + tr.Laplace(scale=4.0)
    twice, once = base.poisson(rate=0.5).poisson(rate=0.25), base.poisson(rate=0.125)
    for direction in ("remove", "add"):
        one, other = twice.epsilon(1e-5, direction=direction), once.epsilon(1e-5, direction=direction)
        assert one.lower <= other.upper
        assert other.lower <= one.upper


def test_a_rate_of_one_changes_nothing() -> None:
    base = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 100 + tr.Laplace(scale=4.0)
    for run, plain in ((base.poisson(rate=1.0), base), (base.poisson(rate=1.0) * 3, base * 3)):
        one, other = run.epsilon(1e-6), plain.epsilon(1e-6)
        assert one.lower <= other.upper
        assert other.lower <= one.upper
    assert base.poisson(rate=0.0).epsilon(1e-6) == tr.Bound(0.0, 0.0)


def test_sampling_once_is_not_sampling_each() -> None:
    """The records of one sample are in all parts or in none: that costs more."""
    once, each = (tr.Gaussian(sigma=3) * 10).poisson(rate=0.01), tr.Gaussian(sigma=3).poisson(rate=0.01) * 10
    assert once.epsilon(1e-6).lower > 5.0 * each.epsilon(1e-6).upper


@pytest.mark.parametrize(
    "text",
    [
        "(Gaussian(sigma=3.0) * 3 + Laplace(scale=5.0)).poisson(rate=0.01)",
        "(Gaussian(sigma=3.0) * 3 + Laplace(scale=5.0)).poisson(rate=0.01) * 100 + Laplace(scale=5.0)",
        "((Gaussian(sigma=1.0).poisson(rate=0.01) * 9).poisson(rate=0.5) * 2 + PureDP(epsilon=0.1)).poisson(rate=0.5)",
    ],
)
def test_text_and_json(text: str) -> None:
    run = tr.parse(text)
    assert repr(run) == text
    assert tr.parse(repr(run)) == run
    assert tr.load(tr.dump(run)) == run
    assert hash(run) == hash(tr.load(tr.dump(run)))
    assert run.tight


def test_what_no_cgf_is_known_of_is_refused_in_one_line() -> None:
    run = (tr.Gaussian(sigma=3.0) + tr.Laplace(scale=5.0)).poisson(rate=0.01)
    for ask in (lambda: run.cgf(0.5), lambda: run.phi(1.0)):
        with pytest.raises(tr.UnsupportedMechanism) as refusal:
            ask()
        assert "sample each part" not in str(refusal.value)
        assert "\n" not in str(refusal.value)
    joined = (tr.Gaussian(sigma=3.0) * 2).poisson(rate=0.01)
    assert joined.renyi(8.0).width < 1e-12
