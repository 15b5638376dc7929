"""A trade-off function of one's own: exact where it is that of a finite law, never too private elsewhere."""

from __future__ import annotations

import math
import pickle
import random
from fractions import Fraction
from itertools import accumulate, pairwise
from statistics import NormalDist

import pytest

import tightrope as tr
from tests.oracle.enumeration import Outcomes, composed, delta

HALF = Fraction(1, 2)
EPSILONS = (0.0, 0.3, 1.0, 2.5)
Corners = list[tuple[Fraction, Fraction]]


def binary_law(rng: random.Random, size: int) -> Outcomes:
    """Masses that are doubles, as are their sums; now and then zero."""

    def masses() -> list[Fraction]:
        cuts = sorted(rng.randint(0, 64) for _ in range(size - 1))
        return [Fraction(b - a, 64) for a, b in pairwise([0, *cuts, 64])]

    return tuple(zip(masses(), masses(), strict=True))


def best_tests(outcomes: Outcomes) -> Corners:
    """(false positives, false negatives) of the best tests: reject by falling likelihood ratio."""
    ordered = sorted(outcomes, key=lambda pq: pq[0] / pq[1] if pq[1] else math.inf, reverse=True)
    sums = accumulate(ordered, lambda one, two: (one[0] + two[0], one[1] + two[1]), initial=(Fraction(0), Fraction(0)))
    found: dict[Fraction, Fraction] = {}
    for p, q in sums:
        found[q] = 1 - p  # the last at one q is the lowest
    return sorted(found.items())


def value(corners: Corners, x: Fraction) -> Fraction:
    for (left, top), (right, bottom) in pairwise(corners):
        if left <= x <= right:
            return top + (bottom - top) * (x - left) / (right - left)
    raise AssertionError(x)


def curve(corners: Corners, **how: bool) -> tr.TradeoffCurve:
    return tr.TradeoffCurve(fprs=[float(x) for x, _ in corners], fnrs=[float(y) for _, y in corners], **how)


@pytest.mark.parametrize("seed", range(10))
def test_the_curve_of_a_finite_law_is_that_law(seed: int) -> None:
    rng = random.Random(seed)
    law = binary_law(rng, rng.randint(2, 5))
    given = curve(best_tests(law), both_directions=False)
    assert given.tight
    swapped = tuple((q, p) for p, q in law)
    for direction, outcomes in (("remove", law), ("add", swapped)):
        thrice = composed([(outcomes, 3)])
        for epsilon in EPSILONS:
            low, high = delta(thrice, epsilon)
            bound = (given * 3).delta(epsilon, direction=direction)
            assert bound.lower <= high
            assert low <= bound.upper
            assert bound.width <= 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_both_directions_are_the_worst_of_all_that_obey_both(seed: int) -> None:
    """H(a) = max(1 - y - a x) over all points that f and its inverse allow, found among where their lines meet."""
    rng = random.Random(1000 + seed)
    corners = best_tests(binary_law(rng, rng.randint(2, 5)))
    given = curve(corners)
    top, z = corners[0][1], min(x for x, y in corners if not y)
    inverse = [(y, x) for x, y in reversed(corners) if x <= z] + ([] if top == 1 else [(Fraction(1), Fraction(0))])

    def above(x: Fraction) -> Fraction:
        return max(value(corners, x), value(inverse, x))

    places = {x for x, _ in (*corners, *inverse)}
    for (a, b), (c, d) in pairwise(corners):
        for (e, f), (g, h) in pairwise(inverse):
            one, two = (d - b) / (c - a), (h - f) / (g - e)
            if one != two:
                x = (f - b + one * a - two * e) / (one - two)
                places |= {x} if max(a, e) <= x <= min(c, g) else set()
    steps = [(x, above(x)) for x in sorted(places)]
    law = [(1 - steps[0][1], Fraction(0)), *((b - d, c - a) for (a, b), (c, d) in pairwise(steps))]
    for count in (1, 3):
        outcomes = composed([(tuple(law), count)])
        for epsilon in EPSILONS:
            low, high = delta(outcomes, epsilon)
            for direction in ("remove", "add"):
                bound = (given * count).delta(epsilon, direction=direction)
                assert bound.lower <= high
                assert low <= bound.upper
                assert bound.width <= 1e-12


