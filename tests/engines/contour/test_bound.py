"""The bound is put together in balls: numbers beyond doubles, and sums of which nothing is known, leave it true."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from flint import arb

from tightrope.core.engines.contour.sums import ContourBound, Nodes, NodeSum
from tightrope.core.engines.contour.way import ContourPlan, Fallen
from tightrope.core.engines.saddle import NodeStep, Saddle
from tightrope.core.losses.cgf import Cumulants

PLAN = ContourPlan(Saddle(2.0, 1.0, -5.0, Cumulants(0.0, 0.0, 1.0)), NodeStep(0.25, 4.0), 64, (Fallen(-60.0, 3),), 64.0)


@dataclass(frozen=True)
class Told(Nodes):
    """Nodes whose sum is given."""

    arithmetic: ClassVar[str] = "float64"

    value: arb
    quadrature: arb

    def sum(self, epsilon: float) -> NodeSum:
        return NodeSum(arb(epsilon), self.value, self.quadrature, arb(0))

    def ramp(self, at: float, gap: float, second: bool) -> NodeSum:
        raise NotImplementedError

    def size(self) -> arb:
        return arb(3)

    def slope(self, epsilon: float) -> tuple[float, float]:
        raise NotImplementedError


ORDINARY = ContourBound(Told(PLAN, 128, arb(0), arb(0), None, arb(0.5), arb(1e-9)), arb(0), arb(0), 0.0)


def test_ordinary() -> None:
    found = ORDINARY.delta(1.0)
    with_room = math.exp(-2.0) * 0.5
    assert found.lower < with_room < found.upper
    assert found.upper - found.lower > math.exp(-2.0) * 2e-9
    assert set(found.budget.lower) >= {"truncation", "quadrature", "wrap_around"}


@pytest.mark.parametrize(
    "changed",
    [
        {"value": arb(0, math.inf)},
        {"value": arb.nan()},
        {"quadrature": arb.pos_inf()},
        {"log_scale": arb.nan()},
        {"log_scale": arb(0, 1e30)},
    ],
)
def test_nothing_known(changed: dict[str, arb]) -> None:
    found = replace(ORDINARY, nodes=replace(ORDINARY.nodes, **changed), mass=arb(0.125)).delta(1.0)
    assert (found.lower, found.upper) == (0.125, 1.0)


def test_scales_beyond_doubles() -> None:
    """e^2000 times a sum of e^-2001, and an upper end below every double that is not 0."""
    with_scale = Told(PLAN, 128, arb(2000), arb(0), None, arb(-2001).exp(), arb(0))
    bound = replace(ORDINARY, nodes=replace(with_scale, plan=replace(PLAN, log_bounds=(Fallen(-5000.0, 1),))))
    found = bound.delta(0.0)
    assert found.lower < math.exp(-1.0) < found.upper < 0.4
    tiny = replace(ORDINARY, nodes=Told(PLAN, 128, arb(-3000), arb(0), None, arb(0.5), arb(0))).delta(0.0)
    assert tiny.lower == 0.0
    assert 0.0 < tiny.upper < 1e-300


@pytest.mark.parametrize("log_alias", [arb.pos_inf(), arb.nan(), arb(1e6)])
def test_aliases_of_any_size(log_alias: arb) -> None:
    found = replace(ORDINARY, nodes=replace(ORDINARY.nodes, log_alias=log_alias)).delta(1.0)
    assert found.lower == 0.0
    assert found.upper == ORDINARY.delta(1.0).upper


def test_a_body_is_added_above() -> None:
    found = replace(ORDINARY, nodes=replace(ORDINARY.nodes, log_body=arb(0)), body_tilt=1.0).delta(1.0)
    least = ORDINARY.delta(1.0).upper - 1e-6 + math.exp(-1.0) / 4.0
    assert found.upper > least


def test_what_returns_beyond_the_horizon() -> None:
    """(1 + pi^2/6)/(pi H^2) times 2 h size + 2 H rho; with an odd count every node may be 1."""
    scale, horizon = math.exp(-2.0), 1e3
    for count, size in ((4, 3.0), (3, 64.0)):
        plan = replace(PLAN, log_bounds=(Fallen(-20.0, count),), horizon=horizon)
        found = replace(ORDINARY, nodes=replace(ORDINARY.nodes, plan=plan)).delta(1.0)
        rho = math.exp(-20.0 * (count // 2) * 2)
        added = scale * (1.0 + math.pi**2 / 6.0) * (0.5 * size + 2.0 * horizon * rho) / (math.pi * horizon**2)
        assert found.budget.upper["truncation"] == pytest.approx(added, rel=1e-6)
        assert found.upper - found.lower > 2.0 * added


def test_budgets_cover_the_width() -> None:
    """Also where the ends are a sum of which all is known, rounded to doubles, and an infinite mass that is a ball."""
    exact = replace(PLAN, log_bounds=(Fallen(-5000.0, 3),), step=NodeStep(2.0**-8, 4.0))
    for mass in (arb(0), arb(0.1, 1e-15)):
        for quadrature in (arb(0), arb(1e-9)):
            nodes = Told(exact, 128, arb(0), arb(0), None, arb(0.3), quadrature)
            found = replace(ORDINARY, nodes=nodes, mass=mass).delta(1.0)
            lines = [*found.budget.upper.values(), *found.budget.lower.values()]
            assert math.fsum(lines) >= (found.upper - found.lower) * (1.0 - 1e-15) > 0.0
