"""The pictures of docs/explore.md: the page as it is, in both themes.

Usage: make pictures
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from tightrope import ledger

FIGURES = Path(__file__).resolve().parent.parent / "docs" / "figures"
RUNS = (
    "training(records=60000, batch=256, epochs=15, sigma=1.1).named('photo tagger')",
    "(Gaussian(sigma=1).poisson(rate=0.01) * 1000).named('search logs')",
    "(Laplace(scale=10) * 10 + Gaussian(sigma=5)).named('survey')",
)
# Name, width, height, theme, view.
PICTURES = (
    ("explore_light", 1440, 900, "light", "curve"),
    ("explore_dark", 1440, 900, "dark", "tradeoff"),
    ("explore_ledger", 1440, 900, "light", "ledger"),
)
WHOLE: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6}
PAID = (("health", "ana", "Gaussian(sigma=9)", 9), ("income", "ben", "Laplace(scale=8)", 6))


def keep(url: str) -> None:
    """A ledger of a small team."""
    with ledger.init(url, principal="officer") as kept:
        kept.create("census", epsilon=3.0, **WHOLE)
        kept.create("search-logs", kind="odometer", **WHOLE)
        for name, who, job, count in PAID:
            kept.create(f"census/{name}", epsilon=2.0, parent="census", **WHOLE)
            with ledger.open(url, principal=who) as mine:
                for at in range(count):
                    with mine.spend(f"census/{name}", job, key=f"{name}-{at}"):
                        time.sleep(0.5)
                mine.reserve({f"census/{name}": job}, key=f"{name}-held")


def shot(page: Page, address: str, view: str, path: Path) -> None:
    page.goto(f"{address}&view={view}&log={1 if view == 'tradeoff' else ''}")
    expect(page.locator(".result[aria-busy=false]")).to_have_count(len(RUNS), timeout=60_000)
    expect(page.locator(".beside tbody tr").nth(8)).to_be_attached(timeout=60_000)
    expect(page.locator("#view .unsettled")).to_have_count(0, timeout=60_000)
    if view == "ledger":
        expect(page.get_by_role("region", name="Newest jobs")).to_be_attached(timeout=60_000)
    page.screenshot(path=path)


def main() -> int:
    folder = tempfile.TemporaryDirectory()
    keep(f"sqlite:///{folder.name}/budget.db")
    command = [sys.executable, "-m", "tightrope", "explore", "--no-browser", "--ledger", "budget.db", *RUNS]
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    flags = ["--disable-gpu", "--disable-background-networking", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder.name)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            for name, width, height, theme, view in PICTURES:
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
                shot(page, address, view, FIGURES / f"{name}.png")
                page.close()
            browser.close()
    finally:
        server.terminate()
        server.wait()
        folder.cleanup()
    print(*(f"{name}.png" for name, *_ in PICTURES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
