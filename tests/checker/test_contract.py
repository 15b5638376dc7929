"""What a sceptic may rely on before reading the checker: how long it is, what it imports, and where doubles are."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import tightrope

ROOM = Path(tightrope.__file__).parent / "checker"
CORE = ("law", "expression", "contour", "grid", "judge", "profile")  # what every verdict passes through
CORE_LINES_MAX = 750  # that are not empty
FILES = [path for path in sorted(ROOM.rglob("*.py")) if path.name not in ("choices.py", "renyi_search.py")]
DOUBLES = {  # functions that read a number of a document or of a text, or show one
    "judge.py": {"_read", "_shown"},
    "arguments.py": {"real"},
    "audit.py": {"_digits"},
}


def test_the_core_can_be_read_in_an_hour() -> None:
    lines = [line for name in CORE for line in (ROOM / f"{name}.py").read_text("utf-8").splitlines()]
    assert sum(bool(line.strip()) for line in lines) <= CORE_LINES_MAX


@pytest.mark.parametrize("path", sorted(ROOM.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOM)))
def test_imports_are_the_standard_library_flint_and_the_checker(path: Path) -> None:
    depth = len(path.relative_to(ROOM).parts)  # dots that lead to the room
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert all(each.name in sys.stdlib_module_names for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            assert node.level <= depth
        elif isinstance(node, ast.ImportFrom):
            assert node.module == "flint" or str(node.module).split(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOM)))
def test_no_double_is_computed_with(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    reading = DOUBLES.get(path.name, set())
    allowed = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name in reading
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
            assert node in allowed
        if isinstance(node, ast.ImportFrom) and node.module == "math":  # integers, infinity, and the next double
            assert {each.name for each in node.names} <= {"comb", "prod", "isqrt", "inf", "nextafter"}
