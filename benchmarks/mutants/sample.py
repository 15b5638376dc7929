"""The mutants of a file, and the same few of them on every run: drawn by a seed and the file's path."""

from __future__ import annotations

import ast
import difflib
import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from benchmarks.mutants.operators import operators
from benchmarks.mutants.reach import ROOT

PACKAGE = ROOT / "src" / "tightrope"
SIGNATURES = ("parameters", "param", "import_from")  # a star there is no product


@dataclass(frozen=True)
class Mutant:
    """One fault: the occurrence of an operator in a file as it is now."""

    path: str  # below src/tightrope
    operator: str
    occurrence: int
    line: int
    digest: str  # of the whole file

    @property
    def key(self) -> str:
        return f"{self.path}:{self.operator}:{self.occurrence}:{self.digest}"

    @property
    def file(self) -> Path:
        return PACKAGE / self.path

    def code(self) -> str | None:
        """The file with the fault; None where that is no Python, or the same program."""
        plain = self.file.read_text()
        found: str | None = mutate_code(plain, operators()[self.operator](), self.occurrence)
        if found is None:
            return None
        try:
            same = ast.dump(ast.parse(found)) == ast.dump(ast.parse(plain))
        except SyntaxError:
            return None
        return None if same else found

    def change(self) -> tuple[str, str]:
        """The lines that differ: before and after."""
        lines = list(difflib.ndiff(self.file.read_text().splitlines(), (self.code() or "").splitlines()))
        before = " ".join(line[2:].strip() for line in lines if line.startswith("- "))
        after = " ".join(line[2:].strip() for line in lines if line.startswith("+ "))
        return before, after


def mutants(file: Path) -> list[Mutant]:
    """All of a file's."""
    source = file.read_text()
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    path = str(file.relative_to(PACKAGE))
    nodes = list(ast_nodes(get_ast(source)))
    found = []
    for name, kind in operators().items():
        operator, occurrence = kind(), 0
        for node in nodes:
            for start, _ in operator.mutation_positions(node):
                if node.parent is None or node.parent.type not in SIGNATURES:
                    found.append(Mutant(path, name, occurrence, start[0], digest))
                occurrence += 1
    return found


def sampled(file: Path, size: int, seed: int) -> list[Mutant]:
    """So many of a file's, in a fixed order: a larger sample begins with the smaller one."""
    found = mutants(file)
    random.Random(f"{seed}:{file.relative_to(PACKAGE)}").shuffle(found)
    chosen: list[Mutant] = []
    for mutant in found:
        if len(chosen) == size:
            break
        if mutant.code() is not None:
            chosen.append(mutant)
    return chosen
