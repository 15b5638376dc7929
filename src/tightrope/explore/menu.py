"""What the page's forms offer: every mechanism and transformation, with its keywords and values to begin with.

All of it is made of the registry, so that a new mechanism needs no line here.
"""

from __future__ import annotations

from inspect import Parameter, getdoc
from typing import Any

from .. import Mechanism, parse
from ..extend.expressions import MECHANISMS, SECTIONS, TRANSFORMS, keywords
from ..extend.training import LOADERS
from .form import form_of

CHOICES = {"sampling": tuple(LOADERS)}  # words of which one is chosen, by their keyword
OPENING = (
    "training(records=60000, batch=256, epochs=15, sigma=1.1)",
    "Gaussian(sigma=1).poisson(rate=0.01) * 1000",
    "Laplace(scale=10) * 10 + Gaussian(sigma=5)",
)


def menu() -> dict[str, Any]:
    """As JSON: mechanisms by section, transformations, and runs for an empty page."""
    return {
        "sections": [
            {"title": title, "mechanisms": [_offered(name, make) for name, make in _of(section)]}
            for section, title in SECTIONS.items()
        ],
        "transformations": [_offered(name, make) for name, make in TRANSFORMS.items()],
        "opening": list(OPENING),
    }


def _of(section: str) -> list[tuple[str, type[Mechanism]]]:
    return [(name, make) for name, make in MECHANISMS.items() if make.section == section]


def _offered(name: str, make: Any) -> dict[str, Any]:
    """One row: how it is called, what it takes, and the values of its example."""
    return {
        "name": name,
        "summary": str(getdoc(make)).splitlines()[0],
        "example": make.example,
        "takes": [_keyword(keyword) for keyword in keywords(make)],
        "starts": _starting(name, make.example),
    }


def _keyword(given: Parameter) -> dict[str, Any]:
    needed = given.default is Parameter.empty
    return {
        "name": given.name,
        "needed": needed,
        "default": "" if needed or given.default is None else repr(given.default),
        "whole": str(given.annotation).startswith("int"),
        "choices": list(CHOICES.get(given.name, ())),
    }


def _starting(name: str, example: str) -> dict[str, str]:
    """The arguments that the example gives it."""
    parse(example)
    waiting = [form_of(example)]
    for node in waiting:
        waiting += node.get("parts", ())
        for each in (node, *node["chips"]):
            if each.get("name") == name:
                return {given["name"]: given["text"] for given in each["arguments"]}
    return {}
