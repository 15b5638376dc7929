"""What is copied from a card gives the same digits elsewhere: in a shell, in Python, as a document."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import expect

import tightrope as tr
from tightrope import result

from .visits import Visit

QUOTED = r"(Gaussian(sigma=2).poisson(rate=0.1) * 30).named('Ann\'s $HOME')"
RUNS = ("Gaussian(sigma=5) * 3 + Laplace(scale=8) * 5", QUOTED)
NAMES = {"expression": "Expression", "command": "Command", "python": "Python", "json": "JSON"}
WITH_OURS = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def in_a_shell(line: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """As somebody pastes it."""
    return subprocess.run(line, shell=True, env=WITH_OURS, input=given, capture_output=True, text=True, timeout=600)


def copied(visit: Visit, kind: str) -> str:
    """What is on the clipboard after that button."""
    visit.card().press(f"Copy as {kind}")
    expect(visit.status).to_have_text(f"{NAMES[kind]} copied")
    text: str = visit.page.evaluate("navigator.clipboard.readText()")
    return text


@pytest.mark.parametrize("text", RUNS)
def test_the_command_prints_the_same_digits(visit: Visit, text: str) -> None:
    digits = visit.open(text).card().expect_epsilon(text)
    done = in_a_shell(copied(visit, "command"))
    assert done.returncode == 0, done.stderr
    assert f"epsilon in {digits} at delta 1e-05" in done.stdout


@pytest.mark.parametrize("text", RUNS)
def test_python_prints_the_same_digits(visit: Visit, text: str) -> None:
    digits = visit.open(text).card().expect_epsilon(text)
    done = subprocess.run([sys.executable, "-c", copied(visit, "python")], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == digits, done.stderr


def test_json_is_a_result_that_verify_proves(visit: Visit) -> None:
    text = RUNS[0]
    visit.open(text).card().expect_epsilon(text)
    document = copied(visit, "json")
    (found,) = result.read(document)
    bound = tr.parse(text).epsilon(delta=1e-5)
    assert (found.bound.lower, found.bound.upper) == (bound.lower, bound.upper)
    assert tr.parse(found.expression) == tr.parse(text)
    done = in_a_shell("tightrope verify -", document)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "proved" in done.stdout


def test_the_expression_is_the_text(visit: Visit) -> None:
    visit.open(QUOTED).card().expect_epsilon(QUOTED)
    assert copied(visit, "expression") == QUOTED


def test_a_search_as_command_and_in_python(visit: Visit) -> None:
    text = "Gaussian(sigma=?) * 10"
    card = visit.open(text, ask="calibrate").card()
    expect(card.number).to_have_text("sigma = 11.797296")
    card.expect_done()
    done = in_a_shell(copied(visit, "command"))
    assert "sigma = 11.797296" in done.stdout, done.stderr
    again = subprocess.run([sys.executable, "-c", copied(visit, "python")], capture_output=True, text=True, timeout=600)
    assert again.stdout.startswith("sigma = 11.797296:"), again.stderr
    assert copied(visit, "expression") == "Gaussian(sigma=11.797296) * 10"


def copied_view(visit: Visit, kind: str) -> str:
    """What is on the clipboard after that entry of the menu of exports."""
    visit.page.locator("summary", has_text="Export").click()
    visit.page.get_by_role("group", name="Export this view").get_by_role("button", name=f"as {kind}").click()
    expect(visit.status).to_have_text(f"{NAMES[kind]} copied")
    text: str = visit.page.evaluate("navigator.clipboard.readText()")
    return text


def test_the_curve_as_command_and_in_python(visit: Visit) -> None:
    """The command prints doubles, each inside of what stands in the table; Python prints the first and the last."""
    visit.open(RUNS[0]).card().expect_epsilon(RUNS[0])
    table = {float(row[0]): row[1][1:-1].split(", ") for row in visit.wait_for_table()[1:]}
    done = in_a_shell(copied_view(visit, "command"))
    printed = {float(row["epsilon"]): row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert len(printed) == 61, done.stderr
    for place, (low, high) in table.items():
        row = printed[place]
        assert Decimal(low) <= Decimal(row["lower"]) <= Decimal(row["upper"]) <= Decimal(high)
        assert str(tr.Bound(float(row["lower"]), float(row["upper"]))) == f"[{low}, {high}]"
    code = copied_view(visit, "python")
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert again.returncode == 0, again.stderr
    for place in (min(table), max(table)):
        assert f"[{', '.join(table[place])}] at epsilon {place:g}" in again.stdout


def test_the_risk_as_command(visit: Visit) -> None:
    visit.open(RUNS[0], view="risk", prior="0.2", fpr="0.01").card().expect_epsilon(RUNS[0])
    expect(visit.page.locator("#view dd").first).to_be_visible()
    visit.wait("() => document.querySelectorAll('#view dt').length >= 5")
    numbers = visit.page.locator("#view dt").all_inner_texts()
    done = in_a_shell(copied_view(visit, "command"))
    assert [each for each in numbers if each not in done.stdout] == [], done.stdout + done.stderr


def test_nothing_is_copied_where_the_browser_does_not_allow_it(visit: Visit) -> None:
    visit.open(RUNS[0]).card().expect_epsilon(RUNS[0])
    visit.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    visit.card().press("Copy as expression")
    expect(visit.status).to_have_text("The browser allows no copying here")
