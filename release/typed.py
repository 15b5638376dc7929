"""Types as a user meets them: mypy --strict over what the pages type, against the installed package.

The blocks of a page are joined into one file, as somebody would have typed them. Blocks for other libraries are left
out. A name that is bound anew has its new type from there on (--allow-redefinition), as in a notebook. That functions
which the page itself defines have no annotations is the page's business, and passed over; all that the package gives to
them and takes from them is looked at.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from handbook.blocks import blocks

from .checks import Check, asked, plain_environment

PAGES = ("README.md", "docs/start/*.md")
OPTIONS = ("--strict", "--allow-redefinition", "--no-error-summary", "--show-error-codes", "--no-incremental")


def typed(commands: Path, folder: Path, tree: Path) -> Iterator[Check]:
    """One check for each page; tree: the copy whose pages these are."""
    pages = [page for pattern in PAGES for page in sorted(tree.glob(pattern))]
    if len(pages) < len(PAGES):
        yield Check("types of the quickstarts", wrong=f"no page is in one of {', '.join(PAGES)}")
    python = ("--python-executable", str(commands / "python"))
    for page in pages:
        text = typed_by_hand(page.read_text("utf-8"))
        if text:
            file = folder / f"{page.stem}.py"
            file.write_text(text, "utf-8")
            command = (sys.executable, "-m", "mypy", *OPTIONS, *python, file.name)
            said = asked(*command, folder=folder, environment=plain_environment(), codes=(0, 1)).stdout
            wrong = "\n".join(line for line in said.splitlines() if not is_own(line, text))
            yield Check(f"mypy --strict over {page.relative_to(tree)}", f"{len(text.splitlines())} lines", wrong)


def is_own(complaint: str, text: str) -> bool:
    """Whether mypy says no more than that a function of the page has no annotations."""
    if complaint.endswith("[no-untyped-def]"):
        return True
    called = re.search(r'Call to untyped function "(\w+)".*\[no-untyped-call\]$', complaint)
    return called is not None and re.search(rf"^\s*def {called.group(1)}\(", text, re.MULTILINE) is not None


def typed_by_hand(page: str) -> str:
    """The Python blocks of a page, but those that need other libraries."""
    found = (each for each in blocks(page) if each.language == "python" and not each.heading)
    return "\n".join(each.body for each in found)
