"""Names, named numbers, sizes and slack: rows of the house about what stands within files."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.house_tree import House, Row

MANY_PARAMETERS = 8
SLACK_MAX = 1e-6  # a factor 1 + c with a smaller constant c is a slack
ROUNDING_ROOMS = (
    "numerics.rounding",
    "numerics.enclosures",
    "numerics.double_double",
    "numerics.fp_environment",
)
LINES_WANTED, FILES_WANTED = 60_000, 300  # of src/, about


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
        if not each.module.endswith(("tuning", "selection")) and not each.name.endswith("_BITS")
    ]
    gathered = len(chosen) - len(where)
    return Row(
        "plain numbers named in engines/ outside a file for tuning (all named numbers of src)",
        "273 (537)",
        f"{len(where)} ({len(found)}), {gathered} gathered",
        "0: value, meaning and the benchmark that chose it in engines/tuning.py",
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
    length, place = lengths[0]
    return Row(
        "lines of the longest function", "59", str(length), "one thought", (f"{place}: {length} lines",), held=False
    )


def long_files(house: House) -> Row:
    lengths = sorted(((len(each.text.splitlines()), str(each.path)) for each in house.sources), reverse=True)
    where = (f"{lengths[0][1]}: {lengths[0][0]} lines",)
    middle = lengths[len(lengths) // 2][0]
    return Row(
        "lines of the longest file (of the median one)",
        "394 (113)",
        f"{lengths[0][0]} ({middle})",
        "one thought (200 to 250)",
        where,
        held=False,
    )


def lines(house: House) -> Row:
    total, files = sum(len(each.text.splitlines()) for each in house.sources), len(house.sources)
    over = total > LINES_WANTED or files > FILES_WANTED
    where = (f"{total - LINES_WANTED:,} lines and {files - FILES_WANTED} files more",) if over else ()
    return Row(
        "lines of src/",
        "24,525; 77,013 in 610 files",
        f"{total:,} in {files} files",
        f"about {LINES_WANTED:,} in about {FILES_WANTED} files",
        where,
        held=False,
    )


# Rounding.


def slack_lines(house: House) -> Row:
    where = sorted(
        {
            source.at(node)
            for source in house.sources
            if source.package in ("numerics", "losses", "engines") and source.name not in ROUNDING_ROOMS
            if not source.name.startswith("losses.operators.")
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
        "0: the words of numerics/rounding.py",
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
        return isinstance(node.value, float) and 0.0 < node.value < SLACK_MAX
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(small(side) for side in (node.left, node.right))
    return isinstance(node, ast.Name | ast.Attribute) and (
        (node.id if isinstance(node, ast.Name) else node.attr) in ("UNIT", "SLACK", "SUM_SLACK", "ALIAS_SLACK")
    )
