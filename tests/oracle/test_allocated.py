"""The truth of random allocation, three ways that must agree: enumeration, quadrature, draws; no package code."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from . import allocated as truth
from . import enumerate_data as data
from .adaptive import ERROR, Neighbours, fold, neighbours
from .enumerate_data import Data, number

# Noise on three integers, log-concave; a record of 1 or -1 shows an output that nobody else has.
NOISE = {-1: number(Fraction(1, 8)), 0: number(Fraction(3, 4)), 1: number(Fraction(1, 8))}
SHIFT = data.mixture(NOISE, {1: Fraction(1)}, {0: Fraction(1)})
RESPONSE = neighbours([0.75, 0.25], [0.25, 0.75])
LEAKY = neighbours([0.125, 0.375, 0.5, 0.0], [0.0, 0.25, 0.5, 0.25])
ALPHAS = np.exp(np.linspace(-2.0, 2.0, 9)).astype(np.longdouble)


def profiles(pair: Neighbours) -> list[Any]:
    return [pair.hockey_stick(ALPHAS), pair.swapped.hockey_stick(ALPHAS)]


@pytest.mark.parametrize(("steps", "uses", "size"), [(2, 1, 2), (3, 1, 2), (3, 2, 2), (2, 1, 3), (4, 1, 1), (5, 2, 1)])
def test_no_data_show_more_than_one_record_among_zeros(steps: int, uses: int, size: int) -> None:
    pair = truth.allocated(SHIFT, steps, uses)
    law = truth.transcripts(NOISE, steps, uses)
    shown = [profiles(each) for each in data.pairs(law, data.lacking(size))]
    for way, most in enumerate(profiles(pair)):
        assert np.all(np.max([each[way] for each in shown], axis=0) <= most + ERROR)
        assert np.all(np.abs(np.max([each[way] for each in shown], axis=0) - most) <= ERROR)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("reverse", [False, True])
def test_steps_that_are_chosen_as_one_goes_show_no_more(steps: int, reverse: bool) -> None:
    # What the leaky pair dominates: its parts run together, and a coin that says which of two tellings is made.
    merged = neighbours([0.125, 0.875, 0.0], [0.0, 0.75, 0.25])
    told = neighbours([0.5, 0.5], [0.25, 0.75])
    for alpha in (0.5, 1.0, 1.5):
        exact = truth.allocated(LEAKY, steps)
        exact = exact.swapped if reverse else exact
        best = truth.adaptive([LEAKY, merged, told], steps, alpha, reverse)
        assert best == pytest.approx(float(exact.hockey_stick(np.longdouble(alpha))), abs=1e-14)
        assert truth.adaptive([merged, told], steps, alpha, reverse) <= best + ERROR


@pytest.mark.parametrize(("steps", "uses"), [(4, 2), (5, 2), (4, 3), (5, 3)])
@pytest.mark.parametrize("pair", [RESPONSE, LEAKY])
def test_blocks_show_no_less_than_so_many_uses(steps: int, uses: int, pair: Neighbours) -> None:
    for real, most in zip(
        profiles(truth.allocated(pair, steps, uses)), profiles(truth.blocks(pair, steps, uses)), strict=True
    ):
        assert np.all(real <= most + ERROR)
        assert np.any(real < most - 1e-3)


def test_all_steps_and_one() -> None:
    for one, other in (
        (truth.allocated(LEAKY, 3, 3), fold(LEAKY, 3)),
        (truth.blocks(LEAKY, 3, 3), fold(LEAKY, 3)),
        (truth.allocated(LEAKY, 1), LEAKY),
    ):
        assert np.allclose(profiles(one), profiles(other), rtol=0.0, atol=ERROR)


def test_one_allocation_for_two_epochs_is_that_of_a_step_made_twice() -> None:
    twice = truth.allocated(fold(RESPONSE, 2), 2)
    found: dict[Any, list[float]] = defaultdict(lambda: [0.0, 0.0])
    laws = (RESPONSE.p, RESPONSE.q)
    for seen in itertools.product((0, 1), repeat=4):  # two steps, and the same two again
        for place in (0, 1):
            found[seen][0] += float(np.prod([laws[step % 2 != place][y] for step, y in enumerate(seen)])) / 2
        found[seen][1] = float(np.prod([RESPONSE.q[y] for y in seen]))
    pair = neighbours([p for p, _ in found.values()], [q for _, q in found.values()])
    assert np.allclose(profiles(pair), profiles(twice), rtol=0.0, atol=ERROR)


def test_a_part_of_an_epoch_is_a_sample_of_a_whole_one() -> None:
    """Two of three steps are run, and every record may have drawn the third."""
    places = range(3)
    whole = truth.transcripts(NOISE, 3)

    def part(records: Data) -> dict[Any, np.longdouble]:
        found: dict[Any, np.longdouble] = defaultdict(lambda: np.longdouble(0))
        for seen, mass in whole(records).items():
            found[seen[:-1]] += mass
        return found

    run = truth.allocated(SHIFT, len(places) - 1)
    sample = Neighbours(run.p * 2 / 3 + run.q / 3, run.q)
    shown = [profiles(each) for each in data.pairs(part, data.lacking(2))]
    for way, most in enumerate(profiles(sample)):
        assert np.all(np.abs(np.max([each[way] for each in shown], axis=0) - most) <= 1e-14)


def test_quadrature_knows_one_and_two_steps() -> None:
    # One step: the Gaussian mechanism. Two: nested integrals of 40 digits.
    assert truth.gaussian(1.0, 1, 1.0)[0] == pytest.approx(0.12693673750664394, rel=1e-13)
    for epsilon, remove, add in (
        (1.0, 0.059206501085892653279, 0.050197662369488236353),
        (0.5, 0.14917752313552017226, 0.14268696582374320298),
    ):
        assert truth.gaussian(1.0, 2, epsilon) == pytest.approx((remove, add), abs=1e-14)


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1.0, 3, 0.5), (0.6, 2, 1.5), (2.0, 4, 0.2)])
def test_draws_agree_with_quadrature(sigma: float, steps: int, epsilon: float) -> None:
    exact = truth.gaussian(sigma, steps, epsilon, points=100)
    for direction, value in zip(("remove", "add"), exact, strict=True):
        found = truth.drawn(sigma, steps, epsilon, direction, 40_000)
        assert found.agrees(value, value, 4.0)
        assert found.error < 0.02 * value


# By a float64 grid in convex order: intervals that hold the truth up to rounding.
MANY = (
    (1.0, 10, 0.5, (0.026850338, 0.026850397), (0.019063926, 0.019064421)),
    (1.0, 100, 0.2, (0.004635716, 0.004635736), (0.003190649, 0.003190697)),
    (2.0, 100, 0.1, (0.000673716, 0.000673722), (0.000638448, 0.000638456)),
)


@pytest.mark.parametrize(("sigma", "steps", "epsilon", "remove", "add"), MANY)
def test_many_steps(
    sigma: float, steps: int, epsilon: float, remove: tuple[float, float], add: tuple[float, float]
) -> None:
    exact = truth.gaussian_many(sigma, steps, epsilon)
    for direction, value, (lower, upper) in zip(("remove", "add"), exact, (remove, add), strict=True):
        assert lower < value < upper
        assert truth.drawn(sigma, steps, epsilon, direction, 4_000).agrees(value, value, 4.0)
