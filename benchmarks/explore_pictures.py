"""The pictures of docs/explore.md: the page as it is, in both themes.

Usage: make pictures
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

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
)


def shot(page: Page, address: str, view: str, path: Path) -> None:
    page.goto(f"{address}&view={view}&log={1 if view == 'tradeoff' else ''}")
    expect(page.locator(".result[aria-busy=false]")).to_have_count(len(RUNS), timeout=60_000)
    expect(page.locator(".beside tbody tr").nth(8)).to_be_attached(timeout=60_000)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)


def main() -> int:
    command = [sys.executable, "-m", "tightrope", "explore", "--no-browser", *RUNS]
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    flags = ["--disable-gpu", "--disable-background-networking", *(["--no-sandbox"] if os.getuid() == 0 else [])]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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
    print(*(f"{name}.png" for name, *_ in PICTURES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
