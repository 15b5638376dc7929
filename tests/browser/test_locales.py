"""Numbers in other spellings: the digits are the server's, one by one, and what is typed means what it says."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

import tightrope as tr

from .visits import Visit

RUN = "training(records=60000, batch=256, epochs=15, sigma=1.1)"
SPELT = {
    "de-DE": str.maketrans(".", ","),
    "ar-EG": str.maketrans("0123456789.", "٠١٢٣٤٥٦٧٨٩٫"),
}


def spelt(text: str, locale: str) -> str:
    """As the page spells an interval there."""
    between = "; " if locale == "de-DE" else ", "
    return between.join(each.translate(SPELT[locale]) for each in text.split(", "))


@pytest.mark.parametrize("locale", SPELT)
def test_the_digits_are_the_same(visitor: Callable[..., Visit], locale: str) -> None:
    visit = visitor(locale=locale).open(RUN)
    digits = spelt(str(tr.parse(RUN).epsilon(delta=1e-5)), locale)
    assert "1,13" in digits or "١٫١٣" in digits
    expect(visit.card().number).to_have_text(f"ε in {digits}")
    rows = visit.wait_for_table()
    assert rows[1][1] == spelt(str(tr.parse(RUN).delta(epsilon=0.0)), locale)


@pytest.mark.parametrize(("locale", "typed"), [("de-DE", "1,5"), ("ar-EG", "١٫٥"), ("de-DE", "1.5"), ("fr-FR", "1,5")])
def test_what_is_typed_means_a_number(visitor: Callable[..., Visit], locale: str, typed: str) -> None:
    """The text of the run has a point and plain digits, since it is an expression."""
    visit = visitor(locale=locale).open("Gaussian(sigma=2) * 3")
    card = visit.card()
    card.field("sigma of Gaussian").fill(typed)
    card.expect_text("Gaussian(sigma=1.5) * 3")
    upper = str(tr.parse("Gaussian(sigma=1.5) * 3").epsilon(delta=1e-5))[1:-1].split(", ")[1]
    expect(card.number).to_contain_text(upper.translate(SPELT.get(locale, str.maketrans(".", ","))))
    visit.wait_said("run", ["Gaussian(sigma=1.5) * 3"])


def test_the_target_of_all_runs_is_typed_with_a_comma(visitor: Callable[..., Visit]) -> None:
    visit = visitor(locale="de-DE").open("Gaussian(sigma=2) * 3", ask="delta")
    visit.page.get_by_role("textbox", name="epsilon").fill("1,5")
    bound = tr.parse("Gaussian(sigma=2) * 3").delta(epsilon=1.5)
    expect(visit.card().number).to_have_text(f"δ in {spelt(str(bound), 'de-DE')}")
    visit.wait_said("epsilon", ["1.5"])


def test_a_link_means_the_same_everywhere(visitor: Callable[..., Visit]) -> None:
    """Zoom, pins and delta are in plain digits in the address, whoever made it."""
    visit = visitor(locale="ar-EG").open("Gaussian(sigma=2) * 3", pins="curve:1.5")
    pinned = visit.page.locator("#view tr.pinned")
    expect(pinned.get_by_role("rowheader")).to_have_text("١٫٥ (pinned)")
    box = visit.plot.bounding_box()
    assert box is not None
    visit.wait_for_table(12)
    visit.page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + 100)
    visit.wait_said("pins", ["curve:1.5,curve:4.5"])
