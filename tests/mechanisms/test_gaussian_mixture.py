"""GaussianMixture beside what it equals, what it dominates, and a composition by quadrature."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.special import ndtr

import tightrope as tr
from tightrope.core.numerics.enclosures import exact

DIRECTIONS = tuple(tr.Direction)


def mixture(sigma: float, law: dict[float, float]) -> tr.GaussianMixture:
    return tr.GaussianMixture(sigma=sigma, shifts=tuple(law), weights=tuple(law.values()))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_it_equals(direction: tr.Direction) -> None:
    assert mixture(2.0, {-3.0: 1.0}).pair(direction) == tr.Gaussian(sigma=2.0, sensitivity=3.0).pair(direction)
    assert mixture(2.0, {3.0: 1.0, 7.0: 0.0}).pair(direction) == mixture(2.0, {3.0: 1.0}).pair(direction)
    for rate in (1e-9, 0.1, 0.3, 0.7, 1.0 - 2.0**-40):
        sample = tr.Gaussian(sigma=1.5).poisson(rate=rate)
        assert mixture(1.5, {0.0: 1.0 - rate, 1.0: rate}).pair(direction) == sample.pair(direction)
    one = tr.GaussianMixture(sigma=1.0, shifts=[2, 0, 1, 1], weights=[0.25, 0.25, 0.125, 0.375])
    assert one.pair(direction) == mixture(1.0, {0.0: 0.25, -1.0: 0.5, -2.0: 0.25}).pair(direction)


def test_the_largest_weight_is_what_the_others_leave() -> None:
    pair = mixture(1.0, {0.0: 0.7, 1.0: 0.1, 2.0: 0.2}).pair(tr.Direction.REMOVE)
    ratio, rate = (-pair.loss_range().lowest).expm1(), 0.1 + 0.2  # w_0 = 1 - 0.1 - 0.2, in exact fractions
    assert float((ratio / (1 + ratio)).mid()) == pytest.approx(rate, rel=1e-15)
    tiny = mixture(1.0, {0.0: 1e-300, 1.0: 1.0, 2.0: 1e-300})
    assert tiny.delta(0.1).upper == pytest.approx(tr.Gaussian(sigma=1.0).delta(0.1).upper, rel=1e-12)
    assert float(tiny.pair(tr.Direction.REMOVE).loss_range().lowest.mid()) == pytest.approx(math.log(1e-300))


@pytest.mark.parametrize("count", [1, 40])
def test_a_group_in_a_sample(count: int) -> None:
    weights = [math.comb(5, j) * 0.25**j * 0.75 ** (5 - j) for j in range(6)]
    whole = tr.GaussianMixture(sigma=2.0, shifts=range(6), weights=weights) * count
    group = tr.Gaussian(sigma=2.0).poisson(rate=0.25).group(size=5) * count
    for direction in ("remove", "add"):
        one, other = (run.epsilon(1e-7, direction=direction) for run in (whole, group))
        assert one.lower <= other.upper * (1 + 1e-13)
        assert other.lower <= one.upper * (1 + 1e-13)
        assert one.width <= 1e-9 * one.upper


def test_values_of_reference() -> None:
    known = mixture(1.0, {0.0: 0.81, 1.0: 0.18, 2.0: 0.01})
    for epsilon, direction, value in (
        (1.0, "remove", 0.0038260518157870417258),
        (0.2, "add", 1.5100600690477958571e-5),
    ):
        found = known.delta(epsilon, direction=direction)
        assert found.lower * (1 - 1e-14) <= value <= found.upper * (1 + 1e-14)


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("law", [{0.0: 0.75, 0.5: 0.125, 2.0: 0.125}, {0.25: 0.5, 1.5: 0.5}])
def test_two_uses_by_quadrature(law: dict[float, float], epsilon: float) -> None:
    """The second output is taken beyond a place that depends on the first: bisection, then a sum over the first."""
    x, step = np.linspace(-12.0, 16.0, 1401, retstep=True)
    q = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) * step
    for direction, sign in (("remove", 1.0), ("add", -1.0)):
        level = sign * epsilon - _log_ratio(law, x)
        low, high = np.full_like(x, -400.0), np.full_like(x, 400.0)
        for _ in range(60):
            middle = 0.5 * (low + high)
            above = _log_ratio(law, middle) > level
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        beyond = [sum(w * ndtr(sign * (s - high)) for s, w in laws.items()) for laws in (law, {0.0: 1.0})]
        laws = [np.exp(_log_ratio(law, x)) * q * beyond[0], q * beyond[1]]
        first, second = laws if sign > 0.0 else laws[::-1]
        truth = float(np.sum(first) - math.exp(epsilon) * np.sum(second))
        found = (mixture(1.0, law) * 2).delta(epsilon, direction=direction)
        assert found.lower * (1 - 1e-11) <= truth <= found.upper * (1 + 1e-11)


def _log_ratio(law: dict[float, float], x: np.ndarray) -> np.ndarray:
    return np.logaddexp.reduce([math.log(w) + s * x - 0.5 * s * s for s, w in law.items()])


@pytest.mark.parametrize("seed", range(4))
def test_vectors_are_dominated(seed: int) -> None:
    """Contributions in the plane, some shorter than they may be, by a grid of outputs; also both signs on a line."""
    dice = random.Random(seed)
    law = {0.5: 0.25, 1.0: 0.5, 2.0: 0.25}
    angles = [dice.choice([0.0, math.pi, dice.uniform(0.0, 2.0 * math.pi)]) for _ in law]
    shares = [dice.choice([1.0, dice.random()]) for _ in law]
    x = np.linspace(-7.0, 7.0, 281)
    across, along = np.meshgrid(x, x)
    normal = np.exp(-0.5 * (across**2 + along**2)) / (2.0 * math.pi) * (x[1] - x[0]) ** 2
    ratio = np.zeros_like(normal)
    for (size, weight), angle, share in zip(law.items(), angles, shares, strict=True):
        s = size * share
        ratio += weight * np.exp(s * (math.cos(angle) * across + math.sin(angle) * along) - 0.5 * s * s)
    pair = mixture(1.0, law).pair(tr.Direction.REMOVE)
    for epsilon in (-1.0, 0.0, 0.5, 2.0):
        lost = float(np.sum(np.maximum(ratio - math.exp(epsilon), 0.0) * normal))
        assert lost <= float(pair.hockey_stick(exact(epsilon)).upper) + 1e-7


def test_larger_shifts_and_the_largest_alone_tell_more() -> None:
    rows = [
        {0.5: 0.5, 1.0: 0.5},
        {0.5: 0.25, 1.0: 0.75},
        {0.5: 0.25, 1.0: 0.5, 1.5: 0.25},
        {1.5: 1.0},
    ]
    for direction in DIRECTIONS:
        pairs = [mixture(1.0, law).pair(direction) for law in rows]
        for epsilon in (-0.5, 0.0, 1.0, 3.0):
            heights = [float(pair.hockey_stick(exact(epsilon)).value) for pair in pairs]
            assert heights == sorted(heights)


def test_replacing_tells_more_than_either_order() -> None:
    """The reason for its relation: both laws move."""
    once = mixture(1.0, {0.0: 0.5, 1.0: 0.5})
    replaced = 0.5 * (2.0 * ndtr(1.0) - 1.0)
    assert max(once.delta(0.0, direction=each.value).upper for each in DIRECTIONS) < replaced
    assert once.relation is tr.Relation.ADD_REMOVE
    with pytest.raises(tr.InvalidParameter, match="replacing a record"):
        mixture(1.0, {0.0: 0.5, 1.0: 0.25, 2.0: 0.25}).without_replacement(batch=1, records=10)


def test_a_group_is_a_chain_and_not_a_longer_shift() -> None:
    once = mixture(1.0, {0.0: 0.75, 1.0: 0.125, 2.0: 0.125})
    chain, longer = once.group(size=2), mixture(1.0, {0.0: 0.75, 2.0: 0.125, 4.0: 0.125})
    assert once.tight
    assert not chain.tight
    assert chain.delta(0.0).upper > longer.delta(0.0).upper
    assert mixture(1.0, {1.0: 1.0}).group(size=2).tight


@pytest.mark.parametrize(
    ("shifts", "weights", "match"),
    [
        ([1.0, -1.0], [0.5, 0.5], "one sign: give their sizes"),
        ([1.0, 2.0], [0.5, 0.4], "sum to 1"),
        ([1.0], [0.5, 0.5], "same length"),
        ([0.0, 0.0], [0.5, 0.5], "not 0"),
        ([1.0, 2.0], [1.5, -0.5], r"weights\[0\]"),
        ([1.0, math.inf], [0.5, 0.5], r"shifts\[1\]"),
        ([], [], "at least one"),
        ("12", [0.5, 0.5], "list of numbers"),
        (3.0, [1.0], "list of numbers"),
        ([1e-9, 1.0], [0.5, 0.5], "sigma"),
        ([1.0, 1e8], [0.5, 0.5], "sigma"),
        ([1e-4, 1e3], [0.5, 0.5], "1,000,000 times"),
        (range(1, 2049), [2.0**-11] * 2048, "round some of them up"),
    ],
)
def test_refusals(shifts: list[float], weights: list[float], match: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=match) as error:
        tr.GaussianMixture(sigma=1.0, shifts=shifts, weights=weights)
    assert "\n" not in str(error.value)
