"""`make docs`: pages are staged, Sphinx executes and sets them, and the result is gone through; `serve` shows it.

Usage: python -m handbook [serve] [--port N]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import files
from pathlib import Path

from handbook.blocks import PageFault
from handbook.checked import faults
from handbook.reference import pages
from handbook.reference.schemas import SCHEMAS
from handbook.stage import FAULTS, KERNELS, ROOT, STAGED, source_of, stage

SITE = ROOT / "build" / "site"
MADE = ROOT / "build" / "site-unchecked"
TREES = ROOT / "build" / "trees"
TOLD = ROOT / "build" / "faults.txt"  # by the kernels that ran pages
IN_BLOCKS = "[mystnb.exec]"  # Sphinx about the same
# How Sphinx begins a line: the page, and a line that is not that of its source.
IN_STAGED = re.compile(rf"^{re.escape(str(STAGED))}/([^:]+)(?::\d+)?: (?:WARNING|ERROR): ", re.MULTILINE)
MATHJAX = ("/mathjax/tex-chtml.js", ".woff")  # what a page with formulas loads, of all that MathJax has


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m handbook", description="The site, in build/site.")
    parser.add_argument("what", nargs="?", choices=["build", "serve"], default="build")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    try:
        return serve(given.port) if given.what == "serve" else build()
    except KeyboardInterrupt:
        print("" if given.what == "serve" else "\ninterrupted: there is no site")
        return 0 if given.what == "serve" else 130


def build() -> int:
    shutil.rmtree(SITE, ignore_errors=True)  # what failed leaves no site that looks whole
    shutil.rmtree(TREES, ignore_errors=True)
    try:
        stage(pages())
    except PageFault as fault:
        return no_site([str(fault)])
    gather_static(STAGED / "_static")
    print("Each page is executed and set; about 3 minutes on two cores.", flush=True)
    told = execute_and_set() or faults(MADE)
    if told:
        return no_site(told)
    MADE.rename(SITE)
    print(f"{sum(1 for _ in SITE.rglob('*.html'))} pages in {SITE.relative_to(ROOT)}: make docs-serve shows them")
    return 0


def no_site(told: list[str]) -> int:
    print("\n".join([*told, "", "There is no site: what stands above is to be mended first."]), file=sys.stderr)
    return 1


def execute_and_set() -> list[str]:
    """By Sphinx, into MADE; what went wrong, first in blocks as the kernels told it, then as Sphinx does."""
    shutil.rmtree(MADE, ignore_errors=True)
    TOLD.unlink(missing_ok=True)
    jobs = ["--jobs", str(os.cpu_count() or 1)]
    sphinx = [sys.executable, "-m", "sphinx", "--quiet", "--no-color", "--fail-on-warning", *jobs]
    sphinx += ["--conf-dir", str(ROOT / "handbook"), "--doctree-dir", str(TREES), str(STAGED), str(MADE)]
    known = {"PYTHONPATH": str(ROOT), "JUPYTER_PATH": str(KERNELS), "PYTHONHASHSEED": "0", FAULTS: str(TOLD)}
    known["TIGHTROPE_CLOCK"] = "off"  # no page says something else for what the machine does beside it
    ran = subprocess.run(sphinx, env={**os.environ, **known}, stderr=subprocess.PIPE, text=True, check=False)
    told = TOLD.read_text("utf-8").splitlines() if TOLD.exists() else []
    again = {line.split(", ")[0] for line in told}  # the kernels told more of these pages
    said = IN_STAGED.sub(lambda found: f"{source_of(found.group(1))}: ", ran.stderr).splitlines()
    more = [line for line in said if not (IN_BLOCKS in line and line.split(": ")[0] in again)]
    failed = [f"Sphinx ended with exit code {ran.returncode}"] if ran.returncode else []
    return told + more + failed if told or failed else []


def gather_static(folder: Path) -> None:
    """The style of the site, and MathJax, which comes with a package: nothing is fetched by a reader's browser."""
    shutil.copytree(ROOT / "handbook" / "static", folder)
    shutil.copytree(SCHEMAS, folder / "schema")
    for file in files("sphinx-mathjax-offline") or ():
        if str(file).endswith(MATHJAX):
            place = folder / "mathjax" / str(file).partition("/mathjax/")[2]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), place)


def serve(port: int) -> int:
    """On this machine alone, until it is interrupted."""
    if not (SITE / "index.html").exists():
        print("there is no site yet: make docs", file=sys.stderr)
        return 1
    handler = partial(SimpleHTTPRequestHandler, directory=str(SITE))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        print(f"port {port} cannot be used ({error}): make docs-serve PORT=8001", file=sys.stderr)
        return 1
    with server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        print(f"{address} (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
