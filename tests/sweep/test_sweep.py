"""Sweeps from Python: every row is the answer of the question asked alone, whoever asks."""

from __future__ import annotations

import pickle

import pytest

import tightrope as tr
from tightrope.sweep.plan import plan_of
from tightrope.sweep.recipe import Pattern

DPSGD = "Gaussian(sigma={sigma}).poisson(rate={rate}) * {count}"
GRID = {"sigma": [1, 2.0], "rate": [0.01, 0.1], "count": [1, 100], "delta": [1e-6]}


def gaussian(sigma: float, count: int = 1) -> tr.Mechanism:
    return tr.Gaussian(sigma=sigma) * count


def test_rows_are_the_answers_of_single_questions() -> None:
    table = tr.sweep(DPSGD, GRID, "epsilon(delta={delta})", workers=1)
    assert len(table) == 8
    for row in table:
        told = row.configuration
        run = tr.Gaussian(sigma=told["sigma"]).poisson(rate=told["rate"]) * told["count"]
        assert row.bound == run.epsilon(delta=told["delta"])
        assert (row.quantity, row.relation, row.attained, row.error, row.ended) == (
            "epsilon",
            "add_remove",
            True,
            None,
            None,
        )
    assert [row.index for row in table] == list(range(8))
    assert table[2:4].rows == table.rows[2:4]
    assert pickle.loads(pickle.dumps(table)) == table
    assert table.to_csv().splitlines()[0] == (
        "sigma,rate,count,delta,quantity,lower,upper,relation,attained,confidence,engine,ended,error,seconds"
    )
    assert len(str(table).splitlines()) == 11


def test_processes_give_the_same_rows() -> None:
    grid = {**GRID, "delta": [1e-6, 2.0]}
    here, there = (tr.sweep(DPSGD, grid, "epsilon(delta={delta})", workers=workers) for workers in (1, 2))
    assert here == there
    assert len(here.failed) == 8
    assert here.failed[0].error == "delta must lie in [0, 1], not 2.0"


def test_functions_lambdas_and_other_questions() -> None:
    grid = [{"sigma": 2, "epsilon": 1.0}, {"sigma": 3, "epsilon": 0.5}]
    found = tr.sweep(gaussian, grid, "delta(epsilon={epsilon})", workers=1)
    assert [row.bound for row in found] == [tr.Gaussian(sigma=2).delta(1.0), tr.Gaussian(sigma=3).delta(0.5)]
    here = tr.sweep(lambda sigma: tr.Gaussian(sigma=sigma), {"sigma": [2]}, "advantage()", workers=1)
    assert here[0].bound == tr.Gaussian(sigma=2).advantage()
    with pytest.raises(tr.InvalidParameter, match="workers=1"):
        tr.sweep(lambda sigma: tr.Gaussian(sigma=sigma), {"sigma": [2, 3]}, "advantage()", workers=2)


def test_calibrations_and_risks() -> None:
    target = "calibrate(epsilon={epsilon}, delta=1/{records})"
    grid = {"epsilon": [1, 3], "records": [10**5]}
    table = tr.sweep("Gaussian(sigma=?) * 10", grid, target, workers=1)
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma) * 10, epsilon=3, delta=1e-5)
    assert table[1].value == found.value
    assert table[1].bound == found.bound
    assert table[1].quantity == "epsilon"
    by_function = tr.sweep(gaussian, {"epsilon": [3], "records": [10**5], "count": [10]}, target, workers=1)
    assert by_function[0].value == found.value
    risks = tr.sweep("Gaussian(sigma={sigma})", {"sigma": [1, 2]}, "risk(prior=0.1, fpr=0.01)", workers=1)
    rows = tr.Gaussian(sigma=2).risk(prior=0.1, fpr=0.01).rows
    assert [(row.quantity, row.bound) for row in risks if row.index == 1] == [(row.quantity, row.bound) for row in rows]


