"""A browser, a server, and visits that end with a look at what went wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from .served import Served
from .visits import TIMEOUT, Visit

CHROMIUMS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
OPTIONS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
WIDE = {"width": 1280, "height": 900}

expect.set_options(timeout=TIMEOUT)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The first browser that is there."""
    found = [each for each in (os.environ.get("CHROMIUM"), *CHROMIUMS) if each and Path(each).exists()]
    assert found, "there is no browser: apt-get install chromium"
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found[0], args=[*OPTIONS, *as_root])
        yield started
        started.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """An explorer for all tests: whatever one of them asked, it answers the next."""
    started = Served()
    yield started
    started.close()


@pytest.fixture
def visitor(browser: Browser, server: Served) -> Iterator[Callable[..., Visit]]:
    """Opens contexts, each with its own options; at the end each is looked at."""
    visits: list[Visit] = []

    def visit(to: Served = server, **options: Any) -> Visit:
        context = browser.new_context(**{"viewport": WIDE, "locale": "en-GB", "color_scheme": "light", **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=to.origin)
        visits.append(Visit(context, to))
        return visits[-1]

    yield visit
    for each in visits:
        each.context.close()
    for each in visits:
        each.check()


@pytest.fixture
def visit(visitor: Callable[..., Visit]) -> Visit:
    """A page that was not opened yet."""
    return visitor()
