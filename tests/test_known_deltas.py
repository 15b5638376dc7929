"""What certified deltas say of each other: intervals around a known profile stay around it, whatever else is known."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest

import tightrope as tr
from tests.search import FULL, cases
from tightrope.core.answers.known_deltas import KnownDeltas, known_of, sharing
from tightrope.core.values.bound import Bound, Certificate
from tightrope.core.values.errors import InternalContradiction
from tightrope.core.values.question import Question

TOLD = Certificate(engine="closed_form", arithmetic="ball", reason="", direction=None)
OF_PAIR = replace(TOLD, attained=False)


def gaussian(mu: float, epsilon: float) -> mpmath.mpf:
    """Balle, Wang 2018, Thm 8, at 60 digits."""
    with mpmath.workdps(60):
        t, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - t / m) - mpmath.exp(t) * mpmath.ncdf(-m / 2 - t / m)


def cornered(lines: list[tuple[Fraction, Fraction]], epsilon: float) -> mpmath.mpf:
    """The largest of some P - a Q, of 1 - a and of 0: a profile with corners."""
    with mpmath.workdps(60):
        a = mpmath.exp(mpmath.mpf(epsilon))
        values = [mpmath.mpf(p.numerator) / p.denominator - a * q.numerator / q.denominator for p, q in lines]
        return max(*values, 1 - a, mpmath.mpf(0))


def around(truth: mpmath.mpf, draw: random.Random) -> tuple[float, float]:
    """An interval with the truth in it: sharp, wide, or as wide as it gets."""
    share = draw.choice([1e-12, 1e-6, 0.01, 0.5, 1.0])
    low = float(truth) * (1 - share * draw.random()) - 1e-300
    up = float(truth) + share * draw.random() * (1 - float(truth))
    low, up = max(math.nextafter(low, -1.0), 0.0), min(math.nextafter(up, 2.0), 1.0)
    assert low <= truth <= up
    return low, up


def profiles(draw: random.Random) -> tuple[object, ...]:
    mu = draw.choice([1e-3, 0.3, 1.0, 4.0])
    lines = [(Fraction(draw.randint(1, 99), 100), Fraction(draw.randint(0, 99), 300)) for _ in range(4)]
    lines = [(max(p, q), min(p, q)) for p, q in lines]
    return lambda t: gaussian(mu, t), lambda t: cornered(lines, t)


@pytest.mark.parametrize("seed", range(60))
def test_ends_stay_around_the_truth(seed: int) -> None:
    draw = random.Random(seed)
    truth = draw.choice(profiles(draw))
    assert callable(truth)
    spread = draw.choice([1e-3, 1.0, 30.0])
    places = sorted({draw.uniform(-spread, spread) for _ in range(draw.randint(1, 25))})
    bounds = {t: Bound(*around(truth(t), draw), TOLD) for t in places}
    known = KnownDeltas()
    for t in draw.sample(places, len(places)):
        known.add(t, bounds[t])
    moved = 0
    for t in [*places, *(draw.uniform(-2 * spread, 2 * spread) for _ in range(10))]:
        before = bounds.get(t, Bound(0.0, 1.0, TOLD))
        after = known.narrowed(t, before)
        assert before.lower <= after.lower <= truth(t) <= after.upper <= before.upper
        moved += after.width < before.width
    assert moved
    curve = known.narrowed_all(places, [bounds[t] for t in places])
    assert all(bound.lower <= truth(t) <= bound.upper for t, bound in zip(places, curve, strict=True))
    assert [bound.upper for bound in curve] == sorted((bound.upper for bound in curve), reverse=True)
    assert [bound.lower for bound in curve] == sorted((bound.lower for bound in curve), reverse=True)
    for delta in (truth(places[0]), truth(places[-1]), mpmath.mpf("0.01"), mpmath.mpf("1e-9")):
        given = float(delta)
        found = known.narrowed_epsilon(given, Bound(0.0, math.inf, TOLD))
        if found.upper < math.inf:
            assert truth(found.upper) <= given
        if found.lower > 0.0:
            assert truth(math.nextafter(found.lower, -math.inf)) >= given


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_an_epsilon_is_two_deltas(mu: float) -> None:
    """[l, u] at delta: H(e^u) <= delta <= H(e^l)."""
    known = KnownDeltas()
    for epsilon in (0.01, 0.5, 3.0):
        known.add_epsilon(float(gaussian(mu, epsilon)), Bound(epsilon * (1 - 1e-9), epsilon * (1 + 1e-9), TOLD))
    for t in (-0.5, 0.0, 0.2, 1.0, 5.0, 40.0):
        found = known.narrowed(t, Bound(0.0, 1.0, TOLD))
        assert found.lower <= gaussian(mu, t) <= found.upper


def test_upper_ends_of_both_directions_hold_for_one_and_lower_ends_the_other_way() -> None:
    worse = KnownDeltas()
    one = KnownDeltas(worse)
    worse.add(0.0, Bound(0.30, 0.31, TOLD))
    one.add(0.0, Bound(0.10, 1.0, TOLD))
    assert (one.narrowed(0.5, Bound(0.0, 1.0, TOLD)).lower, one.narrowed(0.0, Bound(0.0, 1.0, TOLD)).lower) == (
        0.0,
        0.1,
    )
    assert one.narrowed(0.5, Bound(0.0, 1.0, TOLD)).upper == 0.31
    one.add(1.0, Bound(0.2, 0.25, TOLD))
    assert worse.narrowed(1.0, Bound(0.0, 1.0, TOLD)).lower == 0.2
    assert worse.narrowed(1.0, Bound(0.0, 1.0, TOLD)).upper == 0.31


def test_lower_ends_of_the_dominating_pair_stay_apart() -> None:
    """The pair may have more than the run is proven to lose: its lower ends then say nothing, and contradict nobody."""
    known = KnownDeltas()
    known.add(0.0, Bound(0.5, 0.6, OF_PAIR))
    known.add(1.0, Bound(0.05, 0.1, TOLD))
    assert known.narrowed(0.5, Bound(0.0, 1.0, TOLD)).lower == 0.05
    assert known.narrowed(-0.5, Bound(0.0, 1.0, OF_PAIR)).lower == 0.5
    crossed = known.narrowed(1.0, Bound(0.3, 0.4, OF_PAIR))
    assert (crossed.lower, crossed.upper) == (0.0, 0.1)
    assert crossed.certificate is not None
    assert crossed.certificate.attained


def test_real_ends_that_cross_are_a_contradiction() -> None:
    known = KnownDeltas()
    known.add(0.0, Bound(0.1, 0.2, TOLD))
    with pytest.raises(InternalContradiction):
        known.narrowed(1.0, Bound(0.3, 0.4, TOLD))


def test_what_is_shared_belongs_to_one_run_in_one_manner() -> None:
    run, question = tr.Gaussian(sigma=1.0), Question("delta")
    assert known_of(run, question, several=False) is None
    with sharing():
        first = known_of(run, question, several=False)
        assert first is not None
        assert known_of(run, Question("epsilon"), several=False) is first
        assert known_of(run, Question("delta", proof=True), several=False) is not first
        assert known_of(tr.Gaussian(sigma=2.0), question, several=False) is not first
        assert known_of(run, Question("delta", engine="lattice"), several=True) is None
        with sharing():
            assert known_of(run, question, several=False) is first
        assert known_of(run, Question("delta", direction="add"), several=False).worse is first  # type: ignore[union-attr]
    assert known_of(run, question, several=False) is None


def hard_run(seed: int) -> tuple[str, float]:
    """A run that takes longer than it is given, and what it is given."""
    draw = random.Random(seed)
    leaves = [
        f"PureDP(epsilon={draw.choice([0.1, 0.5, 1, 2])})",
        f"Laplace(scale={draw.choice([0.5, 1, 3])})",
        f"Gaussian(sigma={draw.choice([0.6, 1, 3])})",
        f"RandomizedResponse(p={draw.choice([0.6, 0.75, 0.9])})",
        f"Exponential(epsilon={draw.choice([0.3, 1])})",
        f"DiscreteGaussian(sigma={draw.choice([1, 2])})",
    ]
    one, other = draw.choice(leaves), draw.choice(leaves)
    local = draw.choice([leaves[0], leaves[1], leaves[3]])  # what can be shuffled
    runs = [
        f"{local}.shuffle(users={draw.choice([10, 100, 1000])}) * {draw.choice([1, 3, 10])}",
        f"{one}.best_of('geometric', mean={draw.choice([2, 5])}) * {draw.choice([1, 3])}",
        f"{one}.random_allocation(steps={draw.choice([10, 100, 1000])}) * {draw.choice([1, 5, 20])}",
        f"{one}.group(size={draw.choice([2, 3])}).poisson(rate={draw.choice([0.01, 0.1])}) * {draw.choice([2, 50])}",
        f"{one}.poisson(rate={draw.choice([1e-4, 0.01, 0.3])}) * {draw.choice([2, 100])} + {other}",
        f"({one} + {other}).poisson(rate=0.05) * {draw.choice([3, 30])}",
    ]
    return runs[seed % len(runs)], draw.choice([0.1, 0.3, 1.0] if FULL else [0.05, 0.1])


@pytest.mark.parametrize("seed", range(cases(6, 300)))
def test_answers_of_hard_runs_do_not_contradict_each_other(seed: int) -> None:
    """A curve falls and is convex, and the other answers on its page leave no room that it closes."""
    expression, seconds = hard_run(seed)
    try:
        run = tr.parse(expression)
    except tr.UnsupportedMechanism:
        return  # refused, in one line: tests of transformations say which
    with sharing():
        reach = min(max(run.epsilon(1e-6, seconds=seconds).upper, 0.1), 30.0)
        curve = run.curve(start=0.0, stop=reach, points=7, seconds=seconds)
        advantage, power = run.advantage(seconds=seconds), run.tpr(fpr=1e-3, seconds=seconds)
        epsilon = run.epsilon(1e-6, seconds=seconds)
    places, uppers = curve.epsilons, [bound.upper for bound in curve.bounds]
    lowers = [bound.lower for bound in curve.bounds]
    assert uppers == sorted(uppers, reverse=True)
    assert lowers == sorted(lowers, reverse=True)
    with mpmath.workdps(40):
        exact = [(mpmath.exp(place), mpmath.mpf(upper)) for place, upper in zip(places, uppers, strict=True)]
        for (a, first), (b, middle), (c, last) in zip(exact, exact[1:], exact[2:], strict=False):
            assert middle <= (last + (first - last) * (c - b) / (c - a)) * (1 + mpmath.mpf(2) ** -52)
    assert advantage.upper <= uppers[0] * (1 + 1e-15)
    assert power.upper <= min(mpmath.exp(t) * 1e-3 + up for t, up in zip(places, uppers, strict=True)) * (1 + 1e-15)
    for place, bound in curve:
        assert epsilon.upper <= place or bound.upper > 1e-6
        assert epsilon.upper >= place or not (bound.lower > 1e-6 and _real(bound))


def _real(bound: Bound) -> bool:
    return bound.certificate is not None and bound.certificate.attained
