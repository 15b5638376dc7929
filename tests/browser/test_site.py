"""The site that make docs built, page by page: nothing from outside, no formula in red, nothing wider than a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

SITE = Path(__file__).resolve().parent.parent.parent / "build" / "site"
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html"))
PHONE = {"width": 360, "height": 760}
DESK = {"width": 1280, "height": 900}
LOOKS = {"phone, dark": (PHONE, "dark"), "desk, light": (DESK, "light")}
CLOSELY = ("index", "start/training", "concepts/attacker", "howto/index", "reference/errors", "proofs/poisson")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module", params=LOOKS)
def look(request: pytest.FixtureRequest, browser: Browser, origin: str) -> Iterator[tuple[Page, list[str]]]:
    """A page of this size and theme, and what went wrong on it so far."""
    viewport, theme = LOOKS[request.param]
    context = browser.new_context(viewport=viewport, color_scheme=theme)  # type: ignore[arg-type]
    page, wrong = context.new_page(), list[str]()
    page.on("request", lambda asked: None if asked.url.startswith((origin, "data:")) else wrong.append(asked.url))
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page, wrong
    context.close()


def wait_for_formulas(page: Page) -> None:
    """Until they are set, and fit."""
    page.wait_for_function("window.MathJax && MathJax.startup && MathJax.startup.promise")
    page.evaluate("MathJax.startup.promise.then(() => true)")


@pytest.mark.parametrize("name", PAGES)
def test_each_page_is_whole(look: tuple[Page, list[str]], origin: str, name: str) -> None:
    page, wrong = look
    wrong.clear()
    page.goto(f"{origin}/{name}")
    if page.locator(".math").count():
        wait_for_formulas(page)
        assert page.locator("mjx-merror").count() == 0
        assert page.locator("mjx-container").count() >= page.locator(".math").count()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert wrong == []


def test_a_word_is_found(look: tuple[Page, list[str]], origin: str) -> None:
    page, wrong = look
    wrong.clear()
    page.goto(f"{origin}/search.html?q=hockey-stick")
    page.locator("#search-results li a").first.wait_for()
    assert wrong == []


@pytest.mark.parametrize("name", CLOSELY)
def test_everybody_can_read_it(look: tuple[Page, list[str]], origin: str, name: str) -> None:
    """No violation that axe-core finds, in either theme."""
    page, _ = look
    page.goto(f"{origin}/{name}.html")
    if page.locator(".math").count():
        wait_for_formulas(page)
    page.add_script_tag(path=os.environ["AXE"])
    found = page.evaluate("axe.run(document.querySelector('.content'), {resultTypes: ['violations']})")
    told = [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found["violations"]]
    assert told == []
