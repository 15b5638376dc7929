"""The form of a run: chips come, change places and go, parts are composed, numbers typed; the text says the same."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from .visits import Card, Visit

COUNTED = "(Gaussian(sigma=4) * 3).poisson(rate=0.1)"  # sampled once, then three times
SAMPLED = "Gaussian(sigma=4).poisson(rate=0.1) * 3"  # sampled each time


def handle(card: Card, chip: str) -> Locator:
    """What a chip is moved by."""
    return card.element.get_by_role("button", name=f"Move {chip}:")


def chips(card: Card) -> Locator:
    """The names of the chips, in their order."""
    return card.element.locator(".chip-name")


def test_chips_are_added_and_their_numbers_typed(visit: Visit) -> None:
    card = visit.open("Gaussian(sigma=4)").card()
    card.choose("Add a transformation", "× count (repeat it)")
    card.expect_text("Gaussian(sigma=4) * 10")
    card.field("count").fill("3")
    card.expect_text("Gaussian(sigma=4) * 3")
    card.choose("Add a transformation", "poisson")
    expect(chips(card)).to_have_text(["× count", ".poisson"])
    card.field("rate of poisson").fill("0.1")
    card.expect_text(COUNTED)
    card.expect_epsilon(COUNTED)


def test_the_order_of_chips_counts_by_mouse(visit: Visit) -> None:
    """Dragged by its handle over the other one: another text and another epsilon."""
    card = visit.open(COUNTED).card()
    before = card.expect_epsilon(COUNTED)
    start, end = handle(card, ".poisson").bounding_box(), handle(card, "× count").bounding_box()
    assert start is not None
    assert end is not None
    visit.page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    visit.page.mouse.down()
    visit.page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=8)
    visit.page.mouse.up()
    card.expect_text(SAMPLED)
    assert card.expect_epsilon(SAMPLED) != before
    expect(chips(card)).to_have_text([".poisson", "× count"])


def test_the_order_of_chips_counts_by_keys(visit: Visit) -> None:
    """The handle keeps the focus, so that a key can be pressed again."""
    card = visit.open(COUNTED).card()
    card.expect_epsilon(COUNTED)
    handle(card, ".poisson").focus()
    visit.page.keyboard.press("ArrowLeft")
    card.expect_text(SAMPLED)
    assert visit.focus.startswith("Move .poisson")
    visit.page.keyboard.press("ArrowRight")
    card.expect_text(COUNTED)
    assert visit.focus.startswith("Move .poisson")
    card.expect_epsilon(COUNTED)


def test_a_chip_of_a_named_run_moves_beneath_the_name(visit: Visit) -> None:
    """The name stays the last word: no key moves a chip past what nobody sees."""
    card = visit.open(f"({SAMPLED}).named('mine')").card()
    expect(card.name).to_have_value("mine")
    handle(card, "× count").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("ArrowLeft")
    visit.page.keyboard.press("ArrowLeft")
    card.expect_text(f"{COUNTED}.named('mine')")
    expect(card.name).to_have_value("mine")


def test_a_chip_is_removed_and_the_focus_stays_in_the_form(visit: Visit) -> None:
    card = visit.open(SAMPLED).card()
    card.expect_epsilon(SAMPLED)
    card.press("Remove .poisson")
    card.expect_text("Gaussian(sigma=4) * 3")
    card.expect_epsilon("Gaussian(sigma=4) * 3")
    assert visit.focus != "body"


def test_another_mechanism_is_composed_and_removed(visit: Visit) -> None:
    card = visit.open("Gaussian(sigma=4) * 3").card()
    card.expect_epsilon("Gaussian(sigma=4) * 3")
    card.choose("Compose with", "Laplace")
    expect(card.element.get_by_role("group", name="Laplace")).to_be_visible()
    card.field("scale of Laplace").fill("10")
    card.expect_text("Gaussian(sigma=4) * 3 + Laplace(scale=10)")
    card.expect_epsilon("Gaussian(sigma=4) * 3 + Laplace(scale=10)")
    card.press("Remove this part: Gaussian")
    card.expect_text("Laplace(scale=10)")
    card.expect_epsilon("Laplace(scale=10)")
    assert visit.focus != "body"


def test_another_mechanism_in_place_of_one(visit: Visit) -> None:
    card = visit.open("Gaussian(sigma=4) * 3").card()
    card.expect_epsilon("Gaussian(sigma=4) * 3")
    card.choose("Mechanism", "Laplace")
    expect(card.field("scale of Laplace")).to_be_visible()
    text = card.editor.input_value()
    assert text.startswith("Laplace(scale=")
    assert text.endswith(" * 3")
    card.expect_epsilon(text)


def test_an_argument_that_may_be_left_out(visit: Visit) -> None:
    card = visit.open("Gaussian(sigma=4)").card()
    card.choose("Another argument of Gaussian", "sensitivity")
    card.field("sensitivity of Gaussian").fill("2")
    card.expect_text("Gaussian(sigma=4, sensitivity=2)")
    card.expect_epsilon("Gaussian(sigma=2)")
    card.press("Leave out sensitivity of Gaussian")
    card.expect_text("Gaussian(sigma=4)")
    assert visit.focus != "body"


def test_training_chooses_its_loader_from_a_list(visit: Visit) -> None:
    text = "training(records=6000, batch=60, epochs=2, sigma=1.1)"
    card = visit.open(text).card()
    card.expect_epsilon(text)
    card.choose("Another argument of training", "sampling")
    card.choose("sampling of training", "fixed")
    fixed = "training(records=6000, batch=60, epochs=2, sigma=1.1, sampling='fixed')"
    card.expect_text(fixed)
    card.expect_epsilon(fixed)
