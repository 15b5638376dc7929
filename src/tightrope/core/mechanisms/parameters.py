"""Checks of parameters: what was given, what is allowed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from itertools import chain
from typing import Any

from ..values.calls import cut, quoted
from ..values.errors import InvalidParameter

WHOLE_MAX = 2**1000  # larger ones do not fit into a double
NAME_MAX = 100  # characters
SUM_TOLERANCE = Fraction(1, 10**12)  # of what is meant to be 1

Matrix = Sequence[Sequence[float]]  # of a keyword with this annotation texts and JSON read lists of lists


def positive(name: str, value: float) -> float:
    """A finite number above zero, as a float."""
    number = real(name, value)
    if not 0.0 < number < math.inf:
        raise InvalidParameter(f"{name} must be a finite number above 0, not {value!r}")
    return number


def nonnegative(name: str, value: float) -> float:
    """A finite number, zero or above, as a float."""
    number = real(name, value)
    if not 0.0 <= number < math.inf:
        raise InvalidParameter(f"{name} must be a finite number, 0 or above, not {value!r}")
    return number + 0.0


def finite(name: str, value: float) -> float:
    """A finite number, as a float."""
    number = real(name, value)
    if not -math.inf < number < math.inf:
        raise InvalidParameter(f"{name} must be a finite number, not {value!r}")
    return number + 0.0


def probability(name: str, value: float) -> float:
    """A number in [0, 1], as a float."""
    number = real(name, value)
    if not 0.0 <= number <= 1.0:
        raise InvalidParameter(f"{name} must lie in [0, 1], not {value!r}")
    return number + 0.0


def flag(name: str, value: bool) -> bool:
    """True or False, and not what only counts as one of them."""
    if not isinstance(value, bool):
        raise InvalidParameter(f"{name} must be True or False, not {value!r:.60}")
    return value


def whole(name: str, value: float, least: int) -> int:
    """An integer (integral floats count) of at least `least`."""
    number = value if isinstance(value, int) and not isinstance(value, bool) else real(name, value)
    if isinstance(number, float) and not number.is_integer():
        hint = f"; round up to {math.ceil(number):,}" if least <= number < math.inf else ""
        raise InvalidParameter(f"{name} must be a whole number, {least} or more, not {value!r}{hint}")
    if not least <= number <= WHOLE_MAX:
        raise InvalidParameter(f"{name} must be a whole number from {least} to 2**1000, not {cut(value)}")
    return int(number)


def in_order(name: str, values: object) -> None:
    """Refuses what is iterated by its keys, which are not the numbers meant, or in no order: dicts, sets, tables."""
    if isinstance(values, (Mapping, Set)) or hasattr(values, "columns"):
        raise InvalidParameter(
            f"{name} must be a list or an array, not a {type(values).__name__}: give the numbers meant, in order"
        )


def masses(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Probabilities whose exact sum is 1 up to SUM_TOLERANCE; they are meant as divided by it (`shares`)."""
    in_order(name, values)
    try:
        found = tuple(real(f"{name}[{index}]", value) + 0.0 for index, value in enumerate(values))
    except TypeError:
        raise InvalidParameter(f"{name} must be a list of probabilities, not {values!r:.60}") from None
    if not found:
        raise InvalidParameter(f"{name} must have at least one outcome")
    for index, mass in enumerate(found):
        if not 0.0 <= mass <= 1.0 + float(SUM_TOLERANCE):
            raise InvalidParameter(f"{name}[{index}] must be a probability, not {mass!r}")
    if abs(sum(map(Fraction, found), Fraction(0)) - 1) > SUM_TOLERANCE:
        raise InvalidParameter(f"the masses of {name} must sum to 1, not to {math.fsum(found)!r}")
    return found


def shares(values: Sequence[float]) -> tuple[Fraction, ...]:
    """Each of the values divided by their exact sum."""
    exact = tuple(map(Fraction, values))
    total = sum(exact, Fraction(0))
    return tuple(value / total for value in exact)


def shape(values: Matrix) -> tuple[int, int]:
    """Rows and columns, before anything is made of them; 0 where it is no matrix, which `matrix` says."""
    try:
        return len(values), len(values[0])
    except (TypeError, IndexError, KeyError):
        return 0, 0


def matrix(name: str, values: Matrix) -> tuple[tuple[float, ...], ...]:
    """Rows of finite numbers, all of the same length, at least one of each."""
    in_order(name, values)
    values = _listed(values)
    try:
        rows = _plain(values) or tuple(_row(f"{name}[{i}]", row) for i, row in enumerate(values))
    except TypeError:
        raise InvalidParameter(
            f"{name} must be a list of rows, each a list of numbers, not {cut(values, 60)}"
        ) from None
    if not rows or not rows[0]:
        raise InvalidParameter(f"{name} must have at least one row and one column")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidParameter(
                f"{name} must have rows of one length: {name}[0] has {len(rows[0])}, {name}[{i}] {len(row)}"
            )
    return rows


def numbers(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Finite numbers, at least one."""
    if isinstance(values, (str, bytes)):
        raise InvalidParameter(f"{name} must be a list of numbers, not the text {cut(values)}")
    try:
        found = _row(name, values)
    except TypeError:
        raise InvalidParameter(f"{name} must be a list of numbers, not {cut(values, 60)}") from None
    if not found:
        raise InvalidParameter(f"{name} must have at least one number")
    return found


def _plain(rows: Matrix) -> tuple[tuple[float, ...], ...]:
    """Rows of one length of finite numbers of Python's own kinds, all at once; nothing where it is anything else."""
    if type(rows) not in (list, tuple) or not set(map(type, rows)) <= {list, tuple}:
        return ()
    lengths = set(map(len, rows))
    if len(lengths) != 1 or not set(map(type, chain.from_iterable(rows))) <= {float, int}:
        return ()
    try:
        entries = [float(value) + 0.0 for value in chain.from_iterable(rows)]
    except OverflowError:
        return ()
    return tuple(zip(*[iter(entries)] * lengths.pop(), strict=True)) if all(map(math.isfinite, entries)) else ()


def _row(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Finite numbers of any kind."""
    in_order(name, values)
    values = _listed(values)
    found = _plain((values,))
    return found[0] if found else tuple(finite(f"{name}[{index}]", value) for index, value in enumerate(values))


def _listed(values: Any) -> Any:
    """An array as a list: its own numbers take their time."""
    return getattr(values, "tolist", lambda: values)()


def real(name: str, value: object) -> float:
    """Any number, as a float; a text is none, whatever it says."""
    if isinstance(value, str):
        raise InvalidParameter(f"{name} must be a number, not the text {cut(value)}")
    if isinstance(value, (bool, bytes)) or not hasattr(value, "__float__"):
        raise InvalidParameter(f"{name} must be a number, not {cut(value, 60)}")
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        raise InvalidParameter(f"{name} must be a number, not {cut(value, 60)}") from None


def one_line(name: str, value: object) -> str:
    """A short text that can stand in any line: nothing that breaks it, hides or reorders what is beside it."""
    if not isinstance(value, str):
        raise InvalidParameter(f"{name} must be a text, not {cut(value, 60)}")
    text = str.__str__(value)
    if not 0 < len(text) <= NAME_MAX or not text.isprintable() or text != text.strip():
        raise InvalidParameter(
            f"{name} must be 1 to {NAME_MAX} printable characters without spaces at the ends, not {quoted(text)}"
        )
    return text
