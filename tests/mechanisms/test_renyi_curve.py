"""Bounds on Renyi divergences: the worst mechanism that keeps to them, found by another way, lies in every answer."""

from __future__ import annotations

import math
import pickle
import random

import numpy as np
import pytest
from mpmath import findroot, mp, mpf, tanh

import tightrope as tr
from tests.oracle.two_points import concentrated, largest, one_way, renyi
from tightrope.core.conversions.renyi_accountant import renyi_delta, renyi_epsilon

INF = math.inf


@pytest.mark.parametrize("rho", [0.1, 4.0])
def test_zcdp_has_the_worst_two_points(rho: float) -> None:
    for epsilon in (0.05, 1.0):
        found = tr.ZCDP(rho=rho).delta(epsilon)
        truth = largest(math.exp(epsilon), concentrated, rho)
        assert found.width <= 1e-12 * found.upper
        assert truth <= found.upper * (1 + 2e-3)  # orders of a grid allow a little more
        assert truth >= found.lower * (1 - 1e-7)


@pytest.mark.parametrize(("order", "divergence"), [(1.1, 0.02), (10.0, 1.0), (2.0, 1.5)])
def test_one_order_has_the_worst_two_points(order: float, divergence: float) -> None:
    def forth(p: float, q: float) -> float:
        return renyi(p, q, order)

    ways = {
        "remove": forth,
        "add": lambda p, q: renyi(q, p, order),
        None: lambda p, q: max(renyi(p, q, order), renyi(q, p, order)),
    }
    for epsilon in (0.0, 0.6):
        for direction, allowed in ways.items():
            curve = tr.RenyiCurve(orders=[order], divergences=[divergence], both_directions=direction is None)
            found = curve.delta(epsilon, direction=direction)
            assert found.width <= 1e-12 * found.upper
            truth = largest(math.exp(epsilon), allowed, divergence)
            assert truth <= found.upper * (1 + 1e-7) + 1e-9
            assert truth >= found.lower * (1 - 1e-6) - 1e-7  # the search ends next to q = 0 and p = 1


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 0.005, 0.5, 30.0, 1e4])
def test_zcdp_at_epsilon_0_is_randomized_response(rho: float) -> None:
    with mp.workdps(40):
        edge = findroot(lambda e: e * tanh(e / 2) - mpf(rho), (math.sqrt(2 * rho) if rho < 1 else rho + 0.5))
        truth = tanh(edge / 2)
        found = tr.ZCDP(rho=rho).delta(0.0)
        assert mpf(found.lower) <= truth <= mpf(found.upper)
    assert found.width <= 1e-14 * found.upper


def test_one_way_zcdp_is_more_than_both_ways() -> None:
    orders = [1.0, *np.exp(np.linspace(0.01, 5.0, 60)).tolist()]
    table = tr.RenyiCurve(orders=orders, divergences=[order / 2 for order in orders], both_directions=False)
    found = table.delta(0.0, direction="remove")
    truth = largest(1.0, one_way, 0.5)
    assert truth * (1 - 1e-5) <= found.upper <= truth * (1 + 1e-3)
    assert found.lower > tr.ZCDP(rho=0.5).delta(0.0).upper


