"""Renyi divergences as readings: of the dominating pairs above, of what real neighbours lose below.

Divergences add up over the uses of a run, so the largest of a run whose uses are chosen among several pairs, also
anew after what was seen, is the sum of the largest of each use.
Guarantee: upper of the dominating pairs; lower of the floors, or of the pairs where these are theirs.
Proof: docs/proofs/renyi.md, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..conversions.divergence import Divergence, divergence, total
from ..engines.loss_extremes import chance, loss_extremes
from ..engines.selection import Term
from ..mechanisms.composition import witnessed_by_terms
from ..values import compute_budget
from ..values.bound import Bound, ErrorBreakdown, error_lines
from ..values.errors import WorkExhausted, agreed
from ..values.question import Direction
from .law import Law, Told

UPPER_SHARE = 0.6  # of the work: for the dominating pairs, where lower ends are of others
BOTH_SHARE = 0.5  # of what the first of two directions takes


def renyi(law: Law, order: float) -> Bound:
    """The largest of the directions asked."""
    found: dict[Direction, Divergence] = {}
    known: dict[tuple[Term, ...], Divergence] = {}
    with compute_budget.part(1.0) as meter:
        for done, direction in enumerate(law.directions):
            with compute_budget.part(1.0 if done + 1 == len(law.directions) else BOTH_SHARE, clock=True):
                found[direction] = _directed(law, order, direction, known)
    law.exhausted = law.exhausted or meter.exhausted
    worst = max(found, key=lambda each: (found[each].upper, found[each].lower))
    top = found[worst]
    lower = max(each.lower for each in found.values())
    with compute_budget.uncounted():
        told = _told(law, order, worst, top._replace(lower=lower))
    return law.bound(lower, top.upper, told)


def mean_loss(law: Law) -> Bound:
    """Order 1."""
    return renyi(law, 1.0)


def _directed(law: Law, order: float, direction: Direction, known: dict[tuple[Term, ...], Divergence]) -> Divergence:
    """Above by the dominating pairs, below by the best floor of each use."""
    terms = law.terms(direction)
    real = not law.below or (len(terms) == 1 and witnessed_by_terms(law.mechanism))
    choices = tuple(((pair,), count) for pair, count in terms) if real else law.choices(direction)
    same = all(floors == (pair,) for (floors, _), (pair, _) in zip(choices, terms, strict=False))
    same = same and len(choices) == len(terms)

    def asked(uses: Sequence[Term]) -> Divergence:
        key = tuple(uses)
        if key not in known:
            try:
                known[key] = divergence(key, order, law.aim, law.question.proof)
            except WorkExhausted:
                return Divergence(0.0, math.inf)
        return known[key]

    with compute_budget.part(1.0 if same else UPPER_SHARE, clock=True):
        above = asked(terms)
    if same or above.lower == above.upper == 0.0:
        return above
    best = []
    for done, (floors, count) in enumerate(choices):
        with compute_budget.part(1.0 / (len(choices) - done), clock=True):
            best.append((max((asked([(floor, 1)]) for floor in floors), key=lambda each: each.lower), count))
    below = total(best)
    lower, upper = agreed(below.lower, above.upper)
    return Divergence(lower, upper, max(above.rows, below.rows), above.balls and below.balls)


def _told(law: Law, order: float, direction: Direction, found: Divergence) -> Told:
    """The width is that of rounding, of the finite pairs, or of real neighbours that lose less than the theorem has."""
    width = found.upper - found.lower if found.upper < math.inf else 0.0
    real = not law.mechanism.tight and law.mechanism.attained and law.below
    source = "theorem" if real else "discretisation" if found.rows else "rounding"
    lines = error_lines(**{source: width})
    return Told(
        _reason(law.terms(direction), order, found),
        engine="joint" if found.rows else "contour",
        arithmetic="ball" if found.balls else "float64",
        direction=direction,
        parameters={"order": order, **({"atoms": found.rows} if found.rows else {})},
        budget=ErrorBreakdown(lines, lines),
    )


def _reason(terms: Sequence[Term], order: float, found: Divergence) -> str:
    if found.lower == math.inf and order < 1.0:
        return "no outcome is possible under both laws"
    if found.lower == math.inf and (mass := loss_extremes(terms).mass) > 0:
        least = chance(mass)[0]
        return f"the loss is infinite with probability {least} at least: from order 1 on divergences are infinite"
    if found.lower == math.inf:
        return "the loss has no upper end" if order == math.inf else "moments of this order are infinite"
    if found.upper == math.inf and order == math.inf:
        return "nothing is known of the end of the loss"
    if found.upper == math.inf:
        return "nothing is known above, not even whether it is finite"
    if found.rows:
        return "divergences add up, and a part lies between two finite pairs"
    return "cgfs add up, and K(order - 1)/(order - 1) is the divergence"
