"""delta at epsilons below 0: the profile at alpha = e^epsilon < 1, beside formulas and sums that know no mirror."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath
import pytest
from click.testing import CliRunner
from flint import arb

import tightrope as tr
from tests.oracle import enumeration
from tightrope import result
from tightrope.cli.app import app
from tightrope.core.engines.planner import exact
from tightrope.core.numerics.balls import working_precision
from tightrope.result import Result

EPSILONS = (-5e-324, -1e-300, -1e-9, -0.03, -0.3, -1.0, -2.5, -40.0, -700.0, -1e6)
SKEWED = ((3, 5, 0, 2, 7), (4, 1, 6, 2, 4))  # an outcome that only one of the two has
SAMPLED = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000


def outcomes(p: tuple[int, ...], q: tuple[int, ...]) -> enumeration.Outcomes:
    """Two laws as exact fractions."""
    return tuple((Fraction(a, sum(p)), Fraction(b, sum(q))) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_finite_laws_by_exact_fractions(count: int, direction: str) -> None:
    p, q = SKEWED
    first, second = (p, q) if direction == "remove" else (q, p)
    run = tr.Histograms(a=p, b=q) * count
    law = enumeration.composed([(outcomes(first, second), count)])
    for epsilon, bound in zip(EPSILONS, run.delta(EPSILONS, direction=direction), strict=True):
        low, high = enumeration.delta(law, epsilon)
        assert Fraction(bound.lower) <= high, (epsilon, bound)
        assert low <= Fraction(bound.upper), (epsilon, bound)
        assert bound.width <= 1e-12 * bound.upper
        assert bound.certificate is not None
        assert bound.certificate.direction is tr.Direction(direction)


def test_random_mixes_in_every_way_they_can_be_asked() -> None:
    choose = random.Random(5)
    for _ in range(4):
        laws = [tuple(tuple(choose.randint(0, 6) for _ in range(3)) for _ in range(2)) for _ in range(2)]
        laws = [each for each in laws if sum(each[0]) and sum(each[1])]
        parts = [(each, choose.randint(1, 2)) for each in laws]
        run = tr.compose(tr.Histograms(a=p, b=q) * count for (p, q), count in parts)
        epsilon = -choose.choice([1e-12, 0.2, 1.1, 30.0])
        ends = []
        for way in ("remove", "add"):
            swapped = [((p, q) if way == "remove" else (q, p), count) for (p, q), count in parts]
            law = enumeration.composed([(outcomes(*each), count) for each, count in swapped])
            ends.append(enumeration.delta(law, epsilon))
        worst = max(low for low, _ in ends), max(high for _, high in ends)
        for options in ({}, {"proof": True}, {"engine": "lattice"}, {"engine": "buckets"}, {"accuracy": 1e-6}):
            try:
                bound = run.delta(epsilon, **options)  # type: ignore[call-overload]
            except (tr.UnsupportedMechanism, tr.AccuracyNotReached):
                continue
            assert Fraction(bound.lower) <= worst[1], (run, epsilon, options)
            assert worst[0] <= Fraction(bound.upper), (run, epsilon, options)


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("count", [1, 7, 10**9])
def test_gaussians_by_the_normal_formula(count: int, proof: bool) -> None:
    run = tr.Gaussian(sigma=3.0) * count
    with mpmath.workdps(60):
        mu = mpmath.sqrt(count) / 3
        for epsilon in (-1e-300, -0.1, -1.0, -20.0):
            e = mpmath.mpf(epsilon)
            truth = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
            bound = run.delta(epsilon, proof=proof)
            assert bound.lower <= truth <= bound.upper
            assert bound.width <= 1e-12


def test_laplace_by_quadrature() -> None:
    bound = tr.Laplace(scale=2.0).delta(-0.2)
    with mpmath.workdps(30):
        alpha = mpmath.exp(mpmath.mpf(-0.2))

        def gain(x: mpmath.mpf) -> mpmath.mpf:
            return max(mpmath.exp(-abs(x - 1) / 2) - alpha * mpmath.exp(-abs(x) / 2), mpmath.mpf(0)) / 4

        kink = mpmath.mpf(1) / 2 - mpmath.mpf(0.2)  # where the loss x - 1/2 is -0.2
        truth = mpmath.quad(gain, [-mpmath.inf, 0, kink, 1, mpmath.inf])
    assert float(truth) == pytest.approx(bound.upper, rel=1e-12)
    assert bound.width < 1e-14


def test_the_other_direction_is_not_taken_where_it_is_no_reverse() -> None:
    """Histograms with confidence have a pair for each direction, and neither is the other's reverse."""
    run = tr.Histograms(a=[900, 100, 3], b=[880, 120, 3], confidence=0.95)
    pairs = {way: run.pair(way) for way in tr.Direction}
    assert pairs[tr.Direction.ADD] != pairs[tr.Direction.REMOVE].reversed()
    for way, pair in pairs.items():
        for epsilon in (-0.01, -0.3, -3.0):
            with working_precision(200):
                truth = pair.ball_hockey_stick(arb(epsilon))
            bound = run.delta(epsilon, direction=way)
            assert arb(bound.lower) <= truth
            assert truth <= arb(bound.upper)
            assert arb(bound.upper) <= truth * (1 + 1e-12)
    both = run.delta(-0.3)
    assert both.upper == max(run.delta(-0.3, direction=way).upper for way in tr.Direction)


