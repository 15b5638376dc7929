"""One use of every mechanism, at every rate, in both directions: delta and epsilon contain the truth and are narrow."""

from __future__ import annotations

import math

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.cases import ROWS, Case, Row, deltas, epsilons, last_epsilon, rates_of, sampled
from tests.conformance.containment import misses, misses_epsilon, relative_width
from tests.oracle.continuous import Gaussian, Laplace
from tests.oracle.finite import Leaky
from tests.oracle.truth import Law, Truth
from tests.search import shared, thinned

AIM = 1e-6  # what is aimed at where no accuracy is asked for
PROVEN = 1e-12
SMALLEST = 1e-300  # below, doubles have fewer digits than the aims
SATURATED = (  # so little noise that delta stays next to 1 for long
    (tr.Gaussian(sigma=0.02), Gaussian(0.02)),
    (tr.Laplace(scale=1e-3), Laplace(1e-3)),
    (tr.PureDP(epsilon=800.0), Leaky(800.0)),
)


@pytest.mark.parametrize("cases", sampled())
def test_delta(cases: list[Case]) -> None:
    for case in cases:
        points = thinned(epsilons(case.truth, case.points), str(case))
        bounds = case.mechanism.delta(epsilon=points, direction=case.direction)
        wrong = [
            f"delta({epsilon!r}): {reason}"
            for epsilon, bound in zip(points, bounds, strict=True)
            if (reason := misses(bound, case.truth.delta(epsilon)))
        ]
        assert not wrong, f"{case}: {len(wrong)} of {len(points)}: {wrong[:3]}"
        wide = [
            f"delta({epsilon!r}) = {bound!r}"
            for epsilon, bound in zip(points, bounds, strict=True)
            if bound.upper > max(SMALLEST, case.blur) and relative_width(bound) > AIM
        ]
        assert not wide, f"{case}: {len(wide)} of {len(points)}: {wide[:3]}"


@pytest.mark.parametrize("cases", sampled((1e-8, 0.3, 1.0)))
def test_delta_below_zero(cases: list[Case]) -> None:
    """The oracle knows no mirror: it sums the first law minus e^epsilon times the second where that is positive."""
    for case in cases:
        points = shared((-1e3, -17.0, -2.0, -1e-300), case.direction)
        for epsilon, bound in zip(points, case.mechanism.delta(points, direction=case.direction), strict=True):
            reason = misses(bound, case.truth.delta(epsilon))
            assert not reason, f"{case}: delta({epsilon!r}): {reason}"
            assert bound.upper <= max(SMALLEST, case.blur) or relative_width(bound) <= AIM, f"{epsilon!r}: {bound!r}"


def clear(case: Case, delta: float) -> bool:
    """Whether delta is 0 or a normal number that is not next to the infinite mass or to the total variation."""
    if delta <= case.blur:
        return delta == case.blur
    ends = (float(case.truth.infinite_mass()), float(case.truth.delta(0.0)))
    return delta > SMALLEST and all(abs(delta - end) > 1e-4 * end for end in ends)


@pytest.mark.parametrize("cases", sampled((1e-8, 0.3, 1.0)))
def test_epsilon(cases: list[Case]) -> None:
    for case in cases:
        points = thinned(deltas(case), str(case))
        bounds = case.mechanism.epsilon(delta=points, direction=case.direction)
        wrong = [
            f"epsilon({delta!r}): {reason}"
            for delta, bound in zip(points, bounds, strict=True)
            if (reason := misses_epsilon(bound, case.truth, delta))
        ]
        assert not wrong, f"{case}: {len(wrong)} of {len(points)}: {wrong[:3]}"
        wide = [
            f"epsilon({delta!r}) = {bound!r}"
            for delta, bound in zip(points, bounds, strict=True)
            if clear(case, delta) and bound.width > max(AIM * bound.upper, 1e-12)
        ]
        assert not wide, f"{case}: {len(wide)} of {len(points)}: {wide[:3]}"


@pytest.mark.parametrize("cases", sampled((1e-8, 0.3, 1.0)))
def test_proof(cases: list[Case]) -> None:
    for case in cases:
        for epsilon in shared(epsilons(case.truth, 40)[::6], case.direction):
            bound = case.mechanism.delta(epsilon=epsilon, direction=case.direction, proof=True)
            reason = misses(bound, case.truth.delta(epsilon))
            assert not reason, f"{case}, delta({epsilon!r}), proof: {reason}"
            assert bound.upper < max(SMALLEST, case.blur) or relative_width(bound) <= PROVEN, (epsilon, bound)
        for delta in shared(deltas(case)[::6], case.direction):
            bound = case.mechanism.epsilon(delta=delta, direction=case.direction, proof=True)
            reason = misses_epsilon(bound, case.truth, delta)
            assert not reason, f"{case}, epsilon({delta!r}), proof: {reason}"
            assert not clear(case, delta) or bound.width <= PROVEN * max(bound.upper, 1.0), (delta, bound)


@pytest.mark.parametrize("gap", (1e-6, 1e-9, 1e-12))
@pytest.mark.parametrize(
    "leaf, law", SATURATED, ids=lambda value: repr(value) if isinstance(value, tr.Mechanism) else ""
)
def test_proof_next_to_the_total_variation(leaf: tr.Mechanism, law: Law, gap: float) -> None:
    """delta(0) next to the delta asked for costs precision, not width."""
    truth = Truth(law)
    delta = math.nextafter(float(truth.delta(0.0)) * (1.0 - gap), 0.0)
    bound = leaf.epsilon(delta=delta, direction="remove", proof=True)
    assert not misses_epsilon(bound, truth, delta)
    assert bound.width <= PROVEN * max(bound.upper, 1.0), bound


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_worse_direction(row: Row) -> None:
    """Without a direction the answer is the larger of the two, at both ends."""
    for rate in rates_of(row, (0.0, 0.3, 1.0)):
        mechanism = row.mechanism if rate == 1.0 else row.mechanism.poisson(rate=rate)
        truths = [Truth(row.law, rate, direction) for direction in ("remove", "add")]
        for epsilon in (0.0, 0.37 * last_epsilon(truths[0]), 0.73 * last_epsilon(truths[1])):
            first, second = (truth.delta(epsilon) for truth in truths)
            reason = misses(mechanism.delta(epsilon=epsilon), first.max(second))
            assert not reason, f"{mechanism!r:.120}, worse direction, delta({epsilon!r}): {reason}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_from_the_supremum_on_delta_is_exactly_zero(row: Row) -> None:
    for rate in rates_of(row, (1e-8, 0.3, 1.0)):
        for direction in ("remove", "add"):
            truth = Truth(row.law, rate, direction)
            supremum = truth.supremum()
            if truth.infinite_mass() or supremum is None:
                continue
            mechanism = row.mechanism if rate == 1.0 else row.mechanism.poisson(rate=rate)
            above = math.nextafter(float(supremum), math.inf)
            while arb(above) < supremum:
                above = math.nextafter(above, math.inf)
            for epsilon in (above, above * 1.01 + 1e-3, above + 1e6):
                for proof in (False, True):
                    bound = mechanism.delta(epsilon=epsilon, direction=direction, proof=proof)
                    assert bound.lower == 0.0, (direction, epsilon, bound)
                    assert bound.upper <= row.blur, (direction, epsilon, bound)
            bound = mechanism.epsilon(delta=0.0, direction=direction)
            assert not misses(bound, arb(0).max(supremum))
            assert row.blur or bound.width <= max(1e-12, 1e-12 * bound.upper)
