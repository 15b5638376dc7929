"""The names of tightrope.extend, module by module, each with the first sentence of its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from release.api_python import extensions
from tightrope import extend

from .words import escaped, markdown

VALUE_MAX = 60  # characters of a value that stands in the table


def page() -> str:
    """What tightrope.extend is, and a table for each of its modules."""
    about = (inspect.getdoc(extend) or "").replace("`tightrope`", "[tightrope](index.md)")
    lines = ["# For those who add to Tightrope", "", markdown(about), ""]
    for title, names in extensions().items():
        module = import_module(f"{extend.__name__}.{title}")
        lines += [f"## tightrope.extend.{title}", "", escaped(inspect.getdoc(module) or ""), ""]
        lines += ["| name | |", "|---|---|", *(row(name, getattr(module, name)) for name in sorted(names)), ""]
    return "\n".join(lines)


def row(name: str, thing: Any) -> str:
    return f"| `{name}` | {' '.join(said(thing))} |"


def said(thing: Any) -> Iterator[str]:
    """The first sentence of a function or class; of a plain value itself, where it is short."""
    if inspect.isroutine(thing) or inspect.isclass(thing):
        if not str(thing.__module__).startswith("tightrope"):
            yield f"of {str(thing.__module__).partition('.')[0]}"
            return
        first = (inspect.getdoc(thing) or "").split("\n\n")[0]
        yield escaped(" ".join(first.split()))
    elif len(text := repr(thing)) <= VALUE_MAX:
        yield f"`{text}`".replace("|", r"\|")