@pytest.mark.parametrize(
    "run",
    [SAMPLED, (tr.Gaussian(sigma=3) * 4).poisson(rate=0.2) * 3, tr.TruncatedGaussian(sigma=2, bounds=(-3, 9)) * 5],
    ids=str,
)
def test_the_profile_is_convex_in_alpha_over_both_signs(run: tr.Mechanism) -> None:
    epsilons = (-3.0, -1.0, -0.4, -0.1, -1e-3, 0.0, 1e-3, 0.1, 0.5, 1.2)
    for way in ("remove", "add"):
        bounds = run.delta(epsilons, direction=way)
        points = list(zip(map(math.exp, epsilons), bounds, strict=True))
        assert all(two.lower <= one.upper for (_, one), (_, two) in pairwise(points))
        for (a, one), (b, two), (c, three) in zip(points, points[1:], points[2:], strict=False):
            share = (c - b) / (c - a)
            assert two.lower <= share * one.upper + (1 - share) * three.upper + 1e-15
        assert all(1 - alpha <= bound.upper + 1e-15 for alpha, bound in points)


def test_the_mirror_of_the_mirror_is_the_profile() -> None:
    for epsilon in (1e-9, 0.4, 3.0):
        there = SAMPLED.delta(epsilon, direction="remove")
        back = SAMPLED.delta(-epsilon, direction="add")
        # H_{1/a}(Q||P) = (H_a(P||Q) - 1 + a)/a
        shift = -math.expm1(-epsilon)
        again = (back.lower - shift) * math.exp(epsilon), (back.upper - shift) * math.exp(epsilon)
        assert again[0] - 1e-12 <= there.upper
        assert there.lower <= again[1] + 1e-12


def test_next_to_nothing_every_digit_counts() -> None:
    """1 - alpha does not cancel: with nothing to lose it is all there is."""
    for epsilon in (-1e-300, -3e-17, -1e-9, -0.3):
        bound = tr.PureDP(epsilon=0.0).delta(epsilon)
        with mpmath.workdps(400):
            truth = -mpmath.expm1(mpmath.mpf(epsilon))
            assert bound.lower <= truth <= bound.upper
        assert bound.width <= 4e-16 * bound.upper
    assert tr.PureDP(epsilon=0.0).delta(-5e-324).upper <= 1e-323


def test_the_ends_of_the_line() -> None:
    for run in (SAMPLED, tr.RandomizedResponse(p=1), tr.PureDP(epsilon=0.0), tr.ApproximateDP(epsilon=1, delta=0.3)):
        assert run.delta(-math.inf) == tr.Bound(1.0, 1.0)
        far = run.delta(-1e308)
        assert far.lower >= 1.0 - 2.0**-52
        assert far.upper == 1.0
        assert run.delta(-0.0) == run.delta(0.0)
        assert run.delta(-1e-320).upper >= run.delta(0.0).lower
    for wrong in (math.nan, "-1", True, None):
        with pytest.raises(tr.InvalidParameter, match="epsilon must be a number"):
            SAMPLED.delta(wrong)  # type: ignore[call-overload]


def test_a_sequence_is_answered_in_its_order() -> None:
    given = (0.3, -0.2, -1.0, 0.0, -0.2, 1.0)
    bounds = SAMPLED.delta(given)
    for epsilon, bound in zip(given, bounds, strict=True):
        alone = SAMPLED.delta(epsilon)
        assert max(alone.lower, bound.lower) <= min(alone.upper, bound.upper)
        assert alone.certificate is not None
        assert bound.certificate is not None
        assert bound.certificate.direction is alone.certificate.direction
        assert epsilon == 0.0 or (bound.certificate.direction is tr.Direction.ADD) == (epsilon < 0.0)
    assert bounds[1] == bounds[4]


def test_a_symmetric_mechanism_keeps_the_direction_it_has_above_zero() -> None:
    for run in (tr.Gaussian(sigma=2.0), tr.Laplace(scale=3.0) * 3):
        for epsilon in (-0.5, 0.5):
            certificate = run.delta(epsilon).certificate
            assert certificate is not None
            assert certificate.direction is tr.Direction.REMOVE


