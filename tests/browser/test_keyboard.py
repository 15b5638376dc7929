"""Without a mouse: everything is reached by Tab and done by keys, and the focus is never lost."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

import tightrope as tr

from .visits import Visit

RUN, OTHER = "Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10"
STEPS_MAX = 90  # of Tab, through all of the page


def tab_to(visit: Visit, target: Locator) -> None:
    """Presses Tab until the target has the focus."""
    for _ in range(STEPS_MAX):
        if target.evaluate("element => element === document.activeElement"):
            return
        visit.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {target}")


def opened(visit: Visit, *runs: str) -> Visit:
    visit.open(*runs)
    for place, text in enumerate(runs):
        visit.card(place).expect_epsilon(text)
    visit.wait_for_table()
    return visit


def press(visit: Visit, *keys: str) -> None:
    for key in keys:
        visit.page.keyboard.press(key)


def test_the_first_stop_leads_to_the_charts(visit: Visit) -> None:
    opened(visit, RUN)
    press(visit, "Tab")
    assert visit.focus == "Skip to the charts"
    press(visit, "Enter")
    assert visit.page.evaluate("document.activeElement.id") == "views"
    visit.card().expect_text(RUN)  # the address of the skip is no state of the page


def test_a_slider(visit: Visit) -> None:
    card = opened(visit, RUN).card()
    tab_to(visit, card.slider("sigma of Gaussian"))
    press(visit, *["ArrowRight"] * 5)
    sigma = card.field("sigma of Gaussian").input_value()
    assert float(sigma) > 2
    card.expect_epsilon(f"Gaussian(sigma={sigma}) * 3")
    expect(card.slider("sigma of Gaussian")).to_be_focused()
    expect(card.slider("sigma of Gaussian")).to_have_attribute("aria-valuetext", sigma)


def test_the_tabs(visit: Visit) -> None:
    """One stop for all of them; arrows go round."""
    opened(visit, RUN)
    tab_to(visit, visit.page.get_by_role("tab", selected=True))
    for name in ("ε over steps", "Trade-off", "Risk", "Classic bounds", "Error budget", "Audit", "δ over ε"):
        press(visit, "ArrowRight")
        tab = visit.page.get_by_role("tab", name=name)
        expect(tab).to_be_focused()
        expect(tab).to_have_attribute("aria-selected", "true")
        expect(visit.page.get_by_role("tabpanel", name=name)).to_be_visible()
    press(visit, "ArrowLeft")
    expect(visit.page.get_by_role("tab", name="Audit")).to_be_focused()
    press(visit, "Home")
    expect(visit.page.get_by_role("tab", name="δ over ε")).to_be_focused()


def test_the_chart_is_read_pinned_and_zoomed(visit: Visit) -> None:
    opened(visit, RUN, OTHER)
    tab_to(visit, visit.plot)
    press(visit, "ArrowRight", "ArrowRight", "ArrowRight")
    low, high = str(tr.parse(RUN).delta(epsilon=0.2))[1:-1].split(", ")
    expect(visit.status).to_have_text(f"Run 1, 0.2, {low} to {high}")
    press(visit, "ArrowDown")
    low, high = str(tr.parse(OTHER).delta(epsilon=0.2))[1:-1].split(", ")
    expect(visit.status).to_have_text(f"Run 2, 0.2, {low} to {high}")
    press(visit, "Enter")
    expect(visit.page.locator("#view tr.pinned").get_by_role("rowheader")).to_have_text("0.2 (pinned)")
    expect(visit.plot).to_be_focused()
    press(visit, "+")
    visit.wait("() => location.hash.includes('zoom=')")
    press(visit, "0")
    visit.wait_said("zoom", [])
    expect(visit.plot).to_be_focused()


def test_what_is_asked(visit: Visit) -> None:
    card = opened(visit, RUN).card()
    tab_to(visit, visit.page.get_by_role("radio", name="ε at δ"))
    press(visit, "ArrowRight")
    expect(card.number).to_have_text(f"δ in {tr.parse(RUN).delta(epsilon=1.0)}")
    expect(visit.page.get_by_role("radio", name="δ at ε")).to_be_focused()


def test_a_target(visit: Visit) -> None:
    card = opened(visit, RUN).card()
    tab_to(visit, visit.handle("delta"))
    press(visit, "ArrowUp", "ArrowUp")
    delta = visit.given("delta")
    assert float(delta) > 1e-5
    card.expect_epsilon(RUN, float(delta))
    assert visit.focus == "delta"


def test_the_menu_of_exports(visit: Visit) -> None:
    """Escape closes it, and the focus is where it was; after a file was saved it is not lost either."""
    opened(visit, RUN)
    summary = visit.page.locator("summary", has_text="Export")
    tab_to(visit, summary)
    press(visit, "Enter")
    svg = visit.page.get_by_role("button", name="SVG: export this view")
    expect(svg).to_be_visible()
    press(visit, "Tab", "Tab")
    expect(svg).to_be_focused()
    press(visit, "Escape")
    expect(svg).to_be_hidden()
    expect(summary).to_be_focused()
    press(visit, "Enter", "Tab", "Tab")
    with visit.page.expect_download():
        press(visit, "Enter")
    expect(visit.status).to_have_text("SVG saved")
    assert visit.focus != "body"


def test_chips(visit: Visit) -> None:
    """Added from its list, moved, removed: the focus stays in the form of the run."""
    card = opened(visit, "Gaussian(sigma=4) * 3").card()
    tab_to(visit, card.element.get_by_role("combobox", name="Add a transformation"))
    press(visit, "p")  # a list of the browser: letters choose
    expect(card.element.locator(".chip-name")).to_have_text(["× count", ".poisson"])
    assert visit.focus != "body"
    tab_to(visit, card.element.get_by_role("button", name="Move × count:"))
    press(visit, "ArrowRight")
    expect(card.element.locator(".chip-name")).to_have_text([".poisson", "× count"])
    tab_to(visit, card.element.get_by_role("button", name="Remove × count"))
    press(visit, "Enter")
    expect(card.element.locator(".chip-name")).to_have_text([".poisson"])
    assert card.element.evaluate("card => card.contains(document.activeElement)")


def test_runs_are_hidden_doubled_coloured_and_removed(visit: Visit) -> None:
    opened(visit, RUN, OTHER)
    card = visit.card(1)
    tab_to(visit, card.element.get_by_label("Colour of this run"))
    press(visit, "Enter", "Tab", "Enter")
    visit.wait_said("colours", ["0,0"])
    assert visit.focus != "body"
    tab_to(visit, card.element.get_by_role("button", name="Hide this run"))
    press(visit, "Enter")
    visit.wait_said("hidden", ["1"])
    assert visit.focus == "Show this run"
    tab_to(visit, card.element.get_by_role("button", name="Duplicate this run"))
    press(visit, "Enter")
    expect(visit.cards()).to_have_count(3)
    assert visit.focus != "body"
    tab_to(visit, visit.card(2).element.get_by_role("button", name="Remove this run"))
    press(visit, "Enter")
    expect(visit.cards()).to_have_count(2)
    assert visit.focus == "Expression"


def test_the_share_dialog(visit: Visit) -> None:
    opened(visit, RUN)
    tab_to(visit, visit.page.get_by_role("button", name="Share this page"))
    press(visit, "Enter")
    dialog = visit.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert dialog.evaluate("dialog => dialog.contains(document.activeElement)")
    press(visit, "Escape")
    expect(dialog).to_be_hidden()
    assert visit.focus == "Share this page"


def test_buttons_beside_the_chart_leave_the_focus_somewhere(visit: Visit) -> None:
    """Those that go away when they are pressed."""
    visit.open(RUN, zoom="0,3", pins="curve:1")
    visit.card().expect_epsilon(RUN)
    visit.wait("() => document.querySelector('tr.pinned') !== null")
    for name, said in (("Show all", "zoom"), ("Clear pins", "pins")):
        tab_to(visit, visit.page.get_by_role("button", name=name))
        press(visit, "Enter")
        visit.wait_said(said, [])
        expect(visit.page.get_by_role("button", name=name)).to_have_count(0)
        assert visit.focus != "body", name


def test_reading_the_table_goes_on_while_answers_come(visit: Visit) -> None:
    """The region that scrolls keeps the focus, and what is unfolded stays so, when the page draws anew."""
    opened(visit, RUN, OTHER)
    tab_to(visit, visit.page.get_by_role("region", name="Delta over epsilon"))
    visit.page.evaluate("() => matchMedia('(prefers-color-scheme: dark)')")
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_function("() => getComputedStyle(document.body).backgroundColor === 'rgb(15, 23, 30)'")
    visit.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert visit.focus.startswith("Delta over epsilon")
    visit.view("Risk")
    unfolded = visit.page.locator("#view details").first
    expect(unfolded).to_be_visible()
    expect(visit.page.locator(".unsettled")).to_have_count(0)
    unfolded.locator("summary").click()
    visit.card(0).name.fill("mine")
    visit.card(0).name.press("Enter")
    expect(visit.page.locator("#view .of-run")).to_have_text(re.compile("mine"))
    expect(unfolded).to_have_attribute("open", "")
