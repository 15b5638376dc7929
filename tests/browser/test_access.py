"""axe-core finds nothing: any view, either theme, a narrow screen, an error, a dialog, an empty page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from .visits import Visit

RUNS = ("Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10", "training(records=6000, batch=60, epochs=3, sigma=1)")
VIEWS = ("δ over ε", "ε over steps", "Trade-off", "Risk", "Classic bounds", "Error budget")
PARTS = "Gaussian(sigma=2, sensitivity=1).poisson(rate=0.1) * 3 + parallel(Laplace(scale=2), PureDP(epsilon=1))"
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
    visit.page.evaluate("() => Promise.allSettled(document.getAnimations().map((each) => each.finished))")
    found: list[str] = visit.page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations.flatMap((rule) =>"
        " rule.nodes.map((node) => `${rule.id}: ${node.target.join(' ')}: ${node.any.concat(node.all, node.none)"
        ".map((check) => check.message).join('; ')}`))"
    )
    return found


def sticking_out(visit: Visit) -> list[str]:
    """What makes the page wider than the screen."""
    found: list[str] = visit.page.evaluate(
        "() => document.documentElement.scrollWidth <= innerWidth ? [] :"
        " [`${document.documentElement.scrollWidth} pixels`, ...[...document.querySelectorAll('body *')]"
        ".filter((each) => each.checkVisibility() && each.getBoundingClientRect().right > innerWidth)"
        ".map((each) => `${each.tagName} ${each.className}`)]"
    )
    return found


def opened(visit: Visit, *runs: str) -> Visit:
    """The page with these runs and their numbers."""
    visit.open(*runs)
    for place, text in enumerate(runs):
        visit.card(place).expect_epsilon(text)
    return visit


def drawn(visit: Visit, view: str) -> Visit:
    """Another view, with all that belongs to it."""
    visit.view(view)
    expect(visit.page.locator("#view table").first).to_be_visible()
    visit.wait("() => document.querySelector('#view .waiting') === null")
    return visit


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view(visitor: Callable[..., Visit], axe: str, scheme: str) -> None:
    visit = opened(visitor(color_scheme=scheme), *RUNS)
    found = {view: violations(drawn(visit, view), axe) for view in VIEWS}
    assert not any(found.values()), found


def test_a_narrow_screen(visitor: Callable[..., Visit], axe: str) -> None:
    """No view makes the page scroll sideways; the curve and the risk are looked at by every rule."""
    visit = opened(visitor(viewport=NARROW), *RUNS[:2])
    wide = {view: sticking_out(drawn(visit, view)) for view in VIEWS}
    assert not any(wide.values()), wide
    found = {view: violations(drawn(visit, view), axe) for view in ("δ over ε", "Risk")}
    assert not any(found.values()), found


def test_the_chosen_tab_of_a_narrow_screen_is_seen(visitor: Callable[..., Visit]) -> None:
    """A link to the last view: the row of tabs is scrolled so far."""
    visit = visitor(viewport=NARROW).open(RUNS[0], view="budget")
    visit.card().expect_epsilon(RUNS[0])
    expect(visit.page.get_by_role("tab", selected=True)).to_be_in_viewport(ratio=0.9)


def test_a_narrow_screen_with_long_texts(visitor: Callable[..., Visit]) -> None:
    """A long name, a long number, a long error, every form unfolded: nothing sticks out."""
    named = f"(Gaussian(sigma=2.000000000000000000000000000001) * 3).named('{'w' * 60}')"
    wrong = "Gaussian(" + "sigmasigmasigma" * 8
    visit = visitor(viewport=NARROW).open(named, wrong)
    visit.card(0).expect_epsilon(named)
    expect(visit.card(1).error).to_be_visible()
    for each in visit.page.locator("summary", has_text="Form").all():
        each.click()
    expect(visit.card(0).field("sigma of Gaussian")).to_be_visible()
    assert sticking_out(visit) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_error(visitor: Callable[..., Visit], axe: str, scheme: str) -> None:
    visit = opened(visitor(color_scheme=scheme), *RUNS[:2])
    visit.card(0).editor.fill("Gaussian(sigma=)")
    expect(visit.card(0).error).to_be_visible()
    assert violations(visit, axe) == []


def test_a_search(visit: Visit, axe: str) -> None:
    """The third question, with its number to find and its button."""
    visit.open("Gaussian(sigma=?) * 10", RUNS[1], ask="calibrate")
    expect(visit.card(0).number).to_have_text("sigma = 11.797296")
    visit.card(0).expect_done()
    expect(visit.page.locator("#view table").first).to_be_visible()
    assert violations(visit, axe) == []


def test_a_form_with_parts_and_every_kind_of_field(visit: Visit, axe: str) -> None:
    opened(visit, PARTS)
    expect(visit.card().field("scale of Laplace")).to_be_visible()
    assert violations(visit, axe) == []


def test_the_share_dialog(visit: Visit, axe: str) -> None:
    opened(visit, RUNS[0])
    visit.page.get_by_role("button", name="Share this page").click()
    expect(visit.page.get_by_role("dialog")).to_be_visible()
    assert violations(visit, axe) == []


def test_open_menus(visit: Visit, axe: str) -> None:
    """The list of exports and the palette of a run."""
    opened(visit, RUNS[0])
    visit.page.locator("summary", has_text="Export").click()
    visit.card().element.get_by_label("Colour of this run").evaluate("summary => { summary.parentNode.open = true; }")
    expect(visit.card().element.get_by_role("button", name="Colour green")).to_be_visible()
    assert violations(visit, axe) == []


def test_the_empty_page(visit: Visit, axe: str) -> None:
    visit.open()
    expect(visit.page.get_by_text("No run yet")).to_be_visible()
    found: dict[str, list[str]] = {}
    for view in VIEWS:
        visit.view(view)
        found[view] = violations(visit, axe)
    assert not any(found.values()), found