@pytest.mark.parametrize("engine", ["closed_form", "contour", "lattice", "buckets", "hits"])
def test_an_engine_that_is_insisted_on_answers(engine: str) -> None:
    run = tr.Gaussian(sigma=0.05).poisson(rate=0.01) * 5 if engine == "hits" else tr.Gaussian(sigma=2.0) * 5
    bound, truth = run.delta(-0.4, engine=engine), run.delta(-0.4, proof=True)
    assert bound.lower <= truth.upper
    assert truth.lower <= bound.upper
    assert bound.certificate is not None
    assert bound.certificate.engine == engine
    assert "mirror" in bound.certificate.reason
    assert truth.certificate is not None
    assert truth.certificate.arithmetic == "ball"


def test_the_budget_pays_for_the_width_in_units_of_this_delta() -> None:
    bound = SAMPLED.delta(-1.0, engine="lattice", accuracy=1e-3)
    assert bound.certificate is not None
    budget = bound.certificate.budget
    assert bound.width <= (sum(budget.upper.values()) + sum(budget.lower.values())) * (1 + 1e-9) + 1e-15
    mirrored = exact(arb(1) / 3, arb(1) / 3, "a third").mirrored(1.0)
    assert mirrored.budget.upper["rounding"] > 0.0
    assert mirrored.lower <= 1 - 2 * math.exp(-1) / 3 <= mirrored.upper


def test_accuracy_is_that_of_the_answer() -> None:
    """Far below 0 hardly anything must be known of the mirrored profile."""
    run = tr.Laplace(scale=3.0).poisson(rate=0.37) * 700 + tr.DiscreteGaussian(sigma=2.0) * 3
    bound = run.delta(-30.0, accuracy=1e-9)
    assert bound.width <= 1e-9
    with pytest.raises(tr.AccuracyNotReached):
        tr.Gaussian(sigma=1.0).delta(-1.0, engine="buckets", accuracy=1e-14)


def test_a_curve_over_both_signs(tmp_path: Path) -> None:
    curve = SAMPLED.curve(-2, 2, 9)
    assert curve.epsilons == (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
    assert all(one.upper > two.lower for one, two in pairwise(curve.bounds))
    curve.plot(tmp_path / "both.png", label="both signs")
    assert (tmp_path / "both.png").stat().st_size > 10_000
    assert SAMPLED.curve(epsilons=[-1.0, 0.5]).epsilons == (-1.0, 0.5)
    for wrong in ({"start": -math.inf}, {"start": -1e308, "stop": 1e308}, {"epsilons": [-math.inf, 0.0]}):
        with pytest.raises(tr.InvalidParameter, match="finite"):
            SAMPLED.curve(**wrong)


@pytest.mark.parametrize("epsilon", [-0.1, -math.inf])
def test_results_hold_a_negative_epsilon(epsilon: float) -> None:
    asked = Result(repr(SAMPLED), "delta", {"epsilon": epsilon}, SAMPLED.delta(epsilon))
    (again,) = result.read(result.write([asked], several=False))
    assert again == asked
    document = {**asked.document(), "schema": 1, "quantity": "renyi", "order": -1.0}
    with pytest.raises(tr.DataError, match="order cannot be"):
        result.read(json.dumps(document))


def test_on_the_command_line() -> None:
    run = CliRunner()
    found = run.invoke(app, ["delta", "Gaussian(sigma=1)", "--epsilon", "-0.1", "--epsilon=-inf"])
    assert "delta in [0.41395958061728, 0.41395958061729] at epsilon -0.1" in found.output
    assert "delta in [1, 1] at epsilon -inf" in found.output
    found = run.invoke(app, ["curve", "Laplace(scale=1)", "--from", "-2", "--to", "2", "--points", "5"])
    assert [line.split(",")[0] for line in found.output.splitlines()[1:]] == ["-2.0", "-1.0", "0.0", "1.0", "2.0"]


def test_what_speaks_of_no_negative_epsilon_says_so() -> None:
    with pytest.raises(tr.InvalidParameter, match=r"0 or above, not -0\.1: classic bounds"):
        tr.compare(tr.Gaussian(sigma=1.0), epsilon=-0.1)
    with pytest.raises(tr.InvalidParameter, match="0 or above"):
        tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma), epsilon=-0.1, delta=0.5)


@pytest.mark.parametrize("seconds", [1e-9, 1e-5, 1e-4, 1e-3, 3e-3, 0.01])
def test_wherever_the_work_ends_the_answer_holds(seconds: float) -> None:
    """What was found is mirrored all the same, also when finding it took everything."""
    truth = SAMPLED.delta(-0.3)
    for bound in (SAMPLED.delta(-0.3, seconds=seconds), SAMPLED.delta([-0.3, 0.5], seconds=seconds)[0]):
        assert bound.lower <= truth.upper
        assert truth.lower <= bound.upper
