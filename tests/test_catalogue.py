"""Whoever adds a mechanism is told which row is missing, and the schemas name what the package knows."""

from __future__ import annotations

from pathlib import Path

import pytest

import tightrope as tr
from benchmarks import schema
from tests.catalogued import missing, written
from tightrope.core.mechanisms.base import Leaf, Mechanism, leaves
from tightrope.core.text import catalogue
from tightrope.core.text.registry import MECHANISMS


@pytest.mark.parametrize("name", written())
def test_every_mechanism_has_its_rows(name: str) -> None:
    make = written()[name]
    slips = list(missing(name, make))
    assert not slips, "; ".join(slips)
    assert getattr(tr, name) is make
    assert (make.__doc__ or "").strip(), f"{name} needs a docstring: its first line is what the listing says"
    if make.example:
        assert {type(leaf) for leaf in leaves(tr.parse(make.example))} == {make}, f"{name}.example must be made of it"
        assert MECHANISMS[name] is make


def test_the_catalogue_holds_mechanisms_only() -> None:
    rows = {name: value for name, value in vars(catalogue).items() if not name.startswith("_")}
    assert rows == written()
    assert list(MECHANISMS) == [name for name, make in rows.items() if make.example]
    assert not issubclass(Mechanism, Leaf)


@pytest.mark.parametrize("path", sorted(schema.FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_the_schemas_name_what_the_package_knows(path: Path) -> None:
    text = path.read_text("utf-8")
    assert schema.written(path.name, text) == text, (
        "the names have changed: run make schema, or python -m benchmarks.schema"
    )
