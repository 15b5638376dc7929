"""Reports of audits: what they repeat, what they refuse, and that the document inside is the one that was given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tests.audit.test_audit import scored
from tightrope import documents
from tightrope.cli.app import run
from tightrope.report.audited import AuditReport, is_audit
from tightrope.report.from_file import document_of


def audit(**given: Any) -> str:
    return tr.audit(**{"design": "one-run", "guesses": (1000, 700, 640), "delta": 1e-5, **given}).to_json("2026-11-16")


def page(text: str) -> str:
    return AuditReport.of(text, {"system": "Survey <3>"}, "2026-11-17").html()


def changed(text: str, **parts: Any) -> str:
    """Another document, with a digest that agrees."""
    content = {**json.loads(text), **parts}
    return json.dumps({**content, "digest": documents.digest(content)})


def test_the_page_says_what_was_audited_the_verdict_and_what_it_rests_on() -> None:
    text = audit(claim=(1, 1e-5))
    found = page(text)
    content = json.loads(text)
    for sentence in (*content["sentences"], *(each[1:] for each in content["assumptions"])):
        assert sentence in found
    for words in (
        "Privacy audit report",
        "Survey &lt;3&gt;",
        "ε ≥ 2.14105",
        "at δ = 1e-05, 95 % confidence",
        ">refuted<",
        "(1, 1e-05)-privacy: p ≤ 2.1e-5",
        "640 of 700",
        "the checker proved 4 of 4 ends",
        "never proves one",
        "one run, each canary in it by a coin of its own",
        "17 November 2026",
    ):
        assert words in found, words
    assert document_of(found) == text
    assert tr.verify(found).proved


def test_a_claim_that_is_not_refuted_is_not_called_anything_else() -> None:
    found = page(audit(guesses=(1000, 700, 370), claim=(1, 1e-5)))
    assert ">not refuted<" in found
    assert "no ε refuted" in found
    assert "that is no proof of the claim" in found


@pytest.mark.parametrize("design", ["runs", "random-split", "members"])
def test_every_design_has_a_page(design: str) -> None:
    scores, member = scored(2.0)
    found = page(tr.audit(scores, member, design=design, delta=1e-5).to_json())
    assert ("They bound no epsilon" in found) == (design == "members")
    assert ("Runs beyond it" in found) == (design == "runs")


def test_families_and_bets() -> None:
    family = page(tr.audit(*scored(2.5), design="runs", claim="Gaussian(sigma=?)").to_json())
    assert "and each with more noise: p ≤ 0.0" in family
    bets = page(tr.audit(*scored(3.0), design="runs", delta=1e-5, stopping=True).to_json())
    assert "cannot be checked by anybody" in bets


def test_what_the_checker_does_not_prove_is_not_checked() -> None:
    text = audit(claim=(1, 1e-5))
    statements = json.loads(text)["statements"]
    statements[0]["epsilon"] = statements[0]["slopes"][0]["epsilon"] = 3.0
    assert "Not checked" in page(changed(text, statements=statements, epsilon_lower=3.0))
    assert "Not checked" not in page(text)


@pytest.mark.parametrize("parts", [{"epsilon_lower": 3.0}, {"claim_refuted": False}, {"p_upper": 0.5}, {"level": 0.99}])
def test_what_the_checker_refutes_is_not_filed(parts: dict[str, Any]) -> None:
    with pytest.raises(tr.DataError, match="the checker refutes this audit"):
        page(changed(audit(claim=(1, 1e-5)), **parts))


def test_what_was_changed_or_is_no_audit_is_refused() -> None:
    text = audit()
    with pytest.raises(tr.DataError, match="changed after it was written"):
        page(text.replace("640", "641"))
    for parts in ({"settings": 3}, {"design": "none"}, {"sentences": 1}, {"statements": [{}]}, {"tests": 1}):
        with pytest.raises(tr.DataError):
            page(changed(text, **parts))
    assert is_audit(text)
    assert not is_audit("[]")


def test_the_command_writes_it_and_reads_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "audit.json").write_text(audit(claim=(1, 1e-5)), "utf-8")
    names = [str(tmp_path / name) for name in ("audit.json", "audit.html", "again.json")]
    assert run(["report", names[0], "--html", names[1], "--title", "Of our model"]) == 0
    told = capsys.readouterr().out
    assert "At least epsilon 2.14105" in told
    assert "<h1>Of our model</h1>" in Path(names[1]).read_text("utf-8")
    assert run(["report", names[1], "--json", names[2]]) == 0
    assert Path(names[2]).read_text("utf-8").strip() == Path(names[0]).read_text("utf-8")


def test_it_is_written_as_pdf() -> None:
    pytest.importorskip("typst")
    made = AuditReport.of(audit(), {}, "2026-11-17").pdf()
    assert made.startswith(b"%PDF")
    assert json.loads(documents.decoded(made))["epsilon_lower"] == json.loads(audit())["epsilon_lower"]
