"""The least noise for a target: dragged on the chart, by mouse and by keys, and found by the package as well."""

from __future__ import annotations

from playwright.sync_api import expect

import tightrope as tr
from tightrope.core.values.calls import short

from .visits import Visit

RUN, ASKED = "Gaussian(sigma=2) * 10", "Gaussian(sigma=?) * 10"


def expect_least(visit: Visit, epsilon: str, delta: str) -> str:
    """The card shows what tr.calibrate finds, with both bounds; the value."""
    found = tr.calibrate(
        lambda sigma: tr.parse(f"Gaussian(sigma={sigma!r}) * 10"), epsilon=float(epsilon), delta=float(delta)
    )
    assert found.missed is not None
    card = visit.card()
    expect(card.number).to_have_text(f"sigma = {short(found.value)}")
    expect(card.result).to_contain_text(f"meets ε ≤ {epsilon} at δ = {delta}: ε in {found.bound}")
    expect(card.result).to_contain_text(f"sigma = {short(found.missed.value)} misses it: ε in {found.missed.bound}")
    card.expect_done()
    return short(found.value)


def test_the_target_is_dragged_with_the_mouse(visit: Visit) -> None:
    card = visit.open(RUN).card()
    card.expect_epsilon(RUN)
    visit.ask("calibrate")
    card.expect_text(ASKED)
    expect_least(visit, "1", "1e-5")
    visit.wait_for_table()
    box, plot = visit.handle("epsilon").bounding_box(), visit.plot.bounding_box()
    assert box is not None
    assert plot is not None
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] - plot["width"] / 4, box["y"] + box["height"] / 2, steps=12)
    visit.page.mouse.up()
    epsilon = visit.given("epsilon")
    assert 0 < float(epsilon) < 1
    visit.wait_said("epsilon", [epsilon])
    value = expect_least(visit, epsilon, "1e-5")
    card.press("Use this value in place of ?")
    card.expect_text(f"Gaussian(sigma={value}) * 10")
    card.expect_epsilon(f"Gaussian(sigma={value}) * 10")
    visit.wait_said("ask", [])
    assert visit.focus != "body"


def test_the_targets_move_by_keys(visit: Visit) -> None:
    """Both handles: epsilon on its axis, delta on its own."""
    visit.open(ASKED, ask="calibrate")
    expect_least(visit, "1", "1e-5")
    visit.wait_for_table()
    handle = visit.handle("epsilon")
    handle.focus()
    before = float(handle.get_attribute("aria-valuenow") or "nan")
    for _ in range(3):
        visit.page.keyboard.press("ArrowRight")
    epsilon = visit.given("epsilon")
    assert float(epsilon) > 1
    expect(handle).to_have_attribute("aria-valuetext", f"ε = {epsilon}")
    assert float(handle.get_attribute("aria-valuenow") or "nan") > before
    visit.handle("delta").focus()
    visit.page.keyboard.press("PageDown")
    delta = visit.given("delta")
    assert float(delta) < 1e-5
    expect_least(visit, epsilon, delta)
    assert visit.focus == "delta"


def test_another_number_is_found(visit: Visit) -> None:
    """The most uses in place of the least noise, chosen from the list of all numbers."""
    visit.open("Gaussian(sigma=20) * 10").card().expect_epsilon("Gaussian(sigma=20) * 10")
    visit.ask("calibrate")
    card = visit.card()
    card.expect_text(ASKED)
    value = expect_least(visit, "1", "1e-5")
    visit.page.get_by_label("The number to find").select_option(label="count")
    card.expect_text(f"Gaussian(sigma={value}) * ?")
    expect(card.number).to_have_text("count = 10")


def test_a_search_is_drawn_with_what_it_found(visit: Visit) -> None:
    """The curve goes through the target: its table is that of the value that was found."""
    visit.open(ASKED, ask="calibrate")
    value = expect_least(visit, "1", "1e-5")
    rows = visit.wait_for_table()
    (row,) = [each for each in rows if each[0] == "0"]
    assert row[1] == str(tr.parse(f"Gaussian(sigma={value}) * 10").delta(epsilon=0.0))


def test_a_search_can_be_left(visit: Visit) -> None:
    """Who goes back to another question sees a number again, or the target that is still looked for."""
    card = visit.open(RUN).card()
    card.expect_epsilon(RUN)
    visit.ask("calibrate")
    expect_least(visit, "1", "1e-5")
    visit.ask("ε at δ")
    expect(visit.page.get_by_role("radio", name="ε at δ")).to_be_checked()
    if "?" in card.editor.input_value():
        expect(visit.page.get_by_role("textbox", name="epsilon")).to_be_visible()


def test_a_question_mark_in_a_name_asks_nothing(visit: Visit) -> None:
    text = "Gaussian(sigma=2).named('why?')"
    card = visit.open(text).card()
    card.expect_epsilon(text)
    assert visit.wait_for_table()[0] == ["epsilon", "why?"]
    visit.ask("calibrate")
    card.expect_text("Gaussian(sigma=?).named('why?')")
    expect(card.number).to_have_text("sigma = 3.7306326")
    card.press("Use this value in place of ?")
    card.expect_text("Gaussian(sigma=3.7306326).named('why?')")
