"""Renyi divergences of any order, cgf and phi-function of a composition, from the cgfs of its parts.

D_a = K(a - 1)/(a - 1) for a > 0 other than 1, K = sum of count K_i; an infinite loss makes it infinite from order 1 on
and leaves it finite below. D_0 = -log Q[P > 0], D_inf is the supremum of the loss. D never falls with its order, so
order 1, Kullback and Leibler's, lies between orders 1 - h and 1 + h.
Guarantee: exact for the dominating pair, in balls, rounded outward; an upper bound for every mechanism it dominates.
Reference: van Erven, Harremoes 2014, Thms 3, 9, 28 (order, processing, additivity); Mironov 2017, Def. 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType

from flint import acb, arb

from ..bound import Bound, Budget, Certificate, budget_lines
from ..engines.edges import edges
from ..engines.evaluation import Term
from ..engines.ladder import CONTOUR
from ..errors import InvalidParameter
from ..facets.cumulant import cumulant
from ..kernels.ball import lower_float, upper_float, working_precision
from ..mechanisms.base import Mechanism, claims, confidence
from ..mechanisms.parameters import real
from ..relation import Direction, Relation
from ..transforms.terms import terms_of

ORDER_MOST = 2.0**53  # beyond, order - 1 is no double
NEAR_ONE = 2.0**-50
BITS = (60, 120, 240, 480)  # of K, until its quotient has RELATIVE_BITS
RELATIVE_BITS = 54
SUM_BITS = 640

Ends = tuple[float, float]


def composed_cgf(mechanism: Mechanism, z: complex, direction: Direction) -> acb:
    """K(z) of the composition in one direction; its imaginary part is known up to multiples of 2 pi."""
    given: object = z
    if isinstance(given, (str, bytes)):
        raise InvalidParameter(f"z must be a complex number, not {z!r:.40}")
    parts = [(cumulant(pair, z), count) for pair, count in _terms(mechanism, direction)]
    with working_precision(SUM_BITS):
        return sum((count * value for value, count in parts), acb(0))


def phi(mechanism: Mechanism, t: float, direction: Direction) -> acb:
    """The phi-function E_P[e^{i t l}; l finite] of the composition in one direction."""
    found = composed_cgf(mechanism, complex(0.0, real("t", t)), direction)
    with working_precision(SUM_BITS):
        return found.exp()


def checked_order(order: float) -> float:
    """An order from 0 to 2**53, or inf."""
    try:
        value = float(order)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(order, bool | str) or not (0.0 <= value <= ORDER_MOST or value == math.inf):
        raise InvalidParameter(f"order must be a number from 0 to 2**53, or inf, not {order!r}")
    return value


def _terms(mechanism: Mechanism, direction: Direction) -> list[Term]:
    return list(terms_of(mechanism.nameless, direction))


def bound(mechanism: Mechanism, label: str, order: float, directions: Sequence[Direction]) -> Bound:
    """The Renyi divergence of a mechanism without names: the maximum over the directions, for each end."""
    found = {each: _divergence(_terms(mechanism, each), order) for each in directions}
    worst = max(found, key=lambda each: (found[each][1], found[each][0]))
    lower, upper = max(low for low, _ in found.values()), found[worst][1]
    lines = budget_lines(rounding=upper - lower if math.isfinite(upper) else 0.0)
    return Bound(
        lower,
        upper,
        Certificate(
            engine=CONTOUR.name,
            arithmetic="ball",
            reason="cgfs add up, and K(order - 1)/(order - 1) is the divergence",
            direction=None if mechanism.relation is Relation.REPLACE else worst,
            relation=mechanism.relation,
            tight=mechanism.tight,
            attained=mechanism.tight,
            parameters=MappingProxyType({"order": order, **claims(mechanism)}),
            budget=Budget(lines, lines),
            confidence=confidence(mechanism),
            label=label,
        ),
    )


def _divergence(terms: Sequence[Term], order: float) -> Ends:
    """Doubles around the divergence of one direction."""
    ends = edges(terms)
    if order >= 1.0 and ends.mass > 0:
        return math.inf, math.inf
    if order == 0.0:
        with working_precision(SUM_BITS):
            overlap = 1 - edges([(pair.reversed(), count) for pair, count in terms]).mass  # Q[P > 0]
            low, high = lower_float(-overlap.log()), upper_float(-overlap.log())
    elif order == math.inf:
        low, high = lower_float(ends.supremum), upper_float(ends.supremum)
    else:
        told = [(pair.divergence(order), pair, count) for pair, count in terms]
        low, high = _by_moments([(pair, count) for known, pair, count in told if known is None], order)
        with working_precision(SUM_BITS):  # what is known by bounds only is added as such
            bounds = [(known, count) for known, _, count in told if known is not None]
            low = lower_float(sum((count * known[0] for known, count in bounds), arb(low))) if bounds else low
            high = upper_float(sum((count * known[1] for known, count in bounds), arb(high))) if bounds else high
    certain = order < 1.0 or ends.mass.is_zero()
    return max(low, 0.0), max(high, 0.0) if certain else math.inf


def _by_moments(terms: Sequence[Term], order: float) -> Ends:
    if not terms:
        return 0.0, 0.0
    if order == 1.0:
        return _quotient(terms, 1.0 - NEAR_ONE)[0], _quotient(terms, 1.0 + NEAR_ONE)[1]
    return _quotient(terms, order)


def _quotient(terms: Sequence[Term], order: float) -> Ends:
    """K(order - 1)/(order - 1); for small orders K of the reversed pairs at -order, which is the same number."""
    for bits in BITS:
        if order < 0.5:
            parts = [(cumulant(pair.reversed(), -order, bits), count) for pair, count in terms]
        else:
            parts = [(cumulant(pair, order - 1.0, bits), count) for pair, count in terms]
        with working_precision(SUM_BITS):
            found = sum((count * value.real for value, count in parts), arb(0)) / (arb(order) - 1)
            if found.rel_accuracy_bits() >= RELATIVE_BITS or found.is_zero():
                break
    return lower_float(found), upper_float(found)
