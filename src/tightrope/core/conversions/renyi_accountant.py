"""The Renyi (moments) accountant: K adds up, and one inequality turns it into delta.

With K = sum of count K_i and w the infinite mass, delta(eps) <= w + kappa(c) e^(K(c) - c eps), any c > 0: kappa = 1
is Markov's inequality, as the moments accountant has it; kappa = c^c / (1 + c)^(1 + c) is the maximum of
e^(-c x) (1 - e^-x), the best factor that depends on c alone. Each is minimised over c.
Guarantee: upper, rounded outward. Proof: docs/proofs/classic.md, section 4.
Reference: Abadi et al. 2016, Thm 2; Mironov 2017, Prop. 3; Balle, Barthe, Gaboardi, Hsu, Sato 2020, Thm 21; Canonne,
Kamath, Steinke 2020, Prop. 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from flint import arb

from ..engines.loss_extremes import loss_extremes
from ..engines.selection import Term
from ..losses.cgf import cumulant_above
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import terms_of
from ..mechanisms.renyi import RenyiCurve
from ..values.bound import Bound
from ..values.question import Direction
from .classical import at_or_above, minimise, weighted_sum

LogMoment = Callable[[float], float]
Conversion = Callable[[LogMoment, float, float, bool], float]  # of moments, leaked mass, what is given, and sharp
ORDERS = (1e-3, 1e7)
GOLDEN_STEPS = 36


def epsilon_from(moment: LogMoment, leaked: float, delta: float, sharp: bool) -> float:
    """(K(c) + log kappa(c) - log(delta - w)) / c at the best c."""
    if delta <= leaked:
        return math.inf if delta < 1.0 else 0.0
    bound = epsilon_bound(moment, leaked, delta, sharp)
    return max(bound(best_order(bound)), 0.0)


def epsilon_bound(moment: LogMoment, leaked: float, delta: float, sharp: bool) -> LogMoment:
    """The same as a function of c, for a delta above w."""

    def bound(order: float) -> float:
        value = moment(order)
        if not math.isfinite(value):
            return math.inf
        return at_or_above(lambda: (value + _log_kappa(order, sharp) - (arb(delta) - leaked).log()) / arb(order))

    return bound


def best_order(bound: LogMoment) -> float:
    """A c at which a bound is small."""
    return minimise(bound, *ORDERS, steps=GOLDEN_STEPS)


def delta_from(moment: LogMoment, leaked: float, epsilon: float, sharp: bool) -> float:
    """w + kappa(c) e^(K(c) - c eps) at the best c."""
    exponent = delta_exponent(moment, epsilon, sharp)
    least = exponent(best_order(exponent))
    return 1.0 if least > 0.0 else min(at_or_above(lambda: leaked + arb(least).exp()), 1.0)


def delta_exponent(moment: LogMoment, epsilon: float, sharp: bool) -> LogMoment:
    """log kappa(c) + K(c) - c eps as a function of c."""

    def exponent(order: float) -> float:
        value = moment(order)
        if not math.isfinite(value):
            return math.inf
        return at_or_above(lambda: value + _log_kappa(order, sharp) - arb(order) * arb(epsilon))

    return exponent


def _log_kappa(order: float, sharp: bool) -> arb:
    c = arb(order)
    return c * c.log() - (1 + c) * (1 + c).log() if sharp else arb(0)


def _worst(run: Mechanism, given: float, answer: Conversion, sharp: bool) -> float:
    """The worse direction."""
    values: list[float] = []
    for direction in Direction:
        terms = terms_of(run.nameless, direction)
        if values and terms == terms_of(run.nameless, Direction.REMOVE):
            continue
        values.append(answer(total_moment(terms), leaked_above(terms), given, sharp))
    return max(values)


def leaked_above(terms: Sequence[Term]) -> float:
    """At or above the infinite mass."""
    return at_or_above(lambda: loss_extremes(terms).mass)


def total_moment(terms: Sequence[Term]) -> LogMoment:
    """K of the composition, at or above."""

    def moment(order: float) -> float:
        values = [(cumulant_above(pair, order), count) for pair, count in terms]
        if any(not math.isfinite(value) for value, _ in values):
            return math.inf
        return at_or_above(weighted_sum, values)

    return moment


# With kappa = 1, and with the best one: each takes the run, and the delta or epsilon that is given.
markov_epsilon = partial(_worst, answer=epsilon_from, sharp=False)
markov_delta = partial(_worst, answer=delta_from, sharp=False)
renyi_epsilon = partial(_worst, answer=epsilon_from, sharp=True)
renyi_delta = partial(_worst, answer=delta_from, sharp=True)


# The exact conversion of one Renyi divergence: what the worst mechanism has whose divergence is no more, at one order.
#
# At an order, the largest p - e^epsilon q of laws on two points that keep to the bound in both directions
# (pairs/renyi):
# no factor is lost, and only what other orders know is. The order is searched around the best one of the classical
# conversion.
# Guarantee: upper, rounded outward; nothing is said where a loss is infinite. Proof: docs/proofs/renyi_curve.md.
# Reference: Asoodeh, Liao, Calmon, Kosut, Sankar 2021 (one order, exactly); Balle et al. 2020.

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
