"""How Tightrope is installed: `python -m release.install` writes on the pages what src/tightrope/version.py says.

tests/test_install.py fails while a page or a message says something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tightrope.version import FROM

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "docs", "handbook", "tests", "benchmarks", "release", "studies")
READ = (".md", ".py", ".json", ".toml", ".txt", ".html", ".js")
ITSELF = tuple(ROOT / each for each in ("src/tightrope/version.py", "release/install.py", "tests/test_install.py"))
HISTORY = (ROOT / "CHANGELOG.md", ROOT / "docs" / "release.md")  # these may tell of both
NAME = "tightrope-dp"  # pyproject.toml's
# pip install '.[plot]', pip install --upgrade . and the same with the name.
INSTALLS = re.compile(rf"(pip install (?:--\w+ )?'?)(\.|{NAME})(?=[\[`'\s)]|$)", re.MULTILINE)


def texts() -> Iterator[tuple[Path, str]]:
    """All that a reader or a user may meet, but for the one place and for what tells of the past."""
    below = chain.from_iterable((ROOT / folder).rglob("*") for folder in FOLDERS)
    for path in sorted([*ROOT.glob("*.md"), *below]):
        if path.suffix in READ and path not in (*ITSELF, *HISTORY) and path.is_file():
            yield path, path.read_text("utf-8")


def said(text: str) -> str:
    """The text with the words of today."""
    return INSTALLS.sub(rf"\g<1>{FROM}", text)


def main() -> None:
    for path, text in texts():
        if said(text) != text:
            path.write_text(said(text), "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
