"""The house, measured: what a reader and a contributor meet, counted on the tree itself.

    python -m benchmarks.house              prints the table, then where each row is not yet as wanted
    python -m benchmarks.house write        writes docs/house.md and docs/figures/house.svg too (make house)
    python -m benchmarks.house at FOLDER    counts in another tree: this is how the column "then" was made

Each row has three columns: what it was before families had rooms of their own, what it is, what is wanted. Everything
is read from the syntax trees of src/, nothing is imported. tests/test_house.py fails where a row that docs/house.md
shows as reached is reached no longer (lines of src/ apart: the next mechanism may bring its own).
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "house.md"
PICTURE = ROOT / "docs" / "figures" / "house.svg"

ASKING = ("engines", "convert", "compare", "calibrate", "account", "transforms")  # who asks a pair and knows no family
MANY_PARAMETERS = 8
LONG_FUNCTION, LONG_FILE = 60, 400
SLACK_MOST = 1e-6  # a factor 1 + c with a smaller constant c is a slack
ROUNDING_ROOMS = ("kernels.directed", "kernels.ulps", "kernels.enclosure", "kernels.twofold", "kernels.conditions")
LINES_THEN = 24_525  # of src/ before the redesign


class Source(NamedTuple):
    """A module of src/tightrope: its dotted name without the package's own, its text and its syntax tree."""

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


def house_at(root: Path) -> House:
    base = root / "src" / "tightrope"
    found = []
    for path in sorted(base.rglob("*.py")):
        parts = path.relative_to(base).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        found.append(Source(path.relative_to(root), name, text, tree, tuple(ast.walk(tree))))
    return House(root, tuple(found))


# What is imported from where.


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
                above = source.name.split(".") if source.name else []
                inside = above[: len(above) - node.level + package] + (node.module or "").split(".")
            target = ".".join(part for part in inside if part)
            for each in node.names:
                yield node, f"{target}.{each.name}" if target else each.name
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.startswith("tightrope."):
                    yield node, each.name.partition(".")[2]


def family_imports(house: House) -> Row:
    where = [
        f"{source.at(node)} {target}"
        for source in house.sources
        if source.package in ASKING
        for node, target in imports(source)
        if target.split(".")[0] == "pairs"
    ]
    files = len({each.partition(":")[0] for each in where})
    return Row(
        "names imported from pairs/ by engines, convert, compare, calibrate, account, transforms",
        "102 in 31 files",
        f"{len(where)} in {files} files" if where else "0",
        "0: an import contract",
        tuple(where),
    )


def kernel_knowledge(house: House) -> Row:
    where = []
    for source in house.sources:
        if source.package != "kernels":
            continue
        where += [
            f"{source.at(node)} {target}"
            for node, target in imports(source)
            if target.split(".")[0] in ("pairs", "pair", "facets", "engines") or "UnsupportedMechanism" in target
        ]
    return Row(
        "kernels that know more than numbers (raise UnsupportedMechanism, import pairs, facets or engines)",
        "3",
        str(len(where)),
        "0",
        tuple(where),
    )


# Who recognises whom.


def family_classes(house: House) -> set[str]:
    """Every class that is defined under pairs/: pairs, laws, cgfs, noises."""
    return {
        node.name
        for source in house.sources
        if source.package == "pairs"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    }


