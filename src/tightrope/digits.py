"""Numbers as text that is rounded in a stated direction: a bound stays one when it is printed."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

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
