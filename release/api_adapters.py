"""The adapters of the public surface, read off their source: the libraries that they import need not be installed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import tightrope

FOLDER = Path(tightrope.__file__).parent / "interop"
# Modules of tightrope.interop, and the names of each, with the file that defines them.
NAMES: Mapping[str, Mapping[str, str]] = {
    "opacus": {"OpacusAccountant": "opacus.py", "spending": "opacus.py"},
    "dp_accounting": {
        "TightropeAccountant": "dp_accounting/accountant.py",
        "UnsupportedEvent": "dp_accounting/setting.py",
        "from_event": "dp_accounting/reading.py",
        "to_event": "dp_accounting/writing.py",
        "EventSpending": "dp_accounting/spending.py",
        "spending": "dp_accounting/spending.py",
    },
    "autodp": {"from_mechanism": "autodp.py"},
    "flwr": {"FlowerAccountant": "flwr.py"},
    "spending": {"StepSpending": "spending.py", "counted": "spending.py"},
}


def told() -> Iterator[str]:
    """A paragraph for each module."""
    for module, names in NAMES.items():
        yield f"\n[tightrope.interop.{module}]"
        for name, file in names.items():
            tree = ast.parse((FOLDER / file).read_text("utf-8"))
            (found,) = (each for each in tree.body if getattr(each, "name", None) == name)
            if isinstance(found, ast.FunctionDef):
                yield _call(found, found.args.args)
            elif isinstance(found, ast.ClassDef):
                yield from _class(found)


def documented(module: str, name: str) -> bool:
    """Whether it has a docstring, and all that it holds."""
    tree = ast.parse((FOLDER / NAMES[module][name]).read_text("utf-8"))
    (found,) = (each for each in tree.body if getattr(each, "name", None) == name)
    inside = [each for each in getattr(found, "body", []) if isinstance(each, ast.FunctionDef) and each.name[0] != "_"]
    kinds = (ast.FunctionDef, ast.ClassDef)
    return all(isinstance(each, kinds) and ast.get_docstring(each) for each in (found, *inside))


def _class(found: ast.ClassDef) -> Iterator[str]:
    methods = {each.name: each for each in found.body if isinstance(each, ast.FunctionDef)}
    made = methods.get("__init__")
    yield f"class {found.name}" + ("" if made is None else f"({_parameters(made.args, made.args.args[1:])})")
    for name, method in sorted(methods.items()):
        marks = {ast.unparse(each) for each in method.decorator_list}
        if not name.startswith("_"):
            returns = "" if method.returns is None else ast.unparse(method.returns)
            held = marks & {"property", "cached_property"}
            yield f"    {name}: {returns}" if held else f"    {_call(method, method.args.args[1:])}"


def _call(found: ast.FunctionDef, positional: list[ast.arg]) -> str:
    returns = "" if found.returns is None else f" -> {ast.unparse(found.returns)}"
    return f"{found.name}({_parameters(found.args, positional)}){returns}"


def _parameters(given: ast.arguments, positional: list[ast.arg]) -> str:
    plain = len(positional) - len(given.defaults)
    values = [None] * plain + [*given.defaults]
    shown = [each.arg + _default(value) for each, value in zip(positional, values, strict=True)]
    shown += [f"*{given.vararg.arg}"] if given.vararg else ["*"] if given.kwonlyargs else []
    defaults = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    shown += [each.arg + _default(value) for each, value in defaults]
    shown += [f"**{given.kwarg.arg}"] if given.kwarg else []
    return ", ".join(shown)


def _default(value: ast.expr | None) -> str:
    return "" if value is None else f"={ast.unparse(value)}" if isinstance(value, ast.Constant) else "=..."
