"""Which jobs are refused and why, what a use leaks, and which order of two laws a price has to bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest

import tightrope as tr
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.core.values.question import Direction
from tightrope.ledger.errors import RelationMismatch
from tightrope.ledger.filters import KINDS, kind_of
from tightrope.ledger.filters.base import Price, Wanted
from tightrope.ledger.filters.jobs import leak, one_law, pieces, uses

ORDERS = {"1.5": 0.25, "2": 0.25, "8": 0.25, "32": 0.25}
SHARED: Mapping[str, Mapping[str, Any]] = {
    "rdp": {"orders": ORDERS},
    "odometer": {"orders": ORDERS},
    "plan": {"slots": ["PureDP(epsilon=3.0)"], "floor": 0.0, "job_slack": 1e-9},
    "gdp": {"floor": 0.0, "job_slack": 1e-9},
    "zcdp": {},
    "basic": {"job_slack": 1e-9},
}
SKEWED = "Finite(p=[0.00002, 0.58771, 0.41227], q=[0.00405, 0.96414, 0.03181])"

every_kind = pytest.mark.parametrize("kind", KINDS)


def price(kind: str, job: str, relation: str = "add_remove", slack: float | None = None) -> Price:
    return kind_of(kind).price({"relation": relation, **SHARED[kind]}, tr.parse(job), slack)


@every_kind
@pytest.mark.parametrize(
    ("relation", "job"),
    [
        ("replace", "Gaussian(sigma=5).poisson(rate=0.01)"),
        ("replace", "Gaussian(sigma=5).random_allocation(steps=10)"),
        ("replace", "parallel(Laplace(scale=9), Laplace(scale=8))"),
        ("replace", "SparseVector(threshold_scale=2, query_scale=4, monotone=True)"),
        ("add_remove", "Gaussian(sigma=5).without_replacement(batch=1, records=100)"),
        ("add_remove", "PureDP(epsilon=1).shuffle(users=100)"),
        ("add_remove", "PureDP(epsilon=1) + PureDP(epsilon=1).shuffle(users=100)"),
    ],
)
def test_other_neighbours_are_refused(kind: str, relation: str, job: str) -> None:
    with pytest.raises(RelationMismatch, match="charge it to a budget of its own relation"):
        price(kind, job, relation)


@every_kind
@pytest.mark.parametrize(
    "job",
    [
        "Histograms(a=[900, 100], b=[880, 120], confidence=0.95)",
        "Histograms(a=[900, 100], b=[880, 120])",
        "Histograms(a=[900, 100], b=[880, 120], confidence=0.95).best_of('geometric', mean=2)",
        "(Gaussian(sigma=5) + Histograms(a=[900, 100], b=[880, 120], confidence=0.95)) * 3",
        "parallel(Laplace(scale=9), Histograms(a=[900, 100], b=[880, 120], confidence=0.95))",
        "Histograms(a=[900, 100], b=[880, 120], confidence=0.95).named('noise')",
    ],
)
def test_what_was_measured_is_refused_wherever_it_stands(kind: str, job: str) -> None:
    with pytest.raises(tr.UnsupportedMechanism, match="measured"):
        price(kind, job)


def test_a_job_has_no_direction() -> None:
    with pytest.raises(tr.TightropeError, match="direction"):
        tr.parse("Gaussian(sigma=2).direction('add')")


@pytest.mark.parametrize("job", ["Gaussian(sigma=1).poisson(rate=0.01)", "RenyiCurve(orders=[8], divergences=[0.1])"])
def test_zcdp_takes_no_supremum_over_orders(job: str) -> None:
    if "poisson" in job:  # charged as the noise without sampling, which bounds every order
        assert price("zcdp", job).units["rho"] == 2**49
    else:
        with pytest.raises(tr.UnsupportedMechanism, match="no proof"):
            price("zcdp", job)


@pytest.mark.parametrize("kind", ["rdp", "odometer", "zcdp"])
@pytest.mark.parametrize("around", ["({})", "({}).group(size=2)", "({}) + Gaussian(sigma=3)"])
def test_slack_of_a_job_with_hidden_state_is_refused(kind: str, around: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the interactive mechanisms leaks by itself; one that did would be refused, wherever it stands."""
    job = around.format("SparseVector(threshold_scale=2, query_scale=4)")
    assert price(kind, job).units["slack"] == 0
    monkeypatch.setattr("tightrope.ledger.filters.jobs._mass", lambda pair: Fraction(1, 1000))
    with pytest.raises(tr.UnsupportedMechanism, match="not proven"):
        price(kind, job)


