"""Classic bounds: each formula against an independent evaluation, and all of them against the certified lower end."""

from __future__ import annotations

import math
import os
import random
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx

import tightrope as tr
from tests.search import cases
from tightrope.core.conversions import classical as advanced
from tightrope.core.conversions import classical as basic
from tightrope.core.conversions import classical as optimal
from tightrope.core.conversions import concentrated, normal_limit
from tightrope.core.conversions import renyi_accountant as renyi
from tightrope.core.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace
from tightrope.core.planning.methods import METHODS, Kind

CASES = int(os.environ.get("TIGHTROPE_CASES", cases(4, 20)))


def test_basic_composition_adds_up() -> None:
    run = tr.ApproximateDP(epsilon=0.1, delta=1e-7) * 6 + tr.PureDP(epsilon=0.2) * 4
    assert basic.naive_epsilon(run, 1e-5) == pytest.approx(1.4, rel=1e-4)
    assert basic.naive_epsilon(run, 1e-7) == math.inf
    single = tr.ApproximateDP(epsilon=0.1, delta=1e-3) * 10
    # At epsilon 1 each use gets epsilon 0.1, where its delta is 1e-3.
    assert 1e-2 <= basic.naive_delta(single, 1.0 + 1e-12) <= 1e-2 * (1 + 1e-9)
    exact = 1 - (1 - Fraction(1e-3)) ** 10
    assert float(exact) <= basic.adaptive_delta(single, 1.0 + 1e-12) <= float(exact) * (1 + 1e-9)
    assert basic.adaptive_delta(single, 1.0) < basic.naive_delta(single, 1.0)
    assert basic.adaptive_epsilon(single, 9.99e-3) == pytest.approx(1.0, rel=1e-3)
    assert basic.naive_epsilon(single, 9.99e-3) > 1.0


def test_advanced_composition_has_its_constants() -> None:
    count, epsilon, delta = 1000, 0.01, 1e-6
    truth = count * epsilon * math.expm1(epsilon) + epsilon * math.sqrt(2 * count * math.log(1 / delta))
    run = tr.PureDP(epsilon=epsilon) * count
    assert advanced.advanced_epsilon(run, delta) == pytest.approx(truth, rel=1e-12)
    assert advanced.advanced_epsilon(run, delta) >= truth * (1 - 1e-15)
    assert advanced.advanced_delta(run, truth) == pytest.approx(delta, rel=1e-9)
    assert advanced.advanced_epsilon(run, 0.0) == math.inf
    assert advanced.advanced_epsilon(run, 1.0) == 0.0


def _printed(epsilon: float, count: int, s: float) -> mpmath.mpf:
    """Theorem 3.4 of Kairouz, Oh and Viswanath, its second form."""
    e, k = mpmath.mpf(epsilon), mpmath.mpf(count)
    root = mpmath.sqrt(2 * k * mpmath.log(mpmath.e + mpmath.sqrt(k) * e / s))
    return k * e * mpmath.expm1(e) / (mpmath.exp(e) + 1) + e * root


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 1.0, 4.0])
@pytest.mark.parametrize("count", [1, 3, 100])
def test_the_printed_form_is_a_bound(epsilon: float, count: int) -> None:
    run = tr.PureDP(epsilon=epsilon) * count
    for delta in (0.3, 1e-300 if count == 1 else 1e-9):
        with mpmath.workdps(40):
            formula = _printed(epsilon, count, delta)
            found = advanced.at_or_above(advanced._printed_epsilon, [(epsilon, count)], arb(delta))
            assert formula <= found <= formula * (1 + 1e-14)
        assert run.delta(found).lower <= delta
        assert advanced.printed_epsilon(run, delta) <= found
        assert run.epsilon(delta).lower <= advanced.printed_epsilon(run, delta)
        back = advanced.at_or_above(advanced._printed_delta, [(epsilon, count)], found)
        assert back == pytest.approx(delta, rel=1e-6)
        # Which of the two roots is the smaller one: S + e s < 1.
        spread = epsilon * math.sqrt(count)
        sharp = count * epsilon * math.tanh(epsilon / 2) + spread * math.sqrt(2 * math.log(1 / delta))
        assert spread == 1.0 or (formula < sharp) == (spread + math.e * delta < 1)


def test_the_printed_form_needs_a_share_of_delta() -> None:
    """With k delta for the whole, as lemma 4 has it, the exact delta is above it."""
    epsilon, delta, count = 1e-7, 1e-6, 100
    whole = float(_printed(epsilon, count, count * delta))
    bound = (tr.ApproximateDP(epsilon=epsilon, delta=delta) * count).delta(whole, proof=True)
    assert Fraction(bound.lower) > count * Fraction(delta) + Fraction(1, 10**8)
    run = tr.ApproximateDP(epsilon=epsilon, delta=delta) * count
    assert advanced.printed_epsilon(run, 0.99 * count * delta) == math.inf
    assert advanced.printed_epsilon(run, 1.0) == 0.0
    assert advanced.printed_epsilon(run, 0.0) == math.inf
    assert advanced.printed_delta(run, 0.0) == 1.0
    assert advanced.printed_delta(tr.PureDP(epsilon=0.0) * 3, 0.1) == 0.0


