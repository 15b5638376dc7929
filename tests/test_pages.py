"""Pages and docstrings: lines that fit, and names of files and modules that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from handbook.reference import pages

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "tightrope"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "tests" / "reference" / "README.md"])
SOURCES = sorted(PACKAGE.rglob("*.py"))
COLUMNS = 120
TABLE = re.compile(r"^\|.*\|$")
STARTS = tuple(sorted(path.stem for path in PACKAGE.iterdir() if path.is_dir() and path.stem != "schema"))
FILE = re.compile(r"(?<![\w./*])([\w-]+(?:/[\w-]+)*\.(?:py|md|json|toml))\b(?!\()")
DOTTED = re.compile(rf"(?<![\w./])(?:tightrope\.)?((?:{'|'.join(STARTS)})(?:\.(?!(?:md|py|jsonl)\b)[a-z_]\w*)+)")
SLASHED = re.compile(r"`(?:tightrope/)?([a-z_]+(?:/[a-z_]+)+)(?:\.(?!py|md|json)(\w+))?`")
CORE = PACKAGE / "core"
BASES = (
    *(ROOT, PACKAGE, CORE, CORE / "engines", ROOT / "docs", ROOT / "docs" / "proofs", ROOT / "tests", ROOT / "src"),
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_fit(page: Path) -> None:
    lines = enumerate(page.read_text("utf-8").splitlines(), 1)
    assert [number for number, line in lines if len(line) > COLUMNS and not TABLE.match(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_names_on_pages_exist(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert missing(prose, page.parent) == []


def test_names_in_docstrings_exist() -> None:
    found = {str(source): missing("\n\n".join(docstrings(source)), source.parent) for source in SOURCES}
    assert {source: names for source, names in found.items() if names} == {}


def docstrings(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


@cache
def modules() -> frozenset[str]:
    return frozenset(path.name for part in ("src", "tests", "benchmarks") for path in (ROOT / part).rglob("*.py"))


@cache
def made() -> frozenset[str]:
    """Pages of the site that are made from the package."""
    return frozenset(pages())


def missing(text: str, folder: Path) -> list[str]:
    """What is named like a file or a module and is none."""
    bases = (*BASES, folder)
    named = [name for name in FILE.findall(text) if name not in modules() and name not in made()]
    found = [name for name in named if not any((base / name).exists() for base in bases)]
    found += [name for name in DOTTED.findall(text) if not is_module(name.split("."), PACKAGE)]
    for name, attribute in SLASHED.findall(text):
        parts = name.split("/") + ([attribute] if attribute else [])
        if not any(is_module(parts, base) or base.joinpath(*parts).is_dir() for base in bases):
            found.append(name)
    return found


def is_module(parts: list[str], base: Path) -> bool:
    """Whether a dotted name is a package, a module, or something that a module defines."""
    for length in range(len(parts), 0, -1):
        place = base.joinpath(*parts[:length])
        rest = parts[length:]
        if place.is_dir() and not rest:
            return True
        for module in (place.with_suffix(".py"), place / "__init__.py"):
            if module.is_file():
                return not rest or re.search(rf"\b{rest[0]}\b", module.read_text("utf-8")) is not None
    return False
