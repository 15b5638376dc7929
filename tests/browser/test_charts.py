"""The chart: what the mouse reads is what the server said; places are pinned, and zooming asks for finer ones."""

from __future__ import annotations

import re

from playwright.sync_api import expect

import tightrope as tr

from .visits import Visit

RUN, OTHER = "Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10"


def opened(visit: Visit, *runs: str) -> Visit:
    """A page whose curve is the fine one."""
    visit.open(*runs)
    for place, text in enumerate(runs):
        visit.card(place).expect_epsilon(text)
    visit.wait_for_table()
    return visit


def over(visit: Visit, share: float, height: float = 0.5) -> tuple[float, float]:
    """A place in the plot, by its shares of width and height."""
    box = visit.plot.bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + height * box["height"]


def test_hovering_reads_both_ends(visit: Visit) -> None:
    """At a third of an axis from 0 to 6: epsilon 2, and delta there as the package has it."""
    opened(visit, RUN)
    visit.page.mouse.move(*over(visit, 1 / 3))
    tip = visit.page.locator(".tr-tip")
    expect(tip.locator(".tr-tip-value")).to_have_text(f"2: {tr.parse(RUN).delta(epsilon=2.0)}")
    expect(tip.locator(".tr-tip-label")).to_have_text("Run 1")
    visit.page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_hovering_reads_all_runs(visit: Visit) -> None:
    opened(visit, RUN, OTHER)
    visit.page.mouse.move(*over(visit, 0.1))
    values = visit.page.locator(".tr-tip-value")
    expect(values).to_have_text([f"0.6: {tr.parse(each).delta(epsilon=0.6)}" for each in (RUN, OTHER)])


def test_a_click_pins_and_another_one_unpins(visit: Visit) -> None:
    opened(visit, RUN)
    visit.page.mouse.click(*over(visit, 0.25))
    pinned = visit.page.locator("#view tr.pinned")
    expect(pinned).to_have_count(1)
    expect(pinned.get_by_role("rowheader")).to_have_text("1.5 (pinned)")
    expect(pinned.get_by_role("cell")).to_have_text(str(tr.parse(RUN).delta(epsilon=1.5)))
    visit.wait_said("pins", ["curve:1.5"])
    visit.card().editor.fill(OTHER)  # a pin is a place, whatever runs
    visit.card().expect_epsilon(OTHER)
    visit.page.get_by_role("button", name="Clear pins").click()
    expect(pinned).to_have_count(0)
    visit.wait_said("pins", [])


def test_zooming_asks_for_finer_places(visit: Visit) -> None:
    """A drag over the plot; its range is in the address, and a double click shows everything again."""
    opened(visit, RUN)
    before = [each[0] for each in visit.rows()]
    asked = len(visit.requests)
    visit.page.mouse.move(*over(visit, 0.25))
    visit.page.mouse.down()
    visit.page.mouse.move(*over(visit, 0.5), steps=6)
    visit.page.mouse.up()
    visit.wait("() => location.hash.includes('zoom=')")
    low, high = map(float, visit.said()["zoom"][0].split(","))
    assert 1 <= low <= 1.5
    assert 3 <= high <= 4.5
    visit.wait("high => document.querySelector('#view tbody tr:last-child th').textContent === String(high)", high)
    visit.wait_for_table()
    places = [float(each[0]) for each in visit.rows()[1:]]
    assert all(low <= each <= high for each in places)
    for place, interval in visit.rows()[1:4]:
        assert interval == str(tr.parse(RUN).delta(epsilon=float(place)))
    curves = [each.asked for each in visit.questions(asked) if each.spot.endswith(".curve")]
    assert (curves[-1]["from"], curves[-1]["to"]) == (low, high)
    visit.page.mouse.dblclick(*over(visit, 0.5))
    visit.wait_said("zoom", [])
    visit.wait("places => document.querySelector('#view tbody tr:last-child th').textContent === places.at(-1)", before)
    assert [each[0] for each in visit.wait_for_table()] == before
    visit.wait_said("pins", [])  # a double click is no pin


def test_the_target_of_delta_is_dragged(visit: Visit) -> None:
    """The line across the chart is the question of every card."""
    opened(visit, RUN)
    box = visit.handle("delta").bounding_box()
    assert box is not None
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 60, steps=10)
    visit.page.mouse.up()
    delta = visit.given("delta")
    assert 1e-5 < float(delta) < 1e-2
    visit.card().expect_epsilon(RUN, float(delta))
    visit.wait_said("delta", [delta])


def test_epsilon_over_steps(visit: Visit) -> None:
    """The last place is the whole run; in epochs for a training run."""
    training = "training(records=6000, batch=60, epochs=3, sigma=1)"
    opened(visit, training)
    visit.view("ε over steps")
    visit.wait("() => document.querySelector('#view tbody tr:last-child th')?.textContent === '300'")
    assert visit.rows()[-1][1] == str(tr.parse(training).epsilon(delta=1e-5))
    visit.page.get_by_label("epochs of training runs").click()
    visit.wait("() => document.querySelector('#view tbody tr:last-child th')?.textContent === '3'")
    assert [each[0] for each in visit.rows()] == ["epochs", "1", "2", "3"]
    expect(visit.page.get_by_label("epochs of training runs")).to_be_focused()


def test_the_trade_off_and_its_logarithmic_axes(visit: Visit) -> None:
    opened(visit, RUN)
    visit.view("Trade-off")
    visit.wait("() => [...document.querySelectorAll('#view tbody th')].some((cell) => cell.textContent === '1')")
    for place, interval in visit.wait_for_table()[1:]:
        low, high = map(float, interval[1:-1].split(", "))
        bound = tr.parse(RUN).tradeoff(fpr=float(place))
        assert low <= bound.upper
        assert bound.lower <= high
    visit.page.get_by_label("Logarithmic axes").check()
    expect(visit.plot).to_have_attribute("aria-label", re.compile("true positive rate against false positive rate"))
    visit.wait_said("log", ["1"])
    expect(visit.page.get_by_label("Logarithmic axes")).to_be_focused()


def test_the_risk_of_one_person(visit: Visit) -> None:
    """The sentences of the package, and a target for the rate of wrong accusations."""
    opened(visit, RUN)
    visit.view("Risk")
    sentences = visit.page.locator("#view dd")
    expect(sentences).to_have_text([row.sentence for row in tr.parse(RUN).risk(0.1, 0.001, 1e-4, 1e-5).rows])
    visit.handle("rate of wrong accusations").focus()
    visit.page.keyboard.press("PageUp")
    rate = visit.given("rate of wrong accusations")
    assert float(rate) > 0.001
    expect(sentences).to_have_text([row.sentence for row in tr.parse(RUN).risk(0.1, float(rate), 1e-4, 1e-5).rows])


def test_classic_bounds(visit: Visit) -> None:
    opened(visit, RUN)
    visit.view("Classic bounds")
    compared = tr.compare(tr.parse(RUN), delta=1e-5)
    visit.wait("rows => document.querySelectorAll('#view tbody tr').length === rows", 1 + len(compared.rows))
    rows = visit.rows()[1:]
    assert rows[0][1] == str(compared.truth)
    assert [row.method in told[0] for row, told in zip(compared.rows, rows[1:], strict=True)] == [True] * len(rows[1:])
    upper = compared.truth.upper
    assert all(float(told[1]) >= upper for told in rows[1:] if "upper bound" in told[0] and told[1] not in ("–", "∞"))