def _kov(epsilon: float, delta: float, count: int, i: int) -> arb:
    """Theorem 3.3 of Kairouz, Oh and Viswanath at epsilon' = (count - 2 i) epsilon, binomial sums as beta functions."""
    e = arb(epsilon)
    p, q = 1 / (1 + (-e).exp()), 1 / (1 + e.exp())
    upper = p.beta_lower(count - i + 1, i, True) if i else arb(0)
    lower = q.beta_lower(count - i + 1, i, True) if i else arb(0)
    inner = upper - ((count - 2 * i) * e).exp() * lower
    return 1 - (1 - arb(delta)) ** count * (1 - inner)


@pytest.mark.parametrize(
    "epsilon, delta, count, i",
    [
        (0.5, 1e-3, 4, 1),
        (0.1, 0.0, 512, 200),
        (0.04, 1e-9, 512, 240),
        (0.001, 1e-12, 10**6, 498_500),
        (0.001, 0.0, 10**6, 499_000),
        (0.01, 1e-10, 10**6, 480_000),
    ],
)
def test_kov_agrees_with_the_exact_binomial(epsilon: float, delta: float, count: int, i: int) -> None:
    before = ctx.prec
    try:
        ctx.prec = 400
        at = float((count - 2 * i) * arb(epsilon))
        # The theorem speaks at a multiple of epsilon, which may be no double: bracket it.
        truth = _kov(epsilon, delta, count, i)
        below = optimal.optimal_composition([(epsilon, delta, count)]).delta(math.nextafter(at, math.inf))
        above = optimal.optimal_composition([(epsilon, delta, count)]).delta(math.nextafter(at, 0.0))
        assert arb(below.lower) <= truth <= arb(above.upper)
        assert abs(arb(above.upper) / truth - 1) < 1e-9
        exact = optimal.optimal_composition([(epsilon, delta, count)]).delta(at, proof=True)
        assert abs(arb(exact.upper) / truth - 1) < 1e-12
    finally:
        ctx.prec = before


def test_kov_is_exact_in_fractions_for_few_uses() -> None:
    """Leaky randomized response with rational odds, all outcomes enumerated."""
    odds, leak, count = 3, Fraction(1, 16), 5
    delta = optimal.optimal_composition([(math.log(odds), float(leak), count)]).delta(0.5)
    truth = mpmath.mpf(0)
    with mpmath.workdps(40):
        alpha = mpmath.exp(mpmath.mpf("0.5"))
        kept = float((1 - leak) ** count)
        for good in range(count + 1):
            p = mpmath.mpf(math.comb(count, good)) * odds**good / (1 + odds) ** count
            q = mpmath.mpf(math.comb(count, good)) * odds ** (count - good) / (1 + odds) ** count
            truth += kept * max(p - alpha * q, 0)
        truth += 1 - kept
    assert delta.lower * (1 - 1e-14) <= truth <= delta.upper * (1 + 1e-14)


def test_unequal_uses_are_composed_optimally() -> None:
    points = [(0.5, 1e-4, 2), (1.25, 1e-3, 1), (0.2, 0.0, 3)]
    bound = optimal.optimal_composition(points).delta(1.0)
    truth = mpmath.mpf(0)
    with mpmath.workdps(40):
        alpha = mpmath.exp(mpmath.mpf(1))
        uses = [(e, d) for e, d, count in points for _ in range(count)]
        kept = mpmath.fprod(1 - mpmath.mpf(d) for _, d in uses)
        for pattern in range(2 ** len(uses)):
            p = q = mpmath.mpf(1)
            for index, (e, _) in enumerate(uses):
                truthful = mpmath.exp(mpmath.mpf(e)) / (1 + mpmath.exp(mpmath.mpf(e)))
                says = pattern >> index & 1
                p, q = p * (truthful if says else 1 - truthful), q * (1 - truthful if says else truthful)
            truth += kept * max(p - alpha * q, 0)
        truth += 1 - kept
    assert bound.lower <= truth <= bound.upper


def test_kov_is_tight_for_randomized_response_and_nearly_for_laplace() -> None:
    response = tr.RandomizedResponse(p=0.51, neighbours="add_remove") * 512
    assert optimal.curve_epsilon(response, 1e-4) == pytest.approx(response.epsilon(1e-4).upper, rel=1e-9)
    laplace = tr.Laplace(scale=200.0) * 512
    truth = laplace.epsilon(1e-4).upper
    assert truth <= optimal.curve_epsilon(laplace, 1e-4) <= truth * 1.005
    gaussian = tr.Gaussian(sigma=200.0 * math.sqrt(2.0)) * 512
    assert optimal.curve_epsilon(gaussian, 1e-4) > 1.5 * gaussian.epsilon(1e-4).upper


