"""The smallest rho: closed forms, dense searches in mpmath, orders up to some, sampling without help, and none."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from random import Random

import mpmath as mp
import pytest
from flint import arb

import tightrope as tr
from tests.oracle.readings import Two
from tests.search import cases
from tightrope.core.conversions.smallest_rho import Part, between, highest, smallest_rho
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.bound import Bound
from tightrope.core.values.errors import WorkExhausted
from tightrope.core.values.question import Direction

UNIT = mp.mpf(2) ** -52


def contains(bound: Bound, exact: mp.mpf, width: float = 1e-6) -> None:
    assert bound.lower <= exact * (1 + UNIT)
    assert exact <= bound.upper * (1 + UNIT)
    assert bound.upper - bound.lower <= width * bound.upper


@pytest.mark.parametrize("edge", [1e-9, 0.1, 2.0, 50.0])
def test_closed_forms(edge: float) -> None:
    e = mp.mpf(edge)
    with mp.workdps(60):
        contains((tr.Laplace(scale=1.0, sensitivity=edge) * 7).zcdp(), 7 * (e - 1 + mp.exp(-e)))
        contains((tr.PureDP(epsilon=edge) * 3).zcdp(), 3 * e * mp.tanh(e / 2))
        contains((tr.Gaussian(sigma=1.0, sensitivity=edge) * 5).zcdp(), 5 * e * e / 2)
        mixed = tr.Gaussian(sigma=1.0, sensitivity=edge) + tr.Laplace(scale=1.0, sensitivity=edge)
        contains(mixed.zcdp(), e * e / 2 + e - 1 + mp.exp(-e))  # both are largest at order 1
    contains(tr.ZCDP(rho=edge).zcdp(), e)
    contains(
        tr.DiscreteGaussian(sigma=1.0 / edge if edge < 1 else 1.5, sensitivity=1).zcdp(order_most=2.0),
        (e * e if edge < 1 else mp.mpf(4) / 9) / 2,
    )  # whole orders have the Gaussian's


def dense(law: Two, most: float) -> mp.mpf:
    """The largest D_o/o on a fine grid of orders: at most the supremum, and close to it."""
    grid = [mp.mpf(10) ** (mp.mpf(step) / 12) for step in range(-72, 37)]
    orders = [1 + c for c in grid if 1 + c <= most] + ([mp.mpf(most)] if most < math.inf else [])
    return max([law.kl(), *(law.renyi(order) / order for order in orders)])


def test_finite_laws() -> None:
    """Random vectors, skewed ones among them, both directions, all orders and some."""
    random = Random(5)
    for index in range(cases(8, 400)):
        size, skew = random.randrange(2, 5), random.choice((1, 1, 3))
        p, q = ([Fraction(random.randrange(1, 100) ** skew) for _ in range(size)] for _ in range(2))
        law = Two.of([each / sum(p) for each in p], [each / sum(q) for each in q])
        run = tr.Finite([float(each / sum(p)) for each in p], [float(each / sum(q)) for each in q])
        most = random.choice((math.inf, 1.5, 8.0))
        for direction, one in (("remove", law), ("add", law.reversed())):
            found = run.zcdp(most, direction=direction)
            truth = dense(one, most)
            assert truth <= found.upper * (1 + 1e-12), index
            assert found.lower <= truth * (1 + 2e-3), index
            assert found.width <= 1e-6 * found.upper
        both = run.zcdp(most)
        ends = [run.zcdp(most, direction=direction) for direction in ("remove", "add")]
        assert both.upper == max(each.upper for each in ends)
        assert both.lower == max(each.lower for each in ends)


def sampled_gaussian(sigma: float, rate: float, order: mp.mpf) -> mp.mpf:
    """D of ((1 - rate) N(0) + rate N(1), N(0)) by a sum over a fine grid, which converges like e^(-1/h^2)."""
    s, r, o, step = mp.mpf(sigma), mp.mpf(rate), mp.mpf(order), mp.mpf(sigma) / 8
    total = mp.mpf(0)
    for index in range(-120, int(8 * (order + 14) / sigma**2) + 120):
        x = index * step
        ratio = 1 - r + r * mp.exp((2 * x - 1) / (2 * s * s))
        total += ratio**o * mp.exp(-x * x / (2 * s * s))
    return mp.log(total * step / (s * mp.sqrt(2 * mp.pi))) / (o - 1)


@pytest.mark.parametrize("sigma, rate, most", [(1.0, 0.1, 6.0), (2.0, 0.01, 9.0), (0.8, 0.001, 2.0)])
def test_sampled_gaussian_up_to_an_order(sigma: float, rate: float, most: float) -> None:
    run = tr.Gaussian(sigma=sigma).poisson(rate=rate) * 100
    truth = max(
        100 * sampled_gaussian(sigma, rate, order) / order for order in (mp.mpf(1) + mp.mpf(10) ** -6, mp.mpf(most))
    )
    found = run.zcdp(most, direction="remove")
    assert found.lower <= truth * (1 + mp.mpf(10) ** -9)
    assert truth * (1 - mp.mpf(10) ** -5) <= found.upper  # order 1 + 1e-6 stands for the limit
    assert found.width <= 1e-6 * found.upper
    assert found.upper < 0.5 * 100 / (2 * sigma**2)


@pytest.mark.parametrize("sigma, rate, count", [(1.0, 0.01, 1000), (0.7, 1e-9, 1), (5.0, 0.9, 10**9)])
def test_sampling_does_not_help_at_all_orders(sigma: float, rate: float, count: int) -> None:
    found = (tr.Gaussian(sigma=sigma).poisson(rate=rate) * count).zcdp()
    contains(found, count / (2 * mp.mpf(sigma) ** 2))
    assert found.certificate is not None
    assert "sampling does not help" in found.certificate.reason
    assert "order_most" in found.certificate.reason
    assert found.certificate.parameters["order"] == math.inf


def test_there_may_be_none() -> None:
    for run in (tr.ApproximateDP(epsilon=1.0, delta=1e-9), tr.Gaussian(sigma=1.0) + tr.ZCDP(rho=1.0, delta=1e-6)):
        for most in (math.inf, 2.0):
            found = run.zcdp(most)
            assert found == Bound(math.inf, math.inf)
            assert found.certificate is not None
            assert "the loss is infinite" in found.certificate.reason
    curve = tr.RenyiCurve(orders=[2.0, 4.0], divergences=[0.1, 0.3])
    found = curve.zcdp()
    assert found == Bound(math.inf, math.inf)
    assert found.certificate is not None
    assert "order_most" in found.certificate.reason
    assert curve.zcdp(4.0).upper <= 0.1


def test_more_orders_more_rho() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.05) * 10 + tr.Laplace(scale=4.0)
    found = run.zcdp([1.0 + 2**-52, 1.5, 4.0, 32.0, 100.0])
    assert isinstance(found, tuple)
    for less, more in itertools.pairwise(found):
        assert less.lower <= more.upper
        assert less.width <= 1e-6 * less.upper
    for order in (1.5, 4.0, 32.0):
        assert run.renyi(order).lower <= run.zcdp(order).upper * order * (1 + 1e-15)
    # Back to the mechanism that is known by this rho alone: never less.
    assert tr.ZCDP(rho=found[-1].upper).delta(2.0).upper >= run.delta(2.0).lower


def test_lower_ends_speak_of_real_neighbours() -> None:
    """A capped sample is dominated by more than any neighbours have; both ends stay on their sides."""
    run = tr.Gaussian(sigma=1.0).truncated_poisson(rate=0.1, cap=5, records=20)
    assert not run.tight
    for most in (math.inf, 4.0):
        found = run.zcdp(most)
        assert 0.0 < found.lower < found.upper <= 2.0
        assert found.certificate is not None
        assert found.certificate.budget.widest == "theorem"
        for order in (1.0, 2.0, 4.0):
            divergence = run.renyi(order)
            assert isinstance(divergence, Bound)
            assert divergence.lower <= found.upper * order
    assert run.zcdp().lower == pytest.approx(0.5, rel=1e-12)  # one record's shift


def test_identities() -> None:
    base = tr.Laplace(scale=2.0)
    assert base.poisson(rate=1.0).zcdp() == base.zcdp()
    assert base.group(size=1).zcdp() == base.zcdp()
    assert (base * 1).zcdp() == base.zcdp()
    assert tr.PureDP(epsilon=0.0).zcdp() == Bound(0.0, 0.0)


@pytest.mark.parametrize("wrong", [1.0, 0.5, -2.0, math.nan, 2.0**54, "64", True])
def test_orders_that_are_none(wrong: float) -> None:
    with pytest.raises(tr.InvalidParameter, match="order_most"):
        tr.Gaussian(sigma=1.0).zcdp(wrong)


def test_the_maximum_over_a_chord() -> None:
    random = Random(2)
    for _ in range(300):
        start = 10 ** random.uniform(-6, 3)
        stop = start * (1 + 10 ** random.uniform(-4, 2))
        low = random.uniform(0, 1)
        high = low * stop / start * (1 + random.choice((0.0, 10 ** random.uniform(-4, 1))))
        with working_precision(128):
            found = float(highest(arb(start), arb(low), arb(stop), arb(high)).upper())
        inside = [start * (stop / start) ** (step / 1000) for step in range(1001)]
        best = max((low + (high - low) * (c - start) / (stop - start)) / (c * (c + 1)) for c in inside)
        assert best * (1 - 1e-9) <= found <= best * (1 + 1e-4)


def test_cells_end() -> None:
    """Every cut lies inside its cell, and there is a last one."""
    assert between(1.0, 1.0 + 2**-50) is None
    assert between(2.0**53, math.inf) is None
    assert between(1.0, math.inf) == 2.0
    left, right = 3.0, 3.0 + 2**-51
    assert between(left, right) is None
    assert between(5.0, 80.0) == pytest.approx(1 + math.sinh((math.asinh(2) + math.asinh(math.sqrt(79))) / 2) ** 2)


def test_power_divergences_bound_a_cell() -> None:
    """(e^K - 1)/(c (c + 1)) of one use is convex, and D_1 at order 1."""
    for law in (Two.of([0.7, 0.2, 0.1], [0.1, 0.2, 0.7]), Two.of([0.5, 0.5], [0.5001, 0.4999])):
        pair = tr.PureDP(epsilon=1.0).pair(Direction.REMOVE)
        part = Part(pair, 1, math.inf, math.inf, 0.0)
        orders = (1.0, 1.2, 2.0, 7.0)
        for order in orders:
            exact = law.kl() if order == 1.0 else law.renyi(order)
            part.known[order] = float(exact), float(exact) * (1 + 1e-15)
        for left, right in itertools.pairwise(orders):
            with working_precision(128):
                above = float(part.power(left, right).upper())
            inside = [left + (right - left) * mp.mpf(step) / 20 for step in range(1, 21)]
            assert all(law.renyi(order) / order <= above * (1 + 1e-12) for order in inside)


def test_time_that_ends_leaves_a_bound() -> None:
    """What is known by then holds: the range of the loss, and the orders looked at."""
    looked = 0

    def slow(pair: object, order: float) -> tuple[float, float]:
        nonlocal looked
        looked += 1
        if looked > 3:
            raise WorkExhausted("time")
        divergence = tr.Laplace(scale=1.0).poisson(rate=0.3).renyi(order, direction="remove")
        assert isinstance(divergence, Bound)
        return divergence.lower, divergence.upper

    pair = tr.Laplace(scale=1.0).poisson(rate=0.3).pair(Direction.REMOVE)
    early = smallest_rho([(pair, 1)], math.inf, 1e-6, slow)
    exact = tr.Laplace(scale=1.0).poisson(rate=0.3).zcdp(direction="remove")
    assert early.lower <= exact.lower <= exact.upper <= early.upper < 1.0
