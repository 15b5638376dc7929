"""The tree that the ruler of the house measures: its modules, what they import, and a row of the table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """A module of src/tightrope: its dotted name without the package's own and core's, its text and its syntax tree."""

    path: Path  # below the root
    name: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]  # all of the tree

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    def at(self, node: ast.AST) -> str:
        return f"{self.path}:{getattr(node, 'lineno', 0)}"


class House(NamedTuple):
    root: Path
    sources: tuple[Source, ...]

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")


class Row(NamedTuple):
    """One line of the table; `where` lists what keeps it from its wanted value."""

    what: str
    then: str
    now: str
    wanted: str
    where: tuple[str, ...]
    held: bool = True  # whether a test holds it, once reached

    @property
    def reached(self) -> bool:
        return not self.where


def room(name: str) -> str:
    """The name as the rooms are called: those of core/ by their own."""
    return name.removeprefix("core.")


def is_family(name: str) -> bool:
    """Whether a module is of a family of losses: not the interface, what a pair may know, or an operator."""
    found = name.split(".")
    shared = ("pair", "cgf", "atoms", "capabilities", "participation_law", "operators")
    return found[0] == "losses" and len(found) > 1 and found[1] not in shared


def house_at(root: Path) -> House:
    base = root / "src" / "tightrope"
    found = []
    for path in sorted(base.rglob("*.py")):
        parts = path.relative_to(base).with_suffix("").parts
        name = room(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        found.append(Source(path.relative_to(root), name, text, tree, tuple(ast.walk(tree))))
    return House(root, tuple(found))


def imports(source: Source) -> Iterator[tuple[ast.ImportFrom | ast.Import, str]]:
    """Modules of the package that a module imports, late ones and those for types too, by their dotted names."""
    package = source.path.name == "__init__.py"
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom):
            if not node.level:
                base = (node.module or "").split(".")
                if base[0] != "tightrope":
                    continue
                inside = base[1:]
            else:
                parts = source.path.relative_to("src/tightrope").with_suffix("").parts
                above = list(parts[:-1] if package else parts)
                inside = above[: len(above) - node.level + package] + (node.module or "").split(".")
            target = ".".join(part for part in inside if part)
            for each in node.names:
                yield node, room(f"{target}.{each.name}" if target else each.name)
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.startswith("tightrope."):
                    yield node, room(each.name.partition(".")[2])
