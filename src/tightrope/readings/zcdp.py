"""The smallest rho of zero-concentrated privacy: D_o <= rho o for every order 1 < o <= order_most.

The largest of the directions asked; each is the supremum of D_o/o over the orders (convert/smallest_rho.py). There is
none where a loss is infinite, or a divergence; then the answer is inf.
Guarantee: both ends, of the dominating pair. Proof: docs/proofs/zcdp.md, sections 4 and 5.
Reference: Bun, Steinke 2016, Def. 1.1; with order_most, Bun, Dwork, Rothblum, Steinke 2018, Def. 1 has (rho, order).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..bound import Bound, Budget, budget_lines
from ..convert.divergence import ORDER_MOST, divergence
from ..convert.smallest_rho import SmallestRho, smallest_rho
from ..digits import short
from ..engines.edges import edges
from ..engines.evaluation import Term
from ..errors import InvalidParameter, UnsupportedMechanism
from ..mechanisms.parameters import real
from ..pair import Pair
from .law import Law, Told

FINER_DIVERGENCE = 0.1  # of the width that is wanted: what is asked of a divergence
ROUGH_DIVERGENCE = 0.01  # relative width: wider ones tell nothing
UP_TO_AN_ORDER = "order_most=64 asks for orders up to 64 only, where it does"
ENGINE = "contour"


def checked_order_most(order_most: float) -> float:
    """An order above 1, up to 2**53, or inf."""
    value = real("order_most", order_most)
    if not (1.0 < value <= ORDER_MOST or value == math.inf):
        raise InvalidParameter(f"order_most must be a number above 1 up to 2**53, or inf, not {order_most!r:.40}")
    return value


def zcdp(law: Law, order_most: float) -> Bound:
    """The largest of the directions; terms that are the same are looked at once."""

    def of_pair(pair: Pair, order: float) -> tuple[float, float]:
        found = divergence([(pair, 1)], order, FINER_DIVERGENCE * law.aim, law.question.proof)
        if found.relative > ROUGH_DIVERGENCE and pair.divergence(order) is None:  # next to it would not help
            raise UnsupportedMechanism(f"its divergence of order {short(order)} is known roughly only")
        return found.lower, found.upper

    worst, direction, seen = SmallestRho(0.0, 0.0, 1.0, 0), law.directions[0], []
    upper, terms = 0.0, law.terms(direction)
    for each in law.directions:
        if law.terms(each) in seen:
            continue
        seen.append(law.terms(each))
        found = smallest_rho(seen[-1], order_most, law.aim, of_pair, worst.lower)
        upper = max(upper, found.upper)
        if found.lower >= worst.lower:
            worst, direction, terms = found, each, seen[-1]
    lines = budget_lines(discretisation=upper - worst.lower if upper < math.inf else 0.0)
    told = Told(
        _reason(worst, upper, terms),
        engine=ENGINE,
        arithmetic="ball",
        direction=direction,
        parameters={"order": worst.order, "orders": worst.orders},
        budget=Budget(lines, lines),
        of_pair=True,
    )
    return law.bound(worst.lower, upper, told)


def _reason(found: SmallestRho, upper: float, terms: Sequence[Term]) -> str:
    """Why it is so large, or why there is none."""
    if found.lower == math.inf:
        mass = edges(terms).mass
        if mass > 0:
            chance = f"{float(mass.mid()):.3g}"
            return f"there is none: with probability {chance} the loss is infinite, and so is every divergence"
        return (
            f"there is none: the divergence of order {short(found.order)} is infinite; order_most= asks for lower ones"
        )
    if upper == math.inf:
        return "no bound is known on its divergences at all large orders; order_most= asks for those up to a number"
    if found.order == 1.0:
        return "divergence over order is largest as the order falls to 1"
    if found.order < math.inf:
        return f"divergence over order is largest next to order {short(found.order)}"
    sampled = any(pair.sampling() is not None for pair, _ in terms)
    return "divergence over order rises to that of Gaussian noise as the order grows" + (
        f": sampling does not help there; {UP_TO_AN_ORDER}" if sampled else ""
    )
