"""Texts with {names}, which a configuration fills with literals, and functions of the same names.

A value stands for itself: a word comes in quotes, a negative number in brackets, so that no value can change what the
text around it says. What is filled is read as every expression is, and never evaluated. A text that is one {name} and
nothing else takes whole expressions from the grid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from .. import InvalidParameter, Mechanism
from ..extend.expressions import LENGTH_MAX
from ..extend.wording import cut, nearest
from .values import Value, literal

_PART = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\{([^{}]*)\}""")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text with {names}; between quotes, brackets stand for themselves."""

    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip() or len(self.text) > LENGTH_MAX:
            raise InvalidParameter(f"a text such as Gaussian(sigma={{sigma}}) is needed, not {cut(self.text)}")
        for name in self.names:
            if not name.isidentifier():
                raise InvalidParameter(f"between curly brackets stands a name of the grid, not {cut(name)}")

    @property
    def names(self) -> tuple[str, ...]:
        """What it needs from a configuration."""
        found = (match[1] for match in _PART.finditer(self.text))
        return tuple(dict.fromkeys(name for name in found if name is not None))

    @property
    def whole(self) -> str | None:
        """The name that is all of the text."""
        alone = re.fullmatch(r"\s*\{(\w+)\}\s*", self.text)
        return alone[1] if alone else None

    def filled(self, configuration: Mapping[str, Value]) -> str:
        """The text for one configuration."""
        if self.whole is not None and isinstance(text := configuration.get(self.whole), str):
            return text

        def part(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            value = configuration.get(match[1])
            if value is None:
                raise InvalidParameter(f"this configuration has no value for {match[1]}")
            return literal(value)

        return _PART.sub(part, self.text)


@dataclass(frozen=True, slots=True)
class Maker:
    """A function of the names of the grid; what it takes more than these is the unknown of a calibration."""

    function: Callable[..., Mechanism]

    @property
    def text(self) -> str:
        """The function by the name under which other processes find it."""
        return (
            f"{getattr(self.function, '__module__', '')}.{getattr(self.function, '__qualname__', repr(self.function))}"
        )

    @property
    def parameters(self) -> tuple[tuple[str, bool], ...] | None:
        """What it takes by name, and whether it must be given; None where that is anything."""
        taken = signature(self.function).parameters.values()
        if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken):
            return None
        by_name = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        return tuple(
            (parameter.name, parameter.default is Parameter.empty) for parameter in taken if parameter.kind in by_name
        )

    def taken(self, names: Collection[str]) -> tuple[str, ...]:
        """Those of the names that it takes."""
        known = self.parameters
        return tuple(names if known is None else (text for text, _ in known if text in names))

    def missing(self, names: Collection[str]) -> tuple[str, ...]:
        """What it needs beside these names."""
        return tuple(text for text, must in self.parameters or () if must and text not in names)

    def __call__(self, configuration: Mapping[str, Value], **more: Any) -> Mechanism:
        """The mechanism of one configuration."""
        given = {name: configuration[name] for name in self.taken(configuration)}
        return self.function(**given, **more)


def check_names(wanted: Collection[str], names: Collection[str], whose: str) -> None:
    """Every name that is wanted is one of the grid."""
    for name in wanted:
        if name not in names:
            raise InvalidParameter(
                f"{whose} needs {name}, and the grid has {', '.join(names) or 'no names'}{nearest(name, names)}"
            )
