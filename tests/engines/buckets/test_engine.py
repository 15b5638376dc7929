"""The buckets engine: parameters from the accuracy, every question against exact formulas of their own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from tightrope import Buckets, Gaussian, Laplace, parse
from tightrope.core.engines.buckets import engine as buckets
from tightrope.core.engines.buckets.bucket_composition import compose_sequence, pair_leaf, repeat, square
from tightrope.core.engines.buckets.bucket_list import TreeBuckets
from tightrope.core.engines.buckets.read import (
    CORRECTED,
    UNCORRECTED,
    Reading,
    delta,
    delta_uncorrected,
    epsilon_at,
    first_index,
    probabilistic,
    renyi,
)
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw, ResponseLaw, response_law
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.laplace import LaplacePair
from tightrope.core.numerics import convolution
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import InvalidParameter, UnsupportedMechanism, WorkExhausted
from tightrope.core.values.question import Direction


def _gauss_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def _response_delta(p: float, count: int, epsilon: float) -> mpmath.mpf:
    """Binomial sum: k truths of `count` have the loss (2k - count) log(p / (1 - p))."""
    with mpmath.workdps(60):
        a = mpmath.mpf(p)
        total = mpmath.mpf(0)
        for k in range(count + 1):
            gain = a**k * (1 - a) ** (count - k) - mpmath.exp(epsilon) * a ** (count - k) * (1 - a) ** k
            total += mpmath.binomial(count, k) * max(gain, mpmath.mpf(0))
        return total


def _gauss(sigma: float) -> GaussianPair:
    return GaussianPair(((sigma, 1.0, 1),))


@pytest.mark.parametrize(
    "sigma, count", [(0.7, 1), (0.7, 2), (0.7, 7), *((s, k) for s in (5.0, 200.0) for k in (1, 2, 7, 100, 512))]
)
def test_gaussians_by_their_tails(sigma: float, count: int) -> None:
    mu = math.sqrt(count) / sigma
    for epsilon in (0.5 * mu, 2.0 * mu + mu * mu / 2.0, 5.0 * mu + mu * mu / 2.0):
        found = buckets.prepare([(_gauss(sigma), count)], epsilon=epsilon, n=2000).delta(epsilon)
        truth = _gauss_delta(mu, epsilon)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower < 0.8 * found.upper
        rounding = found.budget.upper["rounding"] + found.budget.lower["rounding"]
        assert rounding < 0.05 * (found.upper - found.lower)


def test_small_deltas_keep_relative_precision() -> None:
    """The tilt makes delta 1e-60 as precise as delta 1e-5."""
    mu = math.sqrt(64.0) / 20.0
    epsilon = 16.0 * mu
    found = buckets.prepare([(_gauss(20.0), 64)], epsilon=epsilon, n=8000).delta(epsilon)
    truth = _gauss_delta(mu, epsilon)
    assert truth < mpmath.mpf(10) ** -50
    assert found.lower <= truth <= found.upper
    assert 0.0 < found.upper < 2.0 * found.lower
    assert found.budget.upper["rounding"] + found.budget.lower["rounding"] < 0.5 * found.lower


@pytest.mark.parametrize("count", [3, 64, 512])
def test_randomized_response_stays_on_its_buckets(count: int) -> None:
    """Losses on bucket boundaries: no discretisation at all, in any squaring."""
    pair = FinitePair(response_law(0.51, 2))
    for epsilon in (0.0, 0.11, 1.0):
        found = buckets.prepare([(pair, count)], epsilon=epsilon, n=1024).delta(epsilon)
        truth = _response_delta(0.51, count, epsilon)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 1e-6 * found.upper or truth == 0


VECTORS = json.loads((Path(__file__).parents[2] / "reference" / "vectors.json").read_text())["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['expression']} at {vector['delta']}")
def test_reference_vectors(vector: dict[str, str]) -> None:
    """Every reference value is contained, in each direction, even with few buckets."""
    mechanism, level = parse(vector["expression"]), float(vector["delta"])
    for direction in Direction:
        terms = [(part.pair(direction), count) for part, count in mechanism.terms]
        low, high = buckets.prepare(terms, delta=level, n=1024).epsilon(level)
        truth = float(vector.get(direction.value, vector["epsilon"]))
        assert low <= truth * (1.0 + 1e-14)
        assert high >= truth * (1.0 - 1e-14)


def test_accuracy_decides_the_number_of_buckets() -> None:
    terms = [(_gauss(50.0), 256)]
    sizes = []
    for accuracy in (0.1, 1e-2):
        evaluator = buckets.prepare(terms, epsilon=1.0, accuracy=accuracy)
        found = evaluator.delta(1.0)
        assert found.lower <= _gauss_delta(16.0 / 50.0, 1.0) <= found.upper
        assert found.upper - found.lower <= accuracy * found.upper
        sizes.append(evaluator.plan.n)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    low, high = buckets.prepare(terms, delta=1e-5, accuracy=1e-2).epsilon(1e-5)
    assert _gauss_delta(16.0 / 50.0, low) > 1e-5 >= _gauss_delta(16.0 / 50.0, high)
    assert high - low <= 1e-2 * high


def test_heterogeneous_sequence_with_leaks() -> None:
    """Leaky response x 3, response x 2, Gaussian x 4: sum over the finite outcomes of exact Gaussian profiles."""
    leaky, plain, gauss = FinitePair(ResponseLaw(0.25, 0.001, 2)), FinitePair(response_law(0.55, 2)), _gauss(6.0)
    epsilon = 0.8
    found = buckets.prepare([(leaky, 3), (plain, 2), (gauss, 4)], epsilon=epsilon, n=6000).delta(epsilon)
    with mpmath.workdps(40):
        leak = 1 - mpmath.mpf(0.999) ** 3
        truth = 1 - (1 - mpmath.mpf(0.001)) ** 3
        assert abs(leak - truth) < mpmath.mpf(10) ** -15
        kept = 1 - mpmath.mpf(0.001)
        a, b = kept / (1 + mpmath.exp(-0.25)), mpmath.mpf(0.55)
        ratio = mpmath.log(b / (1 - b))
        for i in range(4):
            for j in range(3):
                mass = mpmath.binomial(3, i) * a**i * (kept - a) ** (3 - i)
                mass *= mpmath.binomial(2, j) * b**j * (1 - b) ** (2 - j)
                loss = (2 * i - 3) * mpmath.mpf(0.25) + (2 * j - 2) * ratio
                truth += mass * _gauss_delta(2.0 / 6.0, epsilon - loss)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 1e-2 * found.upper


def test_uncorrected_delta_is_wider() -> None:
    """Definition 5 against definition 9: the correction is worth a lot."""
    step = 8.5 / 20.0 / 2000
    made = repeat(pair_leaf(_gauss(20.0), step, 2000), 64, free=1e-9)
    truth = _gauss_delta(0.4, 1.0)
    found = delta(made, 1.0)
    plain = delta_uncorrected(made, 1.0)
    assert found.lower <= truth <= found.upper < plain
    assert plain - truth > 2.0 * (found.upper - truth)


def test_probabilistic_and_renyi_of_gaussians() -> None:
    """P[loss > eps] and D_a = a mu^2 / 2 of a Gaussian; the divergence has no upper bound once infinity holds mass."""
    mu, count = 0.4, 64
    made = buckets.prepare([(_gauss(20.0), count)], epsilon=1.0, n=8000)
    found = probabilistic(made.buckets(made.tilt), 1.0)
    with mpmath.workdps(40):
        truth = mpmath.ncdf(mpmath.mpf(mu) / 2 - 1 / mpmath.mpf(mu))
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 0.2 * found.upper
    low, high = renyi(made.buckets(3.0), 4.0)
    assert low <= 4.0 * mu * mu / 2.0 <= high == math.inf
    assert low > 0.98 * 4.0 * mu * mu / 2.0


@pytest.mark.parametrize("order", [1.25, 2.0, 6.0, 40.0])
def test_renyi_of_laplace(order: float) -> None:
    """Bounded losses: two-sided, against the closed form for Laplace."""
    scale, count = 3.0, 8
    made = buckets.prepare([(LaplacePair(scale, 1.0), count)], epsilon=0.5, n=4000)
    low, high = renyi(made.buckets(order - 1.0), order)
    e = 1.0 / scale
    total = order / (2 * order - 1) * math.exp((order - 1) * e) + (order - 1) / (2 * order - 1) * math.exp(-order * e)
    truth = count * math.log(total) / (order - 1)
    assert low <= truth * (1.0 + 1e-12)
    assert truth * (1.0 - 1e-12) <= high
    assert high - low < 0.01 * high


@pytest.mark.parametrize("direct", [True, False])
def test_both_ways_to_convolve_agree(direct: bool) -> None:
    """Transforms and direct sums enclose the same list; the transforms widen delta by less than 1e-9."""
    step = 8.5 / 30.0 / 600
    leaf = pair_leaf(_gauss(30.0), step, 600, 20.0 * step)
    one, other = repeat(leaf, 24, free=1e-10, direct=direct), repeat(leaf, 24, free=1e-10, direct=not direct)
    for first, second in ((one.masses, other.masses), (one.real, other.real), (one.alternative, other.alternative)):
        low, high = first.bounds()
        other_low, other_high = second.bounds()
        assert np.all(low <= other_high)
        assert np.all(other_low <= high)
    epsilon = 1.0
    a, b = delta(one, epsilon), delta(other, epsilon)
    assert abs((a.upper - a.lower) - (b.upper - b.lower)) <= 1e-9 * a.upper + abs(
        a.budget.upper["rounding"] - b.budget.upper["rounding"]
    ) + abs(a.budget.lower["rounding"] - b.budget.lower["rounding"])


@pytest.mark.parametrize("slope", [0.0, 1e-4, 0.3])
def test_noise_of_convolutions_against_fractions(slope: float) -> None:
    """Weighted tails of the error, in exact fractions, never exceed the noise stated."""
    rng = np.random.default_rng(7)
    for ways in (
        lambda x, y: convolution.convolve(x, y, slope, True),
        lambda x, y: convolution.convolve(x, y, slope, False),
    ):
        x, y = rng.random(60) ** 6, rng.random(45) ** 3
        found = ways(x, y)
        exact = [Fraction(0)] * (len(x) + len(y) - 1)
        for i, a in enumerate(map(float, x)):
            for j, b in enumerate(map(float, y)):
                exact[i + j] += Fraction(a) * Fraction(b)
        fall = Fraction(math.exp(-slope))
        tail = Fraction(0)
        for value, true in zip(map(float, found.values[::-1]), exact[::-1], strict=True):
            tail = tail * fall + Fraction(value) - true
            assert abs(tail) <= found.noise
        assert found.noise < 1e-11 * float(sum(exact))


def _disturbed(made: TreeBuckets, share: float, radius: float) -> TreeBuckets:
    """P_A-mass of `share` radii put at a loss of about 0.4, with a radius `radius` times as large."""
    masses = made.masses
    values = masses.values.copy()
    values[round(0.4 / made.step) + made.n] += share * masses.radius
    real, alternative = (replace(each, radius=radius * each.radius) for each in (made.real, made.alternative))
    masses = replace(masses, values=values, radius=radius * masses.radius)
    return replace(made, masses=masses, real=real, alternative=alternative)


def test_the_radius_is_real() -> None:
    """An error of the size allowed stays inside; with the radius taken away, some interval misses the truth."""
    pair, missed = FinitePair(response_law(0.51, 2)), 0
    step = math.log(0.51 / 0.49) / 1024
    for count in (64, 512):
        made = repeat(pair_leaf(pair, step, 1024, 3.0 * step), count)
        for epsilon in (0.0, 0.1, 0.3):
            truth = _response_delta(0.51, count, epsilon)
            found, bare = (delta(_disturbed(made, 0.9, radius), epsilon) for radius in (1.9, 0.0))
            assert found.lower <= truth <= found.upper
            missed += not bare.lower <= truth <= bare.upper
    assert missed > 0


def test_budget_and_rule_for_squaring() -> None:
    """Fig. 10: squaring where infinity would grow beyond 2.2 times, none below free_infinity_budget."""
    step = 8.5 / 10.0 / 200
    leaf = pair_leaf(_gauss(10.0), step, 200)
    assert repeat(leaf, 64).squarings > 0
    assert repeat(leaf, 64, free=1.0).squarings == 0
    assert repeat(leaf, 64, free=1.0).infinity[0] > repeat(leaf, 64).infinity[1]
    mixed = compose_sequence([(leaf, 3), (square(leaf), 1)])
    assert mixed.leaves == 4
    assert mixed.step >= 2.0 * step


SKEWED = (
    ("Histograms(a=[900, 100, 3], b=[880, 120, 3]) * 512", Direction.REMOVE, 0.2911594542885),
    ("RandomizedResponse(p=0.75, neighbours='add_remove').poisson(rate=0.1) * 256", Direction.ADD, 0.4311112264378),
)


@pytest.mark.parametrize(("text", "direction", "near"), SKEWED)
def test_skewed_laws_converge(text: str, direction: Direction, near: float) -> None:
    """Losses that reach much further down than up: squaring watches both ends, and the width falls with n."""
    terms = [(part.pair(direction), count) for part, count in parse(text).terms]
    found = [buckets.prepare(terms, epsilon=1.0, n=n).delta(1.0) for n in (2_000, 20_000)]
    for each in found:
        assert each.lower <= near + 1e-12
        assert each.upper >= near - 1e-12
    assert found[1].upper - found[1].lower <= 0.1 * (found[0].upper - found[0].lower)


def test_budget_lines_sum_to_the_width() -> None:
    """Upper lines to the distance of the upper end, lower lines to that of the lower one: together the width."""
    for text, direction, truth in (*SKEWED, ("Gaussian(sigma=50) * 256", Direction.ADD, 0.0)):
        terms = [(part.pair(direction), count) for part, count in parse(text).terms]
        for fixed in ({"n": 2_000}, {"n": 200}, {"factor": 1.001, "n": 400}):
            found = buckets.prepare(terms, epsilon=1.0, **fixed).delta(1.0)
            above, below = sum(found.budget.upper.values()), sum(found.budget.lower.values())
            assert min([*found.budget.upper.values(), *found.budget.lower.values()]) >= 0.0
            assert above + below == pytest.approx(found.upper - found.lower, rel=1e-12)
            if truth and "factor" not in fixed:  # as published, what was capped may have moved either end
                assert above == pytest.approx(found.upper - truth, rel=0.1, abs=1e-9)
                assert below == pytest.approx(truth - found.lower, abs=0.1 * above + 1e-9)


def test_first_index_is_exact() -> None:
    """j is the smallest integer with j step >= epsilon, also where a quotient of doubles rounds."""
    made = pair_leaf(FinitePair(response_law(0.75, 2)), 0.1, 20)
    for epsilon in (0.0, 0.1, 0.3, 0.7, math.nextafter(0.3, 1.0), 1e-300):
        j = first_index(made, epsilon)
        assert j * Fraction(0.1) >= Fraction(epsilon) > (j - 1) * Fraction(0.1)


def test_huge_epsilons_and_refusals() -> None:
    made = pair_leaf(_gauss(1.0), 0.01, 1000)
    for epsilon in (9.99, 10.5, 650.0, 1e300):
        found = delta(made, epsilon)
        truth = _gauss_delta(1.0, epsilon) if epsilon < 1000.0 else 0
        assert 0.0 <= found.lower <= truth <= found.upper < 1e-12
    assert probabilistic(made, 1e300).upper < 1e-12
    with pytest.raises(InvalidParameter):
        delta(made, -1.0)
    with pytest.raises(InvalidParameter):
        delta(made, math.nan)
    with pytest.raises(InvalidParameter):
        renyi(made, 1.0)
    with pytest.raises(InvalidParameter):
        repeat(made, 0)
    with pytest.raises(InvalidParameter):
        compose_sequence([])
    with pytest.raises(InvalidParameter, match="range of doubles"):
        pair_leaf(_gauss(0.01), 1.0, 1000)
    with pytest.raises(UnsupportedMechanism):
        buckets.prepare([(_gauss(1e-3), 1)], epsilon=1.0, factor=2.0, n=1000)
    for bad in ({"n": 3}, {"factor": 1.0}):
        with pytest.raises(InvalidParameter):
            buckets.prepare([(_gauss(1.0), 1)], **bad).delta(1.0)


def test_distinguishing_events_alone() -> None:
    """P_A and P_B disjoint: delta is 1; one shared outcome: exactly what is left."""
    apart = FinitePair(RationalLaw((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))))
    found = buckets.prepare([(apart, 3)], epsilon=1.0, n=10).delta(1.0)
    assert found.lower > 1.0 - 1e-14
    assert found.upper == 1.0
    shared = FinitePair(
        RationalLaw((Fraction(1, 4), Fraction(3, 4), Fraction(0)), (Fraction(0), Fraction(3, 4), Fraction(1, 4)))
    )
    found = buckets.prepare([(shared, 2)], epsilon=1.0, n=10).delta(1.0)
    assert found.lower <= 1.0 - 9.0 / 16.0 <= found.upper
    assert found.upper - found.lower < 1e-12


def test_a_finished_coarser_answer_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where time ends in a finer list, the finest one that was finished answers, and nothing is made again."""
    built: list[int] = []
    build = buckets.BucketPlan.build

    def until(plan: buckets.BucketPlan, tilt: float) -> TreeBuckets:
        built.append(plan.n)
        if plan.n > 10_000:
            raise WorkExhausted("time")
        return build(plan, tilt)

    monkeypatch.setattr(buckets.BucketPlan, "build", until)
    terms, mu = [(_gauss(20.0), 64)], 0.4
    with compute_budget.allowance(30.0):
        made = buckets.prepare(terms, delta=1e-6, accuracy=1e-6)
        assert built == [1024, 8192, 65536]
        with compute_budget.part(0.0):  # it is known already
            found = made.inverse(1e-6, math.inf, 1e-6)
        assert _gauss_delta(mu, found.lower) > 1e-6 >= _gauss_delta(mu, found.upper)
        assert found.upper - found.lower < 0.01 * found.upper
        assert made.plan.n == 8192
        other = buckets.prepare(terms, epsilon=1.0, accuracy=1e-6)
        with compute_budget.part(0.0):
            at = other.delta(1.0)
        assert at.lower <= _gauss_delta(mu, 1.0) <= at.upper < 1.02 * at.lower


