"""Runs: what is typed is answered, a slider moves all of a run at once, and runs come, change and go."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from time import monotonic

from playwright.sync_api import expect

import tightrope as tr

from .visits import Visit

GAUSSIAN, LAPLACE = "Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10"
DRAG_SECONDS, MOVES = 2.0, 40
ASKED_MAX = 5  # questions a second, of one spot


def test_a_typed_expression_is_answered_as_by_the_package(visit: Visit) -> None:
    card = visit.open(GAUSSIAN).card()
    card.expect_epsilon(GAUSSIAN)
    card.editor.fill(LAPLACE)
    low, high = card.expect_epsilon(LAPLACE)[1:-1].split(", ")
    proved = tr.parse(LAPLACE).epsilon(delta=1e-5, proof=True)
    assert Decimal(low) <= Decimal(proved.lower) <= Decimal(proved.upper) <= Decimal(high)


def test_delta_at_an_epsilon(visit: Visit) -> None:
    """The other question: both ends of delta, and where it was asked."""
    card = visit.open(GAUSSIAN).card()
    visit.ask("δ at ε")
    visit.page.get_by_role("textbox", name="epsilon").fill("1.5")
    expect(card.number).to_have_text(f"δ in {tr.parse(GAUSSIAN).delta(epsilon=1.5)}")
    expect(card.result).to_contain_text("at ε = 1.5 ·")


def test_an_error_says_where_and_goes_when_it_is_corrected(visit: Visit) -> None:
    card = visit.open(GAUSSIAN).card()
    card.expect_epsilon(GAUSSIAN)
    card.editor.fill("Gaussian(sigma=2) * * 3")
    expect(card.error).to_contain_text("column 21")
    assert "\n" not in card.error.inner_text()
    expect(card.editor).to_have_attribute("aria-invalid", "true")
    assert card.editor.get_attribute("aria-describedby") == card.error.get_attribute("id")
    expect(card.number).to_have_count(0)
    card.editor.fill(LAPLACE)
    card.expect_epsilon(LAPLACE)
    expect(card.error).to_have_count(0)
    expect(card.editor).to_have_attribute("aria-invalid", "false")


def test_a_dragged_slider_moves_the_number_the_text_and_the_address(visit: Visit) -> None:
    """With a real mouse, for two seconds, and without a flood of questions."""
    card = visit.open(GAUSSIAN).card()
    before = card.expect_epsilon(GAUSSIAN)
    visit.wait_for_table()
    box = card.slider("sigma of Gaussian").bounding_box()
    assert box is not None
    middle, height = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    asked, began = len(visit.requests), monotonic()
    visit.page.mouse.move(middle, height)
    visit.page.mouse.down()
    for move in range(1, MOVES + 1):
        visit.page.mouse.move(middle + move * box["width"] / 4 / MOVES, height)
        visit.page.wait_for_timeout(1000 * DRAG_SECONDS / MOVES)  # a hand moves so fast
    by_spot, took = Counter(each.spot for each in visit.questions(asked)), monotonic() - began
    expect(card.number).not_to_have_text(f"ε in {before}")  # while it is still held
    visit.page.mouse.up()
    assert by_spot
    assert max(by_spot.values()) <= ASKED_MAX * took + 2, (by_spot, took)
    sigma = card.field("sigma of Gaussian").input_value()
    assert float(sigma) > 2
    text = f"Gaussian(sigma={sigma}) * 3"
    card.expect_text(text)
    card.expect_epsilon(text)
    assert visit.said()["run"] == [text]


def test_a_number_field_says_the_same_as_text_and_address(visit: Visit) -> None:
    card = visit.open(GAUSSIAN).card()
    card.expect_epsilon(GAUSSIAN)
    card.field("sigma of Gaussian").fill("sqrt(5)")
    card.expect_text("Gaussian(sigma=sqrt(5)) * 3")
    card.expect_epsilon("Gaussian(sigma=sqrt(5)) * 3")
    visit.wait_said("run", ["Gaussian(sigma=sqrt(5)) * 3"])


def test_a_run_from_the_list_and_its_double(visit: Visit) -> None:
    visit.open(GAUSSIAN)
    visit.add("Laplace")
    expect(visit.cards()).to_have_count(2)
    text = visit.card(1).editor.input_value()
    assert text.startswith("Laplace(")
    visit.card(1).expect_epsilon(text)
    assert visit.focus == "Expression"
    visit.card(0).press("Duplicate this run")
    expect(visit.cards()).to_have_count(3)
    visit.card(1).expect_epsilon(GAUSSIAN)
    visit.wait_said("run", [GAUSSIAN, GAUSSIAN, text])
    assert visit.said()["colours"] == ["0,2,1"]


def test_a_hidden_run_leaves_chart_and_table(visit: Visit) -> None:
    visit.open(GAUSSIAN, LAPLACE)
    headings = visit.page.locator("#view thead th")
    expect(headings).to_have_text(["epsilon", "Run 1", "Run 2"])
    visit.card(0).press("Hide this run")
    expect(headings).to_have_text(["epsilon", "Run 2"])
    visit.wait_said("hidden", ["0"])
    expect(visit.plot).to_have_attribute("aria-label", re.compile(r"epsilon\. Run 2\."))
    visit.card(0).press("Show this run")
    expect(headings).to_have_text(["epsilon", "Run 1", "Run 2"])
    visit.wait_said("hidden", [])


def test_a_name_goes_into_the_expression(visit: Visit) -> None:
    """It's quoted, and it's what the table calls the run."""
    visit.open(GAUSSIAN)
    card = visit.card()
    card.expect_epsilon(GAUSSIAN)
    card.name.fill("Ann's run")
    card.name.press("Enter")
    named = r"(Gaussian(sigma=2) * 3).named('Ann\'s run')"
    card.expect_text(named)
    card.expect_epsilon(named)
    expect(visit.page.locator("#view thead th")).to_have_text(["epsilon", "Ann's run"])
    card.name.fill("")
    card.name.press("Enter")
    card.expect_text(GAUSSIAN)


def test_a_named_run_keeps_its_name_when_something_is_done_to_it(visit: Visit) -> None:
    """The name is of the whole run, whatever chips are added later."""
    card = visit.open("Gaussian(sigma=2).named('mine')").card()
    expect(card.name).to_have_value("mine")
    card.choose("Add a transformation", "× count (repeat it)")
    visit.wait("() => document.querySelector('textarea').value.includes('* 10')")
    card.expect_epsilon(card.editor.input_value())
    expect(card.name).to_have_value("mine")


def test_another_colour(visit: Visit) -> None:
    visit.open(GAUSSIAN, LAPLACE)
    card = visit.card(1)
    card.element.locator("summary", has_text="").first.click()
    card.press("Colour magenta")
    visit.wait_said("colours", ["0,3"])
    expect(visit.page.locator("#view thead .colour-3")).to_have_count(1)
    expect(card.element.get_by_role("button", name="Colour magenta")).to_be_hidden()


def test_runs_go_and_the_page_is_empty_at_last(visit: Visit) -> None:
    visit.open(GAUSSIAN, LAPLACE)
    visit.card(0).press("Remove this run")
    expect(visit.cards()).to_have_count(1)
    visit.card(0).expect_text(LAPLACE)
    visit.card(0).press("Remove this run")
    expect(visit.cards()).to_have_count(0)
    assert visit.focus == "Add a run"
    expect(visit.page.get_by_text("No run yet")).to_be_visible()
    visit.page.get_by_role("button", name="Add Laplace(scale=10) * 10 + Gaussian(sigma=5)").click()
    visit.card(0).expect_epsilon("Laplace(scale=10) * 10 + Gaussian(sigma=5)")


def test_eight_runs_are_the_most(visit: Visit) -> None:
    visit.open(*[f"Gaussian(sigma={each})" for each in range(1, 9)])
    expect(visit.cards()).to_have_count(8)
    visit.add("Laplace")
    expect(visit.status).to_have_text("The page shows up to 8 runs")
    visit.card(0).press("Duplicate this run")
    expect(visit.cards()).to_have_count(8)
    assert len(visit.said()["run"]) == 8
    visit.card(7).expect_epsilon("Gaussian(sigma=8)")
