"""Cells and tails of the search for the smallest mu, each by itself."""

from __future__ import annotations

import math

import mpmath as mp
import pytest
from flint import arb

import tightrope as tr
from tightrope.core.metrics import gdp as gaussian_scan
from tightrope.core.metrics import gdp as gaussian_tail
from tightrope.core.metrics.gdp import Line
from tightrope.core.metrics.law import Law
from tightrope.core.numerics.normal import level, shift_above, shift_below
from tightrope.core.values.question import Question

from ..oracle.readings import ResponseReadings, Two, gaussian_hockey_stick, gaussian_mu


@pytest.mark.parametrize("mu", [1e-200, 1e-9, 0.3, 1.0, 7.0, 40.0])
@pytest.mark.parametrize("deviations", [0.0, 1.0, 6.0, 35.0])
def test_the_shift_of_a_point(mu: float, deviations: float) -> None:
    t = mu * (deviations + mu / 2)
    with mp.workdps(450 if mu < 1e-100 else 60):
        height = gaussian_hockey_stick(mp.mpf(mu), mp.exp(mp.mpf(t)))
        value = float(height)
        below, above = shift_below(t, level(value)), shift_above(t, level(value))
        ends = [gaussian_hockey_stick(mp.mpf(each), mp.exp(mp.mpf(t))) for each in (below, above)]
        assert ends[0] <= value <= ends[1]
    assert above - below <= 1e-14 * above


def test_a_chord_is_met_inside() -> None:
    """Between its losses the profile of randomized response is its chord, and mu(t) is largest inside a cell."""
    law = Law(tr.Finite(p=[0.6, 0.4], q=[0.2, 0.8]), Question("gdp", direction="remove"))
    order = gaussian_scan.LawOrder(law, 1.0, (), ())
    exact = Two.of([0.6, 0.4], [0.2, 0.8])
    first, last = order.at(0.0), order.at(1.0)
    most, touch = gaussian_scan.cell_most(first, last)
    inside = max(
        gaussian_mu(mp.exp(t), mp.mpf(0.6) - mp.exp(t) * mp.mpf(0.2)) for t in [each / 64 for each in range(65)]
    )
    assert max(first.most, last.most) < inside <= most
    assert 0.0 < touch < 1.0
    assert abs(most - exact.gdp()) < 1e-9


@pytest.mark.parametrize("line", [(0.0, 1.0), (3.0, 1.0), (50.0, 4.0), (0.2, 1e-3)])
def test_a_gaussian_stays_above_for_ever(line: tuple[float, float]) -> None:
    s, v = line
    start = s + v / 2 + 12 * math.sqrt(v)
    mu = gaussian_tail.least_above(start, [Line(arb(s), arb(v))], 0.0)
    assert math.sqrt(v) < mu < math.inf
    with mp.workdps(40):
        for share in (1.0, 1.01, 1.1, 1.5, 2, 3, 5, 10, 100):
            t = mp.mpf(start) * share
            x, y, gap = t / mu - mp.mpf(mu) / 2, t / mu + mp.mpf(mu) / 2, t - s - mp.mpf(v) / 2
            c = gap / v
            peak = c * mp.log(c) - (c + 1) * mp.log(c + 1)
            mills = [mp.sqrt(mp.pi / 2) * mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2)) for z in (x, y)]
            ours = -x * x / 2 - mp.log(2 * mp.pi) / 2 + mp.log(mills[0] - mills[1])
            assert ours >= peak - gap * gap / (2 * v)


def test_a_line_above_randomized_response() -> None:
    with mp.workdps(40):
        exact = ResponseReadings(mp.mpf(2)).gdp()
    found = tr.RandomizedResponse(epsilon=2).gdp(1e-3)
    assert found.lower <= exact <= found.upper


@pytest.mark.parametrize("rate", [0.3])
def test_large_losses_of_a_replaced_record(rate: float) -> None:
    """K(c) = log E_P[(P/Q)^c] by integration."""
    pair = tr.Gaussian(sigma=1).poisson(rate=rate, neighbours="replace").pair(tr.Direction.REMOVE)
    (far,) = pair.moments().approximate_zcdp()
    with mp.workdps(20):
        for c in (4.0,):

            def law(x: mp.mpf, shift: int) -> mp.mpf:
                return (1 - rate) * mp.npdf(x) + rate * mp.npdf(x - shift)

            moment = mp.quad(lambda x, c=c: law(x, 1) * (law(x, 1) / law(x, -1)) ** c, [-12, -6, -3, 0, 3, 6, 12, 20])
            assert mp.log(moment) <= c * float(far[0].upper()) + c * (c + 1) * float(far[1].upper())
