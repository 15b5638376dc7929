"""The type of every mechanism: a call takes a name beside what the constructor takes, so no mechanism asks for it."""

from __future__ import annotations

from abc import ABCMeta
from inspect import Parameter, Signature, signature
from typing import Any

from ..calls import check_keywords, check_needed, known_keywords
from .parameters import one_line


class NamedType(ABCMeta):
    """Makes mechanisms: checks the keywords, hands all but the name to the constructor, and sets the name."""

    def __call__(cls, *arguments: Any, name: str | None = None, **keywords: Any) -> Any:
        own: Any = cls
        if not cls.__abstractmethods__ and hasattr(own.__init__, "__code__"):
            known = dict.fromkeys((*known_keywords(own.__init__), "name"))
            check_keywords(cls.__name__, known, keywords)
            check_needed(cls.__name__, own.__init__, known, 1 + len(arguments), keywords)
        given = None if name is None else one_line("name", name)
        made = super().__call__(*arguments, **keywords)
        object.__setattr__(made, "name", given)
        return made

    @property
    def __signature__(cls) -> Signature:
        """What a call takes: all that the constructor does, and the name."""
        own: Any = cls
        taken = dict(signature(own.__init__).parameters)
        taken.pop("self", None)
        taken.setdefault("name", Parameter("name", Parameter.KEYWORD_ONLY, default=None, annotation="str | None"))
        return Signature(list(taken.values()))
