"""Who knows whom: rows of the house about imports, and about families that are recognised outside their rooms."""

from __future__ import annotations

import ast

from benchmarks.house_tree import House, Row, imports, is_family

ASKING = (
    "engines",
    "conversions",
    "metrics",
    "planning",
    "accountant",
    "lower_bounds",
)  # who asks a pair and knows no family


# What is imported from where.


def family_imports(house: House) -> Row:
    where = [
        f"{source.at(node)} {target}"
        for source in house.sources
        if source.package in ASKING
        for node, target in imports(source)
        if is_family(target)
    ]
    files = len({each.partition(":")[0] for each in where})
    return Row(
        "names imported from families by engines, conversions, metrics, planning, accountant, lower_bounds",
        "102 in 31 files",
        f"{len(where)} in {files} files" if where else "0",
        "0: an import contract",
        tuple(where),
    )


def kernel_knowledge(house: House) -> Row:
    where = []
    for source in house.sources:
        if source.package != "numerics":
            continue
        where += [
            f"{source.at(node)} {target}"
            for node, target in imports(source)
            if target.split(".")[0] in ("losses", "engines") or "UnsupportedMechanism" in target
        ]
    return Row(
        "numerics that know more than numbers (raise UnsupportedMechanism, import losses or engines)",
        "3",
        str(len(where)),
        "0",
        tuple(where),
    )


# Who recognises whom.


def family_classes(house: House) -> set[str]:
    """Every class that a family defines: pairs, laws, cgfs, noises."""
    return {
        node.name
        for source in house.sources
        if is_family(source.name)
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
            if not is_family(source.name)
            for node in source.nodes
            if (found := recognised(node) & families)
        }
    )
    lines = {each.partition(" ")[0] for each in where}
    files = {each.partition(":")[0] for each in where}
    return Row(
        "lines outside families that recognise one (isinstance, case, type)",
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
        if source.name == "losses.laplace" or source.name == "mechanisms.laplace"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
    }
    where = [
        str(source.path)
        for source in house.sources
        if source.name != "losses.laplace" and source.name != "mechanisms.laplace"
        if any(target.split(".")[-1] in own or target.startswith("losses.laplace") for _, target in imports(source))
    ]
    where += [
        path
        for path, word in (
            ("src/tightrope/schema/mechanism.json", '"Laplace"'),
            ("pyproject.toml", "tightrope.core.mechanisms.laplace"),
            ("tests/conformance/cases.py", "tr.Laplace("),
        )
        if word in house.text(path)
    ]
    allowed = {
        "src/tightrope/core/text/catalogue.py",
        "src/tightrope/schema/mechanism.json",
        "tests/conformance/cases.py",
    }
    return Row(
        "files to touch for a mechanism with a cgf, its own folder apart (Laplace)",
        "11 (about 16 by hand)",
        str(len(where)),
        "rows only: catalogue, schema, conformance",
        tuple(each for each in where if each not in allowed),
    )


def answers_to_k(house: House) -> Row:
    """Functions outside losses/ that take a pair and answer with its K: the facet itself is the one that is wanted."""
    where = [
        f"{source.at(node)} {node.name}"
        for source in house.sources
        if source.package in ASKING
        for node in source.nodes
        if isinstance(node, ast.FunctionDef) and any(word in node.name for word in ("cgf", "mgf", "log_moment"))
        if any(isinstance(arg.annotation, ast.Name) and arg.annotation.id == "Pair" for arg in node.args.args)
    ]
    facet = sum("def cgf(" in source.text for source in house.sources if source.name == "losses.pair")
    return Row(
        "answers to 'K of this pair': functions outside families that give it, and the facet",
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
            if isinstance(node, ast.Compare) and source.package in ("engines", "accountant", "conversions", "planning"):
                parts = [x for x in ast.walk(node) if isinstance(x, ast.Constant) and x.value in engines]
                hint = any(isinstance(x, ast.Attribute) and x.attr == "hint" for x in ast.walk(node))
                if (parts and not source.name.endswith("selection")) or hint:
                    where.append(source.at(node))
    return Row(
        "decisions by the name of an engine or the words of a hint", "6 by hand", str(len(where)), "0", tuple(where)
    )


# The table of mechanisms.


def conformance(house: House) -> Row:
    """Those without the tails that the table asks for are named in its test, and have a test of their own."""
    rows, opaque = house.text("tests/conformance/cases.py"), house.text("tests/conformance/test_table.py")
    catalogue = next(each for each in house.sources if each.name == "text.catalogue")
    known = [target.rpartition(".")[2] for _, target in imports(catalogue)]
    where = tuple(name for name in known if f"tr.{name}(" not in rows and f'"{name}"' not in opaque)
    return Row("mechanisms without a row in the conformance table", "4 of 13", str(len(where)), "0: a test", where)