@pytest.mark.parametrize(
    ("make", "grid", "ask", "told"),
    [
        (DPSGD, {"sigma": [1]}, "epsilon(delta=1e-6)", "make needs rate"),
        ("Gaussian(sigma={sigm})", {"sigma": [1]}, "epsilon(delta=1e-6)", "did you mean sigma"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon(delta={delta})", "ask needs delta"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilom(delta=1)", "did you mean epsilon"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon(dleta=1)", "did you mean delta"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon(1e-6)", r"takes keywords here: epsilon\(delta="),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon(delta=[1e-6, 1e-5])", "put a list of them into the grid"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon(delta=1e-6, seconds=3)", "seconds are those of the sweep"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon()", "epsilon needs delta"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "epsilon", "written as"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, "calibrate(epsilon=1, delta=0.1)", r"needs a \?"),
        ("Gaussian(sigma=?)", {"delta": [1]}, "epsilon(delta={delta})", r"is for calibrate"),
        ("Gaussian(sigma={sigma})", {"sigma": [1], "rate": [1]}, "advantage()", "neither make nor ask uses rate"),
        ("Gaussian(sigma={sigma})", {"sigma": [1], "lower": [1]}, "advantage()", "another one"),
        (
            "Gaussian(sigma={sigma})",
            [{"sigma": 1}, {"rate": 1}],
            "advantage()",
            "configuration 1 of the list has no sigma",
        ),
        (gaussian, {"count": [1]}, "advantage()", "make needs sigma"),
        (3, {"count": [1]}, "advantage()", "an expression with"),
        ("Gaussian(sigma={sigma})", {"sigma": [1]}, 3, "ask is a text"),
    ],
)
def test_what_no_configuration_could_answer_is_refused_at_once(
    make: object, grid: object, ask: object, told: str
) -> None:
    with pytest.raises(tr.TightropeError, match=told):
        tr.sweep(make, grid, ask, workers=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        "1) + Laplace(scale=1",
        "'a') + Laplace(scale=1, name='b'",
        "x' * 2 + '",
        'a"b',
        "{rate}",
        "\\",
        "\\'",
        "'",
        "?",
        "__import__('os')",
    ],
)
def test_a_word_cannot_change_the_text_around_it(value: str) -> None:
    filled = Pattern("Gaussian(sigma=1, name={word}) * {rate}").filled({"word": value, "rate": 2})
    run = tr.parse(filled)
    assert run == tr.Gaussian(sigma=1, name=value) * 2
    (row,) = tr.sweep("Gaussian(sigma={sigma})", {"sigma": [value]}, "advantage()", workers=1)
    assert row.lower is None
    assert "sigma takes a number, no text" in str(row.error)


def test_values_stand_for_themselves() -> None:
    assert (
        Pattern("f(a={a}, b='{a}', c=-{b})").filled({"a": -1.5, "b": (1, -2.0)})
        == "f(a=(-1.5), b='{a}', c=-[1, (-2.0)])"
    )
    (row,) = tr.sweep("{run}", {"run": ["Laplace(scale=2) * 3"]}, "epsilon(delta=0)", workers=1)
    assert row.bound == (tr.Laplace(scale=2) * 3).epsilon(delta=0)
    (row,) = tr.sweep("{run} * 2", {"run": ["Laplace(scale=2)"]}, "epsilon(delta=0)", workers=1)
    assert row.bound is None, "a part of an expression is no word"


def test_chunks_cover_the_grid_once_and_leave_out_what_is_done() -> None:
    plan = plan_of(DPSGD, {**GRID, "count": range(1, 40)}, "epsilon(delta={delta})", 10.0, draws=None, seed=None)
    chunks = list(plan.chunks(50, done=lambda index: index % 3 == 0))
    indices = [index for chunk in chunks for index, _ in chunk]
    assert sorted(indices) == [index for index in range(len(plan.grid)) if index % 3]
    assert all(len(chunk) == 50 for chunk in chunks[:-1])


def test_a_table_says_where_relations_differ() -> None:
    runs = ["Gaussian(sigma=1).poisson(rate=0.5)", "Gaussian(sigma=1).without_replacement(batch=1, records=2)"]
    table = tr.sweep("{run}", {"run": runs}, "delta(epsilon=1)", workers=1)
    assert [line.split()[-1] for line in str(table).splitlines()[2:4]] == ["add_remove", "replace"]
    assert "relation" not in str(table[:1])
    assert "<td>replace</td>" in table._repr_html_()


def test_a_question_that_one_configuration_spoils_is_its_row() -> None:
    table = tr.sweep("Gaussian(sigma=1)", {"records": [0, 100]}, "epsilon(delta=1/{records})", workers=1)
    assert [row.error for row in table] == ["division by zero (column 15)", None]