@pytest.mark.parametrize("points_only", (False, True))
@pytest.mark.parametrize("both", (False, True))
def test_no_mechanism_above_what_is_given_loses_more(both: bool, points_only: bool) -> None:
    rng = random.Random(7 + both + 2 * points_only)
    seen = 0
    for _ in range(40):
        law = binary_law(rng, rng.randint(2, 4))
        if both:
            law = tuple((p / 2, q / 2) for p, q in law) + tuple((q / 2, p / 2) for p, q in law)
        truth = best_tests(law)
        places = sorted({Fraction(rng.randint(0, 32), 32) for _ in range(rng.randint(1, 4))})
        points = [(x, Fraction(math.floor(1024 * value(truth, x) * rng.choice([1, 1, HALF])), 1024)) for x in places]
        kinks = [x for x, _ in truth if places[0] <= x <= places[-1] and len(points) > 1]
        if not points_only and any(value(points, x) > value(truth, x) for x in kinks):
            continue  # a chord lies above the truth: not what is claimed
        seen += 1
        given = curve(points, both_directions=both, points_only=points_only)
        for count, epsilon in ((1, 0.0), (1, 0.7), (2, 0.4)):
            low, _ = delta(composed([(law, count)]), epsilon)
            assert (given * count).delta(epsilon, direction="remove").upper >= low, (points, law)
            low, _ = delta(composed([(tuple((q, p) for p, q in law), count)]), epsilon)
            assert (given * count).delta(epsilon, direction="add").upper >= low, (points, law)
    assert seen > 8


def test_one_point_alone_is_answered_by_the_worst_of_two_mechanisms() -> None:
    """A line from the point to (1, 0), or from (0, 1): one use of the pair is no worse than the worse of these."""
    given = tr.TradeoffCurve(fprs=[0.25], fnrs=[0.5], points_only=True, both_directions=False)
    for epsilon in (0.0, 0.4, 2.0):
        to_the_end = 1 / 3  # f = (2/3)(1 - x)
        from_the_start = max(0.0, 1 - math.exp(epsilon) / 2)  # f = 1 - 2 x
        bound = given.delta(epsilon, direction="remove")
        assert bound.lower - 1e-12 <= max(to_the_end, from_the_start) <= bound.upper + 1e-12
    assert not given.tight


@pytest.mark.parametrize("p", (0.75, 0.51, 0.999))
def test_randomized_response_has_three_points(p: float) -> None:
    given, known = tr.TradeoffCurve(fprs=[0, 1 - p, 1], fnrs=[1, 1 - p, 0]), tr.RandomizedResponse(p=p)
    for count in (1, 7, 512):
        for epsilon in (0.0, 0.1, 2.0):
            one, two = (given * count).delta(epsilon), (known * count).delta(epsilon)
            assert (one.lower, one.upper) == (two.lower, two.upper)
    assert tr.TradeoffCurve(fprs=[0, 1 - p], fnrs=[1, 1 - p]).corners == given.corners


def test_approximate_dp_has_four_points() -> None:
    """epsilon = log 3, delta = 1/8: f = max(0, 1 - d - 3 x, (1 - d - x)/3)."""
    given = tr.TradeoffCurve(fprs=[0, 7 / 32, 7 / 8, 1], fnrs=[7 / 8, 7 / 32, 0, 0])
    d = Fraction(1, 8)
    law = ((d, Fraction(0)), ((1 - d) * 3 / 4, (1 - d) / 4), ((1 - d) / 4, (1 - d) * 3 / 4), (Fraction(0), d))
    known = tr.ApproximateDP(epsilon=math.log(3), delta=1 / 8)
    for count in (1, 2, 3):
        for epsilon in EPSILONS:
            low, high = delta(composed([(law, count)]), epsilon)
            bound, other = (given * count).delta(epsilon), (known * count).delta(epsilon)
            assert bound.lower <= high
            assert low <= bound.upper
            assert bound.width < 1e-12
            assert abs(bound.upper - other.upper) < 1e-12


def tangents(mu: float, count: int) -> tr.TradeoffCurve:
    """Below the Gaussian's f: count tangents, a little lower, joined where they meet each other and 0."""
    normal = NormalDist()
    touching = [normal.cdf(-4.5 + 9.0 * (index + 0.5) / count) for index in range(count)]
    lines = []
    for x in touching:
        place = normal.inv_cdf(1 - x)
        slope = -normal.pdf(place - mu) / normal.pdf(place)
        lines.append((normal.cdf(place - mu) - slope * x - 1e-11, slope))
    meet = [(b - d) / (e - c) for (b, c), (d, e) in pairwise(lines)]
    fprs = sorted({0.0, *meet, max(-b / c for b, c in lines), 1.0})
    return tr.TradeoffCurve(fprs=fprs, fnrs=[max(0.0, *(b + c * x for b, c in lines)) for x in fprs])


