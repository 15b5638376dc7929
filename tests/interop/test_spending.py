"""Runs that are paid for before their first step: what is counted is committed, and nothing more is let through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl
from tightrope import Gaussian
from tightrope.core.values.errors import InvalidParameter
from tightrope.interop.spending import counted, relation_of
from tightrope.ledger.ledger import Ledger

STEP = "Gaussian(sigma=10)"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with tl.init(f"sqlite:///{tmp_path}/budget.db") as made:
        made.create("census", epsilon=5.0, delta=1e-6, relation="add_remove", unit="one person")
        yield made
        made.verify()


def counters(ledger: Ledger, what: str, budget: str = "census") -> dict[str, int]:
    """held or spent, of the axes that count."""
    return {axis["name"]: axis[what] for axis in ledger.status(budget)["axes"] if not axis["dead"]}


def spent(ledger: Ledger, budget: str = "census") -> dict[str, int]:
    return counters(ledger, "spent", budget)


def cost(ledger: Ledger, job: str, budget: str = "census") -> dict[str, int | None]:
    """On the axes that count."""
    units = ledger.quote(budget, job).units
    return {name: units[name] for name in spent(ledger, budget)}


def test_an_early_stop_costs_what_ran(ledger: Ledger) -> None:
    with counted(ledger, "census", f"{STEP} * 20", "early") as spending:
        for _ in range(7):
            spending.step()
        assert (spending.taken, spending.left) == (7, 13)
    early = spent(ledger)
    with ledger.spend("census", f"{STEP} * 7", "seven"):
        pass
    assert spent(ledger) == {name: 2 * units for name, units in early.items()}
    assert not any(counters(ledger, "held").values())


def test_all_steps_cost_the_whole(ledger: Ledger) -> None:
    with counted(ledger, "census", f"{STEP} * 3", "all") as spending:
        spending.step(count=3)
    assert spending.left == 0
    assert spending.reservation.state == "committed"


def test_a_step_too_many_is_refused_before_it_is_taken(ledger: Ledger) -> None:
    with counted(ledger, "census", f"{STEP} * 2", "two") as spending:
        spending.step()
        with pytest.raises(tl.BudgetExhausted, match=r"^all 2 steps .* have been taken: reserve more"):
            spending.step(count=2)
        spending.step()
        with pytest.raises(tl.BudgetExhausted):
            spending.step()
        assert spending.taken == 2


def test_a_step_of_another_kind_is_refused(ledger: Ledger) -> None:
    from tightrope import Gaussian, Laplace

    with counted(ledger, "census", f"{STEP} * 2 + Laplace(scale=50) * 4", "kinds") as spending:
        with pytest.raises(InvalidParameter, match="several kinds"):
            spending.step()
        with pytest.raises(tl.BudgetExhausted, match=r"^no step Gaussian\(sigma=9.0\) was reserved"):
            spending.step(Gaussian(sigma=9))
        spending.step(Laplace(scale=50), 3)
    with ledger.spend("census", "Laplace(scale=50) * 3", "three"):
        pass
    both = spent(ledger)
    assert all(units % 2 == 0 for units in both.values())
    assert any(both.values())


def test_no_step_costs_nothing(ledger: Ledger) -> None:
    with counted(ledger, "census", f"{STEP} * 2", "none") as spending:
        pass
    assert spending.reservation.state == "cancelled"
    assert not any([*spent(ledger).values(), *counters(ledger, "held").values()])


def test_an_exception_leaves_all_of_it_held(ledger: Ledger) -> None:
    whole = cost(ledger, f"{STEP} * 9")
    with pytest.raises(ZeroDivisionError), counted(ledger, "census", f"{STEP} * 9", "crash") as spending:
        spending.step()
        raise ZeroDivisionError
    assert ledger.reservation(spending.reservation.id).state == "running"
    assert counters(ledger, "held") == whole


def test_where_costs_do_not_add_up_the_whole_is_spent(ledger: Ledger) -> None:
    ledger.create("bare", epsilon=3.0, delta=1e-6, relation="add_remove", unit="one person", kind="gdp")
    assert not ledger.quote("bare", "Laplace(scale=20) * 4").additive
    whole = cost(ledger, "Laplace(scale=20) * 4", "bare")
    with counted(ledger, "bare", "Laplace(scale=20) * 4", "whole") as spending:
        spending.step()
    assert spent(ledger, "bare") == whole


def test_a_run_that_outlived_its_time_is_spent_in_full(ledger: Ledger) -> None:
    whole = cost(ledger, f"{STEP} * 5")
    with counted(ledger, "census", f"{STEP} * 5", "late", ttl=0.001) as spending:
        spending.step()
        for number in itertools.count():  # what others write ends what is over
            ledger.reserve({"census": "Gaussian(sigma=1000)"}, f"other-{number}").cancel()
            if ledger.reservation(spending.reservation.id).state == "committed":
                break
    assert spending.reservation.state == "committed"
    assert spent(ledger) == whole


def test_a_key_runs_once(ledger: Ledger) -> None:
    with counted(ledger, "census", f"{STEP} * 2", "once") as spending:
        spending.step()
    with pytest.raises(tl.Claimed), counted(ledger, "census", f"{STEP} * 2", "once"):
        pytest.fail("a body that was paid for once runs twice")


def test_threads_share_a_counter(ledger: Ledger) -> None:
    def some(spending: object) -> int:
        taken = 0
        for _ in range(100):
            try:
                spending.step()  # type: ignore[attr-defined]
                taken += 1
            except tl.BudgetExhausted:
                break
        return taken

    with counted(ledger, "census", "Gaussian(sigma=100) * 250", "threads") as spending, ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(some, [spending] * 8)) == 250


def test_neighbours_are_those_of_the_budget(ledger: Ledger) -> None:
    assert relation_of(ledger, "census", "add_remove") == "add_remove"
    with pytest.raises(tl.RelationMismatch, match="is about add_remove neighbours, and these steps about replace"):
        relation_of(ledger, "census", "replace")


def test_no_step_is_taken_after_the_run_is_over(ledger: Ledger) -> None:
    with counted(ledger, "census", "Gaussian(sigma=10) * 10", "k") as spending:
        spending.step(count=3)
    with pytest.raises(tl.BudgetExhausted, match="over"):
        spending.step()
    assert spending.taken == 3


def test_a_part_without_a_price_costs_the_whole(tmp_path: Path) -> None:
    """Bits of two slots: no slots hold them, and the plan has no room for other jobs."""
    one, two = "Gaussian(sigma=2) + Laplace(scale=3)", "Gaussian(sigma=4) + Laplace(scale=5)"
    with tl.init(f"sqlite:///{tmp_path}/plan.db") as found:
        found.create("p", kind="plan", plan={one: 1, two: 1}, delta=1e-6, relation="add_remove", unit="one person")
        with counted(found, "p", f"{one} + {two}", "k") as spending:
            spending.step(Gaussian(sigma=2))
            spending.step(Gaussian(sigma=4))
        assert spending.reservation.state == "committed"
        assert [axis["spent"] for axis in found.status("p")["axes"]] == [1, 1]
        found.verify()
