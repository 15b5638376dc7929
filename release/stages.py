"""What continuous integration takes: `python -m release.stages` puts the table of the last .ci/run into its page."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE, TABLE = ROOT / "CONTRIBUTING.md", ROOT / "build" / "ci-stages.txt"
PLACE = re.compile(r"(?<=<!-- stages -->\n).*?(?=<!-- end of stages -->\n)", re.DOTALL)


def written(page: str, table: str) -> str:
    """The page with this table between its marks, as a block."""
    block = "".join(f"    {line}\n" for line in table.splitlines())
    text, found = PLACE.subn(lambda _: f"\n{block}\n", page)
    if found != 1:
        raise SystemExit("CONTRIBUTING.md has no marks for the stages of .ci/run")
    return text


def main() -> None:
    PAGE.write_text(written(PAGE.read_text("utf-8"), TABLE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