@pytest.mark.parametrize(
    "job",
    [
        "ApproximateDP(epsilon=1, delta=1e-6).random_allocation(steps=4)",
        "(ApproximateDP(epsilon=1, delta=1e-6).random_allocation(steps=4)).group(size=1) * 3",
        "parallel(PureDP(epsilon=1), ApproximateDP(epsilon=1, delta=1e-6).random_allocation(steps=4))",
    ],
)
def test_slack_of_steps_that_share_a_secret_is_refused(job: str) -> None:
    """The step that a record is in is drawn once, and other jobs may run between the steps."""
    with pytest.raises(tr.UnsupportedMechanism, match="not proven"):
        price("rdp", job)
    assert price("rdp", job.replace("ApproximateDP(epsilon=1, delta=1e-6)", "PureDP(epsilon=1)")).units["slack"] == 0
    assert (price("basic", job).units["delta"] or 0) > 0


@pytest.mark.parametrize("kind", ["rdp", "odometer", "zcdp"])
def test_slack_that_follows_from_a_job_is_not_chosen(kind: str) -> None:
    with pytest.raises(tr.InvalidParameter, match="infinite losses"):
        price(kind, "ApproximateDP(epsilon=0.1, delta=1e-6)", slack=1e-6)


# Under replacing a record.


@every_kind
@pytest.mark.parametrize(
    "job",
    [
        f"{SKEWED}.group(size=2)",
        f"{SKEWED}.group(size=2) + Gaussian(sigma=9).without_replacement(batch=1, records=100)",
        f"({SKEWED} * 2).best_of(law='geometric', mean=3)",
        f"({SKEWED}.group(size=2) + Gaussian(sigma=9)).best_of(law='geometric', mean=3)",
    ],
)
def test_both_orders_within_one_use_are_refused(kind: str, job: str) -> None:
    """Each record of a group may meet either order, so that chains of one order bound nothing."""
    with pytest.raises(tr.UnsupportedMechanism, match="both orders may be met within one use"):
        price(kind, job, "replace")
    with pytest.raises(tr.UnsupportedMechanism, match="both orders may be met within one use"):
        kind_of("plan").design(Wanted(tr.Relation.REPLACE, plan={job: 1}, delta=1e-6), None)


def test_a_group_that_meets_both_orders_shows_more_than_either() -> None:
    """The figure behind the refusal: delta(6) of both chains of one order, and of the mixed one."""
    laws = (("0.00002", "0.58771", "0.41227"), ("0.00405", "0.96414", "0.03181"))
    p, q = ([mpmath.mpf(each) for each in law] for law in laws)
    one, other = power(p, q), power(q, p)
    alpha = mpmath.exp(6)
    alike = max(best(one, one, alpha), best(other, other, alpha))
    assert alike == pytest.approx(tr.parse(f"{SKEWED}.group(size=2)").delta(6.0).upper, rel=1e-9)
    mixed = max(best(one, other, alpha), best(other, one, alpha))
    assert (mpmath.nstr(alike, 4), mpmath.nstr(mixed, 4)) == ("0.00401", "0.04442")


def power(p: list[mpmath.mpf], q: list[mpmath.mpf]) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """Size and power of the best tests, at their corners."""
    found = [(mpmath.mpf(0), mpmath.mpf(0))]
    for mass, other in sorted(zip(p, q, strict=True), key=lambda each: -each[0] / each[1]):
        found.append((found[-1][0] + other, found[-1][1] + mass))
    return found


def best(
    second: list[tuple[mpmath.mpf, mpmath.mpf]], first: list[tuple[mpmath.mpf, mpmath.mpf]], alpha: mpmath.mpf
) -> mpmath.mpf:
    """sup over sizes x of second(first(x)) - alpha x, at the corners of both."""
    turned = [(y, x) for x, y in first]
    sizes = [x for x, _ in first] + [read(turned, x) for x, _ in second]
    return max(read(second, read(first, x)) - alpha * x for x in sizes)


def read(line: list[tuple[mpmath.mpf, mpmath.mpf]], at: mpmath.mpf) -> mpmath.mpf:
    """Between its corners it is straight."""
    for (x, low), (y, high) in pairwise(line):
        if at <= y:
            return low + (high - low) * (at - x) / (y - x)
    return line[-1][1]


@pytest.mark.parametrize(
    "job",
    [
        "PureDP(epsilon=0.2).group(size=3)",
        "Laplace(scale=5).group(size=2) * 4",
        "(PureDP(epsilon=0.2) * 2).best_of(law='geometric', mean=3)",
    ],
)
@pytest.mark.parametrize("kind", ["rdp", "basic", "zcdp"])
def test_groups_of_what_is_its_own_reverse_are_charged(kind: str, job: str) -> None:
    assert all(one_law(part) for part, _ in tr.parse(job).terms)
    assert price(kind, job, "replace").units == price(kind, job).units


