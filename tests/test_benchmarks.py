"""docs/benchmarks.md and the README's table are those of the results; truths stand beside the reference vectors."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from flint import ctx

import tightrope as tr
from benchmarks.peers import faults, page
from benchmarks.peers.case import RESULTS, Case, cases
from benchmarks.peers.contour_truth import epsilon_at
from benchmarks.peers.table import OURS, Results, results
from benchmarks.peers.tools.table import TOOLS
from benchmarks.peers.truth import plain, vectors
from benchmarks.peers.verdict import MISSES, Truth, misses, said, truths


@pytest.fixture(scope="module")
def found() -> Results:
    return results()


def test_pages_are_those_of_the_results(found: Results) -> None:
    again = "run python -m benchmarks.peers.page"
    assert page.PAGE.read_text("utf-8") == page.page(found), again
    assert page.readme(found) in page.README.read_text("utf-8"), again
    assert all((page.FIGURES / name).exists() for name in (page.WIDTHS, page.SOUNDNESS)), again


def test_every_answer_is_of_a_case_with_a_truth_and_ours_has_all() -> None:
    asked = [(row["case"], row["tool"]) for row in json.loads(RESULTS.read_text())["results"]]
    assert len(set(asked)) == len(asked)
    assert {case for case, tool in asked if tool == OURS} == set(cases())
    assert {tool for _, tool in asked} == set(TOOLS)
    assert set(truths()) == set(cases())


def test_ours_has_no_false_claim_and_each_false_claim_its_command(found: Results) -> None:
    claims = found.false_claims()
    assert [row.case.name for row in claims if row.tool == OURS] == []
    text = page.page(found)
    assert [row for row in claims if page.command(row) not in text] == []


def test_other_faults_have_their_command_and_lie_below_the_truth(found: Results) -> None:
    recorded, text = json.loads(faults.FAULTS.read_text())["faults"], page.page(found)
    assert set(recorded) == {fault.name for fault in faults.KNOWN}
    assert all(fault.command in text for fault in faults.KNOWN)
    assert all(float(row["value"]) < float(row["truth"]) for row in recorded.values())
    assert abs(float(faults.reports()) / float(recorded["reports"]["truth"]) - 1.0) < 1e-15


def test_truths_are_the_reference_vectors_where_there_are() -> None:
    known, said_so = vectors(), truths()
    shared = {name: key for name, case in cases().items() if (key := (plain(case.expression), case.delta)) in known}
    assert len(shared) >= 10
    assert all(said_so[name].lower_text == known[key] for name, key in shared.items() if cases()[name].delta)


@pytest.mark.parametrize("case", [case for case in cases().values() if case.question != "sigma"], ids=lambda c: c.name)
def test_cases_are_expressions(case: Case) -> None:
    assert sum(count for _, count in tr.parse(case.expression).terms) == sum(step["count"] for step in case.steps)


def test_the_contour_of_the_truths_finds_a_vector() -> None:
    case = cases()["sgd-delta-1e-30"]
    with ctx.workprec(ctx.prec):  # as it was, whatever is done inside
        found = float(epsilon_at(case.steps, True, case.delta))
    assert abs(found - float(truths()[case.name].lower_text)) < 1e-13


def test_a_claim_is_held_against_the_truth() -> None:
    truth = Truth("2.5", "2.5", "by hand")
    assert misses({"upper": 2.4}, truth) == "upper end 1.0e-01 below the truth"
    assert misses({"lower": 2.6, "upper": 2.7}, truth).startswith("lower end")
    assert misses({"upper": float(Fraction("2.5"))}, truth) == ""
    assert misses({"estimate": 1.0}, truth) == ""
    assert said({"upper": "inf"}, truth) == "no finite answer"
    assert said({"upper": 2.4}, truth).startswith(MISSES)
    assert said({"estimate": 2.4}, truth) == "estimate, 1.0e-01 too small"
    assert said({"lower": 2.4, "upper": 2.6}, truth) == "contains it"
