"""Random bins: both directions against quadrature in one, two and three dimensions, and the theorems' corners."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.oracle import bins as oracle
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.correlated import correlated_pair as room
from tightrope.core.losses.correlated import polynomial
from tightrope.core.losses.correlated.correlated_pair import BinsBounds, BinsPair, exponents, moments
from tightrope.core.losses.correlated.polynomial import Hinge
from tightrope.core.losses.operators.registered import hockey_stick_bounds
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.columns import bin_gram
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.question import Direction

QUADRATURE = 1e-9  # of a truth
TINY = [
    ([1.0, 0.5], 4, 2, 2.0),
    ([1.0, 0.5], 3, 2, 1.2),  # bins of two steps and of one
    ([1.0, 0.5, 0.25], 4, 2, 5.0),
    ([1.0, 1.0, 1.0, 1.0], 4, 2, 3.0),
    ([1.0, 0.5], 3, 3, 1.5),
    ([1.0, 0.25], 4, 3, 2.5),
    ([0.25, 0.5, 1.0], 4, 3, 4.0),
]


def pair_of(coefficients: list[float], steps: int, bins: int, sigma: float, direction: Direction) -> BinsPair:
    gram = bin_gram("toeplitz", tuple(coefficients), steps, steps, bins)
    return BinsPair(((gram, 1 / Fraction(sigma) ** 2, 1),), (), direction)


@pytest.mark.parametrize(("coefficients", "steps", "bins", "sigma"), TINY)
def test_both_directions_contain_the_quadrature(coefficients: list[float], steps: int, bins: int, sigma: float) -> None:
    sums = oracle.bin_sums(oracle.lower_toeplitz(coefficients, steps), bins) / sigma
    for epsilon in (0.0, 1.0):
        truths = oracle.deltas(sums, epsilon)
        for direction, truth in zip((Direction.REMOVE, Direction.ADD), truths, strict=True):
            bounds = hockey_stick_bounds(pair_of(coefficients, steps, bins, sigma, direction), proof=False)
            lower, upper = bounds.lower(epsilon), bounds.upper(epsilon)
            assert lower <= truth * (1 + QUADRATURE) + 1e-15
            assert upper >= truth * (1 - QUADRATURE) - 1e-15


@pytest.mark.parametrize(("coefficients", "steps", "bins", "sigma"), [TINY[0], TINY[2], TINY[4]])
def test_light_bins_are_narrow(coefficients: list[float], steps: int, bins: int, sigma: float) -> None:
    bounds = hockey_stick_bounds(pair_of(coefficients, steps, bins, 2.0 * sigma, Direction.REMOVE), proof=False)
    lower, upper = bounds.lower(0.2), bounds.upper(0.2)
    assert upper - lower <= 1e-2 * upper
    assert not bounds.wide


@pytest.mark.parametrize(("coefficients", "steps", "bins", "sigma"), [TINY[1], TINY[5]])
def test_below_zero_the_mirror_says_the_same(coefficients: list[float], steps: int, bins: int, sigma: float) -> None:
    """H(a) = 1 - a + a H'(1/a), H' of the other direction."""
    sums = oracle.bin_sums(oracle.lower_toeplitz(coefficients, steps), bins) / sigma
    for epsilon in (-0.7,):
        remove, add = oracle.deltas(sums, -epsilon)
        alpha = math.exp(epsilon)
        for direction, other in ((Direction.REMOVE, add), (Direction.ADD, remove)):
            bounds = hockey_stick_bounds(pair_of(coefficients, steps, bins, sigma, direction), proof=False)
            truth = 1 - alpha + alpha * other
            assert bounds.lower(epsilon) <= truth * (1 + QUADRATURE)
            assert truth * (1 - QUADRATURE) <= bounds.upper(epsilon)


def test_points_lie_around_the_quadrature() -> None:
    coefficients, steps, bins, sigma = TINY[0]
    sums = oracle.bin_sums(oracle.lower_toeplitz(coefficients, steps), bins) / sigma
    for direction in Direction:
        below, above = pair_of(coefficients, steps, bins, sigma, direction).bracket(Resolution(128, 1e-12, False))
        for epsilon in np.linspace(0.0, 2.5, 26):
            truth = oracle.deltas(sums, float(epsilon))[0 if direction is Direction.REMOVE else 1]
            low, high = (each.hockey_stick(exact(float(epsilon))) for each in (below, above))
            assert float(low.lower) <= truth * (1 + QUADRATURE)
            assert truth * (1 - QUADRATURE) <= float(high.upper)
        assert float(high.upper) - float(low.lower) <= 1e-4
        width = float(above.hockey_stick(exact(0.5)).upper) - float(below.hockey_stick(exact(0.5)).lower)
        assert width <= 0.02 * float(above.hockey_stick(exact(0.5)).upper)


def test_two_uses_are_one_pair() -> None:
    """Two runs with bins of their own: the mixture over both draws, by quadrature in three dimensions."""
    coefficients, steps, bins, sigma = [1.0], 2, 2, 2.5
    one = oracle.bin_sums(oracle.lower_toeplitz(coefficients, steps), bins) / sigma
    both = np.array([np.concatenate([first, second]) for first in one for second in one])
    pair = pair_of(coefficients, steps, bins, sigma, Direction.REMOVE)
    together = pair.compose_exact([(pair, 2)])
    assert together is not None
    for epsilon in (0.4,):
        remove, add = oracle.deltas(both, epsilon)
        for law, truth in ((together, remove), (together.reversed(), add)):
            bounds = hockey_stick_bounds(law, proof=False)
            assert bounds.lower(epsilon) <= truth * (1 + 1e-7)
            assert truth * (1 - 1e-7) <= bounds.upper(epsilon)


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
def test_moments_are_sums_over_all_tuples_in_both_arithmetics(order: int) -> None:
    gram, scale = bin_gram("toeplitz", (1.0, 0.5, 0.25), 11, 11, 4), Fraction(1, 9)
    with working_precision(200):
        matrix = exponents(gram, scale)
        rest = np.array([[float(each) for each in row] for row in matrix])
        total = 0.0
        for index in np.ndindex(*[4] * order):
            total += math.exp(sum(rest[index[a], index[c]] for c in range(order) for a in range(c)))
        truth = total / 4**order
        balls, floats = room._in_balls(matrix, order), room._in_floats(matrix, order)
        assert abs(float(balls) / truth - 1) < 1e-12
        assert floats.contains(balls.mid())
        assert float(floats.rad()) <= 1e-11 * truth
    assert moments(gram, scale, 6, False)[order].overlaps(balls)  # type: ignore[index]


def test_the_common_part_and_the_least_value_are_exact() -> None:
    """1/(1^T G^-1 1), and exp(-sum w_i R_ii/2 - sum w_i log(bins w_i)), below every draw of L'."""
    gram, scale = bin_gram("toeplitz", (1.0, 0.5, 0.25), 11, 11, 4), Fraction(1, 4)
    matrix = oracle.bin_sums(oracle.lower_toeplitz([1.0, 0.5, 0.25], 11), 4)
    products = matrix @ matrix.T
    weights = np.linalg.solve(products, np.ones(4))
    assert abs(float(gram.shared * gram.unit) * weights.sum() - 1) < 1e-12
    bounds = BinsBounds(BinsPair(((gram, scale, 1),), (), Direction.REMOVE), False)
    with working_precision(200):
        least = float(bounds._least())
    rest = (products - float(gram.shared * gram.unit)) * float(scale)
    values, vectors = np.linalg.eigh(rest)
    draws = np.random.default_rng(3).normal(size=(200_000, 4)) * np.sqrt(np.maximum(values, 0.0))
    ratios = np.exp(draws @ vectors.T - np.diag(rest) / 2).mean(axis=1)
    assert least <= ratios.min() <= 1.02 * least
    assert abs(ratios.mean() - 1) < 0.01


