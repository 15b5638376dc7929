"""Whole units of an axis: what a job costs is rounded up, what a budget may hold is rounded down.

A unit is 2^-50 of epsilon, rho, mu^2 and Renyi divergences, 2^-62 of delta and slack, and 1 of slots. No axis has more
than 2^62 units, so that two of them fit a signed 64-bit integer together with their sum.
Guarantee: exact, by fractions: cost(x) units are at least x, total(x) units at most x.
Proof: docs/proofs/ledger.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from ..extend.wording import FIXED_FROM, FIXED_TO

LOSS_UNIT = 2**50
DELTA_UNIT = 2**62
SLOT_UNIT = 1
UNITS_MAX = 2**62
AXIS_LOSS_MAX = UNITS_MAX // LOSS_UNIT
UNITS_DIGITS = 6  # that are printed


def cost(upper: float | Fraction, unit: int) -> int | None:
    """The least number of units at or above; None where it is not finite, or more than an axis can hold."""
    if isinstance(upper, float) and not math.isfinite(upper):
        return None
    found = math.ceil(max(Fraction(upper), Fraction(0)) * unit)
    return found if found <= UNITS_MAX else None


def total(lower: float | Fraction, unit: int) -> int:
    """The largest number of units at or below, no less than 0 and no more than an axis can hold."""
    if isinstance(lower, float) and not math.isfinite(lower):
        return UNITS_MAX if lower == math.inf else 0
    return min(max(math.floor(Fraction(lower) * unit), 0), UNITS_MAX)


def value(units: int, unit: int) -> Fraction:
    """What so many units are."""
    return Fraction(units, unit)


def at_least_one(units: Mapping[str, int], first: str) -> dict[str, int | None]:
    """The same costs, that of the axis `first` raised to 1 where all of them are 0: no job is free, so none is asked
    for without end."""
    return {name: 1 if name == first and not any(units.values()) else number for name, number in units.items()}


def amount(units: int, unit: int, *, up: bool, digits: int = UNITS_DIGITS) -> str:
    """So many units as a decimal number, exact or rounded up or down."""
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    number = context.divide(Decimal(units), Decimal(unit)).normalize(Context(prec=digits))
    if not number:
        return "0"
    return f"{number:f}" if FIXED_FROM <= abs(float(number)) < FIXED_TO else f"{number:e}"
