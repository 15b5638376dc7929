"""Two deviations: sums of many uses, extreme ratios, moments up to the pole, what dominates what."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import mpmath as mp
import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.conformance.containment import misses, relative_width
from tests.oracle.continuous import Centred
from tests.oracle.fold import CentredFold, outside_ball
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tightrope.core.losses.gaussian_variance import GaussianVariancePair, VarianceRatio
from tightrope.core.losses.operators.registered import dominates
from tightrope.core.numerics.balls import enclose, working_precision
from tightrope.core.numerics.counting import gamma_sides
from tightrope.core.numerics.enclosures import exact

V, WAYS = tr.GaussianVariance, ("remove", "add")
ROOT = math.sqrt(2.0)


def holds(mechanism: tr.Mechanism, truth: CentredFold, epsilon: float, direction: str, width: float = 1e-9) -> None:
    bound = mechanism.delta(epsilon, direction=direction)
    reason = misses(bound, truth.delta(epsilon))
    assert not reason, f"{mechanism!r}, {direction}, delta({epsilon!r}): {reason}"
    assert bound.upper < 1e-300 or relative_width(bound) <= width, (mechanism, epsilon, bound)


@pytest.mark.parametrize("direction", WAYS)
@pytest.mark.parametrize("count", (2, 3, 400))
def test_uses_are_a_chi_square(count: int, direction: str) -> None:
    truth = CentredFold(ROOT, 1.0, count, direction == "remove")
    for delta in (1e-300, 1e-6, 0.1):
        bound = (V(ROOT, 1.0) * count).epsilon(delta, direction=direction)
        assert bound.width <= 1e-9 * bound.upper
        assert truth.delta(bound.upper) <= delta <= truth.delta(bound.lower), (count, delta, bound)
    holds(V(ROOT, 1.0) * count, truth, 0.1 * count, direction)
    holds(V(1.0, ROOT) * count, CentredFold(1.0, ROOT, count, direction == "remove"), 0.0, direction)


@pytest.mark.parametrize("count, sigma", ((10**6, 1.01), (10**9, 1.0001)))
def test_of_many_uses_the_integral_and_the_formula_agree(count: int, sigma: float) -> None:
    many = V(sigma, 1.0) * count
    for direction in WAYS:
        bound = many.epsilon(1e-9, direction=direction)
        assert bound.certificate is not None
        assert bound.certificate.engine == "contour"
        assert bound.width <= 1e-9 * bound.upper
        pair = V(sigma, 1.0).pair(tr.Direction(direction))
        assert isinstance(pair, GaussianVariancePair)
        low, high = (enclose(partial(pair.summed_hockey_stick, arb(end), count)) for end in (bound.lower, bound.upper))
        assert high[0] <= 1e-9 <= low[1], (direction, bound)
        assert low[1] - high[0] < 1e-15
    tiniest = many.epsilon(5e-324, direction="remove", engine="contour")
    with working_precision(256):
        pair = V(sigma, 1.0).pair(tr.Direction.REMOVE)
        assert isinstance(pair, GaussianVariancePair)
        assert pair.summed_hockey_stick(arb(tiniest.upper), count) <= arb(5e-324)
        assert pair.summed_hockey_stick(arb(tiniest.lower), count) > arb(5e-324)
    assert tiniest.width <= 1e-2 * tiniest.upper


@pytest.mark.parametrize("engine, direction", (("contour", "add"), ("lattice", "remove")))
def test_two_ratios_by_quadrature(engine: str, direction: str) -> None:
    """E over the first output of H of the second, at epsilon less the loss of the first."""
    sides = ((1.5, 1.0), (1.0, 1.25))
    (a, b), (c, d) = sides if direction == "remove" else tuple((q, p) for p, q in sides)
    epsilon = 0.75
    with mp.workdps(18):

        def second(t: mp.mpf) -> mp.mpf:
            square = (t + mp.log(mp.mpf(c) / d)) / (mp.mpf(d) ** -2 - mp.mpf(c) ** -2)
            if square <= 0:
                return max(1 - mp.exp(t), mp.mpf(0))
            part = mp.erfc if c > d else mp.erf
            return part(mp.sqrt(square) / c) - mp.exp(t) * part(mp.sqrt(square) / d)

        def term(x: mp.mpf) -> mp.mpf:
            loss = mp.log(mp.mpf(b) / a) + x * x * (mp.mpf(b) ** -2 - mp.mpf(a) ** -2) / 2
            return 2 * mp.npdf(x, 0, a) * second(epsilon - loss)

        turn = (epsilon + mp.log(mp.mpf(c) / d) - mp.log(mp.mpf(b) / a)) * 2 / (mp.mpf(b) ** -2 - mp.mpf(a) ** -2)
        places = sorted({mp.mpf(0), mp.sqrt(turn) if turn > 0 else mp.mpf(2), mp.mpf(4), mp.mpf(20)})
        truth = mp.quad(term, places)
    bound = (V(1.5, 1.0) + V(1.0, 1.25)).delta(epsilon, direction=direction, engine=engine)
    assert bound.lower - 1e-14 <= truth <= bound.upper + 1e-14, (bound, truth)
    assert bound.width <= 1e-4 * bound.upper


@pytest.mark.parametrize("direction", WAYS)
@pytest.mark.parametrize("sigmas", ((1e150, 1.0), (1.0, 1e150), (3e-310, 1e-310), (1.0, 1.0 + 2.0**-52)))
def test_ratios_at_the_ends(sigmas: tuple[float, float], direction: str) -> None:
    truth = Truth(Centred(*sigmas), 1, direction)
    for epsilon in (0.0, 1e-14, 0.5, 345.0, 1e6):
        bound = V(*sigmas).delta(epsilon, direction=direction)
        reason = misses(bound, truth.delta(epsilon))
        assert not reason, f"{sigmas}, {direction}, delta({epsilon!r}): {reason}"
        assert bound.upper < 1e-300 or relative_width(bound) <= 1e-9, (epsilon, bound)


def test_only_the_ratio_counts_and_equal_deviations_tell_nothing() -> None:
    same = V(3.0, 6.0) * 2 + V(0.5, 1.0) * 3
    bound = same.epsilon(1e-6)
    assert bound.certificate is not None
    assert bound.certificate.engine == "closed_form"
    assert (bound.lower, bound.upper) == ((five := (V(1.0, 2.0) * 5).epsilon(1e-6)).lower, five.upper)
    assert (V(2.0, 2.0) * 7).epsilon(0.0).upper == 0.0 == V(2.0, 2.0).zcdp().upper
    wide = V(1e150, 1.0).epsilon(1e-6)
    assert wide.width <= 1e-9 * wide.upper < math.inf
    with pytest.raises(tr.InvalidParameter, match="between 1e-150 and 1e150"):
        V(1e200, 1e-200)


def test_divergences_end_at_the_pole() -> None:
    """r = 3: 1 - c (r^2 - 1) is 0 at order 9/8, exactly."""
    wide = V(1.5, 0.5) * 4
    for order in (1.5, 64.0, 1.125):
        found = wide.renyi(order, direction="remove")
        assert found.lower == found.upper == math.inf
    for order, direction in ((1.124, "remove"), (0.3, "remove"), (1.5, "add"), (64.0, "add")):
        p, q = (1.5, 0.5) if direction == "remove" else (0.5, 1.5)
        with mp.workdps(30):
            o = mp.mpf(order)
            power = o / p**2 + (1 - o) / q**2
            truth = 4 * mp.log(mp.mpf(p) ** -o * mp.mpf(q) ** (o - 1) / mp.sqrt(power)) / (o - 1)
        found = wide.renyi(order, direction=direction)
        assert found.lower <= truth <= found.upper, (order, direction)
        assert found.width <= 1e-13 * found.upper
    assert wide.cgf(0.5).real == arb.pos_inf()
    with pytest.raises(tr.UnsupportedMechanism):
        wide.cgf(0.5 + 1j)


def test_concentrated_on_one_side_alone() -> None:
    """rho is the mean loss where the loss has an upper end; no Gaussian dominates either order."""
    close = V(1.0, 1.3)
    mean = math.log(1.3) + (1.3**-2 - 1.0) / 2.0
    found = (close * 3).zcdp(direction="remove")
    assert found.lower <= 3 * mean * (1 + 1e-14)
    assert 3 * mean * (1 - 1e-14) <= found.upper
    assert found.width <= 1e-12
    none = (close * 3).zcdp(direction="add")
    assert none.lower == math.inf
    assert none.certificate is not None
    assert "infinite" in none.certificate.reason
    for direction in WAYS:
        mu = (close + tr.Gaussian(sigma=2.0)).gdp(direction=direction)
        assert mu.lower == math.inf
        assert mu.certificate is not None
        assert "every Gaussian" in mu.certificate.reason
        assert close.gdp(delta_least=1e-6, direction=direction).upper < math.inf


def test_a_ratio_nearer_to_one_is_dominated() -> None:
    def pair(*sigmas: float) -> GaussianVariancePair:
        return GaussianVariancePair(VarianceRatio.of(*sigmas))

    wide, close = pair(1.4, 1.0), pair(2.6, 2.0)
    assert dominates(wide, close)
    assert not dominates(close, wide)
    assert dominates(wide, wide)
    assert dominates(wide.reversed(), close.reversed())
    assert not dominates(wide, close.reversed())
    assert not dominates(wide.reversed(), close)
    points = exact(np.linspace(-0.6, 3.0, 60))
    for above, below in ((wide, close), (wide.reversed(), close.reversed())):
        assert np.all(above.hockey_stick(points).upper >= below.hockey_stick(points).lower)
    crossed = wide.hockey_stick(points).lower > wide.reversed().hockey_stick(points).upper
    assert crossed.any()
    assert not crossed.all()


def test_profiles_keep_their_digits() -> None:
    """Next to the highest loss, and for deviations that are close: where float64 would cancel."""
    for sigmas, direction, epsilon in (
        ((1.0, 2.0), "remove", math.log(2.0) - 1e-9),
        ((1.0, 1.0 + 1e-12), "add", 3e-12),
        ((1.0, 2.0), "remove", -5.0),
        ((2.0, 1.0), "remove", -5.0),
        ((2.0, 1.0), "remove", -math.log(2.0)),
    ):
        pair = V(*sigmas).pair(tr.Direction(direction))
        found = pair.hockey_stick(exact(epsilon))
        truth = Truth(Centred(*sigmas), 1, direction).delta(epsilon)
        with precision(300):
            assert arb(float(found.lower)) <= truth <= arb(float(found.upper)), (sigmas, epsilon)
            assert float(found.radius) <= 1e-12 * float(found.value)


@pytest.mark.parametrize("degrees", (1, 2, 7, 1000, 10**6))
def test_gamma_sides_hold_what_a_ball_holds(degrees: int) -> None:
    for share in (1e-9, 0.3, 0.97, 1.0, 1.2, 30.0):
        place = Fraction(degrees, 2) * Fraction(share)
        with working_precision(160):
            ball = arb(place.numerator) / place.denominator
            wide = gamma_sides(degrees, ball + arb(0, 1e-6) * ball)
            for side, whole in zip(gamma_sides(degrees, ball), wide, strict=True):
                assert whole.contains(side.mid()) or whole.overlaps(side)
                assert side.rel_accuracy_bits() > 40 or side < 1e-40
            for end in (0.9999991, 1.0000009):
                for side, whole in zip(gamma_sides(degrees, ball * end), wide, strict=True):
                    assert whole.overlaps(side)
            if degrees <= 1000:
                below, above = gamma_sides(degrees, ball)
                assert above.overlaps(outside_ball(degrees, ball))
                assert below.overlaps(1 - outside_ball(degrees, ball))
    assert gamma_sides(degrees, arb(-1)) == (arb(0), arb(1))


def test_sampled() -> None:
    few, whole = (V(ROOT, 1.0).poisson(rate=0.1) * 3).epsilon(1e-6), (V(ROOT, 1.0) * 3).epsilon(1e-6)
    assert 0.0 < few.lower <= few.upper < whole.lower
    assert V(ROOT, 1.0).poisson(rate=1.0).epsilon(1e-6) == V(ROOT, 1.0).epsilon(1e-6)
