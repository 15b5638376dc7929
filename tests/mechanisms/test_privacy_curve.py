"""Points of a profile: the hull in fractions between balls, never too private, one point as (epsilon, delta)-DP."""

from __future__ import annotations

import math
import pickle
import random
from functools import reduce
from statistics import NormalDist

import pytest
from flint import arb

import tightrope as tr
from tests.oracle.finite import Product
from tests.oracle.points import Points
from tests.oracle.truth import Truth
from tightrope.core.numerics.balls import working_precision

NORMAL = NormalDist()
EPSILONS = (-2.0, -0.4, 0.0, 0.3, 1.0, 2.5)


def hull(points: list[tuple[arb, arb]], alpha: arb) -> arb:
    """The least of the chords over alpha, and of the levels before it."""
    points = [(arb(0), arb(1)), *points]
    found = [d for x, d in points if x <= alpha]
    found += [d + (e - d) * (alpha - x) / (y - x) for x, d in points for y, e in points if x < alpha and not y <= alpha]
    return reduce(arb.min, found)


def gaussian(epsilon: float) -> float:
    """At or above delta of Gaussian noise with sigma 1."""
    exact = NORMAL.cdf(0.5 - epsilon) - math.exp(epsilon) * NORMAL.cdf(-0.5 - epsilon)
    return min(exact + 1e-15 * (1.0 + math.exp(epsilon)), 1.0)


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_profile_is_the_hull(seed: int, both: bool) -> None:
    rng = random.Random(seed)
    epsilons = sorted({rng.choice([0.0, 0.25, 1.0, rng.uniform(-1.0, 3.0)]) for _ in range(rng.choice([1, 2, 5, 9]))})
    # Neither falling nor convex, now and then a claim that says nothing.
    deltas = [
        max(1.0 - math.exp(e) if e < 0 else 0.0, rng.choice([0.0, 1e-9, 0.3, rng.random(), 1.0])) for e in epsilons
    ]
    curve = tr.PrivacyCurve(epsilons=epsilons, deltas=deltas, both_directions=both)
    assert curve.tight
    with working_precision(200):
        points = [(arb(e).exp(), arb(d).max(1 - arb(e).exp())) for e, d in zip(epsilons, deltas, strict=True)]
        if both:
            points += [(1 / x, 1 - (1 - d) / x) for x, d in points]
        for epsilon in EPSILONS:
            alpha = arb(epsilon).exp()
            exact = {"remove": hull(points, alpha), "add": 1 - alpha + alpha * hull(points, 1 / alpha)}
            for direction, value in exact.items():
                bound = curve.delta(epsilon, direction=direction)
                assert bound.lower <= float(value.upper()) * (1 + 1e-15) + 1e-300
                assert bound.upper >= float(value.lower()) * (1 - 1e-15)
                assert bound.upper - bound.lower <= 1e-13
                assert not both or abs(float((exact["remove"] - exact["add"]).mid())) < 1e-50


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 0.0), (0.0, 0.3), (5.0, 1e-300), (0.5, 1.0)])
def test_one_point_is_approximate_dp(epsilon: float, delta: float) -> None:
    curve, known = tr.PrivacyCurve(epsilons=[epsilon], deltas=[delta]), tr.ApproximateDP(epsilon=epsilon, delta=delta)
    for count in (1, 2, 30):
        for at in (-0.3, 0.0, 0.7, 4.0):
            one, two = (curve * count).delta(at), (known * count).delta(at)
            assert abs(one.upper - two.upper) + abs(one.lower - two.lower) <= 1e-12 * two.upper
        for level in (0.0, 1e-5, 0.4):
            first, second = (curve * count).epsilon(level), (known * count).epsilon(level)
            assert first.upper == second.upper or abs(first.upper - second.upper) <= 1e-12 * second.upper
    sampled = curve.poisson(rate=0.1).delta(0.05), known.poisson(rate=0.1).delta(0.05)
    assert abs(sampled[0].upper - sampled[1].upper) <= 1e-12


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("both", [True, False])
def test_three_uses_against_all_outcomes(both: bool, direction: str) -> None:
    law = Points((0.25, 0.75, 2.0), (0.2, 0.05, 0.001), both)
    run = tr.PrivacyCurve(epsilons=law.epsilons, deltas=law.deltas, both_directions=both) * 3
    truth = Truth(Product(((law, 3),)), 1, direction)
    for epsilon in (0.0, 0.6, 1.75, 5.0):
        bound = run.delta(epsilon, direction=direction)
        exact = truth.delta(epsilon)
        assert arb(bound.lower) <= exact.upper()
        assert arb(bound.upper) >= exact.lower()
        assert bound.width <= 1e-9


