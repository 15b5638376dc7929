"""The theorem of docs/proofs/laplace_to_gauss.md beside certified differences, and its parts beside mpmath."""

from __future__ import annotations

import math
from pathlib import Path

import mpmath
import pytest
from flint import arb

from studies.tight_on_budget import laplace_rate as rate
from tests.search import cases
from tightrope import Gaussian, Laplace
from tightrope.core.numerics.balls import working_precision

EXACT_COUNTS = (1, 2, 4, 9, 33, 150)  # closed forms, in milliseconds


@pytest.mark.parametrize("scale", [0.05, 0.5, 2.0, 10.0, 100.0])
@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 0.1, 1.0, 4.0])
def test_the_theorem_covers_certified_differences(scale: float, epsilon: float) -> None:
    for count in EXACT_COUNTS:
        # delta(-e) = 1 - e^-e (1 - delta(e)) for pairs that are the same in both directions, as these are.
        gain = math.exp(-abs(epsilon)) if epsilon < 0.0 else 1.0
        laplace, half = ((law * count).delta(abs(epsilon)) for law in (Laplace(scale=scale), Gaussian(sigma=scale)))
        same = rate.matched(scale, lambda run: run.delta(abs(epsilon)), count)
        for other, bound in ((same, rate.matched_bound), (half, rate.half_bound)):
            found = rate.difference(laplace, other)
            assert gain * max(found.upper, -found.lower) <= bound(scale, count, epsilon) * (1.0 + 1e-12) + 1e-13


@pytest.mark.parametrize(("mu", "epsilon"), [(0.3, 1.0), (0.3, 8.0), (1.0, 4.0), (1.0, 20.0), (3.0, 8.0)])
@pytest.mark.parametrize("count", [4, 1 << 20, 64, 1 << 14][: cases(2, 4)])
def test_small_deltas_are_covered_too(mu: float, epsilon: float, count: int) -> None:
    scale = math.sqrt(count) / mu
    tilt = rate.saddle_tilt(scale, count, epsilon)
    laplace = rate.sharpest_delta(Laplace(scale=scale) * count, epsilon)
    same = rate.matched(scale, lambda run: rate.sharpest_delta(run, epsilon), count)
    found = rate.difference(laplace, same)
    for moved in (0.5, 1.0, 1.5):  # every tilt gives a bound
        assert max(found.upper, -found.lower) <= rate.tilted_bound(scale, count, epsilon, moved * tilt)
    if count == 1 << 20:
        assert rate.tilted_bound(scale, count, epsilon, tilt) <= 0.3 * same.lower


def test_a_tilt_that_is_too_large_says_nothing() -> None:
    assert rate.tilted_bound(1.0, 4, 8.0, 5.0) == math.inf


def test_the_theorem_is_sharp_at_0_after_many_uses() -> None:
    recorded = [row for row in rate.read() if row.table == "total, at 0"]
    last = recorded[-1]
    assert last.to_matched.lower >= 0.999 * rate.matched_bound(rate.total_scale(last.count), last.count, 0.0)


@pytest.mark.parametrize("row", rate.read(), ids=lambda row: f"{row.table} x {row.count}")
def test_the_record_stands(row: rate.Row) -> None:
    if row.table in rate.EPSILONS:
        place = rate.total_scale(row.count), row.count, rate.EPSILONS[row.table]
        assert max(-row.to_half.lower, row.to_half.upper) <= rate.half_bound(*place)
        assert max(-row.to_matched.lower, row.to_matched.upper) <= rate.matched_bound(*place)
    if row.count in (1, 64, 4096):
        found = again(row)
        for new, old in ((found.laplace, row.laplace), (found.half, row.half), (found.matched, row.matched)):
            assert new.lower <= old.upper
            assert old.lower <= new.upper


def again(row: rate.Row) -> rate.Row:
    if row.table in rate.EPSILONS:
        return rate.total_row(row.table, row.count)
    return rate.fixed_row(row.count) if row.table == rate.FIXED else rate.delta_row(row.count)


