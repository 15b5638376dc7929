"""`make docs`: pages are staged, Sphinx executes and sets them, and the result is gone through; `serve` shows it.

Usage: python -m handbook [serve] [--interop PYTHON] [--only PAGE ...]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import files
from pathlib import Path

from handbook.checked import faults
from handbook.reference import pages
from handbook.reference.schemas import SCHEMAS
from handbook.stage import KERNELS, ROOT, STAGED, stage

SITE = ROOT / "build" / "site"
TREES = ROOT / "build" / "trees"
MATHJAX = ("/mathjax/tex-chtml.js", ".woff")  # what a page with formulas loads, of all that MathJax has


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m handbook", description="The site, in build/site.")
    parser.add_argument("what", nargs="?", choices=["build", "serve"], default="build")
    parser.add_argument("--interop", type=Path, default=ROOT / ".venv-interop" / "bin" / "python", help="for its pages")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    return serve(given.port) if given.what == "serve" else build(given.interop)


def build(interop: Path) -> int:
    if not interop.exists():
        print(f"{interop} is missing: make docs makes it", file=sys.stderr)
        return 1
    stage(pages(), interop.absolute())  # links are not followed: an environment is where its Python seems to be
    gather_static(STAGED / "_static")
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.rmtree(TREES, ignore_errors=True)
    jobs = ["--jobs", str(os.cpu_count() or 1)]
    sphinx = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", *jobs]
    sphinx += ["--conf-dir", str(ROOT / "handbook"), "--doctree-dir", str(TREES), str(STAGED), str(SITE)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JUPYTER_PATH": str(KERNELS), "PYTHONHASHSEED": "0"}
    failed = subprocess.run(sphinx, env=environment, check=False).returncode
    found = faults(SITE) if not failed else []
    for fault in found:
        print(fault, file=sys.stderr)
    if not failed and not found:
        print(f"{sum(1 for _ in SITE.rglob('*.html'))} pages in {SITE.relative_to(ROOT)}: make docs-serve shows them")
    return 1 if failed or found else 0


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
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        print(f"{address} (Ctrl-C ends it)", flush=True)
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
