"""Texts, files and requests of the public surface: expressions, JSON documents, the ledger's files and addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import tightrope
from tightrope import documents
from tightrope.core.numerics.search import FUNCTIONS
from tightrope.core.text.registry import JOINS, MECHANISMS, TRANSFORMS, keywords
from tightrope.core.values.question import ARGUMENTS
from tightrope.ledger import maintenance, wire
from tightrope.ledger.migrations import STEPS
from tightrope.sweep.table import ANSWER_COLUMNS

from .api_python import default


def told() -> Iterator[str]:
    """Each kind with its names, and the number of its format where it has one."""
    yield "\n[expressions]"
    for name, make in sorted({**MECHANISMS, **TRANSFORMS}.items()):
        given = (item.name + default(item) for item in keywords(make))
        yield f"{'.' if name in TRANSFORMS else ''}{name}({', '.join(given)})"
    yield from (f"{name}(..., ...)" for name in JOINS)
    yield f"functions: {', '.join(sorted(FUNCTIONS))}"
    yield "\n[JSON documents]"
    yield f"schema {documents.SCHEMA}"
    yield from (f"quantity {name}: {', '.join(given) or 'nothing'} given" for name, given in sorted(ARGUMENTS.items()))
    for path in sorted(files("tightrope").joinpath("schema").iterdir(), key=lambda each: each.name):
        schema = json.loads(path.read_text("utf-8"))
        yield f"schema/{path.name}: {', '.join(sorted(set(_keys(schema))))}"
    yield "\n[columns of tables]"
    yield from _tables()
    yield "\n[ledger]"
    yield f"tables {len(STEPS)}, export {maintenance.FORMAT} {len(STEPS)}"
    for method, address in sorted({("GET", wire.HEALTH), *wire.ADDRESSES.values()}, key=lambda each: each[::-1]):
        yield f"{method} {address}"
    yield f"headers: {', '.join((wire.KEY, wire.PROCESS, wire.AT_LEAST, wire.RECEIPT))}"


def _tables() -> Iterator[str]:
    bound, run = tightrope.Bound(0.0, 1.0), tightrope.PureDP(epsilon=1.0)
    for table in (
        tightrope.Curve((0.0,), (bound,)),
        tightrope.Tradeoffs((0.5,), (bound,), (1.0,)),
        tightrope.Epochs(1e-5, (1.0,), (10,), (run,), (bound,)),
        run.loss_law(bins=2),
        tightrope.Samplings(1e-5, ()),
        tightrope.Frontier("sigma", ("batch",), 1.0, 1e-5, ()),
    ):
        yield f"{type(table).__name__}: {table.to_csv().splitlines()[0]}"
    yield f"Sweep: the names of the grid, {','.join(ANSWER_COLUMNS)}"


def _keys(schema: Any) -> Iterator[str]:
    """Every key that a document may have, at whatever depth."""
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties
        for key, value in schema.items():
            yield from _keys(list(properties.values()) if key == "properties" else value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keys(each)
