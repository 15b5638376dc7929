"""Tails of every pair, on both sides, against the oracle at 10,000 points, or 80,000 in a full search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from tests.conformance.cases import Case, direction_of, last_epsilon, losses, sampled
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tests.search import thinned
from tightrope.core.losses.pair import TAIL_ERROR
from tightrope.core.numerics.double_double import double_double

POINTS = 192


def lowest(truth: Truth) -> float:
    """Where the second law's losses begin, or have become too rare for a double."""
    return -last_epsilon(Truth(truth.law, truth.rate, "add" if truth.direction == "remove" else "remove"))


def places(truth: Truth) -> list[float]:
    """Spread over the losses, dense next to both ends, and beyond them; never at an atom."""
    low, high = lowest(truth), last_epsilon(truth)
    width = max(high - low, 1e-9)
    inside = [low + width * (index + 0.37) / (POINTS // 2) for index in range(POINTS // 2)]
    near = [
        end + side * width * 10.0 ** (-0.37 - 11.0 * index / (POINTS // 8))
        for index in range(POINTS // 8)
        for end, side in ((low, 1), (high, -1))
    ]
    small = [side * width * 10.0 ** (-0.41 - index) for index in range(1, POINTS // 12) for side in (1, -1)]
    atoms = np.array(losses(truth) or [math.inf])
    points = [
        *inside,
        *near,
        *small,
        low - 0.1 * width,
        high + 0.1 * width,
        0.31,
        -0.31,
        40.0,
        -40.0,
        -math.inf,
    ]
    return [t for t in points if math.isinf(t) or np.min(abs(atoms - t)) > 1e-15 * max(abs(t), 1e-300)]


def within(value: float, truth: arb) -> bool:
    """The promise of the interface: relative down to 1e-300, absolute below."""
    if truth.is_zero():
        return value == 0.0
    with precision(200):
        return abs(arb(value) - truth) <= (truth * TAIL_ERROR if truth >= 1e-300 else arb(1e-313))


@pytest.mark.parametrize("cases", sampled())
def test_tails(cases: list[Case]) -> None:
    for case in cases:
        points = thinned(tuple(places(case.truth)), str(case))
        tails = case.mechanism.pair(direction_of(case.direction)).tails(double_double(np.array(points)))
        wrong = [
            f"{name}({t!r}) = {float(values[index])!r}, not {truth.str(20)}"
            for index, t in enumerate(points)
            for name, values, truth in zip(tails._fields, tails, case.truth.tails(t), strict=True)
            if not within(float(values[index]), truth)
        ]
        assert not wrong, f"{case}: {len(wrong)} of {4 * len(points)} masses are off: {wrong[:4]}"


@pytest.mark.parametrize("cases", sampled((0.3, 1.0)))
def test_tails_at_atoms(cases: list[Case]) -> None:
    """At an atom the tail is that of a point within four units of t."""
    for case in cases:
        points = [loss for loss in losses(case.truth) if loss != 0.0][:12]
        tails = case.mechanism.pair(direction_of(case.direction)).tails(double_double(np.array(points)))
        for index, t in enumerate(points):
            reach = 4.0 * 2.0**-53 * abs(t)
            before, after = case.truth.tails(t - reach), case.truth.tails(t + reach)
            for name, values, first, last in zip(tails._fields, tails, before, after, strict=True):
                low, high = (last, first) if name.endswith("above") else (first, last)
                with precision(200):
                    value = arb(float(values[index]))
                    assert low * (1 - TAIL_ERROR) - 1e-313 <= value <= high * (1 + TAIL_ERROR) + 1e-313, (
                        f"{case}: {name} at the loss {t!r} is {value.str(20, radius=False)}, off by "
                        f"{(value - high).max(low - value).str(3, radius=False)}: "
                        f"the truth lies from {low.str(20, radius=False)} to {high.str(20, radius=False)}"
                    )
