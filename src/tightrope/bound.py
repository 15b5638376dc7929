"""Certified numbers: an interval, and the certificate that says why it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from types import MappingProxyType
from typing import NoReturn

from .errors import InvalidParameter
from .relation import Direction

ERROR_SOURCES = ("discretisation", "truncation", "wrap_around", "quadrature", "rounding")


def budget_lines(**lines: float) -> Mapping[str, float]:
    """Every error source by name, in delta units; those not given are zero."""
    unknown = set(lines) - set(ERROR_SOURCES)
    if unknown:
        raise InvalidParameter(f"unknown budget line {sorted(unknown)[0]}; known: {', '.join(ERROR_SOURCES)}")
    return MappingProxyType({source: lines.get(source, 0.0) for source in ERROR_SOURCES})


@dataclass(frozen=True, slots=True)
class Budget:
    """How much delta each error source added above and took away below."""

    upper: Mapping[str, float] = field(default_factory=budget_lines)
    lower: Mapping[str, float] = field(default_factory=budget_lines)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Who computed a bound, how, and what the interval accounts for.

    direction is the one that attains the upper end. tight says that one real pair of neighbours attains the
    dominating pair's profile; if it is False, the lower end speaks of the dominating pair only.
    """

    engine: str
    arithmetic: str
    reason: str
    direction: Direction
    tight: bool = True
    parameters: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    budget: Budget = field(default_factory=Budget)


@dataclass(frozen=True, slots=True)
class Bound:
    """An interval that contains the true value, rounding included.

    float(bound) refuses: say .upper (what you must assume) or .lower (what is certainly lost).
    """

    lower: float
    upper: float
    certificate: Certificate | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", float(self.lower))
        object.__setattr__(self, "upper", float(self.upper))
        if math.isnan(self.lower) or math.isnan(self.upper):
            raise InvalidParameter("a bound cannot be NaN")
        if self.lower > self.upper:
            raise InvalidParameter(f"a bound needs lower <= upper, not [{self.lower!r}, {self.upper!r}]")

    @property
    def width(self) -> float:
        """upper - lower, rounded up; 0 for two equal infinities."""
        if self.lower == self.upper:
            return 0.0
        return math.nextafter(self.upper - self.lower, math.inf)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.lower <= value <= self.upper

    def __float__(self) -> NoReturn:
        raise TypeError("a Bound is two numbers: use .upper (safe to promise) or .lower (certainly spent)")

    def __str__(self) -> str:
        """Both ends with the digits they share plus one, rounded outward."""
        for digits in range(2, 18):
            low, high = (_rounded(end, digits, up) for end, up in ((self.lower, False), (self.upper, True)))
            if low != high and _width_grew(low, high, self):
                continue
            break
        return f"[{low}, {high}]"


def _rounded(value: float, digits: int, up: bool) -> str:
    if not math.isfinite(value) or value == 0.0:
        return f"{value:g}"
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    number = context.create_decimal(Decimal(value))
    return f"{number:f}" if 1e-4 <= abs(value) < 1e15 else f"{number:e}"


def _width_grew(low: str, high: str, bound: Bound) -> bool:
    """Whether rounding to these digits made the interval more than ten times wider than it is."""
    printed = Decimal(high) - Decimal(low)
    return printed.is_finite() and printed > 10 * max(Decimal(bound.upper) - Decimal(bound.lower), Decimal(0))
