"""The axis of sums beside the orders: what it promises against all adaptive strategies, and what it lets in."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import tightrope as tr
from tests.ledger.filters.test_filters import FEW, Offer, catalogue, designed, leaks, truth, wanted
from tightrope import ledger as tl
from tightrope.ledger.filters import kind_of
from tightrope.ledger.filters.base import SUM, Design
from tightrope.ledger.menu import SUM_JOBS, SUM_WEIGHT
from tightrope.ledger.units import DELTA_UNIT, LOSS_UNIT

SMALL: tuple[tuple[float, float], ...] = ((0.1, 0.1), (0.35, 0.35), (0.02, 2.0), (0.7, 0.7))
LARGE: tuple[tuple[float, float], ...] = ((0.5, 0.5), (1.0, 1.0), (1.4, 1.4), (0.02, 4.0))


def sum_axis(design: Design) -> tuple[int, int]:
    axis = next(axis for axis in design.axes if axis.name == SUM)
    return axis.total, axis.ceiling


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (2.0, 0.01), (4.0, 0.2)])
@pytest.mark.parametrize("pairs", [SMALL, LARGE, FEW])
def test_the_promise_holds_beside_all_orders(
    epsilon: float, delta: float, pairs: tuple[tuple[float, float], ...]
) -> None:
    """The exact best of all strategies, with leaks, which end the axis of sums."""
    design = designed("rdp", epsilon=epsilon, delta=delta)
    offers: tuple[Offer, ...] = (*catalogue(pairs), *leaks()[:1])
    found = truth(design, offers, np.array([math.exp(epsilon)]), 4)
    assert found[0] <= delta * (1 + 1e-9)


def test_the_search_finds_something() -> None:
    design = designed("rdp", epsilon=1.0, delta=0.05)
    assert truth(design, catalogue(SMALL), np.array([math.e]), 4)[0] > 0.1 * 0.05


@pytest.mark.parametrize("pairs", [SMALL, LARGE, FEW])
def test_the_axis_alone_uses_its_share_of_delta_and_no_more(pairs: tuple[tuple[float, float], ...]) -> None:
    epsilon, delta = 1.0, 0.4
    design = designed("rdp", epsilon=epsilon, delta=delta)
    alone = [axis for axis in design.axes if axis.need == "all" or axis.name == SUM]
    found = truth(design, catalogue(pairs), np.array([math.exp(epsilon)]), SUM_JOBS, alone)
    assert found[0] <= SUM_WEIGHT * (delta - design.promise["slack"]) * (1 + 1e-9)


def test_a_delta_that_is_not_counted_is_no_promise() -> None:
    """Each of eight jobs at the whole of delta, with epsilons that sum to epsilon."""
    epsilon, delta = 1.0, 0.02
    design = designed("rdp", epsilon=epsilon, delta=delta)
    terms = {**design.shared[SUM], "delta": delta}
    wrong = Design(design.kind, {**design.shared, SUM: terms}, design.promise, design.axes)
    alone = [axis for axis in design.axes if axis.need == "all" or axis.name == SUM]
    assert truth(wrong, catalogue(FEW), np.array([math.exp(epsilon)]), SUM_JOBS, alone)[0] > 1.5 * delta


def test_units_of_the_axis() -> None:
    design = designed("rdp", epsilon=4.0, delta=1e-5)
    terms = design.shared[SUM]
    assert terms["least"] == 4.0 / SUM_JOBS
    assert SUM_JOBS * terms["delta"] <= SUM_WEIGHT * (1e-5 - design.promise["slack"])
    assert sum_axis(design) == (4 * LOSS_UNIT, 4 * LOSS_UNIT)
    assert sum(design.shared["orders"].values()) + SUM_WEIGHT <= 1.0
    part = kind_of("rdp").design(wanted(epsilon=3.0, delta=4e-6), design.shared)
    total, ceiling = sum_axis(part)
    assert total == ceiling <= 3 * LOSS_UNIT  # three jobs' deltas, and their least epsilons
    none = kind_of("rdp").design(wanted(epsilon=3.0, delta=1e-7), design.shared)
    assert next(axis for axis in none.axes if axis.name == SUM).dead
    renewed = designed("rdp", epsilon=1.0, ceiling=4.0, delta=1e-5)
    assert sum_axis(renewed) == (LOSS_UNIT, 4 * LOSS_UNIT)
    assert SUM not in designed("rdp", epsilon=6.0, delta=1e-5, orders={"4": 1.0}).shared


def test_what_a_job_adds() -> None:
    design = designed("rdp", epsilon=4.0, delta=1e-5)
    price = kind_of("rdp").price
    one = price(design.shared, tr.Laplace(scale=0.5), None).units
    added = one[SUM]
    assert added is not None
    assert 2 * LOSS_UNIT * (1 - 1e-3) <= added <= 2 * LOSS_UNIT
    assert price(design.shared, tr.Gaussian(sigma=100.0), None).units[SUM] == LOSS_UNIT // 2  # the least
    leaking = price(design.shared, tr.ApproximateDP(epsilon=0.1, delta=1e-8), None).units
    assert leaking[SUM] is None
    assert (leaking["slack"] or 0) >= 1e-8 * DELTA_UNIT


@pytest.mark.parametrize(
    "job", ["PureDP(epsilon=3.9)", "Gaussian(sigma=1.6)", "Gaussian(sigma=0.8).poisson(rate=0.005) * 3000"]
)
def test_a_fresh_budget_takes_a_job_that_is_well_within_its_promise(tmp_path: Path, job: str) -> None:
    """The orders alone refused a run of epsilon 2.9 in a budget of 4."""
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        ledger.create("b", epsilon=4.0, delta=1e-5, relation="add_remove", unit="one person")
        with ledger.spend("b", job, "first"):
            pass
        found = ledger.status("b")
        assert found["odometer"]["epsilon"] <= 4.0
        ledger.verify()


def test_a_part_that_ran_is_charged_for_the_whole_on_the_axis_of_sums(tmp_path: Path) -> None:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        ledger.create("b", epsilon=4.0, delta=1e-5, relation="add_remove", unit="one person")
        job = ledger.reserve({"b": "Gaussian(sigma=10) * 20"}, "early", start=True)
        held = dict(job.document["charges"]["b"])
        job.commit("Gaussian(sigma=10) * 5")
        charged = job.document["charges"]["b"]
        assert charged[SUM] == held[SUM]
        assert all(charged[name] < held[name] for name in held if name.startswith("order"))
        ledger.verify()
        assert ledger.verify_prices()["priced"] == 2


def test_no_odometer_is_above_the_promise(tmp_path: Path) -> None:
    """A budget of (4, 1e-6) showed 4.46."""
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as ledger:
        for kind in ("rdp", "zcdp", "gdp"):
            ledger.create(kind, kind=kind, epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person")
            more = ledger.quote(kind, "Gaussian(sigma=10)").more
            ledger.reserve({kind: f"Gaussian(sigma=10) * {more}"}, kind)
            found = ledger.status(kind)["odometer"]
            assert found == {"epsilon": 4.0, "delta": 1e-6}
