"""Calls from Python that go wrong: which keyword was meant, and whom a refusal is about; calls that will go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from inspect import CO_VARKEYWORDS, Parameter, signature
from os import PathLike, fspath
from os.path import dirname, isdir
from types import CodeType
from typing import Any, TypeGuard, TypeVar, cast
from warnings import warn

from .errors import InvalidParameter, UnsupportedMechanism

WORD_SHOWN = 40
NAME_SHOWN = 120  # characters of a mechanism in a message
MINORS_KEPT = 2  # for so many minor versions what is deprecated is still there

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def nearest(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to a message, or nothing."""
    by_lower = {name.lower(): name for name in known}
    texts = get_close_matches(word[:WORD_SHOWN].lower(), by_lower, n=1)
    return f"; did you mean {by_lower[texts[0]]}?" if texts else ""


def check_folder(path: str | PathLike[str]) -> None:
    """InvalidParameter for a file whose folder is not there: asked before the work is done."""
    folder = dirname(fspath(path))
    if folder and not isdir(folder):
        raise InvalidParameter(
            f"{cut(fspath(path), NAME_SHOWN)}: there is no folder {cut(folder, NAME_SHOWN)}; make it first"
        )


class Default:
    """Stands in a signature for a default that the docstring tells."""

    def __repr__(self) -> str:
        return "..."


def known_keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """What a function takes by name; its `**options: Unpack[Options]` by the names in Options."""
    code: CodeType = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    if not code.co_flags & CO_VARKEYWORDS:
        return code.co_varnames[:count]
    options = function.__annotations__[code.co_varnames[count]].removeprefix("Unpack[").removesuffix("]")
    return code.co_varnames[:count] + tuple(function.__globals__[options].__annotations__)


def check_keywords(name: str, known: Collection[str], given: Iterable[str]) -> None:
    """TypeError for a keyword that is not known, with the nearest one that is."""
    for keyword in given:
        if keyword not in known:
            taken = [text for text in known if text not in ("self", "cls")]
            raise TypeError(f"{name} takes no {keyword!r:.60}; it takes {', '.join(taken)}{nearest(keyword, taken)}")


def check_needed(
    name: str, function: Callable[..., Any], known: Iterable[str], count: int, given: Mapping[str, Any]
) -> None:
    """TypeError for an argument without a default that is neither among the first `count` nor given by its name."""
    code: CodeType = function.__code__
    must = code.co_varnames[count : code.co_argcount - len(function.__defaults__ or ())]
    missing = [text for text in must if text not in given]
    if missing:
        taken = [text for text in known if text not in ("self", "cls")]
        raise TypeError(f"{name} needs {' and '.join(missing)}; it takes {', '.join(taken)}")


def checked(function: Function, name: str | None = None) -> Function:
    """The function, with a suggestion where a keyword is misspelt or missing; name: what a message calls it."""
    known = known_keywords(function)
    names, called = frozenset(known), name or function.__name__
    code: CodeType = function.__code__
    must = code.co_varnames[: code.co_argcount - len(function.__defaults__ or ())]

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if not keywords.keys() <= names:
            check_keywords(called, known, keywords)
        if not keywords.keys() >= set(must[len(arguments) :]):
            check_needed(called, function, known, len(arguments), keywords)
        return function(*arguments, **keywords)

    if function.__code__.co_flags & CO_VARKEYWORDS:  # help shows every keyword by its name
        shown = [
            parameter
            for parameter in signature(function).parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        named = {parameter.name for parameter in shown}
        shown += [Parameter(text, Parameter.KEYWORD_ONLY, default=Default()) for text in known if text not in named]
        call.__signature__ = signature(function).replace(parameters=shown)  # type: ignore[attr-defined]
    return cast(Function, call)


def checked_class(kind: Class) -> Class:
    """The class, with a suggestion where a keyword of its constructor is misspelt."""
    kind.__init__ = checked(kind.__init__, kind.__name__)  # type: ignore[misc]
    return kind


def checked_method(method: Function) -> Function:
    """A checked method of a mechanism; what is refused is named as the user wrote it, not as an engine sees it."""
    answer = checked(method)

    @wraps(answer)
    def ask(self: object, *arguments: Any, **keywords: Any) -> Any:
        try:
            return answer(self, *arguments, **keywords)
        except UnsupportedMechanism as refusal:
            refusal.rename(shortened(str(self)))
            raise

    return cast(Function, ask)


def deprecated(instead: str, since: str) -> Callable[[Function], Function]:
    """A function or method that goes: it does what it did, and each call warns. since: the version that warns first."""

    def marked(function: Function) -> Function:
        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            warn_deprecated(function.__qualname__, instead, since)
            return function(*arguments, **keywords)

        call.__deprecated__ = instead  # type: ignore[attr-defined]  # as PEP 702 has it
        return cast(Function, call)

    return marked


def warn_deprecated(what: str, instead: str, since: str) -> None:
    """DeprecationWarning for a name, a keyword or a value of one, at the line of whoever called; docs/stability.md."""
    major, minor, _ = map(int, since.split("."))
    first = f"{major}.{minor + MINORS_KEPT}.0"
    told = f"{what} is deprecated since {since}, and goes in {first} or later: use {instead}"
    warn(told, DeprecationWarning, stacklevel=3)


def shortened(text: str, most: int = NAME_SHOWN) -> str:
    """The text, or its beginning and end where it is long."""
    return text if len(text) <= most else f"{text[: most - 30].rstrip()} ... {text[-25:].lstrip()}"


def listed(value: object) -> TypeGuard[Iterable[float]]:
    """Whether it lists values: a text does not, nor an array without a dimension, which is one number."""
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) != 0


def cut(value: object, most: int = WORD_SHOWN) -> str:
    """The repr of a value, on one line's room: what is left out is told."""
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def quoted(word: str) -> str:
    """The word as it may stand in a message: on one line, and not longer than one."""
    return repr(word) if len(word) <= WORD_SHOWN else repr(word[:WORD_SHOWN] + "...")
