"""Calls from Python that go wrong: which keyword was meant, and whom a refusal is about; calls that will go."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from difflib import get_close_matches
from functools import cache, wraps
from inspect import CO_VARKEYWORDS, Parameter, signature
from os import PathLike, fspath
from os.path import dirname, isdir
from types import CodeType
from typing import Any, NamedTuple, TypeGuard, TypeVar, cast
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


class Taken(NamedTuple):
    """What a function takes by name, the same as a set, and what has no default."""

    known: tuple[str, ...]
    names: frozenset[str]
    must: tuple[str, ...]


@cache
def taken_by(function: Callable[..., Any]) -> Taken:
    """Worked out once for each function."""
    code: CodeType = function.__code__
    known = known_keywords(function)
    return Taken(known, frozenset(known), code.co_varnames[: code.co_argcount - len(function.__defaults__ or ())])


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
    known, names, must = taken_by(function)
    called = name or function.__name__

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


# Numbers as text that is rounded in a stated direction: a bound stays one when it is printed.

EXACT = Context(prec=2000)  # holds every double, times a hundred
FIXED_FROM, FIXED_TO = 1e-4, 1e15  # plain decimals between, an exponent elsewhere
DEFAULT_DIGITS = 6  # as Python's own
DIGITS_MAX = 400

_SPEC = re.compile(r"(?:(?P<fill>.)?(?P<align>[<>^]))?(?P<width>\d{1,4})?(?:\.(?P<digits>\d{1,4}))?(?P<kind>[feg%])?")


def rounded(value: float, digits: int, up: bool) -> str:
    """So many significant digits, rounded up or down."""
    if not math.isfinite(value) or value == 0.0:
        return f"{value:g}"
    number = _significant(value, digits, up)
    return f"{number:f}" if FIXED_FROM <= abs(value) < FIXED_TO else f"{number:e}"


def outward(lower: float, upper: float, spec: str, plain: str) -> str:
    """[lower, upper] by a format such as .3f, .2e, .4g, .1% or >30, each end rounded away from the other.

    plain is the text where the format asks for no digits.
    """
    match = _SPEC.fullmatch(spec)
    if match is None or int(match["digits"] or 0) > DIGITS_MAX:
        raise ValueError(f"a bound takes formats such as .3f, .2e, .4g, .1% and >30, not {spec!r:.60}")
    text = plain
    if match["kind"] or match["digits"]:
        digits = DEFAULT_DIGITS if match["digits"] is None else int(match["digits"])
        low, high = (_end(value, match["kind"] or "g", digits, up) for value, up in ((lower, False), (upper, True)))
        text = f"[{low}, {high}]"
    return format(text, f"{match['fill'] or ' '}{match['align'] or '<'}{match['width'] or '0'}")


def short(value: float) -> str:
    """All digits of a double, without a needless .0."""
    return repr(value).removesuffix(".0")


def timed(seconds: float) -> str:
    """A time in seconds, to the millisecond."""
    return f"{seconds:.3f} s" if seconds >= 0.0005 else "<0.001 s"


def _end(value: float, kind: str, digits: int, up: bool) -> str:
    if not math.isfinite(value):
        return f"{value}%" if kind == "%" else f"{value}"
    if kind == "g":
        return _shortest(value, max(digits, 1), up)
    if kind == "e":
        return _exponent(f"{_significant(value, digits + 1, up):.{digits}e}") if value else f"{0.0:.{digits}e}"
    number = EXACT.multiply(Decimal(value), 100) if kind == "%" else Decimal(value)
    number = number.quantize(Decimal(1).scaleb(-digits), ROUND_CEILING if up else ROUND_FLOOR, EXACT)
    return f"{abs(number) if number.is_zero() else number:f}" + ("%" if kind == "%" else "")


def _shortest(value: float, digits: int, up: bool) -> str:
    """As Python's g: no trailing zeros, an exponent for small and large numbers."""
    if value == 0.0:
        return "0"
    number = EXACT.normalize(_significant(value, digits, up))
    return f"{number:f}" if -4 <= number.adjusted() < digits else _exponent(f"{number:e}")


def _exponent(text: str) -> str:
    """e-7 as Python's own floats have it: e-07."""
    mantissa, power = text.split("e")
    return f"{mantissa}e{int(power):+03d}"


def _significant(value: float, digits: int, up: bool) -> Decimal:
    return Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR).create_decimal(Decimal(value))
