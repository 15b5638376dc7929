"""Claims of an answer, end by end: proved, refuted, or not checkable and why.

"epsilon(delta) <= u" says delta_d(u) <= delta in every direction d, "epsilon(delta) >= l" follows from
delta_d(l) > delta in one of them, and "delta(epsilon)" is the largest delta_d. All of them are read off enclosures of
delta_d at one point, which become finer until they decide or time is out. Proof: docs/proofs/checker.md, sections 1, 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from flint import arb

from . import contour, grid
from .choices import Hints, hints, saddle
from .clock import now
from .expression import terms_of
from .law import NotCheckable, Term, exact, infinite, precision, reverse
from .laws import listed

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "not checkable"
FORMULA_BITS = (128, 1024)  # where a formula is exact
CONTOUR_GOALS = (40, 64, 96, 160, 256)  # of contours, in bits
GRID_HALVINGS = 12  # of the step of a grid
Enclosures = Iterator[tuple[arb, arb]]


@dataclass(frozen=True)
class EndVerdict:
    """What was found about one end; found encloses delta there, in the directions that were looked at."""

    end: str  # "lower" or "upper"
    value: float
    verdict: str
    why: str = ""
    found: tuple[float, float] | None = None


def judged(answer: Mapping[str, Any], seconds: float) -> tuple[EndVerdict, EndVerdict]:
    """Both ends of an answer: a mapping with quantity, expression, lower, upper, delta or epsilon, and only."""
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
    return EndVerdict(end, value, verdict, why, found)


def _decided(
    answer: Mapping[str, Any], value: float, upper: bool, until: float
) -> tuple[str, str, tuple[float, float] | None]:
    quantity = answer["quantity"]
    if quantity not in ("epsilon", "delta"):
        raise NotCheckable(f"the checker knows epsilon and delta, and not {quantity!s:.40}")
    of_epsilon = quantity == "epsilon"
    given = _read(answer["delta" if of_epsilon else "epsilon"])
    point, level = (value, given) if of_epsilon else (given, value)
    if not (0 <= level <= 1 and point == point):
        raise NotCheckable("a delta lies in [0, 1], and an epsilon is a number")
    terms = terms_of(answer["expression"])
    both = {"remove": terms, "add": reverse(terms)}
    asked = [answer["only"]] if answer.get("only") else ["remove", "add"]
    if answer.get("direction") == "add":
        asked.reverse()
    if value >= (inf if of_epsilon else 1) if upper else value <= 0:
        return PROVED, "by definition", None
    if upper and value < 0:  # an epsilon, as deltas were read above
        return REFUTED, "no epsilon is below 0", None
    directions = list(dict.fromkeys(both[each] for each in asked))
    step_and_tilt = hints(answer.get("certificate") or {})
    below, least, most = 0, arb(0), arb(0)
    for index, direction in enumerate(directions):
        share = until if index + 1 == len(directions) else _most_of(until)
        low, high = arb(0), arb(1)
        for enclosure in _enclosures(direction, (point, level), step_and_tilt, share):
            if not (enclosure[0].is_finite() and enclosure[1].is_finite()):
                continue  # nan would stay for ever
            low, high = low.max(enclosure[0].lower()), high.min(enclosure[1].upper())
            if low > level or (low >= level and not upper and not of_epsilon):
                return (REFUTED if upper else PROVED), "", _shown(low, high)
            if high < level or (high <= level and upper):
                below += 1
                break
        least, most = least.max(low), most.max(high)
    if below == len(directions):
        return (PROVED if upper else REFUTED), "", _shown(least, most)
    return UNDECIDED, _reason(least, most, until), _shown(least, most)


def _reason(low: arb, high: arb, until: float) -> str:
    if low == 0 and high == 1 and now() < until:
        return "no formula of the checker covers these laws together"
    return "not decided in this time, or too near to the exact value: give more seconds"


def _enclosures(terms: Sequence[Term], about: tuple[float, float], hinted: Hints, until: float) -> Enclosures:
    """Enclosures of delta at a point in one direction, the quick ones first; the level is a hint."""
    point, level = about
    if point == -inf:
        yield arb(1), arb(1)
        return
    if point < 0:  # delta(eps) = 1 - e^eps + e^eps delta(-eps) of the reverse
        share = exact(Fraction(point)).exp()
        for low, high in _enclosures(reverse(terms), (-point, 0), hinted, until):
            yield 1 - share + share * low, 1 - share + share * high
        return
    if not terms or point == inf:  # what is left is the infinite loss
        yield infinite(terms), infinite(terms)
        return
    epsilon = exact(Fraction(point))
    if sum(uses for _, uses in terms) == 1:
        yield from _once(terms, epsilon)
    routes = [_grids(terms, epsilon, arb(level), hinted, until)]
    if (line := saddle(terms, epsilon)) is not None:
        yield infinite(terms), infinite(terms) + contour.chernoff(terms, epsilon, line)
        routes.insert(0 if hinted[0] is None else 1, _contours(terms, epsilon, line, until))
    routes.insert(1 if len(terms) == 1 and terms[0][0].lattice() else 0, _listed(terms, epsilon))
    for route in routes:
        yield from route


def _once(terms: Sequence[Term], epsilon: arb) -> Enclosures:
    """One use by its tails: P[l > eps] - e^eps Q[l > eps]."""
    for bits in FORMULA_BITS:
        with precision(bits):
            tails = terms[0][0].tails(epsilon)
            value = None if tails is None else infinite(terms) + tails[0] - epsilon.exp() * tails[1]
        if value is not None:
            yield value, value


def _listed(terms: Sequence[Term], epsilon: arb) -> Enclosures:
    if (value := listed.enclosed(terms, epsilon)) is not None:
        yield value, value


def _most_of(until: float) -> float:
    """Until when there is time, if a quarter is to be left."""
    return until - (until - now()) / 4


def _contours(terms: Sequence[Term], epsilon: arb, tilt: arb, until: float) -> Enclosures:
    limit = _most_of(until)
    for goal in CONTOUR_GOALS:
        found = contour.enclosed(terms, epsilon, tilt, goal, lambda: now() > limit)
        if found is None:
            return
        yield found


def _grids(terms: Sequence[Term], epsilon: arb, level: arb, hints: Hints, until: float) -> Enclosures:
    for finer in range(GRID_HALVINGS):
        found = grid.enclosed(terms, epsilon, level, hints, until, finer) if now() < until else None
        if found is None:
            return
        yield found


def _shown(low: arb, high: arb) -> tuple[float, float]:
    """As doubles, rounded outward."""
    return max(nextafter(float(low), -inf), float(0)), min(nextafter(float(high), inf), float(1))


def _read(number: object) -> float:
    """A number of a document: a double, or an infinity, which JSON holds as a text; nothing that a double rounds."""
    if type(number) not in (int, float) and number not in ("inf", "-inf"):
        raise ValueError(f"{number!r:.40} is no number")
    value = float(number)  # type: ignore[arg-type]
    if type(number) is int and value != number:
        raise ValueError(f"{number!r:.40} is no double")
    return value
