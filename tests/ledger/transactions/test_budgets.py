"""Budgets: trees, blocks of partitions, renewals, recovery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tightrope import ledger as tl
from tightrope.core.values.errors import InvalidParameter
from tightrope.ledger.ledger import Ledger

TERMS: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6}
BASIC: dict[str, Any] = {**TERMS, "kind": "basic"}
HALF = "PureDP(epsilon=0.5)"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as found:
        yield found
        found.verify()


def axis(ledger: Ledger, budget: str, name: str = "epsilon") -> dict[str, Any]:
    return next(dict(each) for each in ledger.status(budget)["axes"] if each["name"] == name)


def used(ledger: Ledger, budget: str) -> float:
    found = axis(ledger, budget)
    return float(round((found["held"] + found["spent"]) / found["unit"], 6))


def living(ledger: Ledger, budget: str) -> set[str]:
    return {each["name"] for each in ledger.status(budget)["axes"] if not each["dead"]}


def test_a_charge_meets_all_that_stand_above(ledger: Ledger) -> None:
    ledger.create("top", epsilon=2.0, **BASIC)
    ledger.create("team", epsilon=5.0, parent="top", **BASIC)
    ledger.create("ann", epsilon=1.0, parent="team", **BASIC)
    with ledger.spend("ann", HALF, "a"):
        pass
    assert [used(ledger, name) for name in ("ann", "team", "top")] == [0.5, 0.5, 0.5]
    with ledger.spend("team", "PureDP(epsilon=1.2)", "b"):
        pass
    with pytest.raises(tl.BudgetExhausted, match="'top'"):
        ledger.reserve({"ann": HALF}, "c")
    assert [used(ledger, name) for name in ("ann", "team", "top")] == [0.5, 1.7, 1.7]
    assert ledger.quote("ann", "PureDP(epsilon=0.1)").more == 2


def test_a_part_has_the_terms_of_its_whole(ledger: Ledger) -> None:
    ledger.create("top", epsilon=2.0, **BASIC)
    for other in ({"kind": "rdp"}, {"unit": "one visit"}, {"relation": "replace"}):
        with pytest.raises(InvalidParameter):
            ledger.create("part", epsilon=1.0, parent="top", **{**BASIC, **other})
    with pytest.raises(tl.Conflict, match="already"):
        ledger.create("top", epsilon=3.0, **BASIC)
    with pytest.raises(tl.NotFound):
        ledger.create("part", epsilon=1.0, parent="nobody", **BASIC)


def test_partitions_are_charged_once_together(ledger: Ledger) -> None:
    ledger.create("top", epsilon=3.0, **BASIC)
    ledger.create("regions", epsilon=1.0, parent="top", parallel=True, **BASIC)
    assert used(ledger, "top") == 1.0
    for name in ("north", "south"):
        ledger.create(name, epsilon=1.0, parent="regions", **BASIC)
        with ledger.spend(name, HALF, name):
            pass
    assert [used(ledger, name) for name in ("north", "south", "top")] == [0.5, 0.5, 1.0]
    with pytest.raises(InvalidParameter, match="at most what the block does"):
        ledger.create("east", epsilon=1.1, parent="regions", **BASIC)
    with pytest.raises(InvalidParameter, match="its partitions"):
        ledger.reserve({"regions": HALF}, "block")
    with pytest.raises(tl.BudgetExhausted):
        ledger.create("more", epsilon=2.5, parent="top", parallel=True, **BASIC)


def test_partitions_need_records_that_stay_where_they_are(ledger: Ledger) -> None:
    replacing = {**BASIC, "relation": "replace"}
    ledger.create("top", epsilon=3.0, **replacing)
    with pytest.raises(InvalidParameter, match="add_remove"):
        ledger.create("regions", epsilon=1.0, parent="top", parallel=True, **replacing)


def test_an_order_that_dies_in_a_partition_dies_above(ledger: Ledger) -> None:
    orders = {"2": 0.3, "16": 0.3, "64": 0.3}
    ledger.create("top", epsilon=40.0, orders=orders, **TERMS)
    ledger.create("regions", epsilon=18.0, parent="top", parallel=True, **TERMS)
    assert living(ledger, "top") == {"order 2", "order 16", "order 64", "slack"}
    ledger.create("north", epsilon=18.0, parent="regions", **TERMS)
    ledger.create("south", epsilon=18.0, parent="regions", **TERMS)
    with ledger.spend("north", "Gaussian(sigma=1.0)", "n"):  # 32 at order 64
        pass
    for name in ("north", "regions", "top"):
        assert "order 64" not in living(ledger, name), name
    assert "order 64" in living(ledger, "south")


def test_a_renewal_raises_the_total_up_to_the_ceiling(ledger: Ledger) -> None:
    ledger.create("b", epsilon=1.0, ceiling=2.0, **BASIC)
    with ledger.spend("b", "PureDP(epsilon=0.9)", "a"):
        pass
    with pytest.raises(tl.BudgetExhausted):
        ledger.reserve({"b": HALF}, "b")
    assert ledger.renew("b", epsilon=1.5)["promise"]["ceiling"] == 2.0
    with ledger.spend("b", HALF, "c"):
        pass
    for epsilon, word in ((2.1, "ends at epsilon"), (1.2, "raises")):
        with pytest.raises(InvalidParameter, match=word):
            ledger.renew("b", epsilon=epsilon)


def test_orders_outlive_a_total_that_is_renewed(ledger: Ledger) -> None:
    """The order that a large epsilon uses is beyond a small total; it dies at its ceiling alone."""
    ledger.create("b", epsilon=0.5, ceiling=20.0, **TERMS)
    before = living(ledger, "b")
    with ledger.spend("b", "Gaussian(sigma=20.0)", "a"):
        pass
    assert living(ledger, "b") == before
    assert not ledger.quote("b", "Gaussian(sigma=1.0)").fits
    ledger.renew("b", epsilon=20.0)
    assert ledger.quote("b", "Gaussian(sigma=1.0)").fits


def test_a_restored_backup_is_frozen_by_its_anchor_and_burnt(tmp_path: Path) -> None:
    key, place = tmp_path / "key", tmp_path / "x.db"
    key.write_text("0123456789abcdef" * 2)
    with tl.init(f"sqlite:///{place}", key_file=key) as before:
        before.create("b", epsilon=2.0, ceiling=4.0, **BASIC)
        before.backup(tmp_path / "old.db")
        before.renew("b", epsilon=3.0)
        with before.spend("b", "PureDP(epsilon=2.5)", "a"):
            pass
        anchor, receipts = before.anchor(), before.receipts
    address = f"sqlite:///{tmp_path / 'old.db'}"
    with tl.open(address) as unaware:
        assert unaware.quote("b", HALF).fits
    with pytest.raises(tl.WentBack), tl.open(address, anchor=anchor):
        pass
    with tl.open(address, key_file=key) as after:
        with pytest.raises(tl.WentBack):
            after.compare(receipts=receipts)
        with pytest.raises(tl.Frozen):
            after.reserve({"b": HALF}, "k")
        after.recover("b", "restored from old.db", anchor=anchor, complete=True)
        assert used(after, "b") == 2.5
        after.compare(anchor, receipts)  # what was lost is made up for
        assert not after.quote("b", HALF).fits
        after.renew("b", epsilon=4.0)
        assert after.quote("b", HALF).more == 3
        after.verify()
        after.freeze("b", "to show the other way")
        after.recover("b", "nobody knows")
        assert after.quote("b", HALF).more == 0
        with pytest.raises(InvalidParameter):
            after.renew("b", epsilon=4.5)
        after.verify(anchor, receipts)


def test_what_was_exported_goes_on_elsewhere_alone(tmp_path: Path) -> None:
    with tl.init(f"sqlite:///{tmp_path / 'x.db'}") as here:
        here.create("top", epsilon=3.0, **BASIC)
        here.create("ann", epsilon=3.0, parent="top", **BASIC)
        with here.spend("ann", HALF, "a"):
            pass
        waiting = here.reserve({"ann": HALF}, "b")
        here.export(tmp_path / "out.jsonl")
        with pytest.raises(tl.Frozen):
            here.reserve({"ann": HALF}, "c")
        here.freeze("top", "an exported root stays exported")
        with pytest.raises(tl.WrongState):
            here.recover("top", "no")
        here.verify()
    with tl.import_file(f"sqlite:///{tmp_path / 'y.db'}", tmp_path / "out.jsonl") as there:
        there.verify()
        assert used(there, "top") == 1.0
        there.reservation(waiting.id).claim().commit()
        assert there.reserve({"ann": HALF}, "b").id == waiting.id
        there.verify()
    with pytest.raises(tl.Conflict):
        tl.import_file(f"sqlite:///{tmp_path / 'y.db'}", tmp_path / "out.jsonl")


@pytest.mark.parametrize("name", ["", "a b", "_ledger", "../x", "a\x00", "é", "x" * 101, None, 5, "a:b"])
def test_names_that_cannot_be_told_apart_are_refused(ledger: Ledger, name: object) -> None:
    with pytest.raises(InvalidParameter, match="name"):
        ledger.create(name, epsilon=1.0, **BASIC)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed",
    [
        {"relation": "both"},
        {"relation": None},
        {"unit": ""},
        {"unit": "a\nb"},
        {"kind": "pld"},
        {"epsilon": float("nan")},
        {"epsilon": -1.0},
        {"epsilon": 1e9},
        {"delta": 0.0},
        {"delta": 2.0},
        {"delta": None},
        {"ceiling": 0.5},
        {"plan": {"Gaussian(sigma=1)": 0}},
        {"orders": {"0.5": 1.0}},
        {"unknown": 1},
        {"parallel": "no"},
        {"kind": 0},
        {"epsilon": 10**400},
    ],
)
def test_nonsense_is_refused_in_one_line(ledger: Ledger, changed: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        ledger.create("b", **{"epsilon": 1.0, **TERMS, **changed})
    assert "\n" not in str(refused.value)


def test_a_part_has_the_terms_of_its_parent(ledger: Ledger) -> None:
    ledger.create("top", kind="zcdp", rho=1.0, relation="replace", unit="one household")
    part = ledger.create("ann", rho=0.5, parent="top")
    assert (part["kind"], part["relation"], part["unit"]) == ("zcdp", "replace", "one household")
    with pytest.raises(InvalidParameter):
        ledger.create("alone", epsilon=1.0, delta=1e-6)
