"""Enclosures of delta of a run at one point, in one direction or the worse of both; finer and finer until time is out.

Above it is that of the laws of the run, below that of laws that real neighbours show, which are the same for most.
Proof: docs/proofs/checker.md, sections 1, 2 and 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from flint import arb

from . import contour, grid
from .choices import Hints, saddle
from .clock import now
from .expression import Run
from .hypotheses import ADD_REMOVE
from .law import NotCheckable, Term, infinite, precision, reverse
from .laws import listed
from .laws.allocated import AllocatedEpochLaw
from .laws.renyi import DivergencesLaw, converted

FORMULA_BITS = (128, 1024)  # where a formula is exact
CONTOUR_GOALS = (40, 64, 96, 160, 256)  # of contours, in bits
GRID_HALVINGS = 12  # of the step of a grid
NARROW_SHARE = 6  # of the time that is left
NARROW_BITS = 34  # relative width of one point among several
Enclosures = Iterator[tuple[arb, arb]]


@dataclass(frozen=True)
class Profile:
    """delta of a run in the directions that are asked for; add_first: where to begin, a hint like the others."""

    run: Run
    only: str | None
    add_first: bool
    hinted: Hints
    until: float

    def directions(self) -> list[tuple[Term, ...]]:
        """The compositions of each direction, once where they are the same."""
        terms = self.run.terms
        if self.only and any(law.witnesses() != (law,) for law, _ in terms):
            raise NotCheckable("of one direction of this law nobody says what real neighbours show")
        if self.only and ADD_REMOVE not in self.run.facts and sum(uses for _, uses in terms) != 1:
            raise NotCheckable("where a record is replaced, several uses have no direction")
        both = {"remove": terms, "add": reverse(terms)}
        asked = [self.only] if self.only else ["add", "remove"] if self.add_first else ["remove", "add"]
        return list(dict.fromkeys(both[each] for each in asked))

    def at(self, point: arb, level: arb) -> Enclosures:
        """The largest delta of the directions at an epsilon; the level, about how large it is, is a hint."""
        routes = [_shown_by_neighbours(terms, point, level, self.hinted, self.until) for terms in self.directions()]
        known = [(arb(0), arb(1))] * len(routes)
        open_ones = set(range(len(routes)))
        while open_ones:
            place = max(open_ones, key=lambda index: (known[index][1].mid(), -index))
            enclosure = next(routes[place], None)
            if enclosure is None:
                open_ones.discard(place)
                continue
            if enclosure[0].is_finite() and enclosure[1].is_finite():
                low, high = known[place]
                known[place] = low, high = low.max(enclosure[0].lower()), high.min(enclosure[1].upper())
                if low > high:
                    raise NotCheckable("two enclosures contradict each other: an error of the checker, to be reported")
                yield reduce(arb.max, (low for low, _ in known)), reduce(arb.max, (high for _, high in known))

    def narrow(self, point: arb, level: arb) -> tuple[arb, arb]:
        """The first enclosure that is narrow, or the narrowest there is; the level is a hint."""
        low, high = arb(0), arb(1)
        share = replace(self, until=now() + (self.until - now()) / NARROW_SHARE)
        for low, high in share.at(point, level):
            if high - low <= high * arb(2) ** -NARROW_BITS:
                break
        return low, high


def _shown_by_neighbours(terms: Sequence[Term], point: arb, level: arb, hinted: Hints, until: float) -> Enclosures:
    """The same, where real neighbours show less: their best fixed choice below, the run's own laws above."""
    above = tuple((law.bound(), uses) for law, uses in terms)
    choices = {
        tuple((law.witnesses()[min(place, len(law.witnesses()) - 1)], uses) for law, uses in terms)
        for place in range(max((len(law.witnesses()) for law, _ in terms), default=1))
        if all(law.witnesses() for law, _ in terms)
    }
    if sum(uses for _, uses in terms) == 1 and terms[0][0].shown_once():
        choices = {above}
    if choices == {above}:
        yield from enclosures(above, point, level, hinted, until)
        return
    low, high = arb(0), arb(1)
    routes = [(False, enclosures(each, point, level, hinted, until)) for each in choices]
    routes.insert(0, (True, enclosures(above, point, level, hinted, until)))
    rhos = [(law.zcdp(), uses) for law, uses in terms]
    if all(rho is not None for rho, _ in rhos):
        total = sum((rho * uses for rho, uses in rhos if rho is not None), Fraction(0))
        routes.append((True, converted([(DivergencesLaw((), total), 1)], point)))
    while routes:
        for bounds, route in list(routes):
            enclosure = next(route, None)
            if enclosure is None:
                routes.remove((bounds, route))
            elif enclosure[0].is_finite() and enclosure[1].is_finite():
                low, high = (low, high.min(enclosure[1])) if bounds else (low.max(enclosure[0].lower()), high)
                yield low, high


def enclosures(terms: Sequence[Term], epsilon: arb, level: arb, hinted: Hints, until: float) -> Enclosures:
    """Enclosures of delta at a point in one direction, the quick ones first."""
    if any(isinstance(law, DivergencesLaw) for law, _ in terms):
        yield from converted(terms, epsilon)
        return
    if epsilon == arb("-inf"):
        yield arb(1), arb(1)
        return
    if epsilon < 0:  # delta(eps) = 1 - e^eps + e^eps delta(-eps) of the reverse
        share = epsilon.exp()
        for low, high in enclosures(reverse(terms), -epsilon, arb(0), hinted, until):
            yield 1 - share + share * low, 1 - share + share * high
        return
    if not terms or epsilon == arb("inf"):  # what is left is the infinite loss
        yield infinite(terms), infinite(terms)
        return
    if sum(uses for _, uses in terms) == 1:
        yield from _once(terms, epsilon)
    if len(terms) == 1 and terms[0][1] == 1 and isinstance(terms[0][0], AllocatedEpochLaw):
        yield from (found for found in terms[0][0].at(epsilon) if now() < until)
        return
    routes = [_grids(terms, epsilon, level, hinted, until)]
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