def test_each_use_is_charged_by_itself_where_either_order_may_be_met() -> None:
    skewed = tr.parse(SKEWED)
    assert pieces(skewed * 3, tr.Relation.ADD_REMOVE) == ((skewed * 3, 1),)
    assert pieces(skewed * 3, tr.Relation.REPLACE) == ((skewed, 3),)
    settled = skewed.without_replacement(batch=10, records=100)
    assert pieces(skewed * 3 + settled, tr.Relation.REPLACE) == ((skewed * 3 + settled, 1),)
    symmetric = tr.PureDP(epsilon=1.0) * 3
    assert pieces(symmetric, tr.Relation.REPLACE) == ((symmetric, 1),)
    one, three = (price("basic", job, "replace", 1e-6).units for job in (SKEWED, f"{SKEWED} * 3"))
    for axis, units in three.items():
        assert units == pytest.approx(3 * (one[axis] or 0), rel=1e-9)


# What leaks, and what is left of the laws.


def test_the_larger_of_both_infinite_masses_is_slack() -> None:
    one_sided = tr.Finite(p=[0.5, 0.5, 0.0], q=[0.25, 0.625, 0.125])
    assert leak(one_sided) == Fraction(1, 8)
    assert leak(tr.Finite(p=[0.25, 0.625, 0.125], q=[0.5, 0.5, 0.0])) == Fraction(1, 8)
    assert leak(tr.Laplace(scale=3.0)) == 0
    for direction in Direction:  # each by itself, as the pair of one direction need not be the reverse of the other's
        assert [use.leak for use in uses(one_sided, direction)] == [Fraction(1, 8)]
    assert price("rdp", f"{one_sided!r} * 3").units["slack"] == 3 * 2**59


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((0.004, 0.5, 0.496, 0.0), (0.0, 0.4, 0.59, 0.01)),
        ((0.0, 0.4, 0.59, 0.01), (0.004, 0.5, 0.496, 0.0)),
        ((0.125, 0.5, 0.375), (0.0, 0.75, 0.25)),
    ],
)
def test_divergences_of_what_is_left_bound_both_directions(p: tuple[float, ...], q: tuple[float, ...]) -> None:
    found = price("rdp", f"Finite(p={list(p)}, q={list(q)})").units
    with mpmath.workdps(30):
        both = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(p, q, strict=True) if a and b]
        first, second = (sum(law) for law in zip(*both, strict=True))
        clean = [(a / first, b / second) for a, b in both]
        for order in map(float, ORDERS):
            ways = (clean, [(b, a) for a, b in clean])
            truth = max(mpmath.log(sum(a**order * b ** (1 - order) for a, b in way)) / (order - 1) for way in ways)
            units = found[f"order {order:g}"]
            assert units is not None
            assert truth * 2**50 <= units <= truth * 2**50 * (1 + 1e-9) + 1


@pytest.mark.parametrize("job", ["Gaussian(sigma=1).poisson(rate=0.05)", "Finite(p=[0.2, 0.8], q=[0.01, 0.99])"])
def test_a_divergence_is_that_of_the_worse_direction(job: str) -> None:
    found, mechanism = price("rdp", job).units, tr.parse(job)
    for order in map(float, ORDERS):
        ends = [mechanism.renyi(order, direction=each).upper for each in ("add", "remove")]
        units = found[f"order {order:g}"]
        assert units is not None
        assert units >= max(ends) * 2**50
        assert max(ends) > min(ends)


def test_an_order_of_which_nothing_is_known_ends() -> None:
    found = price("rdp", "RenyiCurve(orders=[2, 8], divergences=[0.1, 0.4])").units
    assert found["order 2"] == math.ceil(Fraction(0.1) * 2**50)
    assert found["order 32"] is None
    with pytest.raises(tr.UnsupportedMechanism, match="no order"):
        price("rdp", "RenyiCurve(orders=[1], divergences=[0.1])")


@every_kind
def test_no_job_is_free(kind: str) -> None:
    for job in ("PureDP(epsilon=0)", "PureDP(epsilon=1e-300)", "Gaussian(sigma=1e200)"):
        if kind == "basic" and "Gaussian" in job:
            continue
        found = price(kind, job).units
        assert sum(units or 0 for units in found.values()) >= 1, job
        if kind in ("rdp", "odometer"):
            assert all(units is None or units >= 1 for name, units in found.items() if name != "slack")


@pytest.mark.parametrize("kind", ["rdp", "plan", "zcdp", "basic"])
def test_a_name_changes_no_price(kind: str) -> None:
    job = "PureDP(epsilon=3) * 2"
    assert price(kind, f"({job}).named('weekly')").units == price(kind, job).units
    assert price(kind, "PureDP(epsilon=3).named('a') + PureDP(epsilon=3).named('b')").units == price(kind, job).units


@every_kind
@pytest.mark.parametrize("sigma", ["1e-300", "1e-160", "1e-9"])
def test_noise_that_is_next_to_nothing_is_refused_in_one_line(kind: str, sigma: str) -> None:
    try:
        found = price(kind, f"Gaussian(sigma={sigma})")
    except UnsupportedMechanism as refused:
        said = str(refused)
    else:
        said = ""
        assert None in found.units.values()
    assert "\n" not in said