def test_polynomials_are_on_their_side() -> None:
    """At points that no proof looked at, for both hinges and both sides."""
    with working_precision(256):
        for c, rising in ((arb(3), True), (arb(0.4), False), (arb(1.1), True)):
            hinge = Hinge(c, arb(0.08), rising)
            for above in (True, False):
                rough = [1.0, 0.0, 0.01, 0.001, 0.0005, 0.0002, 0.0001]
                found = polynomial.best(hinge, rough, arb(0), above)
                assert found is not None
                for x in [*np.linspace(0.0, 3.0, 400).tolist(), 10.0, 1e3, 1e7, 1e12]:
                    u = (arb(x) - 1) / found.width
                    value = found.unit * sum((arb(q) * u**j for j, q in enumerate(found.coefficients)), arb(0))
                    gap = value - hinge.at(arb(x)).height
                    assert gap > 0 if above else gap < 0


def test_no_polynomial_passes_that_is_wrong_somewhere() -> None:
    """A proven one, moved by a millionth of its mean to the wrong side, has points on the wrong side: refused."""
    with working_precision(256):
        hinge = Hinge(arb(2), arb(0.08), True)
        rough = [1.0, 0.0, 0.01, 0.001, 0.0005, 0.0002, 0.0001]
        for above in (True, False):
            found = polynomial.best(hinge, rough, arb(0), above)
            assert found is not None
            proof = polynomial._Proof(hinge, 0.1, arb(0), 1e6, above)
            assert proof.holds(found)
            sign = -1.0 if above else 1.0
            for place in (0, 2, 6):
                moved = list(found.coefficients)
                moved[place] += sign * 1e-3 * max(abs(moved[place]), 1e-3)
                assert not proof.holds(polynomial.Polynomial(tuple(moved), found.width, found.unit))


