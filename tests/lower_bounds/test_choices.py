"""The game in so few bits that every rounding shows, against exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from flint import arb

import tightrope as tr
from tests.search import cases
from tightrope.core.lower_bounds.choices import Event, Mesh, Window, events, float_events, float_merged, whole_merged
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

Law = list[tuple[Fraction, Fraction]]


def law(rng: random.Random, size: int) -> Law:
    def column() -> list[Fraction]:
        cuts = sorted(rng.sample(range(1, 31), size - 1))
        return [Fraction(b - a, 32) for a, b in zip([0, *cuts], [*cuts, 32], strict=True)]

    p, q = column(), column()
    if rng.random() < 0.5:
        q[0], q[1] = Fraction(0), q[0] + q[1]
    if rng.random() < 0.5:
        p[-1], p[-2] = Fraction(0), p[-1] + p[-2]
    return list(zip(p, q, strict=True))


def value(laws: list[Law], uses: int, alpha: Fraction) -> Fraction:
    if not uses:
        return max(1 - alpha, Fraction(0))
    return max(sum(p * value(laws, uses - 1, alpha * q / p) for p, q in each if p) for each in laws)


def worth(event: Event, epsilon: float, mesh: Mesh) -> float:
    weight = (arb(epsilon) + arb(event.state) * arb(mesh.step)).exp()
    return float(((arb(event.p) - weight * arb(event.tilted)) / arb(2) ** mesh.bits).lower())


@pytest.mark.parametrize("seed", range(cases(8, 400)))
def test_no_rounding_is_on_the_wrong_side(seed: int) -> None:
    rng = random.Random(seed)
    laws = [law(rng, 3) for _ in range(2)]
    mesh, window = Mesh(0.25, rng.choice([4, 6, 9, 40])), Window(-16, 16, -10, 10)
    made = [tr.Finite(p=[float(p) for p, _ in each], q=[float(q) for _, q in each]) for each in laws]
    pairs = [each.pair(Direction.REMOVE) for each in made]
    with working_precision(200):
        cells = [whole_merged(pair, -12, 12, mesh) for pair in pairs]
        for each, exact in zip(cells, laws, strict=True):
            assert Fraction(int(sum(each.p, each.infinite)), 2**mesh.bits) <= sum(p for p, _ in exact)
        found = events([cells] * 2, window, mesh)
        quick = float_events([[float_merged(pair, -12, 12, 0.25) for pair in pairs]] * 2, window, 0.25)
        assert [event.state for event in found] == list(range(-10, 11)) == [event.state for event in quick]
        for event, same in zip(found, quick, strict=True):
            for epsilon in (-0.25 * event.state, 0.3):
                most = float(value(laws, 2, Fraction(math.exp(epsilon)))) + 1e-14  # an ulp of alpha away
                assert worth(event, epsilon, mesh) <= most, (seed, event)
                assert worth(same, epsilon, Mesh(0.25, 0)) <= most, (seed, same)


@pytest.mark.parametrize("seed", range(cases(4, 100)))
def test_float_cells_are_on_their_sides(seed: int) -> None:
    rng = random.Random(seed)
    pairs = [tr.Finite(p=[float(p) for p, _ in each], q=[float(q) for _, q in each]) for each in [law(rng, 4)]]
    pairs += [tr.Gaussian(sigma=rng.uniform(0.3, 3.0)), tr.Laplace(scale=rng.uniform(0.3, 3.0)).poisson(rate=0.2)]
    for mechanism in pairs:
        pair, mesh = mechanism.pair(Direction.REMOVE), Mesh(0.125, 200)
        with working_precision(400):
            exact, found = whole_merged(pair, -20, 30, mesh), float_merged(pair, -20, 30, 0.125)
        one = Fraction(2) ** mesh.bits
        for truth, low in zip(exact.p, found.p.tolist(), strict=True):
            assert Fraction(low) <= (int(truth) + 1) / one
        for truth, high in zip(exact.tilted, found.tilted.tolist(), strict=True):
            assert (int(truth) - 1) / one <= Fraction(high)
        assert found.p.sum() + found.infinite == pytest.approx(1.0, abs=1e-9)


def test_nothing_seen_is_worth_no_more_than_nothing_done() -> None:
    """delta is (1 - e^eps)_+ then; accepting costs e^(-u h), never less."""
    mesh = Mesh(0.25, 4)
    with working_precision(200):
        idle = whole_merged(tr.PureDP(epsilon=0.0).pair(Direction.REMOVE), -1, 1, mesh)
        for event in events([[idle]], Window(-3, 9, -2, 8), mesh):
            assert (event.p - event.tilted) / 2**mesh.bits <= max(-math.expm1(-0.25 * event.state), 0.0)
