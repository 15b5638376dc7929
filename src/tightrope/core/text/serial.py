"""Mechanisms as JSON, both ways; schema/mechanism.json describes the documents.

    {"schema": 1, "run": TREE}
    TREE := {"mechanism": NAME, "parameters": {...}}
          | {TRANSFORMATION: {..., "of": TREE}}
          | {"compose": [{"count": N, "of": TREE}, ...]}
          | {"parallel": [TREE, ...]}
    each with "name": TEXT beside it, where it has one

Guarantee: load(dump(m)) == m.
"""

from __future__ import annotations

from typing import Any

from ...documents import DEPTH_MAX, plain, read, write
from ..mechanisms.base import Leaf, Mechanism
from ..mechanisms.composition import Transformation, compose, repeat
from ..mechanisms.groups import Parallel
from ..mechanisms.samples import Folder, allowed_file
from ..values.calls import checked, quoted
from ..values.errors import DataError, TightropeError
from . import catalogue
from .registry import MECHANISMS, TRANSFORMS, check_arguments, find_mechanism, find_transform, is_matrix, keywords

INFINITIES = ("inf", "-inf")
EXPONENT_BITS_MAX = 1023  # whole numbers stay within the range of a double


@checked
def dump(mechanism: Mechanism) -> str:
    """The mechanism as a JSON document on one line."""
    return write({"run": _tree(mechanism)})


@checked
def load(text: str, files: Folder | None = None) -> Mechanism:
    """The mechanism of a document that `dump` could have written; DataError otherwise.

    files: the folder whose files the document may name; without it, it may name none.
    """
    document = read(text, "a mechanism")
    _expect_keys(document, {"schema", "run"}, "the document")
    try:
        return _mechanism(document["run"], DEPTH_MAX, files)
    except DataError:
        raise
    except TightropeError as error:
        raise DataError(str(error)) from None


def _tree(mechanism: Mechanism) -> dict[str, Any]:
    return _unnamed_tree(mechanism) | ({} if mechanism.name is None else {"name": mechanism.name})


def _unnamed_tree(mechanism: Mechanism) -> dict[str, Any]:
    if isinstance(mechanism, Leaf):
        kind = type(mechanism).__name__
        if getattr(catalogue, kind, None) is not type(mechanism):
            raise DataError(f"{kind} is a class of your own, which has no JSON; build it in Python")
        if kind not in MECHANISMS:
            raise DataError(f"{kind} is given by functions, which have no JSON; build it in Python")
        parameters = {key: plain(value) for key, value in mechanism.parameters.items()}
        return {"mechanism": kind, "parameters": parameters}
    if isinstance(mechanism, Parallel):
        return {mechanism.call: [_tree(cell) for cell in mechanism.cells]}
    for make in TRANSFORMS.values():
        if isinstance(mechanism, make):
            given = {key: plain(value) for key, value in mechanism.arguments.items()}
            return {make.call: {**given, "of": _tree(mechanism.base)}}
    if isinstance(mechanism, Transformation):
        raise DataError(f"{type(mechanism).__name__} is a class of your own, which has no JSON; build it in Python")
    return {"compose": [{"count": count, "of": _tree(part)} for part, count in mechanism.parts]}


def _mechanism(tree: object, depth: int, files: Folder | None) -> Mechanism:
    if depth == 0:
        raise DataError(f"nested more than {DEPTH_MAX} deep")
    if isinstance(tree, dict):
        if "name" in tree:
            name = tree["name"]
            if not isinstance(name, str):
                raise DataError(f"a name is a text, not {type(name).__name__}")
            rest = {key: value for key, value in tree.items() if key != "name"}
            return _mechanism(rest, depth, files).named(name)
        if "mechanism" in tree:
            return _leaf(tree, files)
        if "compose" in tree:
            return _composition(tree, depth, files)
        if Parallel.call in tree:
            return _parallel(tree, depth, files)
        if len(tree) == 1:
            return _transformed(*next(iter(tree.items())), depth, files)
    raise DataError(
        'a mechanism is {"mechanism": ..., "parameters": ...}, {"compose": [...]}, {"parallel": [...]} '
        'or {"poisson": {...}}'
    )


def _leaf(tree: dict[str, Any], files: Folder | None) -> Mechanism:
    _expect_keys(tree, {"mechanism", "parameters"}, "a mechanism")
    name, parameters = tree["mechanism"], tree["parameters"]
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise DataError("a mechanism has a name (text) and parameters (an object)")
    make = find_mechanism(name)
    _expect_no_name(name, parameters)
    check_arguments(name, make, parameters)
    lists = {known.name for known in keywords(make) if is_matrix(known)}
    given = {key: (_rows if key in lists else _value)(key, value) for key, value in parameters.items()}
    for known in keywords(make):
        if isinstance(given.get(known.name), str) and known.annotation == "Source":
            given[known.name] = allowed_file(given[known.name], files)
    return make(**given)


def _composition(tree: dict[str, Any], depth: int, files: Folder | None) -> Mechanism:
    _expect_keys(tree, {"compose"}, "a composition")
    if not isinstance(tree["compose"], list):
        raise DataError('"compose" holds a list of {"count": ..., "of": ...}')
    parts = []
    for item in tree["compose"]:
        if not isinstance(item, dict):
            raise DataError('"compose" holds a list of {"count": ..., "of": ...}')
        _expect_keys(item, {"count", "of"}, "a part of a composition")
        parts.append(repeat(_mechanism(item["of"], depth - 1, files), _number("count", item["count"])))
    return compose(parts)


def _parallel(tree: dict[str, Any], depth: int, files: Folder | None) -> Mechanism:
    _expect_keys(tree, {Parallel.call}, Parallel.call)
    if not isinstance(tree[Parallel.call], list):
        raise DataError('"parallel" holds a list of mechanisms')
    return Parallel(cells=tuple(_mechanism(cell, depth - 1, files) for cell in tree[Parallel.call]))


def _transformed(name: str, body: object, depth: int, files: Folder | None) -> Mechanism:
    make = find_transform(name)
    if not isinstance(body, dict) or "of" not in body:
        raise DataError(f'{name} holds its parameters and "of", the mechanism it transforms')
    _expect_no_name(name, body)
    given = {key: _value(key, value) for key, value in body.items() if key != "of"}
    check_arguments(name, make, given)
    return make.of(_mechanism(body["of"], depth - 1, files), **given)


def _value(name: str, value: object) -> Any:
    if isinstance(value, bool) or (isinstance(value, str) and value not in INFINITIES):
        return value
    return tuple(_number(name, item) for item in value) if isinstance(value, list) else _number(name, value)


def _rows(name: str, value: object) -> Any:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise DataError(f"{quoted(name)} must be a list of lists of numbers")
    return tuple(_value(name, row) for row in value)


def _number(name: str, value: object) -> float:
    if isinstance(value, str) and value in INFINITIES:
        return float(value)
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        if isinstance(value, int) and value.bit_length() > EXPONENT_BITS_MAX:
            raise DataError(f"{quoted(name)} is beyond the range of a double")
        return value
    raise DataError(f"{quoted(name)} must be a number or a list of numbers, not {type(value).__name__}")


def _expect_no_name(kind: str, parameters: dict[str, Any]) -> None:
    if "name" in parameters:
        raise DataError(f'the name of a {kind} stands beside its parameters: {{..., "name": "GM1"}}')


def _expect_keys(given: dict[str, Any], expected: set[str], place: str) -> None:
    if set(given) != expected:
        raise DataError(f"{place} has the keys {', '.join(sorted(expected))}, not {quoted(', '.join(sorted(given)))}")
