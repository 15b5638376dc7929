"""What the ceilings of a budget allow, by formulas in mpmath: never more than the promise, at extremes too."""

from __future__ import annotations

from typing import Any

import mpmath
import pytest

import tightrope as tr
from tightrope.ledger.filters import kind_of
from tightrope.ledger.filters.base import BudgetAxis, Design, Wanted

TARGETS = [
    (1e-300, 0.5),
    (1e-9, 1e-3),
    (0.5, 1e-300),
    (1.0, 1e-6),
    (1.0, 0.999),
    (8.0, 1e-12),
    (100.0, 1e-9),
    (4096.0, 1e-300),
]
SHARES = [0.0, 0.1, 0.9, 1.0 - 1e-12]  # of delta that are slack

every_target = pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
every_share = pytest.mark.parametrize("share", SHARES)


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mpmath.workdps(350):
        yield


def designed(kind: str, **given: Any) -> Design | None:
    """None where such a budget is refused."""
    try:
        return kind_of(kind).design(Wanted(tr.Relation.ADD_REMOVE, **given), None)
    except tr.InvalidParameter:
        return None


def axis(design: Design, name: str) -> BudgetAxis:
    return next(each for each in design.axes if each.name == name)


def ceiling(design: Design, name: str) -> mpmath.mpf:
    found = axis(design, name)
    return mpmath.mpf(found.ceiling) / found.unit


def log_kappa(a: mpmath.mpf) -> mpmath.mpf:
    return (a - 1) * mpmath.log1p(-1 / a) - mpmath.log(a)


@every_target
@every_share
def test_rdp(epsilon: float, delta: float, share: float) -> None:
    """sum over living orders of kappa e^((a - 1)(B - epsilon)) and slack are at most delta."""
    design = designed("rdp", epsilon=epsilon, delta=delta, slack=share * delta)
    if design is None:
        return
    slack = ceiling(design, "slack")
    assert slack <= share * delta
    allowed = slack
    for text in design.shared["orders"]:
        a = mpmath.mpf(float(text))
        each = axis(design, f"order {float(text)!r}".removesuffix(".0"))
        if not each.dead:
            allowed += mpmath.exp(log_kappa(a) + (a - 1) * (mpmath.mpf(each.ceiling) / each.unit - epsilon))
    assert allowed <= delta


@every_target
@every_share
def test_zcdp(epsilon: float, delta: float, share: float) -> None:
    design = designed("zcdp", epsilon=epsilon, delta=delta, slack=share * delta)
    if design is None:
        return
    rho, slack = ceiling(design, "rho"), ceiling(design, "slack")
    if rho == 0:
        return

    def bound(log_c: mpmath.mpf) -> mpmath.mpf:
        a = 1 + mpmath.exp(log_c)
        return log_kappa(a) + (a - 1) * (rho * a - epsilon)

    low, high = mpmath.mpf(-30), mpmath.mpf(60)  # it falls, and then rises
    for _ in range(150):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if bound(one) < bound(two) else (one, high)
    assert slack + (1 - slack) * mpmath.exp(bound(low)) <= delta * (1 + mpmath.mpf(10) ** -12)


def test_zcdp_has_room_beside_much_slack() -> None:
    """The order is chosen for what slack leaves of delta."""
    for slack in (0.0, 0.5, 0.54):
        design = designed("zcdp", epsilon=8.0, delta=0.55, slack=slack)
        assert design is not None
        assert ceiling(design, "rho") > 1


@every_target
@every_share
@pytest.mark.parametrize("floor", [0.0, 1e-4])
def test_gdp(epsilon: float, delta: float, share: float, floor: float) -> None:
    design = designed("gdp", epsilon=epsilon, delta=delta, slack=share * delta, floor=floor)
    if design is None:
        return
    square, slack = ceiling(design, "mu2") + floor, ceiling(design, "slack")
    if square == 0:  # less than a unit
        return
    mu = mpmath.sqrt(square)
    profile = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
    assert slack + (1 - slack) * profile <= delta


