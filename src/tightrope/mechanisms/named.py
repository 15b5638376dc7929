"""The type of every mechanism: a call takes a name beside what the constructor takes, so no mechanism asks for it."""

from __future__ import annotations

from abc import ABCMeta
from dataclasses import fields
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any

from .. import compute_budget
from ..calls import check_keywords, check_needed, known_keywords
from .parameters import one_line

# What help says of a mechanism beneath its docstring, by the texts of the class.
TOLD = (
    ("Pair", "formula"),
    ("Theorem", "theorem"),
    ("Neighbours", "relations"),
    ("Tightness", "tightness"),
    ("Example", "example"),
)
HELP_COLUMNS = 96


class NamedType(ABCMeta):
    # Makes mechanisms: checks the keywords, hands all but the name to the constructor, and sets the name.
    # A docstring here would hide the property, by which help ends with what a mechanism says of itself.

    @property
    def __doc__(cls) -> str | None:
        own: str | None = vars(cls).get("__doc__")
        said = [f"{title}: {text}" for title, name in TOLD if (text := getattr(cls, name, ""))]
        if not own or not getattr(cls, "formula", ""):
            return own
        from textwrap import fill

        shown = [fill(each, HELP_COLUMNS, subsequent_indent="    ", break_on_hyphens=False) for each in said]
        return "\n\n".join([cleandoc(own), *shown])

    @__doc__.setter
    def __doc__(cls, text: str | None) -> None:  # a dataclass without a docstring is given one
        type.__dict__["__doc__"].__set__(cls, text)

    def __call__(cls, *arguments: Any, name: str | None = None, **keywords: Any) -> Any:
        own: Any = cls
        if not cls.__abstractmethods__ and hasattr(own.__init__, "__code__"):
            known = dict.fromkeys((*known_keywords(own.__init__), "name"))
            check_keywords(cls.__name__, known, keywords)
            check_needed(cls.__name__, own.__init__, known, 1 + len(arguments), keywords)
        given = None if name is None else one_line("name", name)
        with compute_budget.uncounted():  # a value is no question: it can be made when time is up
            made = super().__call__(*arguments, **keywords)
        object.__setattr__(made, "name", given)
        return made

    @property
    def __signature__(cls) -> Signature:
        """What a call takes: all that the constructor does, and the name."""
        own: Any = cls
        taken = dict(signature(own.__init__).parameters)
        taken.pop("self", None)
        options = [parameter.name for parameter in taken.values() if parameter.kind is Parameter.VAR_KEYWORD]
        for given in fields(own) if options else ():
            keyword = given.metadata.get("keyword", given.name)
            if given.init and keyword not in taken:
                taken[keyword] = Parameter(
                    keyword, Parameter.KEYWORD_ONLY, default=given.default, annotation=given.type
                )
        for option in options:
            taken.pop(option)
        taken.setdefault("name", Parameter("name", Parameter.KEYWORD_ONLY, default=None, annotation="str | None"))
        return Signature(list(taken.values()))
