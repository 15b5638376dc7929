"""What a mechanism must have before any test can ask it something, and the sentence that says what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pkgutil import iter_modules

from tightrope.cli.entries import docstring
from tightrope.core import mechanisms
from tightrope.core.mechanisms.base import Leaf, Mechanism
from tightrope.core.text import catalogue
from tightrope.core.text.registry import SECTIONS, keywords


def written() -> dict[str, type[Leaf]]:
    """The mechanisms that have a file, by name."""
    modules = [import_module(f"tightrope.core.mechanisms.{each.name}") for each in iter_modules(mechanisms.__path__)]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Leaf) and value.__module__ == module.__name__
        if not value.__abstractmethods__
    }


def missing(name: str, make: type[Leaf]) -> Iterator[str]:
    """What keeps a mechanism from being named or asked."""
    file = make.__module__.rpartition(".")[2]
    if getattr(catalogue, name, None) is not make:
        yield f"text/catalogue.py needs the row: from .mechanisms.{file} import {name} as {name}"
    for field in fields(make):  # type: ignore[arg-type]
        if field.name in Mechanism.__dict__.keys() - Mechanism.__dataclass_fields__.keys():
            yield (
                f"{name}: a field `{field.name}` hides the method of that name; in mechanisms/{file}.py write "
                f'{field.name}_per_use: ... = field(metadata={{"keyword": "{field.name}"}}), '
                f"and set it in an __init__ that takes {field.name}"
            )
    yield from untold(name, make)


def untold(name: str, make: type[Leaf]) -> Iterator[str]:
    """What the listing, docs/mechanisms.md and help would leave open."""
    for text in ("formula", "theorem", "tightness", "relations"):
        if not getattr(make, text):
            yield f"{name}.{text} says nothing: a sentence for users, as in mechanisms/gaussian.py"
    if make.section not in SECTIONS:
        yield f"{name}.section must be one of {', '.join(SECTIONS)}, not {make.section!r}"
    if not make.example and not make.snippet:
        yield f"{name} needs an example, or a snippet where no text can hold it"
    for parameter in keywords(make):
        if not re.search(rf"\b{parameter.name}\b", docstring(make)):
            yield f"{name}: its docstring must say what {parameter.name} is"
