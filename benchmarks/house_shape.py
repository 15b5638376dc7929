"""The shape of the plain house: rows about the interface of a pair, imports, files that are one thought, and words."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator

from benchmarks.house_tree import House, Row, Source, imports

PUBLIC = ("ledger",)  # the modules beside tightrope itself that docs/stability.md names as public, among applications
FACADES = ("tightrope", "tightrope.extend.*")  # each imports from all layers, and is imported by applications
APPLICATIONS = ("cli", "ledger", "explore", "explorer", "report", "sweep", "interop", "selftest")
PAIR = ("Pair", "DominatingPair")  # the interface, by its name today and then
ENGINE = ("Engine", "Candidate")
METHODS_WANTED, LATE_WANTED, UPWARD_WANTED = 15, 100, 1
DRAWS = ("plot", "_repr_html_", "to_csv", "to_frame", "to_html", "to_latex")  # what a result shows itself by


# The pair.


def pair_methods(house: House) -> Row:
    base = next(node for source in house.sources for node in classes(source) if node.name in PAIR)
    names = [node.name for node in base.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")]
    overriding: defaultdict[str, list[str]] = defaultdict(list)
    for node in subclasses(house, base.name):
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name in names:
                overriding[method.name].append(node.name)
    once = [name for name in names if len(overriding[name]) == 1]
    few = [name for name in names if len(overriding[name]) <= 4]
    where = [f"{name}: {overriding[name][0]}" for name in once]
    return Row(
        "methods of the interface of a pair; overridden by one class alone",
        "47; 15 (34 by at most four)",
        f"{len(names)}; {len(once)} ({len(few)} by at most four)",
        f"at most {METHODS_WANTED}: seven that every pair has, and capabilities",
        tuple(where) or ((f"{len(names)} methods",) if len(names) > METHODS_WANTED else ()),
    )


def classes(source: Source) -> Iterator[ast.ClassDef]:
    return (node for node in source.nodes if isinstance(node, ast.ClassDef))


def subclasses(house: House, name: str) -> list[ast.ClassDef]:
    """Of a class, and of these, by their names."""
    known, found = {name}, dict[str, ast.ClassDef]()
    every = [node for source in house.sources for node in classes(source)]
    while True:
        more = [node for node in every if node.name not in known and known & set(map(last_name, node.bases))]
        if not more:
            return list(found.values())
        found.update({node.name: node for node in more})
        known |= set(found)


def last_name(node: ast.expr) -> str:
    node = node.value if isinstance(node, ast.Subscript) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


# Imports.


def late_imports(house: House) -> Row:
    """Imports within functions; those for types alone are none."""
    where = [
        source.at(node)
        for source in house.sources
        for function in source.nodes
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    places = tuple(sorted(set(where)))
    return Row(
        "late imports", "494", str(len(places)), f"below {LATE_WANTED}", places if len(places) >= LATE_WANTED else ()
    )


def upward_imports(house: House) -> Row:
    """What the contract about layers leaves out."""
    contracts = tomllib.loads(house.text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    lines = [line for contract in contracts if contract["type"] == "layers" for line in contract["ignore_imports"]]
    where = [line for line in lines if not line.startswith(tuple(f"{facade} " for facade in FACADES))]
    return Row(
        "upward imports that the contract of the layers leaves out",
        "11",
        str(len(where)),
        f"{UPWARD_WANTED}: a mechanism hands its question to the accountant",
        tuple(where) if len(where) > UPWARD_WANTED else (),
    )


def sibling_engines(house: House) -> Row:
    where = []
    for source in house.sources:
        room = engine_room(source.name)
        for node, target in imports(source):
            other = engine_room(target)
            if room and other and other != room:
                where.append(f"{source.at(node)} {target}")
    lines = sorted({place.partition(" ")[0]: place for place in where}.values())
    return Row("imports of an engine from a sibling engine", "15", str(len(lines)), "0", tuple(lines))


def engine_room(name: str) -> str:
    """The folder in engines/ that a module is in; empty for files beside the folders."""
    found = re.search(
        r"(?:^|\.)engines\.(closed_form|hits|participation|contour|lattice|pld_grid|joint|bracket|buckets)\b", name
    )
    return found[1] if found else ""


def application_imports(house: House) -> Row:
    """Modules that are neither public, nor of tightrope.extend, nor in the same application."""
    modules = {source.name for source in house.sources}
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for source in house.sources:
        if source.package not in APPLICATIONS:
            continue
        for _, target in imports(source):
            module = target if target in modules else target.rpartition(".")[0]
            if module not in ("", *PUBLIC) and module.partition(".")[0] not in (source.package, "extend"):
                taken[module].add(source.package)
    where = tuple(f"{module}: {', '.join(sorted(by))}" for module, by in sorted(taken.items()))
    return Row(
        "internal modules that applications import (cli, ledger, explore, report, sweep, interop, selftest)",
        "117 (78 by hand)",
        str(len(where)),
        "0: the public names and tightrope.extend",
        where,
    )


# Files that are one thought.


def single_importers(house: House) -> Row:
    """Modules that one module alone imports, in their own folder; names of files that repeat."""
    modules = {source.name for source in house.sources}
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for source in house.sources:
        for _, target in imports(source):
            module = target if target in modules else target.rpartition(".")[0]
            if module != source.name:
                importers[module].add(source.name)
    folder = {source.name: source.path.parent for source in house.sources}
    single = [
        f"{name}: {next(iter(by))}"
        for name, by in sorted(importers.items())
        if len(by) == 1 and name in folder and folder[name] == folder[next(iter(by))]
    ]
    names = Counter(source.path.name for source in house.sources if not source.path.name.startswith("__"))
    repeated = sum(count for count in names.values() if count > 1)
    most = ", ".join(f"{count} {name}" for name, count in names.most_common(2))
    return Row(
        "modules with one importer, in their own folder; files whose name repeats",
        "133; 200 (16 pair.py, 11 cgf.py)",
        f"{len(single)}; {repeated} ({most})",
        "merged where they are one thought",
        tuple(single),
        held=False,
    )


def shown_results(house: House) -> Row:
    """Classes that draw or write themselves, and files that import matplotlib."""
    where = [
        f"{source.at(node)} {node.name}: {', '.join(sorted(found))}"
        for source in house.sources
        for node in classes(source)
        if len(found := {item.name for item in node.body if isinstance(item, ast.FunctionDef)} & set(DRAWS)) > 1
    ]
    files = [str(source.path) for source in house.sources if imports_matplotlib(source)]
    rooms = {path.rpartition("/")[0] for path in files}
    return Row(
        "result classes with tables, HTML or plots of their own; files that import matplotlib",
        "8; 22",
        f"{len(where)}; {len(files)}",
        "one Table; one plotting package",
        () if not where and len(rooms) <= 1 else (*where, *files),
    )


def imports_matplotlib(source: Source) -> bool:
    """Types apart too: whoever draws knows them."""
    return any(
        (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "matplotlib")
        or (isinstance(node, ast.Import) and any(name.name.partition(".")[0] == "matplotlib" for name in node.names))
        for node in source.nodes
    )


def engine_flags(house: House) -> Row:
    where = [
        f"{source.at(item)} {item.target.id}"
        for source in house.sources
        if ".engines" in f".{source.name}"
        for node in classes(source)
        if node.name in ENGINE
        for item in node.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and ast.unparse(item.annotation) == "bool"
    ]
    return Row("boolean flags of an engine", "10", str(len(where)), "what decides is asked of the engine", tuple(where))


# Words.


def words(house: House) -> Row:
    """In how many files the field's words stand, and the own ones."""
    count = {
        word: sum(bool(re.search(pattern, source.text)) for source in house.sources)
        for word, pattern in (("hockey", r"hockey"), ("PLD", r"\bPLD\b"), ("told", r"\btold\b"))
    }
    own = tuple(str(source.path) for source in house.sources if re.search(r"\btold\b", source.text))
    return Row(
        'files with the word "hockey"; "PLD"; "told"',
        "0; 1; 135",
        f"{count['hockey']}; {count['PLD']}; {count['told']}",
        "the field's words; 0 told",
        own,
    )


def vague_locals(house: House) -> Row:
    """Places that bind or read a local name which says only that something was found."""
    found = [
        (source, node)
        for source in house.sources
        for node in source.nodes
        if isinstance(node, ast.Name) and node.id in ("each", "found") and isinstance(node.ctx, ast.Store)
    ]
    count = Counter(node.id for _, node in found)
    return Row(
        "locals `each`; `found`",
        "771; 686",
        f"{count['each']}; {count['found']}",
        "0: names that say what a thing is",
        tuple(source.at(node) for source, node in found),
    )
