"""axe-core finds nothing: any view, either theme, a narrow screen, an error, a dialog, an empty page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .visits import Visit

RUNS = ("Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10", "training(records=6000, batch=60, epochs=3, sigma=1)")
VIEWS = ("curve", "steps", "tradeoff", "risk", "compare", "budget")
NARROW = {"width": 360, "height": 740}
AXE = Path(os.environ.get("AXE", "build/axe/node_modules/axe-core/axe.min.js"))


@pytest.fixture(scope="module")
def axe() -> str:
    """The rules."""
    if not AXE.exists():
        pytest.fail(f"{AXE} is missing: make {AXE}")
    return AXE.read_text()


def violations(visit: Visit, axe: str) -> list[str]:
    """Every rule that is broken, and where."""
    visit.page.evaluate(axe)
    visit.page.evaluate("() => Promise.all(document.getAnimations().map((each) => each.finished))")
    found = visit.page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations.flatMap((rule) =>"
        " rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}: ${node.any.concat(node.all, node.none)"
        ".map((check) => check.message).join('; ')}`))"
    )
    return list(found)


def drawn(visit: Visit, view: str, *runs: str) -> Visit:
    """A view with all that belongs to it."""
    visit.open(*runs, view=view)
    for place, text in enumerate(runs):
        visit.card(place).expect_epsilon(text)
    expect(visit.page.locator("#view table").first).to_be_visible()
    visit.wait("() => document.querySelector('#view .waiting') === null")
    return visit


def expect_no_scrolling(visit: Visit) -> None:
    """The page is no wider than the screen."""
    wide: list[str] = visit.page.evaluate(
        "() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]"
        ".filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth)"
        ".map((each) => `${each.tagName} ${each.className}: ${each.getBoundingClientRect().right}`)"
    )
    assert not wide


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_in_both_themes(visitor: Callable[..., Visit], axe: str, view: str, scheme: str) -> None:
    visit = drawn(visitor(color_scheme=scheme), view, *RUNS)
    assert violations(visit, axe) == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_narrow_screen(visitor: Callable[..., Visit], axe: str, view: str) -> None:
    """No view makes the page scroll sideways; the curve and the risk are looked at by every rule."""
    visit = drawn(visitor(viewport=NARROW), view, *RUNS[:2])
    expect_no_scrolling(visit)
    if view in ("curve", "risk"):
        assert violations(visit, axe) == []


def test_a_narrow_screen_with_long_texts(visitor: Callable[..., Visit]) -> None:
    """A long name, a long number, a long error, every list of a form unfolded: nothing sticks out."""
    named = f"(Gaussian(sigma=2.000000000000000000000000000001) * 3).named('{'w' * 60}')"
    wrong = "Gaussian(" + "sigmasigmasigma" * 8
    visit = visitor(viewport=NARROW).open(named, wrong)
    visit.card(0).expect_epsilon(named)
    expect(visit.card(1).error).to_be_visible()
    for each in visit.page.locator("summary", has_text="Form").all():
        each.click()
    expect(visit.card(0).field("sigma of Gaussian")).to_be_visible()
    expect_no_scrolling(visit)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_error(visitor: Callable[..., Visit], axe: str, scheme: str) -> None:
    visit = drawn(visitor(color_scheme=scheme), "curve", *RUNS[:2])
    visit.card(0).editor.fill("Gaussian(sigma=)")
    expect(visit.card(0).error).to_be_visible()
    assert violations(visit, axe) == []


def test_the_share_dialog(visit: Visit, axe: str) -> None:
    drawn(visit, "curve", RUNS[0])
    visit.page.get_by_role("button", name="Share this page").click()
    expect(visit.page.get_by_role("dialog")).to_be_visible()
    assert violations(visit, axe) == []


def test_a_search(visit: Visit, axe: str) -> None:
    """The third question, with its number to find and its button."""
    visit.open("Gaussian(sigma=?) * 10", RUNS[1], ask="calibrate")
    expect(visit.card(0).number).to_have_text("sigma = 11.797296")
    visit.card(0).expect_done()
    expect(visit.page.locator("#view table").first).to_be_visible()
    assert violations(visit, axe) == []


def test_a_form_with_parts_and_every_kind_of_field(visit: Visit, axe: str) -> None:
    text = (
        "Gaussian(sigma=2, sensitivity=1).poisson(rate=0.1) * 3 + parallel(Laplace(scale=2), PureDP(epsilon=0.1) * 2)"
    )
    visit.open(text, view="budget").card().expect_epsilon(text)
    assert violations(visit, axe) == []


def test_open_menus(visit: Visit, axe: str) -> None:
    """The list of exports and the palette of a run."""
    drawn(visit, "curve", RUNS[0])
    visit.page.locator("summary", has_text="Export").click()
    visit.card().element.get_by_label("Colour of this run").evaluate("summary => { summary.parentNode.open = true; }")
    expect(visit.card().element.get_by_role("button", name="Colour green")).to_be_visible()
    assert violations(visit, axe) == []


@pytest.mark.parametrize("view", VIEWS)
def test_the_empty_page(visit: Visit, axe: str, view: str) -> None:
    visit.open(view=view)
    expect(visit.page.get_by_text("No run yet")).to_be_visible()
    assert violations(visit, axe) == []
