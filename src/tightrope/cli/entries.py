"""What the listing, `tightrope mechanisms NAME` and the pages of docs/ say of each name: one source for all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, cleandoc, getdoc
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import tightrope as tr

from .. import InvalidParameter, Leaf, Mechanism, compose, parallel
from ..extend.expressions import JOINS, REFUSED, SECTIONS, TRANSFORMS, keywords, usage
from ..extend.mechanisms import Composition
from ..extend.wording import nearest, quoted

TRANSFORMED = "What makes a mechanism of mechanisms"
OTHERS = "Others"
MECHANISMS_PAGE, TRANSFORMATIONS_PAGE = "docs/mechanisms.md", "docs/transformations.md"
ASKED_DELTA, ASKED_EPSILON = 1e-6, 1.0  # of the examples
NAMED_MAX = 4  # names: a word that more have tells nothing
WORDS, CAPITALISED = re.compile(r"[\w-]+"), re.compile(r"[A-Z][a-z]+|[a-z]+")
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")

Texts = Any  # a class with the texts: example, formula, theorem, relations, tightness


@dataclass(frozen=True, slots=True)
class Entry:
    """One name and what is said of it; make is the class that has the texts."""

    name: str
    usage: str
    section: str
    meaning: str  # paragraphs
    page: str
    make: Texts

    @property
    def summary(self) -> str:
        """One line."""
        return " ".join(docstring(self.make).split("\n\n")[0].split())

    @property
    def snippet(self) -> str:
        """How Python makes one where no text can; empty else."""
        return getattr(self.make, "snippet", "")

    @property
    def texts(self) -> dict[str, str]:
        """The four texts by their titles, in the order in which they are read."""
        make = self.make
        return {
            "pair": make.formula,
            "theorem": make.theorem,
            "neighbours": make.relations,
            "tightness": make.tightness,
        }

    def document(self) -> dict[str, Any]:
        """As JSON holds it; an example is added by whoever asks it."""
        taken = [] if self.make is Composition or self.name in JOINS else keywords(self.make)
        return {
            "name": self.name,
            "section": self.section,
            "usage": self.usage,
            "summary": self.summary,
            "meaning": self.meaning,
            "parameters": [
                {"name": parameter.name}
                if parameter.default is Parameter.empty
                else {"name": parameter.name, "default": parameter.default}
                for parameter in taken
            ],
            **{title: linked(text) for title, text in self.texts.items()},
            "page": self.page,
        }


@cache
def mechanisms() -> Mapping[str, Entry]:
    """Those of the catalogue by their names, section by section; also those that no text can hold."""
    found = {name: make for name, make in vars(tr).items() if isinstance(make, type) and issubclass(make, Leaf)}
    del found[Leaf.__name__]
    order = {title: place for place, title in enumerate((*SECTIONS, ""))}
    names = sorted(found, key=lambda name: order[found[name].section])
    return MappingProxyType(
        {
            name: Entry(
                name,
                usage(name, found[name]),
                SECTIONS.get(found[name].section, OTHERS),
                docstring(found[name]),
                MECHANISMS_PAGE,
                found[name],
            )
            for name in names
        }
    )


@cache
def transformations() -> Mapping[str, Entry]:
    """Those of the registry by their names, without a dot, and composition."""
    made: dict[str, tuple[str, Texts, object]] = {
        name: (f".{usage(name, make)}", make, getattr(Mechanism, name)) for name, make in TRANSFORMS.items()
    }
    made.update((name, (usage(name, make), make, parallel)) for name, make in JOINS.items())
    made["compose"] = "a + b, a * count, compose(a, b, ...)", Composition, compose
    return MappingProxyType(
        {
            name: Entry(name, heading, TRANSFORMED, getdoc(told) or "", TRANSFORMATIONS_PAGE, make)
            for name, (heading, make, told) in made.items()
        }
    )


def find(name: str) -> Entry:
    """The entry of a name, with a dot in front or without; an unknown one is refused with the nearest that is known."""
    word = name.strip().partition("(")[0].rstrip()
    bare = word.removeprefix("tr.").removeprefix(".")
    if not word.startswith(".") and bare in mechanisms():
        return mechanisms()[bare]
    if bare in transformations():
        return transformations()[bare]
    if bare in REFUSED:
        raise InvalidParameter(f"there is no {bare}: {REFUSED[bare]}")
    suggested = nearest(bare, (*mechanisms(), *transformations()))
    if not suggested and (told := speaking_of(bare)):
        suggested = f"; {', '.join(told)} {'speaks' if len(told) == 1 else 'speak'} of it"
    raise InvalidParameter(f"unknown mechanism {quoted(name)}{suggested or '; tightrope mechanisms lists all of them'}")


def speaking_of(word: str) -> list[str]:
    """Whose names and texts have the word, in any case and with or without hyphens or a space: few, or none at all."""
    sought = "".join(WORDS.findall(word)).replace("-", "").lower()
    found = []
    for entry in (*mechanisms().values(), *transformations().values()):
        said = [*CAPITALISED.findall(entry.name), *WORDS.findall(f"{entry.meaning} {' '.join(entry.texts.values())}")]
        plain = [each.replace("-", "").lower() for each in said]
        if sought in plain or sought in map("".join, pairwise(plain)):
            found.append(entry.name)
    return found if len(found) <= NAMED_MAX else []


def docstring(make: Texts) -> str:
    """As it is written, without what help adds."""
    return cleandoc(vars(make).get("__doc__") or "")


def linked(text: str) -> str:
    """Links of a page as a terminal shows them, files from the root of the tree."""
    return LINK.sub(r"\1 (docs/\2)", text)
