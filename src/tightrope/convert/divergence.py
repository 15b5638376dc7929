"""Renyi divergences of any order of a composition, its cgf and phi-function.

D_a = K(a - 1)/(a - 1) for a > 0 other than 1, and divergences of a composition add up. An infinite loss makes them
infinite from order 1 on and leaves them finite below. D_0 = -log Q[P > 0], D_inf is the supremum of the loss. D never
falls with its order, so order 1, Kullback and Leibler's, lies between orders 1 - h and 1 + h.
A part whose K is no formula is known by what it is made of (parts_divergence.py), and between two finite pairs
(finite_divergence.py).
Guarantee: two-sided for the dominating pair, rounded outward; an upper bound for every mechanism it dominates.
Proof: docs/proofs/renyi.md.
Reference: van Erven, Harremoes 2014, Thms 3, 9, 28 (order, processing, additivity); Mironov 2017, Def. 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

from flint import acb, arb

from .. import compute_budget
from ..engines.evaluation import Term
from ..engines.extremes_of_loss import loss_extremes
from ..errors import InvalidParameter, UnsupportedMechanism, WorkExhausted, agreed
from ..facets.cumulant import cumulant
from ..kernels.ball import upper_float, working_precision
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import real
from ..operators import factors_of, is_opaque, of_bounds, sampling_of
from ..pair import Pair
from ..relation import Direction
from ..transforms.terms import terms_of
from .divergence_ends import Divergence, ends, total
from .parts_divergence import NOTHING, from_parts

ORDER_MAX = 2.0**53  # beyond, order - 1 is no double
NEAR_ONE = 2.0**-50
BITS = (60, 120, 240, 480)  # of K, until its quotient has RELATIVE_BITS
RELATIVE_BITS = 54
SUM_BITS = 640
FORMULA_SHARE, TRY_SHARE = 0.6, 0.8  # of the work that is left, and of the time
FAR_ORDER = 2.0**20
SAMPLE_FIRST, ALL_DIGITS = (
    64.0,
    1e-14,
)  # order: from here on a sample may be told from its base to all digits, without a sum
PARTS_FIRST = 4.0  # order: from here on what a pair is made of often tells enough, and its masses are deep


def composed_cgf(mechanism: Mechanism, z: complex, direction: Direction) -> acb:
    """K(z) of the composition in one direction, +inf where it is; its imaginary part up to multiples of 2 pi."""
    given: object = z
    if isinstance(given, (str, bytes)):
        raise InvalidParameter(f"z must be a complex number, not {z!r:.40}")
    parts = [(cumulant(pair, z), count) for pair, count in terms_of(mechanism.nameless, direction)]
    if any(value.real == arb.pos_inf() for value, _ in parts):
        return acb(arb.pos_inf())
    with working_precision(SUM_BITS):
        return sum((count * value for value, count in parts), acb(0))


def phi(mechanism: Mechanism, t: float, direction: Direction) -> acb:
    """The phi-function E_P[e^{i t l}; l finite] of the composition in one direction."""
    value = composed_cgf(mechanism, complex(0.0, real("t", t)), direction)
    with working_precision(SUM_BITS):
        return value.exp()


def checked_order(order: float) -> float:
    """An order from 0 to 2**53, or inf."""
    try:
        value = float(order)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if isinstance(order, bool | str) or not (0.0 <= value <= ORDER_MAX or value == math.inf):
        raise InvalidParameter(f"order must be a number from 0 to 2**53, or inf, not {order!r:.40}")
    return value


def divergence(terms: Sequence[Term], order: float, accuracy: float, proof: bool = False) -> Divergence:
    """Ends of the divergence of (pair, count) uses, their width about so much of the upper end where that can be had.

    proof: balls only. The upper end is inf where the divergence is, or where nothing is known above it. When time is up
    the ends are those known by then. Raises UnsupportedMechanism where a formula is all there could be.
    """
    found = loss_extremes(terms)
    if order >= 1.0 and found.mass > 0:
        return Divergence(math.inf, math.inf)
    if order in (0.0, math.inf):
        with working_precision(SUM_BITS):
            least = _disjoint(terms) if order == 0.0 else found.supremum
            known = ends(least, least)
        if order == math.inf and known.relative > accuracy:  # it is no less than that of a finite order
            with suppress(UnsupportedMechanism):
                known = known._replace(lower=max(known.lower, divergence(terms, FAR_ORDER, accuracy, proof).lower))
    else:
        parts = []
        for done, (pair, count) in enumerate(terms):
            with compute_budget.part(1.0 / (len(terms) - done), clock=True):
                parts.append((of_pair(pair, order, accuracy, proof), count))
        known = total(parts)
    if found.mass.is_zero():  # no order is above the supremum of the loss, also when time is up
        _, upper = agreed(
            known.lower, min(known.upper, max(upper_float(found.supremum), 0.0)), "the parts", "their range"
        )
        known = known._replace(upper=upper)
    certain = order < 1.0 or found.mass.is_zero()
    return known if certain else known._replace(upper=math.inf)


def of_pair(pair: Pair, order: float, accuracy: float, proof: bool) -> Divergence:
    """One pair at an order above 0, finite; from order 1 on its infinite losses do not count."""
    factors = factors_of(pair)
    if factors is not None:
        return total([(of_pair(each, order, accuracy, proof), count) for each, count in factors])
    known, sure = NOTHING, order < 1.0 or bool(pair.infinite_mass().is_zero())
    if order > SAMPLE_FIRST and sampling_of(pair) is not None:
        known = _tried(known, lambda: from_parts(pair, order, lambda part: _without_masses(part, order)), sure)
        if known.relative <= ALL_DIGITS:
            return known
    try:
        with suppress(WorkExhausted), compute_budget.part(FORMULA_SHARE, clock=True):
            return _by_formula(pair, order)
    except UnsupportedMechanism:
        if is_opaque(pair):  # a formula, or nothing
            raise
    # What is known by bounds on divergences stands for many laws: their largest profile has a larger divergence.
    bounds = of_bounds(pair)
    if bounds or order > PARTS_FIRST:
        known = _tried(known, lambda: _without_masses(pair, order), sure)
    # An order that the quadrature of a cgf cannot reach has masses that no finite pair can hold.
    beyond = known.upper < math.inf and _by_quadrature(pair)
    if known.relative <= accuracy or bounds or beyond:
        return known
    known = _tried(known, lambda: _between(pair, order, known, accuracy, proof), sure)
    if known.relative > accuracy and order <= PARTS_FIRST:
        known = _tried(known, lambda: _without_masses(pair, order), sure)
    return known


def _by_quadrature(pair: Pair) -> bool:
    """Whether its cgf is an integral that can be had."""
    with suppress(UnsupportedMechanism):
        return pair.cgf() is not None
    return False


def _tried(known: Divergence, more: Callable[[], Divergence], sure: bool) -> Divergence:
    """What is known, and what more there is as far as time allows; not sure: an infinite loss may be left out of it."""
    with suppress(WorkExhausted, UnsupportedMechanism), compute_budget.part(TRY_SHARE, clock=True):
        found = more()
        return known.narrowed(found if sure else found._replace(upper=math.inf))
    return known


def _between(pair: Pair, order: float, known: Divergence, accuracy: float, proof: bool) -> Divergence:
    from .finite_divergence import Between

    return Between.of(pair, order).ends(known, accuracy, proof)


def _by_formula(pair: Pair, order: float) -> Divergence:
    """From the curve that it keeps to, or from K; raises UnsupportedMechanism where there is none."""
    told = pair.moments().divergence(order)
    if told is not None:
        return ends(*told)
    below, above = _sampled_once(pair)
    low = _by_moments(below, order)
    return low if above is below else Divergence(low.lower, _by_moments(above, order).upper)


def _without_masses(pair: Pair, order: float) -> Divergence:
    """From formulas, and from what is known of its parts by such."""
    with suppress(UnsupportedMechanism):
        return _by_formula(pair, order)
    factors = factors_of(pair)
    if factors is not None:
        return total([(_without_masses(each, order), count) for each, count in factors])
    return from_parts(pair, order, lambda part: _without_masses(part, order))


def _sampled_once(pair: Pair) -> tuple[Pair, Pair]:
    """A sample of a sample as one, below and above."""
    if sampling_of(pair) is None:
        return pair, pair
    from ..derived.poisson import sampled_once

    return sampled_once(pair)


def _disjoint(terms: Sequence[Term]) -> arb:
    """Order 0: -log Q[P > 0]."""
    lost = loss_extremes([(pair.reversed(), count) for pair, count in terms]).mass
    return arb.pos_inf() if lost >= 1 else -(-lost).log1p()


def _by_moments(pair: Pair, order: float) -> Divergence:
    if order == 1.0:
        return Divergence(_quotient(pair, 1.0 - NEAR_ONE).lower, _quotient(pair, 1.0 + NEAR_ONE).upper)
    return _quotient(pair, order)


def _quotient(pair: Pair, order: float) -> Divergence:
    """K(order - 1)/(order - 1); for small orders K of the reversed pair at -order, which is the same number."""
    for bits in BITS:
        value = cumulant(pair.reversed(), -order, bits) if order < 0.5 else cumulant(pair, order - 1.0, bits)
        with working_precision(SUM_BITS):
            found = value.real / (arb(order) - 1)
            if found.rel_accuracy_bits() >= RELATIVE_BITS or found.is_zero():
                break
    return ends(found, found)