@pytest.mark.parametrize("count", (1, 5))
def test_tangents_of_a_gaussian_come_down_to_it(count: int) -> None:
    exact = (tr.Gaussian(sigma=1.0) * count).delta(1.0).upper
    gaps = [(tangents(1.0, size) * count).delta(1.0).lower - exact for size in (4, 16, 64)]
    assert all(b < a / 4 for a, b in pairwise(gaps))
    assert 0 < gaps[-1] < 1e-2 * count


@pytest.mark.parametrize("mu", (0.1, 0.5, 2.0))
def test_tangents_of_a_gaussian_stay_above_its_profile(mu: float) -> None:
    """In the tails too, where a line to (1, 0) instead of to the end of the last tangent would not."""
    for epsilon in (-2.0, -0.5, 0.3, 1.0, 4.0):
        for direction in ("add", "remove"):
            for count in (1, 2):
                bound = (tangents(mu, 5) * count).delta(epsilon, direction=direction)
                assert bound.upper >= (tr.GDP(mu=mu) * count).delta(epsilon).lower


def test_what_cannot_be_is_refused_in_one_line() -> None:
    for fprs, fnrs, words in (
        ([0, 0.5, 1], [1, 0.2], "same length, not 3 and 2"),
        ([], [], "at least one rate"),
        ([0, 0.5, 0.5], [1, 0.5, 0.5], "fprs must rise, not from 0.5 to 0.5 at index 2"),
        ([0, 0.6, 0.5], [1, 0.2, 0.1], "fprs must rise"),
        ([0, 1.5], [1, 0], r"fprs\[1\] must lie in \[0, 1\]"),
        ([0, 1], [1, math.nan], r"fnrs\[1\] must lie in \[0, 1\]"),
        ([0, 0.5, 1], [1, 0.6, 0], r"fnrs\[1\] must be at most 1 - fprs\[1\]"),
        ([0, 0.5, 1], [0, 0.5, 1], "1 less the true positive rate"),
        (0.5, [1], "fprs must be a list of rates"),
        ([0, "1"], [1, 0], "not the text"),
    ):
        with pytest.raises(tr.InvalidParameter, match=words) as error:
            tr.TradeoffCurve(fprs=fprs, fnrs=fnrs)  # type: ignore[arg-type]
        assert "\n" not in str(error.value)
    with pytest.raises(tr.InvalidParameter, match="both_directions must be True or False"):
        tr.TradeoffCurve(fprs=[0], fnrs=[1], both_directions=1)  # type: ignore[arg-type]


def test_rounding_above_the_diagonal_is_put_down_on_it() -> None:
    given = tr.TradeoffCurve(fprs=[0, 0.1, 1], fnrs=[1, 0.9, 0])
    assert given.tight
    assert given.delta(0.0).upper == 0.0


def test_points_that_are_not_convex_have_a_hull_and_say_so() -> None:
    bent = tr.TradeoffCurve(fprs=[0, 0.25, 0.5, 1], fnrs=[0.75, 0.5, 0.125, 0], both_directions=False)
    straight = tr.TradeoffCurve(fprs=[0, 0.5, 1], fnrs=[0.75, 0.125, 0], both_directions=False)
    assert bent.corners == straight.corners
    assert straight.tight
    assert not bent.tight
    assert not (bent * 3).delta(0.5).certificate.tight
    assert (straight * 3).delta(0.5).certificate.tight


def test_values_travel() -> None:
    for given in (
        tr.TradeoffCurve(fprs=(0, 0.1, 1), fnrs=(1, 0.3, 0)),
        tr.TradeoffCurve(fprs=(0.2,), fnrs=(0.3,), both_directions=False, points_only=True),
    ):
        given.delta(1.0)
        for other in (tr.parse(repr(given)), tr.load(tr.dump(given)), pickle.loads(pickle.dumps(given))):
            assert other == given
            assert hash(other) == hash(given)
            assert other.corners == given.corners
    assert "points_only" not in repr(tr.TradeoffCurve(fprs=(0,), fnrs=(1,)))
    assert str(tangents(1.0, 16)) == "TradeoffCurve(fprs=[18 rates], fnrs=[18 rates])"
