"""The game in so few bits that every rounding shows, against exact fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from flint import arb

import tightrope as tr
from tests.search import cases
from tightrope.engines.adaptive.cells import Mesh, merged
from tightrope.engines.adaptive.choices import Window, events
from tightrope.kernels.ball import working_precision
from tightrope.relation import Direction

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


@pytest.mark.parametrize("proof", [False, True])
@pytest.mark.parametrize("seed", range(cases(8, 400)))
def test_no_rounding_is_on_the_wrong_side(seed: int, proof: bool) -> None:
    rng = random.Random(seed)
    laws = [law(rng, 3) for _ in range(2)]
    mesh = Mesh(0.25, rng.choice([4, 6, 9, 40]), proof)
    with working_precision(200):
        pairs = [tr.Finite(p=[float(p) for p, _ in each], q=[float(q) for _, q in each]) for each in laws]
        cells = [merged(pair.pair(Direction.REMOVE), -12, 12, mesh) for pair in pairs]
        for each, exact in zip(cells, laws, strict=True):
            assert Fraction(int(sum(each.p, each.infinite)), 2**mesh.bits) <= sum(p for p, _ in exact)
        found = events([cells] * 2, Window(-16, 16, -10, 10), mesh)
        assert [event.state for event in found] == list(range(-10, 11))
        for event in found:
            for epsilon in (-0.25 * event.state, 0.3):
                weight = (arb(epsilon) + arb(event.state) * arb(mesh.step)).exp()
                worth = (arb(event.p) - weight * arb(event.tilted)) / arb(2) ** mesh.bits
                alpha = Fraction(math.exp(epsilon))  # an ulp away is far below a bit
                assert float(worth.lower()) <= float(value(laws, 2, alpha)) + 1e-12, (seed, event)


def test_nothing_seen_is_worth_no_more_than_nothing_done() -> None:
    """delta is (1 - e^eps)_+ then; accepting costs e^(-u h), never less."""
    mesh = Mesh(0.25, 4, True)
    with working_precision(200):
        idle = merged(tr.PureDP(epsilon=0.0).pair(Direction.REMOVE), -1, 1, mesh)
        for event in events([[idle]], Window(-3, 9, -2, 8), mesh):
            worth = (event.p - event.tilted) / 2**mesh.bits
            assert worth <= max(-math.expm1(-0.25 * event.state), 0.0)