def test_the_rate_of_epsilon_comes_out() -> None:
    last = [row for row in rate.read() if row.table == rate.AT_DELTA][-1]
    mu, epsilon = rate.TOTAL, last.half.upper
    density = math.exp(-0.5 * (mu / 2.0 - epsilon / mu) ** 2) / math.sqrt(2.0 * math.pi)
    falls = math.exp(epsilon) * 0.5 * math.erfc((mu / 2.0 + epsilon / mu) / math.sqrt(2.0))
    assert rate.times(last.to_half, math.sqrt(last.count)).lower == pytest.approx(-density / falls / 6.0, rel=2e-2)


@pytest.mark.parametrize("table", rate.EPSILONS)
def test_the_rates_come_out(table: str) -> None:
    epsilon, mu = rate.EPSILONS[table], rate.TOTAL
    density = math.exp(-0.5 * (mu / 2.0 - epsilon / mu) ** 2) / math.sqrt(2.0 * math.pi)
    first = -(mu**2) * density / 6.0
    second = mu**2 * density * (mu / 4.0 + 1.0 / mu - epsilon**2 / mu**3) / 12.0
    last = [row for row in rate.read() if row.table == table][-1]
    assert rate.times(last.to_half, math.sqrt(last.count)).lower == pytest.approx(first, rel=2e-2)
    assert rate.times(last.to_matched, last.count).lower == pytest.approx(second, rel=1e-2)


@pytest.mark.parametrize("largest", [0.01, 0.5, 3.0])
def test_moments_by_integration(largest: float) -> None:
    """E[L] and 2 E[L] - Var[L] from the densities themselves."""
    with mpmath.workdps(40):
        a = mpmath.mpf(largest)

        def moment(power: int) -> mpmath.mpf:
            inside = mpmath.quad(lambda x: a / 2 * mpmath.exp(-a * (1 - x)) * (a * (2 * x - 1)) ** power, [0, 1])
            return inside + a**power / 2 + (-a) ** power * mpmath.exp(-a) / 2

        mean, square = moment(1), moment(2)
        with working_precision(256):
            assert float(rate.mean_loss(arb(largest))) == pytest.approx(float(mean), rel=1e-14)
            assert float(rate.shortfall(arb(largest))) == pytest.approx(float(2 * mean - square + mean**2), rel=1e-13)


@pytest.mark.parametrize("largest", [0.1, 1.0, 6.0])
def test_the_product_over_the_zeros(largest: float) -> None:
    """Sums over the zeros of x cos x + (a/2) sin x, found one by one, are the mean loss and the shortfall."""
    a = largest
    zeros = []
    for j in range(1, 3000):
        low, high = (j - 0.5) * math.pi, j * math.pi  # x cos x + (a/2) sin x changes its sign here
        assert (low * math.cos(low) + a / 2 * math.sin(low)) * (high * math.cos(high) + a / 2 * math.sin(high)) < 0.0
        for _ in range(60):
            middle = (low + high) / 2.0
            same = math.copysign(1.0, middle * math.cos(middle) + a / 2 * math.sin(middle)) == (-1.0) ** (j + 1)
            low, high = (middle, high) if same else (low, middle)
        zeros.append(0.25 + (low / a) ** 2)
    rest = a**2 / math.pi**2 / 3000.0  # of sum 1/w, about
    mean, short = float(rate.mean_loss(arb(a))), float(rate.shortfall(arb(a)))
    assert sum(1.0 / w for w in zeros) + rest == pytest.approx(mean, rel=1e-4)
    assert sum(1.0 / w**2 for w in zeros) == pytest.approx(short, rel=1e-6)


def test_the_record_goes_both_ways(tmp_path: Path) -> None:
    rate.write(rate.read(), tmp_path / "record.csv")
    assert rate.read(tmp_path / "record.csv") == rate.read()