@every_target
def test_basic(epsilon: float, delta: float) -> None:
    design = designed("basic", epsilon=epsilon, delta=delta)
    assert design is not None
    assert ceiling(design, "epsilon") <= epsilon
    assert ceiling(design, "delta") <= delta


@pytest.mark.parametrize("slack", [0.0, 1e-7])
@pytest.mark.parametrize("floor", [0.0, 0.02])
def test_plan(slack: float, floor: float) -> None:
    """The plan, the floor, the room for others and slack together have what is promised, and hardly less."""
    plan = {"Gaussian(sigma=1).poisson(rate=0.01) * 100": 2, "Laplace(scale=5)": 3}
    design = designed("plan", epsilon=2.5, delta=1e-6, slack=slack, floor=floor, plan=plan, ceiling=3.0)
    assert design is not None
    run = tr.compose([tr.parse(text) * count for text, count in plan.items()])
    room = axis(design, "mu2")
    for units, epsilon in ((room.total, 2.5), (room.ceiling, 3.0)):
        mu = float(mpmath.sqrt(mpmath.mpf(units) / room.unit + floor))
        truth = (run + tr.GDP(mu=mu) + tr.ApproximateDP(epsilon=0.0, delta=slack)).delta(epsilon)
        assert truth.lower <= 1e-6
        assert truth.upper >= 0.95e-6


@pytest.mark.parametrize("kind", ["rdp", "gdp", "zcdp", "basic"])
def test_a_total_is_what_its_epsilon_allows_and_the_ceiling_what_the_ceiling_does(kind: str) -> None:
    both = designed(kind, epsilon=1.0, delta=1e-6, ceiling=2.0)
    low, high = (designed(kind, epsilon=each, delta=1e-6) for each in (1.0, 2.0))
    assert both is not None
    assert low is not None
    assert high is not None
    assert [each.ceiling for each in both.axes] == [each.ceiling for each in high.axes]
    if kind != "rdp":  # whose orders are those of the ceiling
        assert [each.total for each in both.axes] == [each.total for each in low.axes]
    assert all(each.total <= each.ceiling for each in both.axes)


def test_an_order_that_allows_nothing_is_dead_from_the_start() -> None:
    design = designed("rdp", epsilon=1.0, delta=1e-9, slack=0.0, orders={"2": 0.5, "64": 0.5})
    assert design is not None
    assert [each.dead for each in design.axes] == [True, False, False]
    assert designed("rdp", epsilon=1.0, delta=1e-9, slack=0.0, orders={"2": 1.0}) is None
    waiting = designed("rdp", epsilon=0.1, delta=1e-9, ceiling=1.0, slack=0.0, orders={"64": 1.0})
    assert waiting is not None
    assert (waiting.axes[0].total, waiting.axes[0].dead) == (0, False)
    assert waiting.axes[0].ceiling > 0


def test_odometers_are_never_below_what_was_used() -> None:
    """The least over living orders of R + log(1/(w (delta - S)))/(a - 1); dead ones do not count."""
    design = designed("odometer", delta=1e-6, slack=1e-7, orders={"2": 0.25, "8": 0.75})
    assert design is not None
    used = {"order 2": 3 * 2**50 + 1, "order 8": 2**50}

    def truth(a: int, w: float) -> mpmath.mpf:
        return mpmath.mpf(used[f"order {a}"]) / 2**50 + mpmath.log(1 / (w * (mpmath.mpf(1e-6) - 1e-7))) / (a - 1)

    for dead, least in ((set(), truth(8, 0.75)), ({"order 8"}, truth(2, 0.25))):
        found = kind_of("odometer").odometer(design.shared, design.promise, used, frozenset(dead))
        assert least <= found["epsilon"] <= least * (1 + 1e-14)
        assert found["delta"] == 1e-6
    assert "reason" in kind_of("odometer").odometer(design.shared, design.promise, used, frozenset(used))
