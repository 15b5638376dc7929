"""Which slots pay for a job: what is taken holds all uses, and what is left is charged elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightrope as tr
from tightrope.core.mechanisms.base import Mechanism
from tightrope.core.values.errors import InvalidParameter
from tightrope.ledger.filters import kind_of
from tightrope.ledger.filters.base import Design, Price, Wanted
from tightrope.ledger.filters.plan import _matched
from tightrope.ledger.operations import WRITES

LETTERS = [tr.PureDP(epsilon=float(n)) for n in range(1, 5)]
uses = st.dictionaries(st.sampled_from(LETTERS), st.integers(1, 7), min_size=1, max_size=3)


def held(taken: dict[int, int], slots: list[dict[Mechanism, int]], part: Mechanism) -> int:
    return sum(times * slots[at].get(part, 0) for at, times in taken.items())


@given(uses, st.lists(uses, min_size=1, max_size=4))
def test_slots_that_are_taken_hold_the_job(job: dict[Mechanism, int], slots: list[dict[Mechanism, int]]) -> None:
    taken, left = _matched(job, slots)
    for part, count in job.items():
        assert 0 <= left.get(part, 0) <= count
        assert held(taken, slots, part) >= count - left.get(part, 0)
    assert set(left) <= set(job)
    assert all(times > 0 for times in taken.values())
    if left:
        assert not any(set(left) <= set(slot) for slot in slots)


def designed(plan: dict[str, int], **given_: Any) -> Design:
    return kind_of("plan").design(Wanted(tr.Relation.ADD_REMOVE, plan=plan, **given_), None)


def price(design: Design, job: str) -> Price:
    return kind_of("plan").price(design.shared, tr.parse(job), None)


NOISE, RESPONSE = "Gaussian(sigma=20.0)", "RandomizedResponse(epsilon=0.1, neighbours='add_remove')"


def test_parts_of_planned_jobs_are_charged_alone() -> None:
    design = designed({f"{RESPONSE} * 10": 2, f"{RESPONSE} * 2": 3}, delta=1e-6)
    whole, part = price(design, f"{RESPONSE} * 10"), price(design, f"{RESPONSE} * 2")
    assert (dict(whole.units), dict(part.units)) == ({"slot 1": 1, "slot 2": 0}, {"slot 1": 0, "slot 2": 1})
    assert whole.additive
    assert part.additive
    assert price(design, f"{RESPONSE} * 13").units == {"slot 1": 0, "slot 2": 7}
    with pytest.raises(tr.UnsupportedMechanism, match="not part of the plan"):
        price(design, "RandomizedResponse(epsilon=0.2, neighbours='add_remove')")


def test_what_is_not_planned_and_no_noise_is_charged_as_a_whole() -> None:
    design = designed({f"{NOISE} * 5": 2}, epsilon=3.0, delta=1e-6)
    for job, additive in ((f"{NOISE} * 5", True), ("Gaussian(sigma=30.0) * 3", True), (RESPONSE, False)):
        assert price(design, job).additive is additive
    mixed = price(design, f"{NOISE} * 5 + {RESPONSE} * 2")
    assert mixed.units["slot 1"] == 1
    assert not mixed.additive
    beside = price(design, f"{NOISE} * 5 + Gaussian(sigma=30.0)")
    assert beside.additive
    assert beside.units["mu2"] == -(-(2**50) // 900)


def test_a_child_has_the_axes_of_its_tree() -> None:
    root = designed({f"{NOISE} * 5": 2, RESPONSE: 4}, epsilon=3.0, delta=1e-6, floor=0.01)
    names = [axis.name for axis in root.axes]
    kind = kind_of("plan")
    child = kind.design(Wanted(tr.Relation.ADD_REMOVE, plan={RESPONSE: 1}, delta=1e-6), root.shared)
    assert {axis.name: axis.total for axis in child.axes} == dict.fromkeys(names, 0) | {"slot 2": 1}
    assert child.shared == root.shared
    roomy = kind.design(Wanted(tr.Relation.ADD_REMOVE, plan={RESPONSE: 1}, epsilon=1.0, delta=1e-6), root.shared)
    assert {axis.name for axis in roomy.axes} == set(names)
    with pytest.raises(InvalidParameter, match="has no"):
        kind.design(Wanted(tr.Relation.ADD_REMOVE, plan={"Laplace(scale=3.0)": 1}, delta=1e-6), root.shared)
    bare = designed({RESPONSE: 4}, delta=1e-6)
    below = kind.design(Wanted(tr.Relation.ADD_REMOVE, plan={RESPONSE: 1}, epsilon=1.0, delta=1e-6), bare.shared)
    assert [axis.name for axis in below.axes] == ["slot 1"]


@pytest.mark.parametrize("text", ["Finite(p=[0.2, 0.8], q=[0.01, 0.99])", "GaussianVariance(sigma1=1.2, sigma2=1)"])
def test_under_replace_a_slot_is_its_own_reverse(text: str) -> None:
    kind = kind_of("plan")
    with pytest.raises(tr.UnsupportedMechanism, match="either order"):
        kind.design(Wanted(tr.Relation.REPLACE, plan={text: 2}, delta=1e-3), None)
    assert designed({text: 2}, delta=1e-3).axes[0].total == 2


@pytest.mark.parametrize("names", [("Gaussian(sigma=2)", "Gaussian(sigma=2.0)"), ("PureDP(epsilon=1).named('a')",) * 2])
def test_equal_jobs_are_counted_together(names: tuple[str, str]) -> None:
    plain = repr(tr.parse(names[0]).nameless)
    design = designed({names[0]: 1, f"({names[1]})": 2, plain: 4}, delta=1e-6)
    assert [axis.total for axis in design.axes] == [7 if names[0] != plain else 6]


def test_a_request_loses_no_job_of_a_plan() -> None:
    """Equal jobs are counted together, and many numbers are written out."""
    many = f"Finite(p={[0.125] * 8 + [0.0]}, q={[0.125] * 7 + [0.0625] * 2})"
    body = {"name": "a", "kind": "plan", "relation": "add_remove", "unit": "one person", "delta": 0.1}
    plan = {"Gaussian(sigma=2)": 1, "Gaussian(sigma=2.0)": 5, many: 2}
    checked = WRITES["create"].checked({**body, "plan": plan})["plan"]
    assert checked == {"Gaussian(sigma=2.0)": 6, repr(tr.parse(many)): 2}
    assert [axis.total for axis in designed(checked, delta=0.2).axes] == [6, 2]