@pytest.mark.parametrize("read", [CORRECTED, UNCORRECTED])
@pytest.mark.parametrize("level", [0.3, 0.05, 1e-5, 1e-9])
def test_epsilon_is_where_each_end_crosses_the_level(read: Reading, level: float) -> None:
    """Both ends are proven by a comparison, and a little further inside none would be; within few readings."""
    made, count = repeat(pair_leaf(LaplacePair(5.0, 1.0), 0.002, 400, 0.01), 20, free=1e-12), [0]

    def counted(end: Callable[[TreeBuckets, float], float]) -> Callable[[TreeBuckets, float], float]:
        def ask(tree: TreeBuckets, epsilon: float) -> float:
            count[0] += 1
            return end(tree, epsilon)

        return ask

    low, high = epsilon_at(made, level, Reading(read.delta, counted(read.above), counted(read.below)))
    assert 0.0 < low < high < made.highest
    assert read.below(made, low) > level >= read.below(made, low * (1.0 + 2e-9))
    assert read.above(made, high * (1.0 - 2e-9)) > level >= read.above(made, high)
    assert count[0] <= 60


@pytest.mark.parametrize("settings", [Buckets(buckets=2000), Buckets(factor=1.001, buckets=20_000)])
def test_the_tail_is_read_off_the_list(settings: Buckets) -> None:
    """P[l > t] of three Gaussians is Phi(mu/2 - t/mu), mu^2 = 3."""
    run = Gaussian(sigma=1.0) * 3
    for t in (0.0, 1.0, 5.0):
        found = run.pdp(t, engine=settings)
        with mpmath.workdps(40):
            mu = mpmath.sqrt(3)
            truth = mpmath.ncdf(mu / 2 - t / mu)
        assert found.lower <= truth <= found.upper
        assert found.width < 0.12 * found.upper
        assert found.certificate.engine == "buckets"
        lines = found.certificate.budget
        assert sum(lines.upper.values()) + sum(lines.lower.values()) >= found.width * (1.0 - 1e-12)


def test_the_certificate_says_whether_lists_are_as_published() -> None:
    run = Laplace(scale=2.0) * 4
    published, chosen = (run.delta(0.5, engine=Buckets(buckets=200, **fixed)) for fixed in ({"factor": 1.02}, {}))
    assert published.certificate.reason == "privacy buckets as published"
    assert chosen.certificate.reason == "privacy buckets, lists around the heaviest loss"
