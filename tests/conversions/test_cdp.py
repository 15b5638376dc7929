"""(xi, rho)-concentrated privacy: lines above certified divergences, conversions beside mpmath, sums that round up."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import mpmath
import pytest

import tightrope as tr

RUNS = (
    tr.Gaussian(sigma=2.0, sensitivity=3.0) * 5,
    tr.DiscreteGaussian(sigma=1.5),
    tr.Laplace(scale=0.7) * 2 + tr.Gaussian(sigma=3.0),
    tr.Histograms(a=[90, 10, 3], b=[70, 30, 3]) * 4,
    tr.RandomizedResponse(p=0.9, neighbours="add_remove"),
    tr.Gaussian(sigma=1.0).poisson(rate=0.2) * 3,
    tr.Laplace(scale=1.0).poisson(rate=0.3),
    tr.PureDP(epsilon=1e-9),
    tr.Exponential(epsilon=2.0),
)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_the_line_lies_above_every_divergence(run: tr.Mechanism) -> None:
    lines = [tr.Concentrated.of(run), tr.Concentrated.of(run, "zcdp")]
    if run.epsilon(0.0).upper < math.inf:
        lines.append(tr.Concentrated.of(run, "pure"))
        assert lines[-1].rho == 0.0
    for order in (1.0, 1.0 + 2**-20, 1.3, 2.0, 7.0, 100.0, 1e4):
        for direction in ("remove", "add"):
            divergence = Fraction(run.renyi(order, direction=direction).lower)
            assert all(divergence <= Fraction(line.xi) + Fraction(line.rho) * Fraction(order) for line in lines)
    fit, plain = lines[:2]
    assert plain.xi == 0.0
    assert fit.xi <= 0.0
    assert fit.xi + fit.rho <= plain.rho * (1 + 1e-4)  # the mean is the divergence of order 1
    # What the line makes of delta is above what the run has.
    for line in lines:
        for epsilon in (0.0, 0.5, 3.0):
            low = run.delta(epsilon).lower
            assert low <= line.delta(epsilon) <= line.delta(epsilon, classical=True)
        for delta in (1e-9, 0.3):
            low = run.epsilon(delta).lower
            assert low <= line.epsilon(delta) <= line.epsilon(delta, classical=True)


def test_known_lines() -> None:
    assert tr.Concentrated.of(tr.Gaussian(sigma=0.5) * 3) == tr.Concentrated(xi=0.0, rho=6.0)
    plain = tr.Concentrated.of(tr.PureDP(epsilon=0.5), "zcdp")
    assert (plain.xi, plain.rho) == (0.0, pytest.approx(0.5 * math.tanh(0.25), rel=1e-15))
    assert plain.rho > 0.5 * math.tanh(0.25) * (1 - 1e-16)
    noise = tr.Concentrated.of(tr.Laplace(scale=0.5), "zcdp")
    assert noise.rho == pytest.approx(1 + math.exp(-2), rel=1e-15)
    assert tr.Concentrated.of(tr.PureDP(epsilon=0.5) * 3, "pure") == tr.Concentrated(xi=1.5, rho=0.0)
    fit = tr.Concentrated.of(tr.PureDP(epsilon=0.5))
    assert fit.rho == 0.125
    assert fit.xi == pytest.approx(0.5 * math.tanh(0.25) - 0.125, rel=1e-3)
    assert fit.xi >= 0.5 * math.tanh(0.25) - 0.125


@pytest.mark.parametrize("xi, rho", [(0.0, 0.5), (-0.3, 0.7), (1.0, 1e-6), (0.0, 1e-12), (3.0, 200.0), (0.1, 1e-300)])
def test_conversions(xi: float, rho: float) -> None:
    line = tr.Concentrated(xi, rho)
    with mpmath.workdps(50):
        for delta in (0.9, 1e-6, 1e-300):
            formula = mpmath.mpf(xi) + rho + 2 * mpmath.sqrt(rho * mpmath.log(1 / mpmath.mpf(delta)))
            found = line.epsilon(delta, classical=True)
            assert formula <= found <= formula * (1 + mpmath.mpf(10) ** -15)
            assert line.epsilon(delta) <= found
            at = line.delta(found, classical=True)
            assert at <= delta * (1 + 1e-9) + 1e-300 or rho < 1e-9
        for epsilon in (xi + rho + 0.1, xi + rho + 3.0):
            beyond = mpmath.mpf(epsilon) - xi - rho
            formula = mpmath.exp(-(beyond**2) / (4 * mpmath.mpf(rho)))
            found = line.delta(epsilon, classical=True)
            assert formula <= found <= formula * (1 + mpmath.mpf(10) ** -10) + mpmath.mpf(10) ** -320

            def bound(c: mpmath.mpf, e: float = epsilon) -> mpmath.mpf:
                kappa = c * mpmath.log(c) - (1 + c) * mpmath.log1p(c)
                return kappa + c * xi + c * (c + 1) * rho - c * e

            best = min(bound(mpmath.mpf(10) ** (mpmath.mpf(k) / 20)) for k in range(-60, 141))
            sharp = line.delta(epsilon)
            # At or above the least of a fine grid, but for the steps between its points and the last doubles.
            assert sharp >= mpmath.exp(best) * 0.7 or best < -700
            assert sharp <= mpmath.exp(best) * (1 + mpmath.mpf(10) ** -6) + mpmath.mpf(10) ** -320


def test_a_bounded_loss_is_exact_where_it_can_be() -> None:
    line = tr.Concentrated(xi=0.7, rho=0.0)
    assert line.delta(0.7) == line.delta(5.0) == line.delta(0.7, classical=True) == 0.0
    assert line.delta(0.2, classical=True) == 1.0
    assert -math.expm1(-0.5) <= line.delta(0.2) <= -math.expm1(-0.5) * (1 + 1e-14)
    assert line.epsilon(0.0) == line.epsilon(0.1, classical=True) == 0.7
    assert line.epsilon(0.1) == pytest.approx(0.7 + math.log(0.9), rel=1e-14)
    assert line.epsilon(0.9) == 0.0
    assert tr.Concentrated(0.0, 0.5).epsilon(0.0) == math.inf
    assert tr.Concentrated(0.0, 0.5).epsilon(1.0) == 0.0
    assert tr.Concentrated(0.0, 0.0).delta(0.0) == 0.0


def test_composition_adds_both_and_rounds_up() -> None:
    one, two = tr.Concentrated(0.1, 0.2), tr.Concentrated(-0.05, 0.3)
    both = one * 3 + two
    assert Fraction(both.xi) >= 3 * Fraction(0.1) + Fraction(-0.05)
    assert Fraction(both.rho) >= 3 * Fraction(0.2) + Fraction(0.3)
    assert (both.xi, both.rho) == pytest.approx((0.25, 0.9), rel=1e-15)
    assert sum([one, two]) == one + two
    assert 2 * one == one * 2
    assert one * 0 == tr.Concentrated(0.0, 0.0)
    assert tr.Concentrated.of(tr.Gaussian(sigma=3.0) * 2).rho == pytest.approx(1 / 9)


def test_values_print_compare_and_cross_processes() -> None:
    line = tr.Concentrated(xi=0.0, rho=0.5)
    assert repr(line) == "Concentrated(xi=0.0, rho=0.5)"
    assert pickle.loads(pickle.dumps(line)) == copy.deepcopy(line) == line
    assert hash(line) == hash(tr.Concentrated(-0.0, 0.5))


def test_what_has_no_line_is_refused_in_one() -> None:
    for run in (
        tr.TruncatedGaussian(sigma=2.0, bounds=(-3.0, 3.0)) * 4,
        tr.ApproximateDP(epsilon=1.0, delta=1e-9),
        tr.Gaussian(sigma=1.0) + tr.RandomizedResponse(p=1, neighbours="add_remove"),
    ):
        with pytest.raises(tr.UnsupportedMechanism, match="no line is known") as refused:
            tr.Concentrated.of(run)
        assert "\n" not in str(refused.value)
        rows = {row.method: row for row in tr.compare(run, delta=1e-12, methods="CDP").rows}
        assert rows["(xi, rho)-CDP"].value == math.inf
    with pytest.raises(tr.UnsupportedMechanism, match="needs a bounded loss"):
        tr.Concentrated.of(tr.Gaussian(sigma=1.0), "pure")
    with pytest.raises(tr.UnsupportedMechanism):
        tr.Concentrated.of(tr.PureDP(epsilon=1e200) * 10**200)
    with pytest.raises(tr.InvalidParameter, match="shape must be one of fit, zcdp, pure"):
        tr.Concentrated.of(tr.Gaussian(sigma=1.0), "gauss")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "xi, rho", [(-1.0, 0.5), (0.0, -1.0), (math.nan, 0.0), (0.0, math.nan), (math.inf, 0.0), (0.0, math.inf), ("1", 0)]
)
def test_lines_that_nothing_can_have(xi: float, rho: float) -> None:
    with pytest.raises(tr.InvalidParameter):
        tr.Concentrated(xi, rho)


def test_questions_and_counts_are_checked() -> None:
    line = tr.Concentrated(0.0, 1.0)
    for wrong in (-0.1, 1.5, math.nan, "x"):
        with pytest.raises(tr.InvalidParameter):
            line.epsilon(wrong)  # type: ignore[arg-type]
    for wrong in (-0.1, math.inf, math.nan):
        with pytest.raises(tr.InvalidParameter):
            line.delta(wrong)
    for count in (-1, 2.5):
        with pytest.raises(tr.InvalidParameter):
            line * count
