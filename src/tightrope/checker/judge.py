"""Claims of an answer, end by end: proved, refuted, or not checkable and why.

"epsilon(delta) <= u" says delta_d(u) <= delta in every direction d, "epsilon(delta) >= l" follows from
delta_d(l) > delta in one of them, and "delta(epsilon)" is the largest delta_d. All of them are read off enclosures of
delta_d at one point, which become finer until they decide or time is out. Proof: docs/proofs/checker.md, sections 1, 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

from flint import arb

from .choices import hints
from .clock import now
from .expression import run_of
from .law import NotCheckable, precision
from .profile import FORMULA_BITS, Profile
from .readings import READINGS, AskedReading, found_of

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "not checkable"


@dataclass(frozen=True)
class EndVerdict:
    """What was found about one end; found encloses delta there, or the quantity, where that is another."""

    end: str  # "lower" or "upper"
    value: float
    verdict: str
    why: str = ""
    found: tuple[float, float] | None = None
    of: str = "delta"  # what was found


def judged(answer: Mapping[str, Any], seconds: float) -> tuple[EndVerdict, EndVerdict]:
    """Both ends of an answer: a mapping with quantity, expression, lower, upper, its arguments, and only."""
    start = now()
    return _end(answer, "lower", start + seconds / 2), _end(answer, "upper", start + seconds)


def _end(answer: Mapping[str, Any], end: str, until: float) -> EndVerdict:
    try:
        value = _read(answer[end])
        with precision(FORMULA_BITS[-1]):
            verdict, why, found = _decided(answer, value, end == "upper", until)
    except NotCheckable as error:
        verdict, why, found = UNDECIDED, str(error), None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise NotCheckable(f"this is no answer: {type(error).__name__}, {error!s:.80}") from None
    return EndVerdict(end, value, verdict, why, found, found_of(answer.get("quantity")))


def _decided(
    answer: Mapping[str, Any], value: float, upper: bool, until: float
) -> tuple[str, str, tuple[float, float] | None]:
    """Compares enclosures of one number with a level: of delta at the end with delta, of others with the end."""
    quantity = answer["quantity"]
    if not isinstance(quantity, str) or quantity not in READINGS:
        raise NotCheckable(f"the checker does not know {quantity!s:.40}")
    reading = READINGS[quantity]
    given = [_read(answer[name]) for name in reading.arguments]
    least, most = reading.range
    if not all(low <= number <= high for number, (low, high) in zip(given, reading.allowed, strict=True)):
        raise NotCheckable("an argument is not in its range")
    add_first, hinted = answer.get("direction") == "add", hints(answer.get("certificate") or {})
    profile = Profile(run_of(answer["expression"]), answer.get("only"), add_first, hinted, until)
    profile.directions()  # refuses what has none
    if value >= most if upper else value <= least:
        return PROVED, "by definition", None
    if value < least if upper else value > most:
        return REFUTED, f"no {quantity} is {'below' if upper else 'above'} {least if upper else most}", None
    level = reading.level(given[0]) if reading.falls else arb(value)
    low, high = arb("-inf"), arb("inf")
    for enclosure in reading.enclosures(profile, AskedReading(tuple(given), value, level)):
        if enclosure[0].is_nan() or enclosure[1].is_nan():
            continue  # nan would stay for ever
        low, high = low.max(enclosure[0].lower()), high.min(enclosure[1].upper())
        if low > high:
            raise NotCheckable("two enclosures contradict each other: an error of the checker, which is to be reported")
        if low > level or (low >= level and not upper and not reading.falls):
            return (REFUTED if upper else PROVED), "", _shown(low, high, reading.range)
        if reading.has_atoms and not upper and high <= level:
            continue  # the end itself may be where the chance jumps
        if high < level or (high <= level and upper):
            return (PROVED if upper else REFUTED), "", _shown(low, high, reading.range)
    return UNDECIDED, _reason(low, high, until), _shown(low, high, reading.range)


def _reason(low: arb, high: arb, until: float) -> str:
    if not high - low < 1 and now() < until:
        return "no formula of the checker covers these laws together"
    return "not decided in this time, or too near to the exact value: give more seconds"


def _shown(low: arb, high: arb, allowed: tuple[float, float]) -> tuple[float, float]:
    """As doubles, rounded outward; a delta, which is in [0, 1], where that is what was compared."""
    return max(nextafter(float(low), -inf), min(allowed[0], 0)), min(nextafter(float(high), inf), inf)


def _read(number: object) -> float:
    """A number of a document: a double, or an infinity, which JSON holds as a text; nothing that a double rounds."""
    if type(number) not in (int, float) and number not in ("inf", "-inf"):
        raise ValueError(f"{number!r:.40} is no number")
    value = float(number)  # type: ignore[arg-type]
    if value != number and type(number) is not str:
        raise ValueError(f"{number!r:.40} is no double")
    return value
