"""Every answer names its relation, and parts that were proven for another one are refused: runs, samples, ledgers."""

from __future__ import annotations

import json

import pytest

import tightrope as tr
from tightrope.cli.app import run
from tightrope.core.values.question import Relation
from tightrope.ledger.errors import RelationMismatch
from tightrope.ledger.filters.jobs import check_relation

SKEWED = tr.Finite(p=[0.5, 0.5], q=[0.9, 0.1])  # open, and not its own reverse


def first_line(expression: str, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert run(["epsilon", expression, "--delta", "0.01", *more]) == 0
    return capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("Finite(p=[0.5, 0.5], q=[0.9, 0.1]).group(size=2)", " (add/remove)"),
        ("Finite(p=[0.5, 0.5], q=[0.9, 0.1]) * 3 + Laplace(scale=2)", " (add/remove)"),
        ("Laplace(scale=2).poisson(rate=0.5)", " (add/remove)"),
        ("Laplace(scale=2).poisson(rate=0.5, neighbours='replace')", " (replace)"),
        ("RandomizedResponse(p=0.75) * 3 + Laplace(scale=2)", " (replace)"),
        ("Laplace(scale=2).group(size=2)", ""),  # one pair whichever order: the answer holds for either relation
    ],
)
def test_the_first_line_names_the_relation(expression: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    bound = tr.parse(expression).epsilon(0.01)
    line = first_line(expression, capsys)
    assert line == f"epsilon in {bound} at delta 0.01{named}"
    assert run(["epsilon", expression, "--delta", "0.01", "--json"]) == 0
    relation = {" (add/remove)": "add_remove", " (replace)": "replace", "": None}[named]
    assert json.loads(capsys.readouterr().out)["certificate"]["relation"] == relation


def test_a_group_of_one_order_is_less_than_one_of_both() -> None:
    """The laws {b}, {b: 1/2, c: 1/2}, {c}: two steps of different orders share no output; of one order 1/4 is left.

    An open group that is asked under adding or removing has 3/4 at epsilon 0, and under replacing 1.
    """
    step = tr.Finite(p=[1.0, 0.0], q=[0.5, 0.5])
    one_order = step.group(size=2).delta(0.0)
    assert one_order.lower <= 0.75 <= one_order.upper
    assert one_order.certificate.relation is Relation.ADD_REMOVE
    replaced = step.without_replacement(batch=2, records=2).group(size=2).delta(0.0)
    assert replaced.upper >= 1.0
    assert replaced.certificate.relation is Relation.REPLACE


def test_parts_of_another_relation_are_refused() -> None:
    report, sample = tr.RandomizedResponse(p=0.75), tr.Gaussian(sigma=1).poisson(rate=0.1)
    for made in (lambda: report + sample, lambda: report.poisson(rate=0.1), lambda: sample.shuffle(users=2)):
        with pytest.raises(tr.InvalidParameter, match="record"):
            made()
    training = tr.training(batch=10, records=1000, epochs=1, sigma=1.0)
    with pytest.raises(tr.InvalidParameter, match="disagree on what neighbours are"):
        training + report
    assert (report + tr.Laplace(scale=1)).relation is Relation.REPLACE


def test_a_ledger_takes_jobs_of_its_own_relation_alone() -> None:
    report, sample = tr.RandomizedResponse(p=0.75), tr.Gaussian(sigma=1).poisson(rate=0.1)
    check_relation(report, Relation.REPLACE)
    check_relation(sample, Relation.ADD_REMOVE)
    for job, relation in ((report, Relation.ADD_REMOVE), (sample, Relation.REPLACE)):
        with pytest.raises(RelationMismatch, match="charge it to a budget of its own relation"):
            check_relation(job, relation)