def test_renyi_of_gaussians_is_the_known_formula() -> None:
    """K(c) = c (c + 1) mu^2/2; the conversions minimised by mpmath over a fine grid."""
    run, delta = tr.Gaussian(sigma=5.0) * 20, 1e-6
    mu2 = 20 / 25
    grid = [1.0 + 0.001 * k for k in range(30_000)]
    plain = min((c * (c + 1) * mu2 / 2 - math.log(delta)) / c for c in grid)
    sharp = min((c * (c + 1) * mu2 / 2 + c * math.log(c) - (c + 1) * math.log1p(c) - math.log(delta)) / c for c in grid)
    assert renyi.markov_epsilon(run, delta) == pytest.approx(plain, rel=1e-6)
    assert renyi.renyi_epsilon(run, delta) == pytest.approx(sharp, rel=1e-6)
    assert concentrated.zcdp_epsilon(run, delta) == pytest.approx(sharp, rel=1e-6)
    assert renyi.renyi_delta(run, sharp) == pytest.approx(delta, rel=1e-4)


def test_the_running_example_of_the_renyi_accountant() -> None:
    run = tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1)
    assert renyi.renyi_epsilon(run, 1e-6) == pytest.approx(2.180, abs=5e-4)
    assert renyi.renyi_epsilon(run, 1e-4) == pytest.approx(1.690, abs=5e-4)


def test_infinite_mass_stays_in_the_renyi_bound() -> None:
    run = tr.ApproximateDP(epsilon=0.1, delta=1e-8) * 10
    leaked = 1 - (1 - 1e-8) ** 10
    assert renyi.renyi_delta(run, 50.0) == pytest.approx(leaked, rel=1e-6)
    assert renyi.renyi_epsilon(run, 0.5e-7) == math.inf
    assert concentrated.zcdp_epsilon(run, 1e-5) == math.inf


def test_the_gaussian_limit_is_no_bound_and_is_said_to_be_none() -> None:
    """DP-SGD with few expected hits: the limit is far below what is certainly lost."""
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000
    assert normal_limit.limit_epsilon(run, 1e-6) < 0.9 * run.epsilon(1e-6).lower
    assert normal_limit.limit_delta(run, 2.0) < 0.1 * run.delta(2.0).lower
    assert [method.kind for method in METHODS].count(Kind.APPROXIMATION) == 1
    gaussian = tr.Gaussian(sigma=10.0) * 100  # for which it is exact
    assert normal_limit.limit_epsilon(gaussian, 1e-6) == pytest.approx(gaussian.epsilon(1e-6).upper, rel=1e-3)


def _leaf(draw: random.Random) -> tr.Mechanism:
    choice = draw.randrange(9)
    if choice == 0:
        return tr.Gaussian(sigma=draw.uniform(0.5, 20.0))
    if choice == 1:
        return tr.Laplace(scale=draw.uniform(0.5, 50.0))
    if choice == 2:
        return tr.RandomizedResponse(p=draw.uniform(0.5, 0.9), categories=draw.randint(2, 4), neighbours="add_remove")
    if choice == 3:
        return tr.ApproximateDP(epsilon=draw.uniform(0.01, 1.0), delta=10.0 ** draw.uniform(-12.0, -4.0))
    if choice == 4:
        weights = [[draw.random() + 1e-3 for _ in range(3)] for _ in range(2)]
        p, q = ([weight / sum(row) for weight in row] for row in weights)
        return tr.Finite(p=p, q=q)
    if choice == 5:
        return tr.Gaussian(sigma=draw.uniform(0.6, 5.0)).poisson(rate=10.0 ** draw.uniform(-3.0, 0.0))
    if choice == 6:
        return tr.RandomizedResponse(p=draw.uniform(0.5, 0.95), neighbours="add_remove").poisson(
            rate=draw.uniform(0.01, 1.0)
        )
    if choice == 7:
        return tr.DiscreteLaplace(scale=draw.uniform(0.5, 20.0), sensitivity=draw.randint(1, 3))
    scale, bound = draw.uniform(1.0, 5.0), float(draw.randint(6, 40))
    make = draw.choice((TruncatedGaussian, TruncatedLaplace))
    return make(scale, 0.0, (-bound, bound), draw.choice(("cut", "clamp")), draw.random() < 0.5)


@pytest.mark.parametrize("seed", range(CASES))
def test_no_classic_bound_is_below_what_is_certainly_lost(seed: int) -> None:
    draw = random.Random(seed)
    run = _leaf(draw) * int(10 ** draw.uniform(0.0, 2.5))
    if draw.random() < 0.3:
        run = run + _leaf(draw) * draw.randint(1, 5)
    if draw.random() < 0.5:
        delta = 10.0 ** draw.uniform(-9.0, -1.0)
        lower = run.epsilon(delta).lower
        values = {method.name: method.epsilon(run, delta) for method in METHODS if method.kind is Kind.UPPER}
    else:
        epsilon = draw.uniform(0.0, 1.5) * min(run.epsilon(1e-5).upper, 20.0)
        lower = run.delta(epsilon).lower
        values = {method.name: method.delta(run, epsilon) for method in METHODS if method.kind is Kind.UPPER}
        assert max(values.values()) <= 1.0
    assert {name: value for name, value in values.items() if not value >= lower} == {}, (run, lower)
