"""Arguments of a text as exact numbers: a whole number stands for the nearest double, too, and a bool for none."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

NEARLY = Fraction(1, 10**12)  # lists of probabilities sum to 1 but for rounding, and are divided by their sum
Numbers = tuple[Fraction, ...]


def real(value: object) -> Fraction:
    if not isinstance(value, (int, Fraction)) or isinstance(value, bool):
        raise ValueError("a number is needed")
    return Fraction(float(value))


def positive(value: object) -> Fraction:
    if not real(value) > 0:
        raise ValueError("a positive number is needed")
    return real(value)


def probability(value: object) -> Fraction:
    if not 0 <= real(value) <= 1:
        raise ValueError("a probability is needed")
    return real(value)


def whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("a whole number is needed")
    return value


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("True or False is needed")
    return value


def neighbours_named(value: object) -> str:
    if value not in ("replace", "add_remove"):
        raise ValueError("neighbours are replace or add_remove")
    return str(value)


def rising(one: Sequence[Fraction], other: Sequence[Fraction]) -> None:
    """Two lists as long, the first of which rises."""
    if not one or len(one) != len(other) or any(a >= b for a, b in pairwise(one)):
        raise ValueError("two lists as long, the first of which rises")