def laws(rng: random.Random, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Two laws, close to each other or far apart, with masses of very different size."""
    first = np.array([rng.random() ** rng.choice([1, 4, 20]) for _ in range(size)])
    second = first * np.exp(np.array([rng.gauss(0.0, rng.choice([0.05, 1.0, 4.0])) for _ in range(size)]))
    return first / first.sum(), second / second.sum()


def divergence(p: np.ndarray, q: np.ndarray, order: float) -> float:
    if order == INF:
        return float(np.max(np.log(p / q)))
    if order == 1.0:
        return float(np.sum(p * np.log(p / q)))
    return float(np.logaddexp.reduce(np.log(p) + (order - 1.0) * np.log(p / q)) / (order - 1.0))


def profile(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.sum(np.maximum(p - math.exp(epsilon) * q, 0.0)))


def test_no_law_that_keeps_to_a_curve_is_above_its_answer() -> None:
    rng = random.Random(7)
    for trial in range(25):
        p, q = laws(rng, rng.choice([2, 3, 5]))
        orders = sorted(rng.sample([1.0, 1.01, 1.5, 2.0, 4.0, 16.0, 200.0, INF], rng.choice([1, 2, 4])))
        both = rng.random() < 0.5
        bounds = [max(divergence(p, q, o), divergence(q, p, o) if both else 0.0) * (1 + 1e-9) + 1e-12 for o in orders]
        curve = tr.RenyiCurve(orders=orders, divergences=bounds, both_directions=both)
        for epsilon in (-1.0, 0.0, rng.uniform(0.0, 3.0)):
            assert profile(p, q, epsilon) <= curve.delta(epsilon, direction="remove").upper * (1 + 1e-12), trial
            assert profile(q, p, epsilon) <= curve.delta(epsilon, direction="add").upper * (1 + 1e-12), trial


def test_never_above_the_classical_conversion() -> None:
    runs = [
        tr.ZCDP(rho=0.1) * 10,
        tr.ZCDP(rho=1e-6),
        tr.RenyiCurve(orders=[2, 8, 32], divergences=[0.1, 0.4, 1.6]) * 3,
        tr.RenyiCurve(orders=[3], divergences=[0.5]) + tr.ZCDP(rho=0.2),
    ]
    for run in runs:
        for epsilon in (0.01, 0.5, 2.0):
            assert run.delta(epsilon).lower <= renyi_delta(run, epsilon)
        for delta in (1e-3, 1e-9):
            assert run.epsilon(delta).lower <= renyi_epsilon(run, delta)
    assert (tr.ZCDP(rho=0.5)).delta(1.0).upper < 0.9 * renyi_delta(tr.ZCDP(rho=0.5), 1.0)


def test_extremes_are_answered() -> None:
    for rho in (1e-12, 1e-3, 1.0, 1e4):
        epsilon = tr.ZCDP(rho=rho).epsilon(1e-300)
        assert epsilon.width <= 1e-9 * epsilon.upper
        classical = rho + 2.0 * math.sqrt(rho * 300 * math.log(10.0))
        assert 0.9 * classical < epsilon.lower < classical
        at = tr.ZCDP(rho=rho).delta(epsilon.upper)
        assert at.lower <= 1e-300 * (1 + 1e-6)
        assert at.width <= 1e-9 * at.upper
    assert tr.ZCDP(rho=0.0).delta(0.0).upper == 0.0
    assert tr.ZCDP(rho=0.3).delta(INF).upper == 0.0
    assert tr.RenyiCurve(orders=[2.0], divergences=[0.0]).epsilon(0.0).upper == 0.0


def test_order_inf_alone_is_pure_dp() -> None:
    for epsilon in (-0.5, 0.0, 0.3, 0.7, 2.0):
        curve = tr.RenyiCurve(orders=[INF], divergences=[0.7]).delta(epsilon)
        pure = tr.PureDP(epsilon=0.7).delta(epsilon)
        assert curve.lower <= pure.upper
        assert pure.lower <= curve.upper
        assert curve.width <= 1e-14


def test_the_mirror_of_one_direction() -> None:
    curve = tr.RenyiCurve(orders=[1.5, 4.0], divergences=[0.2, 0.7], both_directions=False)
    for epsilon in (0.1, 0.6):
        there, back = curve.delta(-epsilon, direction="remove"), curve.delta(epsilon, direction="add")
        alpha = math.exp(-epsilon)
        assert there.lower == pytest.approx(1 - alpha + alpha * back.lower, rel=1e-12)
    assert curve.delta(INF, direction="add").upper == pytest.approx(-math.expm1(-0.2), rel=1e-12)
    assert curve.delta(INF, direction="remove").upper == 0.0


def test_curves_are_added_before_they_are_converted() -> None:
    whole = tr.ZCDP(rho=0.25).epsilon(1e-6)
    for run in (tr.ZCDP(rho=0.025) * 10, tr.ZCDP(rho=0.125) + tr.ZCDP(rho=0.0625) * 2):
        assert abs(run.epsilon(1e-6).upper - whole.upper) < 1e-9
    twice = tr.RenyiCurve(orders=[2, 4], divergences=[0.1, 0.3]) + tr.RenyiCurve(orders=[4, 8], divergences=[0.2, 0.6])
    # At order 2 the second has K(1) <= K(3)/3, at order 8 the first has nothing.
    sums = tr.RenyiCurve(orders=[2, 4], divergences=[0.3, 0.5])
    assert abs(twice.delta(0.5).upper - sums.delta(0.5).upper) < 1e-12
    mixed = tr.RenyiCurve(orders=[2, 64], divergences=[1e-4, 32e-4]) + tr.ZCDP(rho=0.1)
    assert tr.ZCDP(rho=0.1).delta(1.0).upper < mixed.delta(1.0).upper < tr.ZCDP(rho=0.1011).delta(1.0).upper


def test_a_delta_per_use_leaks() -> None:
    for epsilon in (-1.0, 0.0, 1.0):
        plain, leaky = tr.ZCDP(rho=0.5).delta(epsilon), tr.ZCDP(rho=0.5, delta=0.01).delta(epsilon)
        assert leaky.lower == pytest.approx(0.01 + 0.99 * plain.lower, rel=1e-12)
    assert (tr.ZCDP(rho=0.1, delta=0.01) * 3).delta(INF).upper == pytest.approx(1 - 0.99**3, rel=1e-12)
    assert tr.ZCDP(rho=0.1, delta=1.0).delta(0.0).upper == 1.0


def test_its_own_divergences() -> None:
    zcdp = tr.ZCDP(rho=0.5) * 2
    assert [zcdp.renyi(order).upper for order in (1.0, 2.0, 7.0)] == [1.0, 2.0, 7.0]
    assert zcdp.renyi(2.0).lower == 2.0
    assert zcdp.renyi(INF).lower == INF
    curve = tr.RenyiCurve(orders=[2, 8], divergences=[0.125, 0.5])
    assert curve.renyi(8).upper == 0.5
    assert curve.renyi(1).upper == 0.125
    assert curve.renyi(5).upper == pytest.approx((0.125 + (3.5 - 0.125) / 2) / 4, rel=1e-12)
    assert curve.renyi(9).upper == INF
    assert 0.0 < curve.renyi(4).lower < curve.renyi(4).upper
    assert curve.renyi(0.5).upper <= 0.125
    one_way = tr.RenyiCurve(orders=[2], divergences=[0.125], both_directions=False)
    assert one_way.renyi(2, direction="add").lower == INF
    mixed = curve + tr.Gaussian(sigma=2.0)
    assert mixed.renyi(2).upper == pytest.approx(0.125 + 0.25, rel=1e-12)


def test_beside_others_and_sampled() -> None:
    run = tr.RenyiCurve(orders=[2, 8], divergences=[0.1, 0.4]) + tr.PureDP(epsilon=0.1)
    alone = tr.RenyiCurve(orders=[2, 8], divergences=[0.1, 0.4])
    found = run.delta(0.5)
    assert alone.delta(0.5).upper <= found.upper
    assert found.lower <= alone.delta(0.4).upper
    sampled = tr.ZCDP(rho=0.5).poisson(rate=0.1).delta(0.2, direction="remove")
    inner = math.log1p(math.expm1(0.2) / 0.1)
    assert sampled.lower == pytest.approx(0.1 * tr.ZCDP(rho=0.5).delta(inner).lower, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"orders": [], "divergences": []}, "at least one"),
        ({"orders": [2, 2], "divergences": [0.1, 0.2]}, "must rise"),
        ({"orders": [3, 2], "divergences": [0.1, 0.2]}, "must rise"),
        ({"orders": [2], "divergences": [0.1, 0.2]}, "same length"),
        ({"orders": [0.5], "divergences": [0.1]}, "1 or more"),
        ({"orders": [math.nan], "divergences": [0.1]}, "1 or more"),
        ({"orders": [2], "divergences": [-0.1]}, "0 or above"),
        ({"orders": [2], "divergences": [INF]}, "finite"),
        ({"orders": 2, "divergences": [0.1]}, "list of numbers"),
        ({"orders": "2", "divergences": [0.1]}, "list of numbers"),
        ({"orders": [2], "divergences": [0.1], "both_directions": 1}, "True or False"),
    ],
)
def test_what_is_no_curve_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=words):
        tr.RenyiCurve(**given)  # type: ignore[arg-type]


def test_text_json_and_pickle() -> None:
    for each in (
        tr.RenyiCurve(orders=[1, 2, INF], divergences=[0.1, 0.2, 3], both_directions=False),
        tr.ZCDP(rho=0.25),
        tr.ZCDP(rho=0.25, delta=1e-9) * 3,
    ):
        assert tr.parse(repr(each)) == each
        assert tr.load(tr.dump(each)) == each
        assert pickle.loads(pickle.dumps(each)) == each
    assert repr(tr.ZCDP(rho=1)) == "ZCDP(rho=1.0)"
    many = tr.RenyiCurve(orders=range(2, 102), divergences=[0.01 * order for order in range(2, 102)])
    assert len(str(many)) < 100
    assert many.delta(1.0).width < 1e-12
