"""The audit view: a file of scores, dropped on the page or chosen, and what it refutes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from playwright.sync_api import expect

import tightrope as tr

from .test_access import axe as axe
from .test_access import sticking_out, violations
from .test_exports import export
from .visits import Visit

RUN = "Gaussian(sigma=1)"
DROP = """([name, text]) => {
  const brought = new DataTransfer();
  brought.items.add(new File([text], name, {type: "text/csv"}));
  for (const kind of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: brought, bubbles: true, cancelable: true}));
  }
}"""


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """One run, 1000 coins, and an attack that is right nearly always."""
    draw = random.Random(4)
    rows = [(member := draw.random() < 0.5, draw.gauss(3.0 * member, 1.0)) for _ in range(1000)]
    path = tmp_path / "my scores.csv"
    path.write_text("\n".join(["score,member", *(f"{score!r},{int(member)}" for member, score in rows)]), "utf-8")
    return path


def asked(visit: Visit, scores: Path) -> Visit:
    """The page with a run, its scores, and the design."""
    visit.open(RUN).card().expect_epsilon(RUN)
    visit.view("Audit")
    visit.page.get_by_label("File of scores").set_input_files(scores)
    visit.page.get_by_label("What was decided by chance").select_option("one-run")
    expect(visit.page.locator("#view .sentences")).to_contain_text("REFUTED")
    return visit


def test_a_file_is_dropped_on_another_view(visit: Visit, scores: Path) -> None:
    """Nothing is said before the design is chosen; then what tr.audit says."""
    visit.open(RUN).card().expect_epsilon(RUN)
    visit.page.evaluate(DROP, [scores.name, scores.read_text()])
    expect(visit.page.get_by_role("tab", name="Audit")).to_have_attribute("aria-selected", "true")
    assert visit.page.get_by_label("File of scores").evaluate("input => input.files[0].name") == "my scores.csv"
    expect(visit.page.locator("#view")).to_contain_text("Say what was decided by chance")
    visit.page.get_by_label("What was decided by chance").select_option("one-run")
    expect(visit.page.locator("#view .sentences")).to_contain_text("REFUTED")
    found = tr.audit(scores, design="one-run", delta=1e-5, claim=RUN)
    shown = visit.page.locator("#view .sentences p").all_text_contents()
    assert shown == list(found.sentences)
    assert visit.rows()[1:] == [[str(test.rank), str(test.count), str(test.trials)] for test in found.tests]
    assert "design=one-run" in visit.page.url


def test_the_claim_is_the_chosen_run(visit: Visit, scores: Path) -> None:
    asked(visit, scores)
    visit.card().editor.fill("Gaussian(sigma=?)")
    expect(visit.page.locator("#view .sentences")).to_contain_text("or more is REFUTED with 95 % confidence")
    visit.card().editor.fill("Gaussian(sigma=0.1)")
    expect(visit.page.locator("#view .sentences")).to_contain_text("that is no proof of the claim")
    visit.page.get_by_label("What was decided by chance").select_option("members")
    expect(visit.page.locator("#view .sentences")).to_contain_text("They bound no epsilon")
    visit.page.get_by_label("Remove this run").click()
    visit.page.get_by_label("What was decided by chance").select_option("one-run")
    expect(visit.page.locator("#view .sentences p").first).to_contain_text("At least epsilon")


def test_what_leaves_the_page_is_the_document(visit: Visit, scores: Path) -> None:
    document = export(asked(visit, scores), "JSON").decode()
    assert json.loads(document)["quantity"] == "audit"
    assert tr.verify(document).proved
    assert export(visit, "CSV").decode().startswith("method,place,count,of,weight\nO2,10,")
    assert b"refuted" in export(visit, "SVG")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("score,flag\n1,1\n", "column member once"),
        ("\u202emember,<b>\n", "column score once"),
        ("", "column score once"),
    ],
)
def test_a_file_that_is_no_list_of_scores(visit: Visit, text: str, told: str) -> None:
    visit.open(RUN, view="audit", design="runs").card().expect_epsilon(RUN)
    visit.page.evaluate(DROP, ["<img src=x>.csv", text])
    expect(visit.page.locator("#view .error")).to_contain_text(told)


def test_a_file_that_is_too_large(visit: Visit) -> None:
    visit.open(RUN, view="audit").card().expect_epsilon(RUN)
    visit.page.evaluate(DROP, ["large.csv", "0,1\n" * 1_000_000])
    expect(visit.page.locator("#toast")).to_contain_text("tightrope audit FILE reads it")


def test_it_is_read_by_everybody(visit: Visit, scores: Path, axe: str) -> None:
    assert violations(asked(visit, scores), axe) == []


def test_a_narrow_screen(visit: Visit, scores: Path) -> None:
    visit.page.set_viewport_size({"width": 360, "height": 740})
    assert sticking_out(asked(visit, scores)) == []
