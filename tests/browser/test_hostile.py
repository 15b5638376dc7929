"""Whatever is typed is a text: refused in one line, never run, and the page goes on."""

from __future__ import annotations

from urllib.parse import urlencode

from playwright.sync_api import expect

from .visits import Visit

RUN = "Gaussian(sigma=2) * 3"
MARKUP = "<img src=x onerror=alert(1)>"
HOSTILE = {
    "import": "__import__('os').system('touch /tmp/tightrope-was-here')",
    "attribute": "Gaussian.__class__.__mro__",
    "lambda": "(lambda: 1)()",
    "markup": MARKUP,
    "script": "</textarea><script>alert(1)</script>",
    "long": "Gaussian(sigma=1)" + " + Gaussian(sigma=1)" * 500,
    "deep": "(" * 3000 + "Gaussian(sigma=1)" + ")" * 3000,
    "unary": "Gaussian(sigma=" + "-" * 5000 + "1)",
    "huge": "Gaussian(sigma=1) * 10**10**10",
    "zero": "Gaussian(sigma=1\x00)",
    "wide": "Gaussian(sigma=１)",
}


def test_an_error_line_and_nothing_else(visit: Visit) -> None:
    """One after the other on one page, which answers a right text in between."""
    asked: list[str] = []
    visit.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    card = visit.open(RUN).card()
    for sigma, (name, text) in enumerate(HOSTILE.items(), 1):
        card.editor.fill(f"Gaussian(sigma={sigma})")
        card.expect_epsilon(f"Gaussian(sigma={sigma})")
        card.editor.fill(text)
        expect(card.error, name).to_be_visible()
        line = card.error.inner_text()
        assert 0 < len(line) < 400, name
        assert "\n" not in line, name
        assert "Traceback" not in line, name
        assert visit.page.locator("img:not([src^='/page/']), #runs script").count() == 0, name
        assert asked == [], name


def test_markup_as_a_name_is_a_name(visit: Visit) -> None:
    asked: list[str] = []
    visit.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    visit.open(RUN)
    card = visit.card()
    card.expect_epsilon(RUN)
    card.name.fill(MARKUP)
    card.name.press("Enter")
    named = f"({RUN}).named('{MARKUP}')"
    card.expect_text(named)
    card.expect_epsilon(named)
    expect(visit.page.locator("#view thead th").nth(1)).to_have_text(MARKUP)
    for view in ("ε over steps", "Trade-off", "Risk", "Classic bounds", "Error budget", "δ over ε"):
        visit.view(view)
        expect(visit.page.locator("#view").get_by_text(MARKUP).first).to_be_visible()
    assert visit.page.locator("img:not([src^='/page/'])").count() == 0
    assert asked == []


def test_an_address_with_anything_in_it(visit: Visit) -> None:
    """Whatever a link says, the page opens; what makes no sense is as usual, or refused in a line."""
    visit.go(
        f"{urlencode({'run': RUN})}&view=nothing&ask=nothing&delta=nothing&zoom=3,1&pins=x,curve:y,&current=99"
        "&colours=9,-1,x&hidden=7&axis=nothing&log=2&epsilon=-1&__proto__=1&constructor=2"
    )
    card = visit.card()
    expect(card.result.locator(".error")).to_contain_text("delta must be a number")
    visit.page.get_by_role("textbox", name="delta").fill("1e-5")
    card.expect_epsilon(RUN)
    expect(visit.page.locator("#view .notes")).to_contain_text("pins must be a number")
    visit.page.get_by_role("button", name="Clear pins").click()
    visit.wait_for_table()


def test_an_impossible_target_is_refused_in_a_line(visit: Visit) -> None:
    card = visit.open(RUN, delta="2").card()
    expect(card.result.locator(".error")).to_contain_text("delta")
    visit.page.get_by_role("textbox", name="delta").fill("")
    expect(card.result.locator(".error")).to_contain_text("delta must be a number")
    visit.page.get_by_role("textbox", name="delta").fill("1e-5")
    card.expect_epsilon(RUN)
