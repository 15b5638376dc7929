"""Values of a configuration: numbers, words, True and False, and lists of these."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from .. import InvalidParameter
from ..extend.wording import cut, listed

Value = int | float | bool | str | tuple["Value", ...] | None

WHOLE_BITS_MAX = 1023  # whole numbers stay within the range of a double


def value_of(name: str, given: object) -> Value:
    """A value as expressions, JSON and tables can hold it; InvalidParameter otherwise."""
    if given is None or isinstance(given, (bool, str)):
        return given
    if isinstance(given, Integral) and int(given).bit_length() <= WHOLE_BITS_MAX:
        return int(given)
    if isinstance(given, Real) and not isinstance(given, Integral) and not math.isnan(float(given)):
        return float(given)
    item = getattr(given, "item", None)
    if getattr(given, "ndim", None) == 0 and callable(item):  # a number of numpy
        return value_of(name, item())
    if listed(given) and not isinstance(given, dict):
        return tuple(value_of(name, value) for value in given)
    raise InvalidParameter(f"{name} takes numbers, words and lists of these, not {cut(given)}")


def cell_value(text: str) -> Value:
    """A cell of a table as text: a whole number, a number, True or False, nothing, or else a word."""
    word = text.strip()
    if word in ("", "True", "False", "true", "false"):
        return None if not word else word.lower() == "true"
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        if "_" not in word and not (isinstance(number, float) and math.isnan(number)):
            return value_of("a cell", number)
    return text


def literal(value: Value) -> str:
    """The value as an expression writes it; it stands for itself, whatever is around it."""
    if isinstance(value, bool):
        return repr(value)
    if isinstance(value, (int, float)):
        return f"({value!r})" if value < 0 else repr(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(literal, value))}]"
    if value is None:
        raise InvalidParameter("a value is missing here")
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def numbers_of(name: str, given: object, count: int) -> list[float]:
    """So many finite numbers of a list."""
    found = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, dict)) else []
    plain = [value_of(name, each) for each in found]
    numbers = [float(each) for each in plain if isinstance(each, (int, float)) and not isinstance(each, bool)]
    if len(plain) != count or len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise InvalidParameter(f"{name} takes {count} numbers, not {cut(given)}")
    return numbers
