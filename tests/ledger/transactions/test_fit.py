"""The one comparison: what fits, what dies, how many more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightrope.ledger.transactions.fit import fit, more, spread
from tightrope.ledger.transactions.tree import BudgetNode, Counter, Path


def budget(name: str, parent: str | None = None, parallel: bool = False) -> BudgetNode:
    return BudgetNode(name, "r", parent, "basic", "add_remove", "one person", {}, {}, "open", parallel, 0)


def axis(of: str, name: str, need: str, total: int, used: int = 0, **more: object) -> Counter:
    ceiling = more.get("ceiling", total)
    return Counter(of, name, need, 1, total, int(str(ceiling)), used, 0, bool(more.get("dead", False)))


ALONE = Path((budget("r"),), ())


def test_every_all_axis_must_hold_the_charge() -> None:
    axes = {"r": [axis("r", "e", "all", 10, 7), axis("r", "d", "all", 10, 0)]}
    assert not fit([ALONE], axes, {"r": {"e": 3, "d": 10}}).why
    assert "3 of e left, and this needs 4" in fit([ALONE], axes, {"r": {"e": 4, "d": 0}}).why
    assert fit([ALONE], axes, {"r": {"e": None, "d": 0}}).why


def test_an_any_axis_beyond_its_ceiling_dies_while_another_lives() -> None:
    axes = {"r": [axis("r", "2", "any", 10), axis("r", "8", "any", 10)]}
    found = fit([ALONE], axes, {"r": {"2": 11, "8": 10}})
    assert found.kills == (("r", "2"),)
    assert found.charges == (("r", "8", 10),)
    assert fit([ALONE], axes, {"r": {"2": 11, "8": 11}}).why
    assert fit([ALONE], axes, {"r": {"2": None, "8": None}}).why


def test_a_dead_axis_counts_no_more() -> None:
    axes = {"r": [axis("r", "2", "any", 10, dead=True), axis("r", "8", "any", 10, 9)]}
    assert fit([ALONE], axes, {"r": {"2": 0, "8": 2}}).why
    assert fit([ALONE], axes, {"r": {"2": 5, "8": 1}}).charges == (("r", "8", 1),)


def test_below_a_ceiling_an_axis_waits_for_its_renewal() -> None:
    """It neither accepts beyond its total nor dies before its ceiling."""
    axes = {"r": [axis("r", "2", "any", 0, ceiling=10), axis("r", "8", "any", 10)]}
    found = fit([ALONE], axes, {"r": {"2": 5, "8": 5}})
    assert not found.kills
    assert {(name, each): units for name, each, units in found.charges} == {("r", "2"): 5, ("r", "8"): 5}
    only = {"r": [axis("r", "2", "any", 0, ceiling=10)]}
    assert fit([ALONE], only, {"r": {"2": 5}}).why


def test_what_dies_in_a_partition_dies_above_its_block() -> None:
    block, root = budget("b", "r", True), budget("r")
    way = Path((budget("p", "b"),), (block, root))
    axes = {name: [axis(name, "2", "any", 10), axis(name, "8", "any", 100)] for name in ("p", "b", "r")}
    found = fit([way], axes, {"p": {"2": 11, "8": 1}})
    assert set(found.kills) == {("p", "2"), ("b", "2"), ("r", "2")}
    assert found.charges == (("p", "8", 1),)
    axes["r"][1] = axis("r", "8", "any", 100, dead=True)
    assert "'r'" in fit([way], axes, {"p": {"2": 11, "8": 1}}).why


def test_jobs_of_two_budgets_add_up_where_their_ways_meet() -> None:
    one, two = Path((budget("a", "r"), budget("r")), ()), Path((budget("b", "r"), budget("r")), ())
    costs = spread([one, two], {"a": {"e": 3, "x": None}, "b": {"e": 4, "x": 1}})
    assert costs == {"a": {"e": 3, "x": None}, "r": {"e": 7, "x": None}, "b": {"e": 4, "x": 1}}


counters = st.builds(
    lambda need, total, room, used, dead: (need, total, total + room, min(used, total), dead and need == "any"),
    st.sampled_from(["all", "any"]),
    st.integers(0, 40),
    st.integers(0, 10),
    st.integers(0, 40),
    st.booleans(),
)


@given(st.lists(st.tuples(counters, st.one_of(st.none(), st.integers(0, 12))), min_size=1, max_size=4), st.booleans())
def test_more_is_how_many_fit_one_after_the_other(
    rows: list[tuple[tuple[str, int, int, int, bool], int | None]], block: bool
) -> None:
    names = ("p", "b") if block else ("p",)
    way = Path((budget("p", "b" if block else None),), (budget("b", None, True),) if block else ())
    cost = {str(number): units for number, (_, units) in enumerate(rows)}
    axes = {
        name: [
            Counter(name, str(number), need, 1, total, ceiling, used if name == "p" else 0, 0, dead)
            for number, ((need, total, ceiling, used, dead), _) in enumerate(rows)
        ]
        for name in names
    }
    claimed, count = more(way, axes, cost), 0
    while count < 60:
        found = fit([way], axes, {"p": cost})
        if found.why:
            break
        count += 1
        held = {(name, each): units for name, each, units in found.charges}
        axes = {
            name: [
                Counter(
                    name,
                    each.name,
                    each.need,
                    1,
                    each.total,
                    each.ceiling,
                    each.held + held.get((name, each.name), 0),
                    0,
                    each.dead or (name, each.name) in found.kills,
                )
                for each in listed
            ]
            for name, listed in axes.items()
        }
    assert (claimed is None or claimed >= 60) if count == 60 else claimed == count


@pytest.mark.parametrize("need", ["all", "any"])
def test_no_budget_is_overspent_by_one_unit(need: str) -> None:
    axes = {"r": [axis("r", "e", need, 2**62, 2**62 - 1)]}
    assert not fit([ALONE], axes, {"r": {"e": 1}}).why
    assert fit([ALONE], axes, {"r": {"e": 2}}).why
