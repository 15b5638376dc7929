"""The smallest rho of zero-concentrated privacy: D_o <= rho o for every order 1 < o <= order_most.

The largest of the directions asked; each is the supremum of D_o/o over the orders (conversions/smallest_rho.py). There
is
none where a loss is infinite, or a divergence; then the answer is inf.
Guarantee: both ends; where no neighbours attain the dominating pair, the lower one is that of real ones.
Proof: docs/proofs/zcdp.md, sections 4 to 6.
Reference: Bun, Steinke 2016, Def. 1.1; with order_most, Bun, Dwork, Rothblum, Steinke 2018, Def. 1 has (rho, order).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from flint import acb

from ..conversions.divergence import ORDER_MAX, divergence
from ..conversions.smallest_rho import SmallestRho, smallest_rho
from ..engines.loss_extremes import chance, loss_extremes
from ..engines.planner import meets
from ..engines.selection import Term
from ..losses.pair import Pair
from ..mechanisms.composition import fixed_choices
from ..mechanisms.parameters import real
from ..numerics.balls import BITS_START, working_precision
from ..values import compute_budget
from ..values.bound import Bound, ErrorBreakdown, error_lines
from ..values.calls import short
from ..values.errors import InvalidParameter, UnsupportedMechanism, WorkExhausted, agreed
from ..values.question import Direction
from .law import Law, Told

FINER_DIVERGENCE = 0.2  # of the width that is wanted: what is asked of a divergence
UP_TO_AN_ORDER = "order_most= asks for the rho that holds up to an order, where it may"
ENGINE = "contour"
ROUGH_DIVERGENCE = 1e-3  # relative width
ROUGH_SHARE = 0.7  # of the work
UPPER_SHARE = 0.6  # of the work: for the dominating pairs, where lower ends are of others
BOTH_SHARE = 0.5  # of what the first of two directions takes


def checked_order_most(order_most: float) -> float:
    """An order above 1, up to 2**53, or inf."""
    value = real("order_most", order_most)
    if not (1.0 < value <= ORDER_MAX or value == math.inf):
        raise InvalidParameter(f"order_most must be a number above 1 up to 2**53, or inf, not {order_most!r:.40}")
    return value


def zcdp(law: Law, order_most: float) -> Bound:
    """The largest of the directions; terms that are the same are looked at once."""
    worst, direction, upper, seen = SmallestRho(0.0, 0.0, 1.0, 0), law.directions[0], 0.0, set()
    with compute_budget.part(1.0) as meter:
        for done, each in enumerate(law.directions):
            sides = law.terms(each), _real_runs(law, each)
            if sides in seen:
                continue
            seen.add(sides)
            with compute_budget.part(1.0 if done + 1 == len(law.directions) else BOTH_SHARE, clock=True):
                rho = _directed(law, order_most, *sides, worst.lower)
            upper = max(upper, rho.upper)
            if rho.lower >= worst.lower:
                worst, direction = rho, each
    law.exhausted = law.exhausted or meter.exhausted
    with compute_budget.uncounted():
        told = _told(law, worst, upper, direction)
    return law.bound(worst.lower, upper, told)


def _real_runs(law: Law, direction: Direction) -> tuple[tuple[Term, ...], ...]:
    """The runs that lower ends speak of: of real neighbours where some are known, of the dominating pairs else."""
    if not law.below:
        return (law.terms(direction),)
    return tuple(dict.fromkeys(fixed_choices(law.choices(direction))))


def _directed(
    law: Law, order_most: float, terms: tuple[Term, ...], runs: tuple[tuple[Term, ...], ...], enough: float
) -> SmallestRho:
    """Above by the dominating pairs, below by the best of the runs."""
    same = runs == (terms,)
    with compute_budget.part(1.0 if same else UPPER_SHARE, clock=True):
        above = _searched(law, order_most, terms, enough)
    if same or above.upper == 0.0:
        return above
    below = SmallestRho(0.0, 0.0, above.order, 0)
    for done, run in enumerate(runs):
        with suppress(WorkExhausted, UnsupportedMechanism), compute_budget.part(1.0 / (len(runs) - done), clock=True):
            rho = _searched(law, order_most, run, max(enough, below.lower))
            below = rho if rho.lower > below.lower else below
    lower, upper = agreed(below.lower, above.upper)
    return below._replace(lower=lower, upper=upper, refused=above.refused)


def _searched(law: Law, order_most: float, terms: tuple[Term, ...], enough: float) -> SmallestRho:
    """With divergences that are known roughly where they are no formula, and again with finer ones if that helps."""
    rho = SmallestRho(0.0, math.inf, 1.0, 0, True)
    for accuracy, share in ((ROUGH_DIVERGENCE, ROUGH_SHARE), (FINER_DIVERGENCE * law.aim, 1.0)):

        def of_pair(pair: Pair, order: float, accuracy: float = accuracy) -> tuple[float, float]:
            known = divergence([(pair, 1)], order, accuracy, law.question.proof)
            return known.lower, known.upper

        with compute_budget.part(share, clock=True):
            rho = rho.narrowed(smallest_rho(terms, order_most, law.aim, of_pair, enough))
        if rho.upper <= enough or meets(rho.lower, rho.upper, law.aim, law.question.quantity):
            break
    return rho


def _told(law: Law, rho: SmallestRho, upper: float, direction: Direction) -> Told:
    """The width is that of the cells, or of real neighbours that lose less than the theorem has."""
    real = not law.mechanism.tight and law.mechanism.attained and law.below
    width = upper - rho.lower if upper < math.inf else 0.0
    lines = error_lines(**{"theorem" if real else "discretisation": width})
    return Told(
        _reason(rho, upper, law.terms(direction), law.none),
        engine=ENGINE,
        arithmetic="ball" if law.question.proof else "float64",
        direction=direction,
        parameters={"order": rho.order, "orders": rho.orders},
        budget=ErrorBreakdown(lines, lines),
    )


def _reason(rho: SmallestRho, upper: float, terms: Sequence[Term], none: str) -> str:
    """Why it is so large, or why there is none."""
    if rho.lower == math.inf:
        mass = loss_extremes(terms).mass
        if mass > 0:
            least = chance(mass)[0]
            return f"{none}: with probability {least} at least the loss is infinite, and so is every divergence"
        return f"{none}: the divergence of order {short(rho.order)} is infinite; order_most= asks for lower ones"
    if upper == math.inf:
        return "no bound is known on its divergences at all large orders; order_most= asks for those up to a number"
    if rho.order == math.inf:
        limit = "as the order grows, divergence over order tends to that of the Gaussian noise"
        return f"{limit}: sampling does not help there; {UP_TO_AN_ORDER}" if _mixed(terms) else limit
    place = "as the order falls to 1" if rho.order == 1.0 else f"next to order {short(rho.order)}"
    if rho.refused:
        return f"divergence over order is bounded at all orders, and where it is known it is largest {place}"
    return f"divergence over order is largest {place}"


def _mixed(terms: Sequence[Term]) -> bool:
    """Whether some part tends to Gaussian noise and is not Gaussian noise: its cgf is no formula."""
    with working_precision(BITS_START):
        parts = [pair for pair, _ in terms if pair.moments().gdp_mu_lower(Direction.REMOVE) is not None]
        return any(pair.moments().log_moment(acb(1)) is None for pair in parts)
