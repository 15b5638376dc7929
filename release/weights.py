"""Writes what the Makefile's environments weigh into docs/dependencies.md: release.weights NAME=FOLDER=TARGET ..."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "dependencies.md"
BEGIN, END = "<!-- weights -->", "<!-- /weights -->"


def weight(folder: Path) -> tuple[int, int]:
    """Packages, and MB of all files but compiled modules, which appear as they are used."""
    packages = sum(1 for _ in folder.glob("lib/python*/site-packages/*.dist-info"))
    files = (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink() and each.suffix != ".pyc")
    return packages, round(sum(each.stat().st_size for each in files) / 1e6)


def main(arguments: list[str]) -> None:
    """Replaces the table; an environment that is not there is an error, as a table without it would be wrong."""
    rows = ["| environment | made by | packages | MB |", "|---|---|---|---|"]
    for name, folder, target in (each.split("=") for each in arguments):
        if not Path(folder).is_dir():
            sys.exit(f"{folder} is not there: make {target} makes it")
        packages, size = weight(Path(folder))
        rows.append(f"| {name} | `make {target}` | {packages} | {size:,} |")
    text = PAGE.read_text("utf-8")
    table = "\n".join([BEGIN, *rows, END])
    PAGE.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: table, text, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
