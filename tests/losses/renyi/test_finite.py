"""Finite pairs on both sides of the pair of a curve: in order at every epsilon, and closer with more rays."""

from __future__ import annotations

import pytest
from flint import arb

import tightrope as tr
from tests.search import cases
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.question import Direction

CURVES = (
    tr.ZCDP(rho=0.1),
    tr.ZCDP(rho=3.0, delta=1e-3),
    tr.RenyiCurve(orders=[2, 8], divergences=[0.1, 0.4], both_directions=False),
    tr.RenyiCurve(orders=[1, 3, float("inf")], divergences=[0.05, 0.2, 1.0]),
    tr.RenyiCurve(orders=[1], divergences=[0.05], both_directions=False),
    tr.RenyiCurve(orders=[1.5, 4, 8], divergences=[1.93, 2.31, 2.41], both_directions=False),  # reversed: losses < 0
)


@pytest.mark.parametrize(
    ("curve", "direction"),
    # The last curve takes 2 s each way: reversed is what it is there for.
    [(curve, direction) for curve in CURVES for direction in reversed(Direction)][: cases(-1, 2 * len(CURVES))],
    ids=str,
)
def test_the_order_holds(curve: tr.Mechanism, direction: Direction) -> None:
    pair = curve.pair(direction)
    rough, fine = (pair.bracket(Resolution(points, 1e-12, False)) for points in (16, 64))
    assert rough is not None
    assert fine is not None
    widths = []
    with working_precision(160):
        for epsilon in (-3.0, -0.4, 0.0, 0.2, 0.7, 1.5, 4.0):
            truth = pair.ball_hockey_stick(arb(epsilon))
            for pairs in (rough, fine):
                below, above = (each.ball_hockey_stick(arb(epsilon)) for each in pairs)
                assert not below > truth
                assert not above < truth
                widths.append(float(above - below))
    assert sum(widths[1::2]) < 0.5 * sum(widths[::2])
