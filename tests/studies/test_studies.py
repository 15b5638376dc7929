"""Parts of the studies against truths that share no code with them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import pytest

from studies.asking import deltas, factors
from studies.figure import Figure, Line, Panel
from studies.tight_on_budget import figure_01, timings
from studies.tight_on_budget.kov import best_epsilon, points_of, supremum_of
from studies.tight_on_budget.measure import COMPARISONS, RIGHT, SECRET, WRONG, measure
from studies.tight_on_budget.noise import cut_laplace, response
from studies.tight_on_budget.vuvuzela import LOW, LP_20K, NEW_1, TALK_FEW, Noise, clamped, cut, original_conversation
from tightrope import ApproximateDP, Gaussian, RandomizedResponse


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def test_figure_1_is_the_area_it_says() -> None:
    line = figure_01.figure().panels[0].lines[0]
    sigma, cut = 200.0 * math.sqrt(2.0), 2500.0
    assert line.lower is not None
    assert line.lower[0] <= 1.41047322e-3 * (1.0 + 1e-7)
    assert line.upper[-1] == pytest.approx(1.5543165945573e-20, rel=1e-6)
    with mpmath.workdps(40):
        kept = mpmath.ncdf(cut / sigma) - mpmath.ncdf(-cut / sigma)
        for factor, low, high in list(zip(line.x, line.lower, line.upper, strict=True))[::10]:
            crossing = min(math.log(factor) * sigma**2 + 0.5, cut)
            p = mpmath.ncdf(-(crossing - 1.0) / sigma) - mpmath.ncdf(-cut / sigma)
            q = mpmath.ncdf(-crossing / sigma) - mpmath.ncdf(-cut / sigma)
            truth = (p - factor * q) / kept
            assert low * (1.0 - 1e-9) <= truth <= high * (1.0 + 1e-9)


@pytest.mark.parametrize("factor", [1.0, 1.0005, 1.002])
def test_clamped_noise_by_enumeration(factor: float) -> None:
    """Whole outputs from 0 on, rounded up from Laplace noise around 40 and 42."""
    noise = Noise("LP", 40, 6)
    below = [[_laplace((x - mean) / 6.0) for x in range(600)] for mean in (40, 42)]
    first, second = ([law[0], *(b - a for a, b in pairwise(law))] for law in below)
    truth = max(
        sum(max(p - factor * q, 0.0) for p, q in zip(one, other, strict=True))
        for one, other in ((first, second), (second, first))
    )
    found = clamped(noise, 2.0).delta(math.log(factor))
    assert found.lower - 1e-13 <= truth <= found.upper + 1e-13


def _laplace(x: float) -> float:
    return 0.5 * math.exp(x) if x < 0.0 else 1.0 - 0.5 * math.exp(-x)


def test_cut_noise_gives_records_away_and_clamped_noise_does_not() -> None:
    assert cut(LP_20K, 2.0).delta(math.inf).lower > 0.0
    assert clamped(LP_20K, 2.0).delta(math.inf).upper == 0.0


def test_original_analysis_of_the_low_noise() -> None:
    """The parameters were chosen for e^epsilon = 2 and delta = 1e-4 at about this many rounds."""
    found = original_conversation(LOW, TALK_FEW)
    once = 4.0 / 7300.0
    assert found.epsilon == pytest.approx(
        once * math.sqrt(2.0 * TALK_FEW * math.log(1e5)) + TALK_FEW * once * math.expm1(once), rel=1e-12
    )
    assert found.delta == pytest.approx(TALK_FEW * math.exp((2.0 - 150_000.0) / 7300.0) + 1e-5, rel=1e-12)
    assert found.factor == pytest.approx(2.0, abs=1e-3)


def test_names_of_noise() -> None:
    assert str(NEW_1) == "GS(15k, 2500)"
    assert str(LOW.gaussian()) == "GS(150k, 10.3k)"
    assert LOW.half() == Noise("LP", 75_000, 3_650)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_kov_of_randomized_response_is_the_binomial(epsilon: float) -> None:
    p, count = Fraction(51, 100), 40
    truth = sum(
        math.comb(count, k)
        * max(
            p**k * (1 - p) ** (count - k) - Fraction(math.exp(epsilon)) * (1 - p) ** k * p ** (count - k), Fraction(0)
        )
        for k in range(count + 1)
    )
    found = points_of(RandomizedResponse(p=0.51)).delta(epsilon, count)
    assert float(truth) * (1.0 - 1e-12) <= found <= float(truth) * (1.0 + 1e-9)


@pytest.mark.parametrize("count", [1, 5, 100])
def test_the_best_point_of_kov_from_both_sides(count: int) -> None:
    gauss, delta = Gaussian(sigma=20.0), 1e-5
    found = best_epsilon(gauss, delta, count, accuracy=1e-2)
    assert found.width <= 1.01e-2 * found.upper
    tried = [ApproximateDP(e, gauss.delta(e).upper) * count for e in (0.002 * 1.15**k for k in range(60))]
    assert found.lower <= min(run.epsilon(delta).upper for run in tried)
    assert found.upper >= (gauss * count).epsilon(delta).lower
    if count == 1:
        assert found.lower <= gauss.epsilon(delta).upper <= found.upper * (1.0 + 1e-12)


def test_kov_stays_above_the_truth_of_cut_noise() -> None:
    points, run = points_of(cut_laplace()), cut_laplace() * 64
    for epsilon in (0.0, 0.02, 0.1):
        assert points.delta(epsilon, 64) >= run.delta(epsilon, accuracy=1e-3).lower
    assert points.epsilon(1e-3, 64) >= run.epsilon(1e-3, accuracy=1e-3).lower
    assert supremum_of(cut_laplace()) == pytest.approx(1.0 / 200.0)
    assert supremum_of(Gaussian(sigma=1.0)) == math.inf


def test_lines_hold_both_ends() -> None:
    line = deltas("gauss", Gaussian(sigma=1.0), [1.0, 2.0])
    truth = _normal(0.5) - _normal(-0.5)
    assert line.lower is not None
    assert line.lower[0] <= truth * (1.0 + 1e-14)
    assert line.upper[0] >= truth * (1.0 - 1e-14)
    grown = factors("response", lambda count: response() * count, [1], 0.0)
    assert grown.lower is not None
    assert grown.lower[0] <= 0.51 / 0.49 <= grown.upper[0]
    wide = Line("wide", [1.0], [2.0], [1.0])
    assert Figure("f", "t", "c", [Panel("p", "x", "y", lines=[line, wide])]).width == 0.5


def test_the_recorded_timings() -> None:
    leaky, constant = timings.read()
    assert (leaky.name, constant.name) == ("leaky", "constant")
    assert leaky.draws == constant.draws == 400_000
    for each in (leaky, constant):
        steps = {b - a for a, b in pairwise(each.starts)}
        assert steps == {20}
    assert timings.leakage(leaky, 1, None).lower > 0.2
    assert timings.leakage(leaky, 1, 0.99).upper >= timings.leakage(leaky, 1, None).upper


def test_distance_by_pairing_every_timing() -> None:
    found = timings.Timings("x", (0, 20, 40, 60), (1, 5, 0, 2), (4, 0, 3, 1))
    pairs = zip(_unrolled(found.starts, found.right), _unrolled(found.starts, found.wrong), strict=True)
    assert timings.distance(found) == max(abs(a - b) for a, b in pairs)


def _unrolled(starts: tuple[int, ...], counts: tuple[int, ...]) -> list[int]:
    return [start for start, count in zip(starts, counts, strict=True) for _ in range(count)]


def test_hiding_noise_meets_the_target() -> None:
    leaky = timings.read()[0]
    noise = timings.hiding_noise(leaky, 512)
    mu = timings.distance(leaky) / noise.value * math.sqrt(512)
    epsilon = math.log(2.0)
    truth = _normal(mu / 2 - epsilon / mu) - 2.0 * _normal(-mu / 2 - epsilon / mu)
    assert truth == pytest.approx(1e-4, rel=1e-3)
    assert truth <= 1e-4 * (1.0 + 1e-9)


def test_measuring_and_recording(tmp_path: Path) -> None:
    found = [measure(name, 2_000, 1, lambda done: None) for name in COMPARISONS]
    for each in found:
        assert each.draws == 2_000
    timings.write(tmp_path / "record.csv", found)
    assert list(timings.read(tmp_path / "record.csv")) == found
    for compare in COMPARISONS.values():
        assert compare(SECRET, SECRET)
        assert not compare(SECRET, RIGHT)
        assert not compare(SECRET, WRONG)