def recognised(node: ast.AST) -> set[str]:
    """The class names that isinstance, a case, or a comparison with type(x) looks for."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
        return names_in(node.args[1]) if len(node.args) > 1 else set()
    if isinstance(node, ast.MatchClass):
        return names_in(node.cls)
    if isinstance(node, ast.Compare):
        sides = (node.left, *node.comparators)
        typed = any(isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "type" for x in sides)
        return {name for side in sides for name in names_in(side)} if typed else set()
    return set()


def names_in(node: ast.AST) -> set[str]:
    return {
        x.id if isinstance(x, ast.Name) else x.attr for x in ast.walk(node) if isinstance(x, ast.Name | ast.Attribute)
    }


def recognition(house: House) -> Row:
    families = family_classes(house)
    where = sorted(
        {
            f"{source.at(node)} {', '.join(sorted(found))}"
            for source in house.sources
            if source.package != "pairs"
            for node in source.nodes
            if (found := recognised(node) & families)
        }
    )
    lines = {each.partition(" ")[0] for each in where}
    files = {each.partition(":")[0] for each in where}
    return Row(
        "lines outside pairs/ that recognise a family (isinstance, case, type)",
        "71 in 15 files (49 by hand)",
        f"{len(lines)} in {len(files)} files" if lines else "0",
        "0: an engine asks, and the pair answers or says no",
        tuple(where),
    )


def files_to_touch(house: House) -> Row:
    """For a mechanism with a cgf, Laplace: who names its classes or imports its room, besides its own files."""
    own = {
        node.name
        for source in house.sources
        if source.name.startswith("pairs.laplace") or source.name == "mechanisms.laplace"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    }
    where = [
        str(source.path)
        for source in house.sources
        if not source.name.startswith("pairs.laplace") and source.name != "mechanisms.laplace"
        if any(target.split(".")[-1] in own or target.startswith("pairs.laplace") for _, target in imports(source))
    ]
    where += [
        path
        for path, word in (
            ("src/tightrope/schema/mechanism.json", '"Laplace"'),
            ("pyproject.toml", "tightrope.mechanisms.laplace"),
            ("tests/conformance/cases.py", "tr.Laplace("),
        )
        if word in house.text(path)
    ]
    allowed = {"src/tightrope/catalogue.py", "src/tightrope/schema/mechanism.json", "tests/conformance/cases.py"}
    return Row(
        "files to touch for a mechanism with a cgf, its own folder apart (Laplace)",
        "11 (about 16 by hand)",
        str(len(where)),
        "rows only: catalogue, schema, conformance",
        tuple(each for each in where if each not in allowed),
    )


def answers_to_k(house: House) -> Row:
    """Functions outside pairs/ that take a pair and answer with its K: the facet itself is the one that is wanted."""
    where = [
        f"{source.at(node)} {node.name}"
        for source in house.sources
        if source.package in ASKING
        for node in source.nodes
        if isinstance(node, ast.FunctionDef) and any(word in node.name for word in ("cgf", "mgf", "log_moment"))
        if any(isinstance(arg.annotation, ast.Name) and arg.annotation.id == "Pair" for arg in node.args.args)
    ]
    facet = sum("def cgf(" in source.text for source in house.sources if source.name == "pair")
    return Row(
        "answers to 'K of this pair': functions outside pairs/ that give it, and the facet",
        "5",
        str(len(where) + facet),
        "1",
        tuple(where) if len(where) + facet != 1 else (),
    )


def saddle_solvers(house: House) -> Row:
    where = [
        f"{source.at(node)} {node.name}"
        for source in house.sources
        if source.package == "engines" and source.name != "engines.saddle"
        for node in source.nodes
        if isinstance(node, ast.ClassDef) and "Saddle" in node.name
    ]
    return Row("classes of a saddle", "4", str(len(where) + 1), "1: engines/saddle.py", tuple(where))


def planner_words(house: House) -> Row:
    """Decisions by the name of an engine or by the words of a hint."""
    engines = {
        source.name.split(".")[1]
        for source in house.sources
        if source.package == "engines" and source.name.endswith(".engine")
    }
    where = []
    for source in house.sources:
        for node in source.nodes:
            if isinstance(node, ast.Compare) and source.package in ("engines", "account", "convert", "calibrate"):
                parts = [x for x in ast.walk(node) if isinstance(x, ast.Constant) and x.value in engines]
                hint = any(isinstance(x, ast.Attribute) and x.attr == "hint" for x in ast.walk(node))
                if (parts and not source.name.endswith("ladder")) or hint:
                    where.append(source.at(node))
    return Row(
        "decisions by the name of an engine or the words of a hint", "6 by hand", str(len(where)), "0", tuple(where)
    )


# Names.


def duplicate_classes(house: House) -> Row:
    places = defaultdict(list)
    for source in house.sources:
        for node in source.nodes:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(source.at(node))
    where = [f"{name}: {', '.join(found)}" for name, found in places.items() if len(found) > 1]
    return Row("class names defined more than once", "19 (11 by hand)", str(len(where)), "0", tuple(where))


def hidden_builtins(house: House) -> Row:
    known = set(dir(builtins))
    where = [str(each.path) for each in house.sources if each.name.split(".")[-1] in known]
    return Row("modules whose name hides a builtin", "3 (float, list, sum)", str(len(where)), "0", tuple(where))


# Constants.


class Constant(NamedTuple):
    name: str
    value: str
    plain: bool  # a written number, not one that follows from others
    where: str
    module: str


def numeric(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return numeric(node.operand)
    return isinstance(node, ast.BinOp) and numeric(node.left) and numeric(node.right)


def constants(house: House) -> Iterator[Constant]:
    """Upper-case names of numbers at the top of modules; a call, or a name in it, makes a number derived."""
    for source in house.sources:
        for node in source.tree.body:
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                targets: list[ast.expr] = [node.target]
                value = node.value
            elif isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            else:
                continue
            for target in targets:
                pairs = (
                    zip(target.elts, value.elts, strict=False)
                    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                    else [(target, value)]
                )
                for name, number in pairs:
                    if isinstance(name, ast.Name) and name.id.isupper():
                        plain = numeric(number)
                        if plain or isinstance(number, ast.BinOp):
                            yield Constant(name.id, ast.unparse(number), plain, source.at(node), source.name)


def scattered_constants(house: House) -> Row:
    found = list(constants(house))
    chosen = [each for each in found if each.plain and each.module.startswith("engines.")]
    where = [
        f"{each.where} {each.name} = {each.value}"
        for each in chosen
        if not each.module.endswith(("tuning", "ladder")) and not each.name.endswith("_BITS")
    ]
    gathered = len(chosen) - len(where)
    return Row(
        "plain numbers named in engines/ outside a file for tuning (all named numbers of src)",
        "273 (537)",
        f"{len(where)} ({len(found)}), {gathered} gathered",
        "0: value, meaning and the benchmark that chose it in one file per engine",
        tuple(where),
    )


def ambiguous_constants(house: House) -> Row:
    meanings: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for each in constants(house):
        meanings[each.name].setdefault(each.value, each.where)
    where = [
        f"{name}: " + ", ".join(f"{value} ({place})" for value, place in sorted(found.items()))
        for name, found in sorted(meanings.items())
        if len(found) > 1
    ]
    return Row("names of constants with several values", "67 (49 by hand)", str(len(where)), "0", tuple(where))


# Sizes.


def wide_functions(house: House) -> Row:
    where = [
        f"{source.at(node)} {node.name}: {count}"
        for source in house.sources
        for node in source.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (count := parameters(node)) >= MANY_PARAMETERS
    ]
    return Row(
        f"functions with {MANY_PARAMETERS} or more parameters (self apart)", "5", str(len(where)), "0", tuple(where)
    )


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return len(named) - bool(named and named[0].arg in ("self", "cls"))


def long_functions(house: House) -> Row:
    lengths = sorted(
        (
            ((node.end_lineno or 0) - node.lineno + 1, f"{source.at(node)} {node.name}")
            for source in house.sources
            for node in source.nodes
            if isinstance(node, ast.FunctionDef)
        ),
        reverse=True,
    )
    where = tuple(f"{place}: {length} lines" for length, place in lengths if length > LONG_FUNCTION)
    return Row("lines of the longest function", "59", str(lengths[0][0]), f"at most {LONG_FUNCTION}", where)


def long_files(house: House) -> Row:
    lengths = sorted(((len(each.text.splitlines()), str(each.path)) for each in house.sources), reverse=True)
    where = tuple(f"{place}: {length} lines" for length, place in lengths if length >= LONG_FILE)
    middle = lengths[len(lengths) // 2][0]
    return Row(
        "lines of the longest file (of the median one)",
        "394 (113)",
        f"{lengths[0][0]} ({middle})",
        f"below {LONG_FILE} (about 150)",
        where,
    )


def lines(house: House) -> Row:
    total = sum(len(each.text.splitlines()) for each in house.sources)
    where = (f"{total - LINES_THEN} more than before",) if total > LINES_THEN else ()
    now = f"{total:,} in {len(house.sources)} files"
    return Row("lines of src/", f"{LINES_THEN:,}", now, "no more than then", where, held=False)


# Rounding.


def slack_lines(house: House) -> Row:
    where = sorted(
        {
            source.at(node)
            for source in house.sources
            if source.package in ("kernels", "pairs", "facets", "engines") and source.name not in ROUNDING_ROOMS
            for function in source.nodes
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if is_slack(node)
        }
    )
    files = {each.partition(":")[0] for each in where}
    return Row(
        "lines with a slack of their own: a factor 1 + c, a call of nextafter",
        "137 in 41 files (103 by hand)",
        f"{len(where)} in {len(files)} files" if where else "0",
        "0: the words of kernels/directed.py",
        tuple(where),
    )


def is_slack(node: ast.AST) -> bool:
    """1 + c or 1 - c with a small written c, or one in units of a double; the next double."""
    if isinstance(node, ast.Attribute):
        return node.attr == "nextafter"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub) and isinstance(node.left, ast.Constant):
        return node.left.value == 1 and small(node.right)
    return False


def small(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float) and 0.0 < node.value < SLACK_MOST
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(small(side) for side in (node.left, node.right))
    return isinstance(node, ast.Name | ast.Attribute) and (
        (node.id if isinstance(node, ast.Name) else node.attr) in ("UNIT", "SLACK", "SUM_SLACK", "ALIAS_SLACK")
    )


# The table.


def conformance(house: House) -> Row:
    written = house.text("tests/conformance/cases.py")
    registry = next(each for each in house.sources if each.name == "registry")
    known = [
        key.value
        for node in ast.walk(registry.tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "MECHANISMS"
        for inner in ast.walk(node)
        if isinstance(inner, ast.Dict)
        for key in inner.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
    where = tuple(name for name in known if f"tr.{name}(" not in written)
    return Row("mechanisms without a row in the conformance table", "4 of 13", str(len(where)), "0: a test", where)


MEASURES: tuple[Callable[[House], Row], ...] = (
    recognition,
    family_imports,
    files_to_touch,
    conformance,
    answers_to_k,
    saddle_solvers,
    planner_words,
    kernel_knowledge,
    duplicate_classes,
    hidden_builtins,
    scattered_constants,
    ambiguous_constants,
    slack_lines,
    wide_functions,
    long_functions,
    long_files,
    lines,
)


def measured(house: House) -> tuple[Row, ...]:
    return tuple(measure(house) for measure in MEASURES)


def table(rows: tuple[Row, ...]) -> str:
    head = ("what", "then", "now", "wanted", "reached")
    cells = [head, *((row.what, row.then, row.now, row.wanted, "yes" if row.reached else "no") for row in rows)]
    return "\n".join(
        ["| " + " | ".join(cells[0]) + " |", "|---|---|---|---|---|", *("| " + " | ".join(x) + " |" for x in cells[1:])]
    )


def main(arguments: list[str]) -> int:
    house = house_at(Path(arguments[1]).resolve() if arguments[:1] == ["at"] else ROOT)
    rows = measured(house)
    print(table(rows))
    if arguments == ["write"]:
        from benchmarks.house_page import write

        write(house, table(rows))
        return 0
    for row in rows:
        if not row.reached:
            print(f"\n{row.what}: {row.now}, wanted {row.wanted}")
            print("\n".join(f"  {each}" for each in row.where))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
