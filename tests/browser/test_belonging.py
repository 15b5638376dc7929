"""What stands beside a number belongs to it: answers that come late, in another order or not at all change no label."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

import tightrope as tr

from .visits import Visit

RUN = "Gaussian(sigma=2) * 10"
# Answers whose question has this kind come so many milliseconds late.
LATE = """
(() => {
  const fetched = window.fetch;
  window.late = {};
  window.fetch = async (address, options) => {
    const kind = options?.body ? JSON.parse(options.body).question.kind : "";
    const reply = await fetched(address, options);
    if (window.late[kind]) await new Promise((resolve) => setTimeout(resolve, window.late[kind]));
    return reply;
  };
})()
"""


def late(visit: Visit, **kinds: int) -> None:
    """From now on answers of these kinds come late."""
    visit.page.evaluate("kinds => { window.late = kinds; }", kinds)


def slow(visitor: Callable[..., Visit], *runs: str, **state: str) -> Visit:
    """A page whose answers can be held back."""
    visit = visitor()
    visit.context.add_init_script(LATE)
    return visit.open(*runs, **state)


def exported(visit: Visit) -> str:
    """The view as CSV."""
    visit.page.locator("summary", has_text="Export").click()
    with visit.page.expect_download() as saved:
        visit.page.get_by_role("button", name="CSV: export this view").click()
    return Path(saved.value.path()).read_text("utf-8")


def test_an_answer_is_called_what_it_is(visitor: Callable[..., Visit]) -> None:
    """An epsilon that comes when delta is asked for already is still an epsilon."""
    visit = slow(visitor, RUN)
    card = visit.card()
    card.expect_epsilon(RUN)
    late(visit, epsilon=400, delta=1500)
    card.editor.fill("Gaussian(sigma=3) * 10")
    visit.ask("δ at ε")
    for _ in range(20):
        told = card.number.text_content() or ""
        assert told.startswith("ε in") or card.result.get_attribute("aria-busy") == "false"
        visit.page.wait_for_timeout(50)
    late(visit)
    expect(card.number).to_have_text(f"δ in {tr.parse('Gaussian(sigma=3) * 10').delta(epsilon=1.0)}")


def test_a_search_names_the_target_that_it_met(visitor: Callable[..., Visit]) -> None:
    visit = slow(visitor, "Gaussian(sigma=?) * 10", ask="calibrate", epsilon="4")
    card = visit.card()
    card.expect_done()
    expect(card.result).to_contain_text("meets ε ≤ 4 at")
    late(visit, calibrate=1200)
    visit.page.get_by_role("textbox", name="epsilon", exact=True).fill("0.25")
    expect(card.result).to_have_attribute("aria-busy", "true")
    expect(card.result).to_contain_text("meets ε ≤ 4 at")
    assert card.element.get_by_role("button", name="Use this value").is_disabled()
    expect(card.result).to_contain_text("meets ε ≤ 0.25 at")


def test_a_search_that_fails_leaves_nothing_of_another_run(visit: Visit) -> None:
    visit.open("Gaussian(sigma=3) * 2").card().expect_epsilon("Gaussian(sigma=3) * 2")
    visit.wait_for_table()
    visit.card().editor.fill("Gaussian(sigma=1) * ?")
    expect(visit.card().result.locator(".error")).to_be_visible()
    expect(visit.page.locator("#view table")).to_have_count(0)


def test_steps_say_the_delta_of_their_numbers(visitor: Callable[..., Visit]) -> None:
    visit = slow(visitor, RUN, view="steps", delta="1e-9")
    expect(visit.page.locator(".unsettled")).to_have_count(0)
    late(visit, steps=1500)
    visit.page.get_by_role("textbox", name="delta", exact=True).fill("0.1")
    expect(visit.page.locator(".unsettled")).to_have_count(1)
    expect(visit.page.locator("#view caption")).to_have_text(re.compile("delta 1e-9"))
    rows = list(csv.DictReader(io.StringIO(exported(visit))))  # which waits
    assert {row["delta"] for row in rows} == {"0.1"}
    bound = tr.parse(RUN).epsilon(delta=0.1)
    assert float(rows[-1]["epsilon_lower"]) <= bound.upper
    assert float(rows[-1]["epsilon_upper"]) >= bound.lower


def test_the_label_of_an_export_is_that_of_its_text(visitor: Callable[..., Visit]) -> None:
    """A text that is read later than it is answered."""
    visit = slow(visitor, RUN)
    visit.card().expect_epsilon(RUN)
    late(visit, read=1500)
    visit.card().editor.fill("Gaussian(sigma=5) * 10")
    assert {row["run"] for row in csv.DictReader(io.StringIO(exported(visit)))} == {"Gaussian(sigma=5.0) * 10"}


def test_another_number_to_find_loses_none(visitor: Callable[..., Visit]) -> None:
    """Before anything was found, what was there comes back; there is never a second ?."""
    text = "Gaussian(sigma=2).poisson(rate=0.01) * 1000"
    visit = slow(visitor, text)
    visit.card().expect_epsilon(text)
    late(visit, calibrate=1500)
    visit.ask("calibrate")
    visit.card().expect_text("Gaussian(sigma=?).poisson(rate=0.01) * 1000")
    visit.page.get_by_label("The number to find").select_option(label="rate of poisson")
    visit.card().expect_text("Gaussian(sigma=2).poisson(rate=?) * 1000")
    visit.page.get_by_label("The number to find").select_option(label="count")
    visit.card().expect_text("Gaussian(sigma=2).poisson(rate=0.01) * ?")


def test_the_form_writes_only_what_it_has_read(visitor: Callable[..., Visit]) -> None:
    visit = slow(visitor, RUN)
    card = visit.card()
    card.expect_epsilon(RUN)
    late(visit, read=1200)
    card.editor.fill("Laplace(scale=3) * 77")
    card.name.fill("mine")
    card.name.press("Enter")
    visit.ask("calibrate")
    card.expect_text("Laplace(scale=3) * 77")
    expect(card.field("scale of Laplace")).to_be_editable()
    card.expect_text("Laplace(scale=3) * 77")


def test_the_same_text_again_and_a_mended_one(visitor: Callable[..., Visit]) -> None:
    visit = slow(visitor, RUN)
    card = visit.card()
    card.expect_epsilon(RUN)
    card.editor.fill(RUN + " ")
    card.editor.fill(RUN)
    card.expect_epsilon(RUN)
    expect(card.element.locator(".form[inert]")).to_have_count(0)
    card.editor.fill("Gaus")
    expect(card.error).to_be_visible()
    late(visit, read=1200)
    card.editor.fill(RUN)
    card.expect_epsilon(RUN)


def test_a_grouped_number_is_refused_where_it_can_be_misread(visitor: Callable[..., Visit]) -> None:
    visit = visitor(locale="de-DE").open(RUN)
    field = visit.card().field("count")
    field.focus()
    field.press("Control+a")
    visit.page.keyboard.type("60.000")
    expect(field).to_have_attribute("aria-invalid", "true")
    visit.card().expect_text(RUN)
    field.blur()
    expect(field).to_have_value("10")
    expect(field).to_have_attribute("aria-invalid", "false")


def test_views_of_one_run_never_show_another(visitor: Callable[..., Visit]) -> None:
    visit = slow(visitor, "Gaussian(sigma=1).named('weak')", "Gaussian(sigma=9).named('strong')", view="risk")
    expect(visit.page.locator("#view .of-run")).to_have_text("weak")
    late(visit, risk=1500)
    visit.card(1).editor.focus()
    expect(visit.page.locator("#view dd")).to_have_count(0)
    late(visit)
    expect(visit.page.locator("#view .of-run")).to_have_text("strong")
    rows = tr.parse("Gaussian(sigma=9)").risk(0.1, 0.001, 1e-4, 1e-5).rows
    expect(visit.page.locator("#view dd")).to_have_text([row.sentence for row in rows])