def test_a_function_is_read_once_and_never_too_private() -> None:
    calls: list[float] = []

    def deltas(epsilon: float) -> float:
        calls.append(epsilon)
        return gaussian(epsilon)

    curve = tr.PrivacyCurve(deltas=deltas)
    read = len(calls)
    truth = tr.Gaussian(sigma=1.0)
    assert curve.tight
    assert (
        str(curve) == f"PrivacyCurve(epsilons=[{len(curve.epsilons)} numbers], deltas=[{len(curve.epsilons)} numbers])"
    )
    for epsilon in (-1.0, 0.0, 0.7, 3.0):
        assert truth.delta(epsilon).lower <= curve.delta(epsilon).upper <= truth.delta(epsilon).upper * 1.001
    assert (truth * 10).delta(8.0).lower <= (curve * 10).delta(8.0).upper <= (truth * 10).delta(8.0).upper * 1.01
    assert len(calls) == read
    assert tr.load(tr.dump(curve)) == curve  # the numbers are all there is
    few = tr.PrivacyCurve(epsilons=[0.0, 1.0, 2.0], deltas=gaussian, both_directions=False)
    assert few.deltas == tuple(map(gaussian, (0.0, 1.0, 2.0)))
    assert tr.PrivacyCurve(deltas=lambda epsilon: 1e-3 if epsilon > 0.1 else 1.0).delta(3.0).upper == 1e-3


def test_values() -> None:
    curve = tr.PrivacyCurve(epsilons=[0.5, 1], deltas=[0.01, 0.0001])
    assert repr(curve) == "PrivacyCurve(epsilons=(0.5, 1.0), deltas=(0.01, 0.0001))"
    assert tr.parse(repr(curve)) == tr.load(tr.dump(curve)) == pickle.loads(pickle.dumps(curve)) == curve
    assert curve != tr.PrivacyCurve(epsilons=[0.5, 1], deltas=[0.01, 0.0001], both_directions=False)
    assert curve.pair(tr.Direction.ADD) == curve.pair(tr.Direction.REMOVE)
    # Rounding may put a value a little below 1 - e^epsilon, which is then meant.
    least = tr.PrivacyCurve(epsilons=[-0.5], deltas=[1.0 - math.exp(-0.5) - 1e-15], both_directions=False)
    assert least.delta(-0.9, direction="remove").lower >= 1.0 - math.exp(-0.9) - 1e-15
    assert tr.PrivacyCurve(epsilons=[0.5], deltas=[1.0]).delta(9.0).lower == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilons": [0.5, 1], "deltas": [0.1]}, "same length, not 2 and 1"),
        ({"epsilons": [], "deltas": []}, "1 to 10,000 numbers, not 0"),
        ({"epsilons": [1, 0.5], "deltas": [0.1, 0.2]}, "epsilons must rise, not from 1.0 to 0.5 at index 1; sort them"),
        ({"epsilons": [0.5, 0.5], "deltas": [0.1, 0.2]}, "epsilons must rise"),
        ({"epsilons": [0.5], "deltas": [1.5]}, r"deltas\[0\] must lie in \[0, 1\], not 1.5"),
        ({"epsilons": [math.inf], "deltas": [0.5]}, r"epsilons\[0\] must be a finite number"),
        ({"epsilons": [2e6], "deltas": [0.5]}, "within"),
        ({"epsilons": [-1.0], "deltas": [0.5]}, r"deltas\[0\] must be at least 1 - e\^epsilons\[0\]"),
        ({"epsilons": 0.5, "deltas": [0.5]}, "epsilons must be a list of numbers"),
        ({"epsilons": [0.5], "deltas": "0.5"}, "deltas must be a list of numbers"),
        ({"deltas": [0.5]}, "epsilons must be a list of numbers, not None"),
        ({"epsilons": [0.5]}, "deltas must be a list of numbers, not None"),
        ({"epsilons": [0.5], "deltas": [0.5], "both_directions": 1}, "both_directions must be True or False"),
        ({"deltas": lambda epsilon: -1.0}, r"deltas\(.*\) must be an upper bound of a delta"),
        ({"deltas": lambda epsilon: math.nan}, "must be an upper bound"),
        ({"deltas": lambda epsilon: "x"}, "must be a number"),
        ({"deltas": lambda epsilon: math.exp(9e9)}, "give epsilons at which the function can be called"),
    ],
)
def test_refusals(given: dict[str, object], words: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=words):
        tr.PrivacyCurve(**given)  # type: ignore[arg-type]


def test_large_and_tiny_points() -> None:
    curve = tr.PrivacyCurve(epsilons=[-1e6, 5e-324, 1e-300, 1e6], deltas=[1.0, 0.9, 0.8999999999999999, 1e-320])
    assert curve.tight
    assert curve.delta(0.0).upper <= 0.9 * (1 + 1e-14)
    assert curve.delta(2e6).upper == 1e-320
    close = tr.PrivacyCurve(epsilons=[1.0, 1.0 + 2**-52, 1.0 + 2**-51], deltas=[0.5, 0.5 - 2**-53, 0.25])
    assert 0.25 <= close.delta(1.0).upper <= 0.25 + 1e-14  # the chord to the last point lies below the others
