"""The smallest mu: closed forms, finite laws in fractions, limits, none, and profiles on dense grids."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import pytest

import tightrope as tr
from tightrope.core.metrics.gdp import Line, gdp, stays_above
from tightrope.core.metrics.law import Law
from tightrope.core.values import compute_budget
from tightrope.core.values.question import Question

from ..oracle.readings import LaplaceReadings, ResponseReadings, Two, gaussian_hockey_stick, gaussian_mu
from ..search import cases

EPSILONS = (1e-12, 0.1, 1.0, 7.0, 30.0)


def mu_at(t: float, height: mp.mpf) -> mp.mpf:
    return gaussian_mu(mp.exp(t), height)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("proof", [False, True])
def test_closed_forms(epsilon: float, proof: bool) -> None:
    with mp.workdps(60):
        laplace, response = LaplaceReadings(mp.mpf(epsilon)).gdp(), ResponseReadings(mp.mpf(epsilon)).gdp()
    for run, exact in (
        (tr.Laplace(scale=1, sensitivity=epsilon), laplace),
        (tr.RandomizedResponse(epsilon=epsilon, neighbours="add_remove"), response),
        (tr.PureDP(epsilon=epsilon), response),
    ):
        found = run.gdp(proof=proof)
        assert found.lower <= exact <= found.upper
        assert found.width <= 1e-9 * found.upper


def test_next_to_disjoint_laws() -> None:
    for run, error in (
        (tr.PureDP(epsilon=800), 1 / (1 + mp.exp(800))),
        (tr.Laplace(scale=1, sensitivity=800), mp.exp(-400) / 2),
    ):
        found = run.gdp()
        assert mp.ncdf(-mp.mpf(found.upper) / 2) <= error <= mp.ncdf(-mp.mpf(found.lower) / 2)
        assert found.width <= 1e-12 * found.upper


def test_gaussians_add_up_as_squares() -> None:
    run = tr.Gaussian(sigma=2) * 3 + tr.Gaussian(sigma=0.5, sensitivity=3)
    found = run.gdp()
    with mp.workdps(40):
        assert found.lower <= mp.sqrt(mp.mpf(3) / 4 + 36) <= found.upper
    assert found.width <= 1e-15 * found.upper
    assert (tr.Gaussian(sigma=1e-150) * 10**9).gdp().lower > 3e154
    assert run.gdp(direction="remove") == run.gdp(direction="add")


@pytest.mark.parametrize("direction", ["remove", "add", None])
def test_sampling_does_not_help_and_delta_least_does(direction: str | None) -> None:
    run = tr.Gaussian(sigma=2).poisson(rate=0.01) * 400
    found = run.gdp(direction=direction)
    assert found.lower <= 10.0 <= found.upper <= 10.0 + 1e-12
    assert found.certificate is not None
    assert "sampling does not help" in found.certificate.reason
    some = run.gdp(1e-5, direction=direction)
    assert some.upper < 0.3
    assert some.width <= 1e-6 * some.upper
    lines = some.certificate.budget if some.certificate is not None else tr.ErrorBreakdown()
    assert sum(lines.upper.values()) + sum(lines.lower.values()) >= some.width * (1 - 1e-6)
    # Every delta from there on is that of the Gaussian at most.
    above, below = tr.Gaussian(sigma=1 / some.upper), tr.Gaussian(sigma=1 / (some.lower * (1 - 1e-5)))
    for delta in (1e-5, 1e-4, 1e-3, 1e-2):
        assert run.epsilon(delta, direction=direction).lower <= above.epsilon(delta).upper
    assert any(run.epsilon(d).upper > below.epsilon(d).lower for d in (1e-5, 1e-4, 1e-3))


def test_other_samples_of_gaussians() -> None:
    group = (tr.Gaussian(sigma=1).poisson(rate=0.1) * 4).group(3)
    assert 6.0 in group.gdp()
    batch = tr.Gaussian(sigma=1, sensitivity=2).without_replacement(batch=10, records=1000) * 9
    assert 6.0 in batch.gdp()
    assert batch.gdp().width < 1e-12
    swapped = tr.Gaussian(sigma=2).poisson(rate=0.3, neighbours="replace")
    found = swapped.gdp()
    assert 0.5 <= found.lower <= found.upper <= 0.52


def test_none_and_what_has_one() -> None:
    run = tr.ApproximateDP(epsilon=1, delta=1e-5)
    for least in (0.0, 1e-6, 1e-5):
        found = run.gdp(least)
        assert (found.lower, found.upper) == (math.inf, math.inf)
        assert found.certificate is not None
        assert "delta_least above" in found.certificate.reason
    found = run.gdp(1e-4)
    e = Fraction(math.e)
    law = Two.of(
        [(1 - Fraction(1e-5)) * e, 1 - Fraction(1e-5), Fraction(1e-5) * (1 + e), 0],
        [1 - Fraction(1e-5), (1 - Fraction(1e-5)) * e, 0, Fraction(1e-5) * (1 + e)],
    )
    assert abs(found.lower - law.gdp(1e-4)) < 1e-9
    assert (tr.PureDP(epsilon=0) * 5).gdp() == tr.Bound(0.0, 0.0)
    assert tr.Laplace(scale=1).gdp(0.9) == tr.Bound(0.0, 0.0)


@pytest.mark.parametrize("seed", range(cases(5, 200)))
def test_finite_laws(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(2, 4)
    p, q = ([rng.randint(1, 40) for _ in range(size)] for _ in range(2))
    p, q = [each / sum(p) for each in p], [each / sum(q) for each in q]
    law, count = Two.of(p, q), rng.randint(1, 3)
    run = tr.Finite(p=p, q=q) * count
    exact = law.power(count)
    least = rng.choice([0.0, 0.0, 1e-3, 0.05])
    for direction in ("remove", "add", None):
        found = run.gdp(least, direction=direction)
        truth = exact.gdp(least)
        assert found.lower <= truth * (1 + 1e-14)
        assert truth * (1 - 1e-14) <= found.upper
        assert found.width <= 1e-6 * found.upper


def test_a_profile_on_a_dense_grid() -> None:
    """Laplace noise and a Gaussian: the profile by integration, at points; no point is above, and one is close."""
    run = tr.Laplace(scale=1) + tr.Gaussian(sigma=1)
    found = run.gdp()
    assert found.width <= 1e-6 * found.upper

    def profile(t: float) -> mp.mpf:
        ends = [-mp.inf, 0, 1, mp.inf]
        return mp.quad(
            lambda x: mp.exp(-abs(x - 1)) / 2 * gaussian_hockey_stick(mp.mpf(1), mp.exp(t - abs(x) + abs(x - 1))), ends
        )

    start = mu_at(0.0, profile(0.0))
    assert found.lower * (1 - 1e-6) <= start <= found.upper
    assert mu_at(2.0, profile(2.0)) <= found.upper


def test_the_discrete_gaussian_is_a_little_worse() -> None:
    for sigma in (0.5, 2.0):
        found = tr.DiscreteGaussian(sigma=sigma).gdp()
        with mp.workdps(40):
            masses = {k: mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(sigma) ** 2)) for k in range(-60, 62)}
            total = sum(masses.values())
            profile = [
                sum(max(masses[k] - mp.exp(t) * masses[k - 1], mp.mpf(0)) for k in range(-59, 62)) / total
                for t in (0.0, 0.3, 1.0, 3.0)
            ]
            grid = [mu_at(t, h) for t, h in zip((0.0, 0.3, 1.0, 3.0), profile, strict=True)]
        assert max(grid) <= found.upper
        assert grid[0] >= found.lower * (1 - 1e-9)
        assert 1 / sigma < found.lower
        assert found.width <= 1e-6 * found.upper


def test_what_cannot_be_told_far_out_is_bounded() -> None:
    many = (tr.Laplace(scale=10) + tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000).gdp()
    assert many.lower >= math.sqrt(1000) * (1 - 1e-15)
    assert many.upper < math.sqrt(1000.02)
    heavy = tr.RenyiCurve(orders=[2, 4, 8], divergences=[0.1, 0.2, 0.5]).gdp()
    assert heavy.lower == heavy.upper == math.inf


def test_the_upper_end_is_what_was_proven_beyond_the_last_point(monkeypatch: pytest.MonkeyPatch) -> None:
    proven: dict[float, float] = {}

    def noted(mu: float, start: float, known: Sequence[Line]) -> bool:
        held = stays_above(mu, start, known)
        if held:
            proven[start] = min(mu, proven.get(start, math.inf))
        return held

    monkeypatch.setattr("tightrope.core.metrics.gdp.stays_above", noted)
    run = tr.Gaussian(sigma=3).poisson(rate=0.9) + tr.RandomizedResponse(epsilon=0.5, neighbours="add_remove")
    for direction in ("remove", "add"):
        found = run.gdp(accuracy=0.3, direction=direction)
        assert 0.0 < max(proven.values()) <= found.upper
        proven.clear()


def test_answers_in_little_time_hold() -> None:
    run = tr.Laplace(scale=1e3) * 10**6
    exact = run.gdp(1e-3, accuracy=1e-2)
    quick = run.gdp(1e-3, seconds=1e-3)
    assert quick.lower <= exact.upper
    assert exact.lower <= quick.upper
    with pytest.raises(tr.InvalidParameter, match="delta_least must"):
        run.gdp(-1)
    with pytest.raises(tr.InvalidParameter, match="direction must be left out"):
        tr.Gaussian(sigma=1, sensitivity=2).without_replacement(batch=1, records=9).gdp(direction="add")


def test_an_infinite_mass_that_may_be_there_is_no_end() -> None:
    """The best of several runs: that the loss is infinite at times is not told, only how often at most."""
    run = tr.ApproximateDP(epsilon=1, delta=1e-3).best_of("poisson", mean=3)
    with compute_budget.allowance(20.0):
        assert gdp(Law(run, Question("gdp"), below=False), 0.0).upper == math.inf


def test_one_direction_needs_both_orders() -> None:
    law = Two.of([0.9, 0.1], [0.5, 0.5])
    for direction in ("remove", "add"):
        found = tr.Finite(p=[0.9, 0.1], q=[0.5, 0.5]).gdp(direction=direction, accuracy=1e-6)
        assert abs(found.lower - law.gdp()) < 1e-6
        least = tr.Finite(p=[0.9, 0.1], q=[0.5, 0.5]).gdp(0.3, direction=direction)
        assert least.lower <= law.gdp(0.3) * (1 + 1e-12)
        assert law.gdp(0.3) * (1 - 1e-12) <= least.upper <= law.gdp(0.3) * (1 + 1e-6)


def test_measured_pairs_hold_at_odds_of_one_and_more() -> None:
    """Their reverses leak, as nothing is claimed there; both directions at epsilon >= 0 are all that a mu asks for."""
    run = tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.95)
    assert run.epsilon(1e-12).upper < 1.0
    found = run.gdp()
    assert 0.0 <= found.lower < found.upper < 1.0
    for epsilon in (0.0, 0.1, 0.3, 0.5, 0.6):
        assert run.delta(epsilon).upper <= tr.GDP(mu=found.upper).delta(epsilon).upper * (1.0 + 1e-6)
    many = tr.Histograms(a=[9000, 1000], b=[8000, 2000], confidence=0.95)
    found = many.gdp()
    assert 0.0 < found.lower < tr.Finite(p=[0.9, 0.1], q=[0.8, 0.2]).gdp().upper < found.upper
    less = tr.GDP(mu=found.upper * (1.0 - 1e-2))
    places = [0.02 * step for step in range(40)]
    pairs = zip(many.delta(places), less.delta(places), strict=True)
    assert any(bound.upper > other.upper for bound, other in pairs)
