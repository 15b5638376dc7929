"""A text as a form: the same calls, each argument with the text that stands for it.

    NODE := {"kind": "leaf", "name": NAME, "arguments": [ARGUMENT, ...], "chips": [CHIP, ...]}
          | {"kind": "sum" or "parallel", "parts": [NODE, ...], "chips": [CHIP, ...]}
    CHIP := {"kind": "transformation", "name": NAME, "arguments": [ARGUMENT, ...]}
          | {"kind": "count", "text": TEXT} | {"kind": "name", "text": NAME}
    ARGUMENT := {"name": KEYWORD, "text": TEXT}
Chips apply from the first to the last. The text of a number stays as it was typed (256/60000), so a form that is
written down again is the text. Only texts that were parsed before come here.
"""

from __future__ import annotations

import ast
from typing import Any

from .. import Mechanism
from ..extend.expressions import FUNCTIONS, JOINS, find_mechanism, find_transform, keywords, line_of, tree_of


def form_of(text: str) -> dict[str, Any]:
    """The form of a text that was parsed."""
    return FormReader(text).node(tree_of(text))


class FormReader:
    """Reads a syntax tree; knows the text to tell what was typed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = len(text) - len(text.lstrip())
        self._line = line_of(text).strip().encode()  # Python counts bytes

    def node(self, tree: ast.expr) -> dict[str, Any]:
        """The mechanism that this part of the text describes."""
        match tree:
            case ast.BinOp(op=ast.Add()):
                return _bare("sum", parts=[self.node(part) for part in _summed(tree)])
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                base, count = (left, right) if _is_mechanism(left) else (right, left)
                return self._with(base, {"kind": "count", "text": self._typed(count)})
            case ast.Call(func=ast.Attribute(value=inner, attr="named")):
                return self._with(inner, {"kind": "name", "text": _word(tree)})
            case ast.Call(func=ast.Attribute(value=inner, attr=name)):
                chip = {"kind": "transformation", "name": name, **self._arguments(find_transform(name), tree)}
                return self._with(inner, chip)
            case ast.Call(func=ast.Name(id=name)) if name in JOINS:
                found = _bare("parallel", parts=[self.node(cell) for cell in tree.args])
                return _named(found, tree)
            case ast.Call(func=ast.Name(id=name)):
                found = {**_bare("leaf"), "name": name, **self._arguments(find_mechanism(name), tree)}
                return _named(found, tree)
        raise TypeError(f"{ast.dump(tree):.60} is no mechanism")

    def _with(self, inner: ast.expr, chip: dict[str, Any]) -> dict[str, Any]:
        base = self.node(inner)
        return {**base, "chips": [*base["chips"], chip]}

    def _arguments(self, make: type[Mechanism], call: ast.Call) -> dict[str, Any]:
        by_place = zip((keyword.name for keyword in keywords(make)), call.args, strict=False)
        by_name = ((str(keyword.arg), keyword.value) for keyword in call.keywords if keyword.arg != "name")
        return {"arguments": [{"name": name, "text": self._typed(value)} for name, value in (*by_place, *by_name)]}

    def _typed(self, tree: ast.expr) -> str:
        """What stands there, as it was typed."""
        start, end = (self._start + len(self._line[:value].decode()) for value in _span(tree))
        return self._text[start:end]


def _bare(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, **more, "chips": []}


def _named(found: dict[str, Any], call: ast.Call) -> dict[str, Any]:
    """With the name that is given as a keyword."""
    names = [keyword.value for keyword in call.keywords if keyword.arg == "name"]
    return {**found, "chips": [{"kind": "name", "text": _constant(name)} for name in names]}


def _word(call: ast.Call) -> str:
    return _constant([*call.args, *(keyword.value for keyword in call.keywords)][0])


def _constant(tree: ast.expr) -> str:
    return str(tree.value) if isinstance(tree, ast.Constant) else ""


def _summed(tree: ast.expr) -> list[ast.expr]:
    """The whole chain at once, without recursion."""
    chain: list[ast.expr] = []
    while isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        chain.append(tree.right)
        tree = tree.left
    return [tree, *reversed(chain)]


def _is_mechanism(tree: ast.expr) -> bool:
    """Whether it is one, and no number: the text was parsed, so that one look at its first call tells."""
    while isinstance(tree, ast.BinOp):
        if isinstance(tree.op, ast.Mult) and _is_mechanism(tree.right):
            return True
        tree = tree.left
    if not isinstance(tree, ast.Call):
        return False
    return not (isinstance(tree.func, ast.Name) and tree.func.id in FUNCTIONS)


def _span(tree: ast.expr) -> tuple[int, int]:
    assert tree.end_col_offset is not None
    return tree.col_offset, tree.end_col_offset
