"""The menu of Renyi orders: several at once, each with a share of delta, so that no order has to be guessed.

Order a with weight w has the threshold B(a) = eps + (log(w (delta - S)) - log kappa(a))/(a - 1), with
kappa(a) = (1 - 1/a)^(a - 1)/a, the largest e^(-(a - 1) x) (1 - e^-x). Jobs are accepted while some order was never
exceeded, and the result is (eps, delta)-DP if the weights sum to at most 1. Without weights that is false.
By default the order that a Gaussian workload of the same (eps, delta) would use has most of the weight, and DEFAULT
orders share the rest: a wrong order costs log(w)/(a - 1) of epsilon, not all of it.
The odometer has log(1/(w delta))/(a - 1) above the divergence used, at any stopping time (Ville's inequality).
Guarantee: thresholds are lower ends, odometers upper ends, in balls.
Proof: docs/proofs/ledger.md, Theorem Menu and Theorem Odometer.
Reference: Canonne, Kamath, Steinke 2020, Prop. 12 (kappa); Feldman, Zrnic 2021 (filters of one order).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from flint import arb

from .. import InvalidParameter
from ..extend.moments import minimise
from ..extend.numbers import BITS_START, lower_float, working_precision
from ..extend.parameters import real

DEFAULT_ORDERS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)
HEAD_WEIGHT, TAIL_WEIGHT = 0.9, 0.0083  # 0.9 + 12 * 0.0083 is below 1, also as fractions of these doubles
SUM_WEIGHT, HEAD_BESIDE_SUM, SUM_JOBS = 0.1, 0.8, 8  # where few jobs may be paid for by their epsilons
EVEN_ORDERS = tuple(sorted((*DEFAULT_ORDERS, 2.5, 5.0, 10.0, 20.0)))
EVEN_WEIGHT = 2.0**-4  # sixteen orders
MENU_ORDER_MIN, MENU_ORDER_MAX = 1.0 + 2.0**-20, 2.0**20  # beyond, few divergences are known
ORDERS_MAX = 64
SEARCHED_ORDERS = (1e-3, 1e6)  # less 1


def axis_name(order: float) -> str:
    """What the axis of an order is called: order 8, order 7.25."""
    return f"order {order!r}".removesuffix(".0")


def default_weights(epsilon: float, delta: float, *, beside_sum: bool = False) -> dict[float, float]:
    """The order of a Gaussian workload, and the others; their exact sum, and that of SUM_WEIGHT, is at most 1."""
    found = dict.fromkeys(DEFAULT_ORDERS, TAIL_WEIGHT)
    head = gaussian_order(epsilon, delta)
    found[head] = found.get(head, 0.0) + (HEAD_BESIDE_SUM if beside_sum else HEAD_WEIGHT)
    return dict(sorted(found.items()))


def even_weights() -> dict[float, float]:
    """For what has no epsilon to choose by."""
    return dict.fromkeys(EVEN_ORDERS, EVEN_WEIGHT)


def gaussian_order(epsilon: float, delta: float) -> float:
    """The order that allows the largest rho where every divergence is a rho, with three digits. It only chooses."""

    def price(c: float) -> float:
        log_kappa = c * math.log(c) - (c + 1.0) * math.log1p(c)
        return -(epsilon + (math.log(delta) - log_kappa) / c) / (c + 1.0)

    best = minimise(price, *SEARCHED_ORDERS)
    return min(float(f"{1.0 + float(f'{best:.3g}'):.12g}"), MENU_ORDER_MAX)


def checked_weights(given: Mapping[str, float]) -> dict[float, float]:
    """Orders above 1 and their weights, as they were given; the exact sum is at most 1."""
    if not 1 <= len(given) <= ORDERS_MAX:
        raise InvalidParameter(f"orders must be 1 to {ORDERS_MAX} orders with their weights, not {len(given)}")
    found: dict[float, float] = {}
    for text, weight in given.items():
        order, share = _order(text), real(f"the weight of order {text!s:.20}", weight)
        if not 0.0 < share <= 1.0:
            raise InvalidParameter(f"the weight of order {text!s:.20} must be above 0 and at most 1, not {share!r}")
        if order in found:
            raise InvalidParameter(f"order {order!r} is given twice")
        found[order] = share
    if sum(map(Fraction, found.values())) > 1:
        raise InvalidParameter(
            f"the weights of the orders must sum to at most 1, not {float(sum(map(Fraction, found.values())))!r}: "
            "each is a share of delta"
        )
    return dict(sorted(found.items()))


def _order(text: object) -> float:
    try:
        order = float(text) if isinstance(text, (str, int, float)) and not isinstance(text, bool) else math.nan
    except (ValueError, OverflowError):
        order = math.nan
    if not MENU_ORDER_MIN <= order <= MENU_ORDER_MAX:
        raise InvalidParameter(f"an order must be a number from 1 + 2**-20 to 2**20, not {text!r:.40}")
    return order


def threshold(order: float, weight: float, epsilon: float, left: tuple[float, float]) -> float:
    """At or below B(order); left is (delta, S). -inf where nothing is left of delta."""
    delta, slack = left
    with working_precision(BITS_START):
        a, rest = arb(order), arb(delta) - arb(slack)
        if not rest > 0:
            return -math.inf
        log_kappa = (a - 1) * (1 - 1 / a).log() - a.log()
        return lower_float(arb(epsilon) + ((arb(weight) * rest).log() - log_kappa) / (a - 1))


def spent_epsilon(order: float, weight: float, used: Fraction, left: tuple[float, float]) -> arb:
    """R + log(1/(w (delta - S)))/(a - 1), at the working precision; +inf where nothing is left of delta."""
    delta, slack = left
    a, rest = arb(order), arb(delta) - arb(slack)
    if not rest > 0:
        return arb.pos_inf()
    return arb(used.numerator) / used.denominator - (arb(weight) * rest).log() / (a - 1)
