"""The state of a budget as people read it: no line says that there is more than there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightrope.ledger
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.table import (
    axes_rows,
    budgets_text,
    cost_lines,
    more_words,
    number,
    percent,
    promised,
    roomiest,
    status_text,
    telling,
    used_words,
)
from tightrope.ledger.units import DELTA_UNIT, LOSS_UNIT, UNITS_MAX, amount

WHO: dict[str, Any] = {"relation": "add_remove", "unit": "one person"}


@pytest.fixture
def ledger(sqlite_url: str) -> Iterator[Ledger]:
    with tightrope.ledger.init(sqlite_url) as found:
        yield found


def axis(name: str, **given: Any) -> dict[str, Any]:
    """A counter of a hundred units."""
    found: dict[str, Any] = {
        "name": name,
        "need": "any",
        "unit": 100,
        "total": 100,
        "ceiling": 100,
        "held": 0,
        "spent": 0,
        "dead": 0,
    }
    found |= given
    return {**found, "left": max(found["total"] - found["held"] - found["spent"], 0)}


def status(*axes: Mapping[str, Any], **given: Any) -> dict[str, Any]:
    return {"kind": "rdp", "shared": {}, "axes": list(axes), **given}


@given(st.integers(0, UNITS_MAX), st.sampled_from([1, LOSS_UNIT, DELTA_UNIT]), st.integers(1, 12))
@settings(max_examples=200)
def test_amounts_are_rounded_to_the_side_that_is_asked(units: int, unit: int, digits: int) -> None:
    exact = Fraction(units, unit)
    low, high = (Fraction(Decimal(amount(units, unit, up=up, digits=digits))) for up in (False, True))
    assert low <= exact <= high
    assert high - low <= exact / 10 ** (digits - 1)


@given(st.fractions(0, 1))
def test_shares_are_rounded_up(share: Fraction) -> None:
    said = Fraction(percent(share).removesuffix(" %")) / 100
    assert share <= said <= share + Fraction(1, 1000)


def test_numbers_of_a_promise_are_never_smaller_than_they_are() -> None:
    assert number(1e-6) == "1e-06"
    long = 2.7707812345678
    assert long <= float(number(long)) <= long * (1 + 1e-5)


def test_the_promise_in_a_sentence(ledger: Ledger) -> None:
    told = promised(ledger.create("a", epsilon=1.0, ceiling=2.0, delta=1e-6, kind="basic", **WHO))
    assert told == "(2, 1e-06)-DP for one person, when one record is added or removed"
    other = ledger.create("b", kind="zcdp", rho=0.5, relation="replace", unit="one firm")
    assert promised(other) == "0.5-zCDP for one firm, when one record is replaced"
    endless = promised(ledger.create("c", kind="odometer", delta=1e-6, **WHO))
    assert endless.startswith("no total: what was used is told at any time, at delta 1e-06, for one person")


def test_the_roomiest_order_lives_and_is_the_least_used() -> None:
    found = status(axis("order 2", spent=40), axis("order 4", held=20, spent=10), axis("order 8", dead=1))
    best = roomiest(found)
    assert best is not None
    assert best["name"] == "order 4"
    assert used_words(found) == "30 % of order 4"
    assert roomiest(status(axis("order 2", dead=1))) is None
    weighted = status(axis("order 2"), axis("order 4"), shared={"orders": {"2": 0.1, "4": 0.9}})
    assert roomiest(weighted) == axis("order 4")


def test_all_axes_of_a_kind_without_orders_tell() -> None:
    found = status(axis("epsilon", need="all", spent=1), axis("delta", need="all", ceiling=0, total=0), kind="basic")
    assert [each["name"] for each in telling(found)] == ["epsilon"]


def test_orders_that_never_lived_take_one_line(ledger: Ledger) -> None:
    found = ledger.create("a", epsilon=1.0, delta=1e-6, **WHO)
    names = [row[0] for row in axes_rows(found)]
    dead = [each["name"] for each in found["axes"] if each["dead"]]
    assert dead
    assert not set(names) & set(dead)
    text = status_text(found)
    assert f"not even at first: {', '.join(each.removeprefix('order ') for each in dead)}." in text
    assert "counters stand where they were" not in text
    with ledger.spend("a", "Gaussian(sigma=40)", "one"):
        pass
    text = status_text(ledger.status("a"))
    assert "dead: a job went beyond it" in text
    assert "order 16" in text


def test_what_does_not_fit_says_why(ledger: Ledger) -> None:
    ledger.create("a", epsilon=1.0, delta=1e-6, kind="basic", **WHO)
    job = "PureDP(epsilon=0.3)"
    found = ledger.status("a", job)
    assert more_words(found["more"]) == [f"how many more like this: 3 ({job})"]
    assert cost_lines(found, found["more"]["units"])[1].split() == ["epsilon", "0.300001", "1"]
    ledger.reserve({"a": "PureDP(epsilon=0.9)"}, "one")
    first, second = more_words(ledger.status("a", job)["more"])
    assert first.startswith("how many more like this: 0 ")
    assert "epsilon" in second


def test_budgets_as_a_tree() -> None:
    rows = [
        {"name": name, "parent": parent, "kind": "basic", "state": "open"}
        for name, parent in (("b", None), ("a", None), ("a/x", "a"), ("a/x/y", "a/x"))
    ]
    lines = budgets_text(rows, {"a": "5 % of epsilon"}).splitlines()
    assert [line.split()[0] for line in lines] == ["budget", "b", "a", "a/x", "a/x/y"]
    assert [len(line) - len(line.lstrip()) for line in lines] == [0, 0, 0, 2, 4]
    assert lines[2].endswith("5 % of epsilon")
    assert budgets_text([], {}).startswith("there are no budgets yet")