@pytest.mark.parametrize("x", [0.2, 0.9, 1.0, 2.5, 40.0])
def test_hinges_and_their_cells(x: float) -> None:
    """Values against the integral over z, slopes against differences, Taylor polynomials against values."""
    z = np.linspace(-12.0, 12.0, 40_001)
    weights = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    spread, c = 0.3, 1.7
    factor = np.exp(math.sqrt(spread) * z - spread / 2)
    with working_precision(200):
        for rising in (True, False):
            hinge = Hinge(arb(c), arb(spread), rising)
            gap = x * factor - c if rising else c - x * factor
            assert abs(float(hinge.at(arb(x)).height) - float(weights @ np.maximum(gap, 0.0))) < 1e-6
            step = arb(2) ** -60
            slope = (hinge.at(arb(x) + step).height - hinge.at(arb(x)).height) / step
            assert abs(slope - hinge.at(arb(x)).slope) < 1e-12
            radius = arb(x) / 16
            cell = hinge.on(arb(x), radius)
            for share in (-1.0, -0.3, 0.5, 1.0):
                assert cell(radius * share).overlaps(hinge.at(arb(x) + radius * share).height)
            rough = hinge.roughly(np.array([x - 1.0]), 0.0)[0]
            assert abs(rough / float(hinge.at(arb(x)).height) - 1) < 1e-9
            assert abs(hinge.log_roughly(x) - math.log(float(hinge.at(arb(x)).height))) < 1e-3


@pytest.mark.parametrize("epsilon", [0.5, 30.0, 1000.0])
@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e6])
def test_far_corners_stay_between_what_is_simple(epsilon: float, sigma: float) -> None:
    """Below the Gaussian at the largest norm, above that of the least one beyond log(bins) more, with the record."""
    for direction in Direction:
        bounds = hockey_stick_bounds(pair_of([1.0, 0.5], 4, 2, sigma, direction), proof=False)
        lower, upper = bounds.lower(epsilon), bounds.upper(epsilon)
        assert 0.0 <= lower <= upper <= 1.0
        # Two steps of a bin overlap in no row: the norms are sqrt(1.25 + 1.25) and sqrt(1.25 + 1).
        top = tr.Gaussian(sigma=sigma, sensitivity=math.sqrt(2.5)).delta(epsilon=epsilon)
        assert upper <= top.upper * (1 + 1e-9)
        if direction is Direction.REMOVE:
            shown = tr.Gaussian(sigma=sigma, sensitivity=1.5).delta(epsilon=epsilon + math.log(2.0))
            assert lower >= shown.lower * (1 - 1e-9)


def test_it_says_no_less_with_proof() -> None:
    """In balls alone, moments of lower degrees."""
    pair = pair_of([1.0, 0.5], 12, 4, 3.0, Direction.REMOVE)
    loose, proven = hockey_stick_bounds(pair, proof=False), hockey_stick_bounds(pair, proof=True)
    assert proven.lower(0.5) <= loose.upper(0.5)
    assert loose.lower(0.5) <= proven.upper(0.5)


def test_only_bins_and_gaussians_are_one_pair() -> None:
    pair = pair_of([1.0, 0.5], 4, 2, 2.0, Direction.REMOVE)
    laplace = tr.Laplace(scale=1.0).pair(Direction.REMOVE)
    gaussian = tr.Gaussian(sigma=2.0).pair(Direction.REMOVE)
    assert pair.compose_exact([(pair, 1), (laplace, 1)]) is None
    joined = pair.compose_exact([(pair, 2), (gaussian, 3), (pair, 1)])
    assert joined is not None
    assert joined.uses[0][2] == 3
    assert joined.shifts == ((2.0, 1.0, 3),)
    assert pair.reversed().reversed() == pair
