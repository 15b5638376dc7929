"""The exact conversion of one Renyi divergence: what the worst mechanism has whose divergence is no more, at one order.

At an order, the largest p - e^epsilon q of laws on two points that keep to the bound in both directions (pairs/renyi):
no factor is lost, and only what other orders know is. The order is searched around the best one of the classical
conversion.
Guarantee: upper, rounded outward; nothing is said where a loss is infinite. Proof: docs/proofs/renyi_curve.md.
Reference: Asoodeh, Liao, Calmon, Kosut, Sankar 2021 (one order, exactly); Balle et al. 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from ..bound import Bound
from ..mechanisms.base import Mechanism
from ..mechanisms.renyi_curve import RenyiCurve
from ..relation import Direction
from ..transforms.terms import terms_of
from .outward import at_or_above, minimise
from .renyi import LogMoment, best_order, delta_exponent, epsilon_bound, leaked_above, total_moment

AROUND_CLASSICAL = 2.0  # times the best order of the classical conversion, and as much below
ORDER_STEPS = 6


def one_order_epsilon(run: Mechanism, delta: float) -> float:
    """At the best order that is found."""
    if not 0.0 < delta < 1.0:
        return 0.0 if delta >= 1.0 else math.inf
    moment = _worse_moment(run)
    start = math.inf if moment is None else best_order(epsilon_bound(moment, 0.0, delta, True))
    return _least(moment, start, lambda worst: worst.epsilon(delta), math.inf)


def one_order_delta(run: Mechanism, epsilon: float) -> float:
    """At the best order that is found."""
    moment = _worse_moment(run)
    start = math.inf if moment is None else best_order(delta_exponent(moment, epsilon, True))
    return _least(moment, start, lambda worst: worst.delta(epsilon), 1.0)


def _worse_moment(run: Mechanism) -> LogMoment | None:
    """At or above K of both directions; None where a loss is infinite."""
    sides = {terms_of(run.nameless, direction) for direction in Direction}
    if any(leaked_above(terms) > 0.0 for terms in sides):
        return None
    moments = [total_moment(terms) for terms in sides]
    return lambda order: max(moment(order) for moment in moments)


def _least(moment: LogMoment | None, start: float, ask: Callable[[RenyiCurve], Bound], nothing: float) -> float:
    """What the worst mechanism answers at the best order near start."""
    if moment is None:
        return nothing
    known = moment

    def answer(c: float) -> float:
        order = 1.0 + c
        value = known(order - 1.0)
        if not math.isfinite(value):
            return nothing
        return ask(RenyiCurve((order,), (at_or_above(lambda: arb(value).max(arb(0)) / (arb(order) - 1)),))).upper

    return min(answer(start), answer(minimise(answer, start / AROUND_CLASSICAL, start * AROUND_CLASSICAL, ORDER_STEPS)))
