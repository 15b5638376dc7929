"""The address is the whole page: a reload, another browser and another server show the same."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import expect

from .served import Served
from .visits import FINE_ROWS, Visit

RUNS = ("Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10", r"Gaussian(sigma=4).named('50% & \'more\' #1')")
STATE = {
    "colours": "5,3,0",
    "hidden": "1",
    "current": "2",
    "delta": "1e-6",
    "zoom": "0.5,3.5",
    "pins": "curve:1",
}


def shown(visit: Visit) -> dict[str, Any]:
    """All that a reader would compare."""
    visit.card(0).expect_epsilon(RUNS[0], 1e-6)
    visit.card(2).expect_epsilon(RUNS[2], 1e-6)
    visit.wait("() => document.querySelector('tr.pinned')?.cells.length === 3")
    visit.wait_for_table(FINE_ROWS + 1)
    cards = visit.page.locator("#runs > section").evaluate_all(
        "cards => cards.map((card) => [card.className, card.querySelector('textarea').value,"
        " card.querySelector('summary').className, card.querySelector('.big')?.textContent])"
    )
    return {
        "cards": cards,
        "table": visit.rows(),
        "tab": visit.page.get_by_role("tab", selected=True).inner_text(),
        "delta": visit.page.get_by_role("textbox", name="delta").input_value(),
        "said": visit.said(),
    }


def test_everything_is_the_same_after_a_reload_and_in_another_browser(visitor: Callable[..., Visit]) -> None:
    visit = visitor().open(*RUNS, **STATE)
    first = shown(visit)
    assert [each[2] for each in first["cards"]] == ["dot colour-5", "dot colour-3", "dot colour-0"]
    assert "hidden-run" in first["cards"][1][0]
    assert "current" in first["cards"][2][0]
    assert first["table"][0] == ["epsilon", "Run 1", "50% & 'more' #1"]
    assert first["said"] == {"run": [*RUNS], **{name: [value] for name, value in STATE.items()}}
    visit.page.reload()
    assert shown(visit) == first
    other = visitor()
    other.go(urlsplit(visit.page.url).fragment)
    assert shown(other) == first


def test_every_view_is_in_the_address(visit: Visit) -> None:
    """With what belongs to it: its axis, its rates."""
    visit.open("training(records=6000, batch=60, epochs=3, sigma=1)", view="steps", axis="epochs")
    expect(visit.page.get_by_label("epochs of training runs")).to_be_checked()
    visit.wait("() => document.querySelector('#view tbody')?.rows.length === 3")
    assert [each[0] for each in visit.rows()] == ["epochs", "1", "2", "3"]
    visit.view("Risk")
    visit.page.get_by_role("textbox", name="belief beforehand").fill("0.25")
    visit.wait_said("prior", ["0.25"])
    visit.wait_said("view", ["risk"])
    visit.page.reload()
    expect(visit.page.get_by_role("textbox", name="belief beforehand")).to_have_value("0.25")
    expect(visit.page.get_by_role("tab", name="Risk")).to_have_attribute("aria-selected", "true")


def test_a_link_in_the_address_line_changes_the_page(visit: Visit) -> None:
    """Without a reload: only what is behind the # is another."""
    visit.open(RUNS[0]).card().expect_epsilon(RUNS[0])
    visit.page.evaluate("() => { location.hash = 'run=Laplace%28scale%3D10%29+*+10&view=tradeoff'; }")
    visit.card().expect_epsilon(RUNS[1])
    expect(visit.page.get_by_role("tab", name="Trade-off")).to_have_attribute("aria-selected", "true")


def test_the_dialog_has_a_link_and_a_command_that_opens_the_same_page(visitor: Callable[..., Visit]) -> None:
    visit = visitor().open(*RUNS, **STATE)
    first = shown(visit)
    visit.page.get_by_role("button", name="Share this page").click()
    dialog = visit.page.get_by_role("dialog", name="Share this page")
    link = dialog.get_by_role("textbox", name="On this machine").input_value()
    assert link == visit.page.url
    dialog.get_by_role("button", name="Copy: Anywhere else").click()
    expect(visit.status).to_contain_text("copied")
    command = visit.page.evaluate("navigator.clipboard.readText()")
    assert command == dialog.get_by_role("textbox", name="Anywhere else").input_value()
    visit.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert visit.focus == "Share this page"

    program, verb, *rest = shlex.split(command)
    assert (program, verb) == ("tightrope", "explore")
    second = Served(*rest)
    try:
        other = visitor(second)
        other.page.goto(second.address)
        assert shown(other) == first
        other.context.close()
    finally:
        second.close()


def test_one_sees_what_was_copied_while_a_dialog_is_open(visit: Visit) -> None:
    """The dialog is above everything else, and so is what says that it was copied."""
    visit.open(RUNS[0]).card().expect_epsilon(RUNS[0])
    visit.page.get_by_role("button", name="Share this page").click()
    visit.page.get_by_role("button", name="Copy: On this machine").click()
    expect(visit.page.get_by_text("Link copied").first).to_be_visible()
