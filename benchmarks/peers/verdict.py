"""Where an answer lies beside the truth."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from .case import TRUTHS

DIGITS = Fraction(1, 10**14)  # parameters are doubles here and decimals in some of the truths
Found = Mapping[str, object]
MISSES = "**misses the truth**"


@dataclass(frozen=True)
class Truth:
    """An interval, of one point where the value is known."""

    lower_text: str
    upper_text: str
    how: str

    @property
    def low(self) -> Fraction:
        return Fraction(self.lower_text) * (1 - DIGITS)

    @property
    def high(self) -> Fraction:
        return Fraction(self.upper_text) * (1 + DIGITS)

    @property
    def middle(self) -> float:
        return (float(self.lower_text) + float(self.upper_text)) / 2.0


def truths() -> dict[str, Truth]:
    """By the name of the case."""
    rows = json.loads(TRUTHS.read_text())["truths"]
    return {name: Truth(row["lower"], row["upper"], row["how"]) for name, row in rows.items()}


def number(found: Found, key: str) -> float | None:
    """An end, as a float."""
    return float(str(found[key])) if key in found else None


def answered(found: Found) -> bool:
    """Whether there is a finite upper end or estimate."""
    value = value_of(found)
    return value is not None and math.isfinite(value)


def value_of(found: Found) -> float | None:
    """The number to report: the upper end where one is claimed, else the estimate."""
    upper = number(found, "upper")
    return number(found, "estimate") if upper is None else upper


def misses(found: Found, truth: Truth) -> str:
    """Which claim is false, and by how much; empty where none is."""
    upper, lower = number(found, "upper"), number(found, "lower")
    if upper is not None and math.isnan(upper):
        return ""
    if upper is not None and upper < math.inf and Fraction(upper) < truth.low:
        return f"upper end {float(Fraction(truth.lower_text) - Fraction(upper)):.1e} below the truth"
    if lower is not None and math.isfinite(lower) and Fraction(lower) > truth.high:
        return f"lower end {float(Fraction(lower) - Fraction(truth.upper_text)):.1e} above the truth"
    return ""


def said(found: Found, truth: Truth) -> str:
    """One phrase for a table."""
    if "not_covered" in found or "failed" in found:
        return str(found.get("failed", f"not covered: {found.get('not_covered')}"))
    missed = misses(found, truth)
    if missed:
        return f"{MISSES}: {missed}"
    value = value_of(found)
    if value is None or not math.isfinite(value):
        return "no finite answer"
    if "upper" not in found:
        off = value - truth.middle
        return f"estimate, {abs(off):.1e} too {'small' if off < 0.0 else 'large'}"
    if "lower" in found:
        return "contains it"
    return f"above it by {max(value - float(truth.upper_text), 0.0):.1e}"
