"""What libraries report: beside what they say themselves, beside the truth, and by name."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.core.mechanisms.base import Mechanism
from tightrope.core.planning.accountants import ACCOUNTANTS, ChordGrid, ListedOrders
from tightrope.core.planning.methods import Kind, find_methods

ROWS = json.loads((Path(__file__).parents[1] / "reference" / "accountants.json").read_text("utf-8"))["rows"]
OPACUS, TF_PRIVACY, GOOGLE = ACCOUNTANTS
MNIST = ROWS[0]


def run_of(row: dict[str, float]) -> Mechanism:
    return tr.Gaussian(sigma=row["sigma"]).poisson(rate=row["rate"]) * int(row["steps"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['sigma']}, {row['rate']:.4g} * {row['steps']}")
def test_moments_are_those_of_the_libraries(row: dict[str, float]) -> None:
    assert OPACUS.epsilon(run_of(row), row["delta"]) == pytest.approx(row["opacus"], rel=1e-11)
    assert TF_PRIVACY.epsilon(run_of(row), row["delta"]) == pytest.approx(row["tf-privacy"], rel=1e-11)


@pytest.mark.parametrize("row", [MNIST, ROWS[3]], ids=["mnist", "many steps"])
def test_the_grid_is_that_of_the_library(row: dict[str, float]) -> None:
    """It cuts 1e-15 off its windows, and sums in doubles: eight digits."""
    found, truth = GOOGLE.epsilon(run_of(row), row["delta"]), run_of(row).epsilon(row["delta"])
    assert found == pytest.approx(row["google"], rel=1e-7)
    assert truth.upper < found
    assert found - truth.upper == pytest.approx(row["google"] - truth.upper, rel=1e-3)


def test_one_order_by_its_formula() -> None:
    """A Gaussian has D_a = a/(2 sigma^2) per use; the total variation of nearly nothing is below delta."""
    run, delta = tr.Gaussian(sigma=3.0) * 4, 1e-6
    wanted = {
        a: 4 * a / 18 + math.log((a - 1) / a) - (math.log(delta) + math.log(a)) / (a - 1) for a in (2.0, 5.0, 9.0)
    }
    for order, value in wanted.items():
        assert ListedOrders((order,)).epsilon(run, delta) == pytest.approx(value, rel=1e-12)
    assert ListedOrders((2.0, 5.0, 9.0)).epsilon(run, delta) == pytest.approx(min(wanted.values()), rel=1e-12)
    small = tr.Gaussian(sigma=1000.0)
    tv = math.sqrt(-math.expm1(-1.1 / 2e6))
    assert ListedOrders((1.1, 2.0), variation=True).epsilon(small, 1.001 * tv) == 0.0
    assert ListedOrders((1.1, 2.0), variation=True).epsilon(small, 0.999 * tv) > 0.0
    assert ListedOrders((1.1, 2.0), variation=True).delta(small, 0.0) == pytest.approx(tv, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    ["Laplace(scale=3) * 5", "ApproximateDP(epsilon=0.3, delta=1e-4) * 3", "Gaussian(sigma=2).poisson(rate=0.1) * 20"],
)
def test_each_is_an_upper_bound(text: str) -> None:
    """Of any run, both ways: epsilon lies at or above the truth, and delta at that epsilon is about the one asked."""
    run, delta = tr.parse(text), 1e-3
    truth = run.epsilon(delta)
    for method in ACCOUNTANTS:
        assert method.kind is Kind.UPPER
        found = method.epsilon(run, delta)
        assert truth.lower <= found < math.inf
        assert run.delta(found).lower <= method.delta(run, found) <= delta * (1 + 1e-6)


def test_ends_of_delta() -> None:
    leaky = tr.ApproximateDP(epsilon=0.1, delta=1e-3)
    for method in ACCOUNTANTS:
        assert method.epsilon(leaky, 1e-4) == math.inf
        assert method.epsilon(leaky, 1.0) == 0.0
    assert ListedOrders((2.0,), variation=True).epsilon(leaky, 0.5) == 0.0
    assert ListedOrders((2.0,), variation=True).epsilon(leaky, 0.02) > 0.0


def test_a_grid_that_would_be_too_long_says_nothing() -> None:
    rows = tr.compare(tr.Laplace(scale=0.001) * 3, delta=1e-6, methods="google").rows
    assert [row.silent for row in rows] == [True]
    assert ChordGrid(0.5).epsilon(tr.Laplace(scale=1.0), 1e-3) <= 1.0 + 1e-9


def test_names_choose_them_and_they_are_left_out_without() -> None:
    assert find_methods(["opacus", "tf-privacy", "google"]) == ACCOUNTANTS
    assert set(find_methods(None)).isdisjoint(ACCOUNTANTS)
    rows = tr.compare(run_of(MNIST), delta=1e-5, methods=["opacus", "best conversion (Balle"]).rows
    assert [row.method for row in rows][1] == OPACUS.name  # no list of orders has the best one
