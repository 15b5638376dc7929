"""Gaussian differential privacy: the smallest mu whose Gaussian pair dominates a run.

mu = sup over both orders of the two laws and t >= 0 of mu(t), H_{mu(t)}(e^t) = H(e^t); with delta_least only over the t
with H(e^t) >= delta_least, so that the Gaussian has at least the epsilon of the run at every delta from there on.
None: H stays above its mass of infinite loss, and H_mu falls to 0. By formulas: a Gaussian that dominates every part
(Moments.gdp_mu, mu^2 add up), and one that H follows in the limit (Moments.gdp_mu_lower); where they agree that is it.
Else a certified maximum over cells (gaussian_scan), with what lies beyond the last point (gaussian_tail).
Guarantee: both ends. Proof: docs/proofs/gdp.md.
Reference: Dong, Roth, Su 2022, Gaussian differential privacy, Def. 2.6 and Cor. 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from .. import compute_budget
from ..bound import Bound, ErrorBreakdown, error_lines
from ..engines.evaluation import Term
from ..engines.extremes_of_loss import chance, leaked, loss_extremes
from ..errors import UnsupportedMechanism, WorkExhausted
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.directed import next_up
from ..kernels.normal_shift import quantile_above
from ..kernels.search import Compared, compare, invert
from ..operators import sampling_of
from ..relation import Direction
from ..transforms.terms import fixed_choices
from .gaussian_scan import Largest, LawOrder, ShiftPoint, ShiftSearch
from .gaussian_tail import least_above, lines, stays_above
from .law import AIM_SHARE, Law, Told
from .zcdp import zcdp

FIRST_STEP, STEP_GROWTH = 0.5, 1.6  # of t in standard deviations of the loss
SMALL_STEP = 0.01  # of t, at least
DEVIATIONS_MAX = 36.0  # such deviations: H is about 1e-290 there
SHARED_MIN = 0.9  # what the ends of a mu have to share, so that a point tells something


class _Order(NamedTuple):
    """One order of the two laws: its pairs in each direction, and the real ones that lower ends speak of."""

    sign: float
    runs: tuple[tuple[Term, ...], ...]
    witnesses: tuple[tuple[Term, ...], ...]


def gdp(law: Law, delta_least: float) -> Bound:
    """The smallest mu; inf where there is none."""
    orders = _orders(law)
    leak, sure, (low, high) = compute_budget.in_any_case(lambda: _at_once(orders))
    if sure > 0 and sure >= delta_least:
        return law.bound(math.inf, math.inf, Told(_why_none(sure), engine="closed_form"))
    if delta_least == 0.0 and low == math.inf:
        why = f"{law.none}: far out the loss falls slower than that of every Gaussian"
        return law.bound(math.inf, math.inf, Told(f"{why}; delta_least= asks for less", engine="closed_form"))
    open_end = not (leak.is_zero() or leak < delta_least)
    if delta_least == 0.0 and low >= high * (1.0 - law.aim / 2.0):
        return _by_formula(law, orders, low, high)
    low = low if delta_least == 0.0 else 0.0  # a limit is beyond every delta
    search = ShiftSearch(law.aim, high)
    try:
        for order in orders:
            _look(law, order, search, delta_least, open_end)
    except WorkExhausted:
        search.tail = math.inf
    with suppress(WorkExhausted):
        search.refine(law, delta_least)
    found = search.found()
    if (
        min(found.upper, high) == math.inf
        and delta_least == 0.0
        and all(each.runs == each.witnesses for each in orders)
    ):
        with suppress(WorkExhausted, UnsupportedMechanism):
            if zcdp(law, math.inf).lower == math.inf:
                why = f"{law.none}: a Renyi divergence of some order is infinite, and of a Gaussian none is"
                return law.bound(math.inf, math.inf, Told(f"{why}; delta_least= asks for less", engine="closed_form"))
    with compute_budget.uncounted():
        return _told(law, found, delta_least, (low, high))


def _orders(law: Law) -> list[_Order]:
    """Both orders of the laws; one where both directions are asked, which are each other's reverse, or each its own.

    The pair that dominates a direction need not be the reverse of the other's: a measured one holds at a >= 1 alone.
    """
    runs = [law.terms(direction) for direction in law.directions]
    floors = [run for direction in law.directions for run in fixed_choices(law.choices(direction))]
    back = [_reversed(run) for run in runs]
    forward = _Order(1.0, tuple(dict.fromkeys(runs)), tuple(dict.fromkeys(floors)))
    if len(law.directions) > 1 or set(back) <= set(runs):
        return [forward]
    return [forward, _Order(-1.0, tuple(dict.fromkeys(back)), tuple(_reversed(run) for run in forward.witnesses))]


def _at_once(orders: Sequence[_Order]) -> tuple[arb, arb, tuple[float, float]]:
    """The infinite mass of the dominating pairs, that of the real ones, and what formulas say."""
    with working_precision(BITS_START):
        leak = _most(leaked(run) for order in orders for run in order.runs)
        sure = _most(leaked(run) for order in orders for run in order.witnesses)
        return leak, sure, _formulas(orders)


def _reversed(run: Sequence[Term]) -> tuple[Term, ...]:
    return tuple((pair.reversed(), count) for pair, count in run)


def _most(balls: Iterable[arb]) -> arb:
    value = arb(0)
    for ball in balls:
        value = value.max(ball)
    return value


def _formulas(orders: Sequence[_Order]) -> tuple[float, float]:
    """mu of the limits of the real pairs, and of Gaussians that dominate; 0 and inf where none is known."""
    above = [_square((pair.moments().gdp_mu(), count) for pair, count in run) for order in orders for run in order.runs]
    limits = [
        _square((pair.moments().gdp_mu_lower(way) or arb(0), count) for pair, count in run)
        for order in orders
        for run in order.witnesses
        for way in Direction
    ]
    known = [value for value in above if value is not None]
    upper = upper_float(_most(known).sqrt()) if len(known) == len(above) else math.inf
    return lower_float(_most(limit for limit in limits if limit is not None).sqrt()), upper


def _square(parts: Iterable[tuple[arb | None, int]]) -> arb | None:
    total = arb(0)
    for mu, count in parts:
        if mu is None:
            return None
        total += count * mu * mu
    return total


def _look(law: Law, order: _Order, search: ShiftSearch, delta_least: float, open_end: bool) -> None:
    """First points of one order, as far as they matter, and the cells between."""
    side, last = LawOrder(law, *order), math.inf
    try:
        if side.at(0.0).high.value < delta_least:
            last = -math.inf
        elif delta_least > 0.0 and not open_end:
            last = _until(side, _supremum(order), delta_least)
        else:
            last = _march(side, order, search, delta_least, open_end)
    finally:  # also where time is up
        search.tail = search.tail if last < math.inf else math.inf
        places = sorted(level for level in side.places.values() if level.t <= last)
        for place in places:
            search.see(place, place.delta.lower >= delta_least)
    for first, second in pairwise(places):
        search.add(side, first, second)


def _supremum(order: _Order) -> float:
    """At or above every loss; inf where they have no end that is known."""
    value = _most(loss_extremes(run).supremum for run in order.runs)
    return upper_float(value) if value.is_finite() else math.inf


def _until(side: LawOrder, supremum: float, delta_least: float) -> float:
    """A t from which on H is at most delta_least, as small as can be told; inf where none was found."""

    def beside(t: float) -> Compared[None]:
        delta = side.at(t).delta
        return compare(delta.lower, delta.upper, delta_least, None)

    mu = side.at(0.0).least
    with working_precision(BITS_START):
        deviations = max(float(quantile_above(arb(delta_least)).mid()), FIRST_STEP) if delta_least < 0.5 else FIRST_STEP
    inverse = invert(beside, supremum, AIM_SHARE * side.law.aim, mu * (deviations + mu / 2.0))
    if inverse.upper < math.inf:
        side.at(inverse.upper)
    return inverse.upper


def _march(side: LawOrder, order: _Order, search: ShiftSearch, delta_least: float, open_end: bool) -> float:
    """Points further and further out, until a Gaussian stays above for ever; the last of them.

    What is known beyond goes to the tail of the search.
    """
    supremum = _supremum(order)
    known = [] if open_end else [lines(run) for run in order.runs]
    place, deviations = side.at(0.0), FIRST_STEP
    while not side.law.over:
        mu = place.least if place.least > 0.0 else place.most
        t = mu * (deviations + mu / 2.0)
        if mu == 0.0:
            return place.t  # H is 0 from there on
        if t >= supremum < math.inf:
            search.tail = math.inf if open_end else search.tail  # H may stay above 0 beyond the finite losses
            return side.at(supremum).t
        if t == math.inf:
            break
        reached = side.at(max(t, place.t * (1.0 + SMALL_STEP)))
        if not reached.least > SHARED_MIN * reached.most:
            break
        place = reached
        best = max(search.lower, *(level.least for level in side.places.values()))
        for mu in (best, best * (1.0 + search.aim / 4.0)):
            if known and all(stays_above(mu, place.t, line) for line in known):
                search.tail = max(search.tail, mu)  # beyond the last point no more is proven
                return place.t
        if place.high.value < delta_least or deviations == DEVIATIONS_MAX:
            break
        deviations = min(deviations * STEP_GROWTH + FIRST_STEP, DEVIATIONS_MAX)
    best = max(search.lower, *(level.least for level in side.places.values()))
    search.tail = max(search.tail, max((least_above(place.t, line, best) for line in known), default=math.inf))
    return place.t


def _told(law: Law, found: Largest, delta_least: float, formulas: tuple[float, float]) -> Bound:
    """The narrower of what points and formulas say, and what decided it."""
    lower, upper = max(found.lower, formulas[0]), min(found.upper, formulas[1])
    place = found.place
    at = 0.0 if place is None else place.t
    if delta_least > 0.0:
        where = f"wherever delta is at least {delta_least!r}"
    elif found.tail > found.at_points:
        where = "what no point tells counts by moments"
    else:
        where = "at every epsilon, and by moments beyond the last point"
    reason = f"the largest mu of a Gaussian with the same delta, near epsilon {at:.4g}; {where}"
    if upper == formulas[1]:
        reason = "the Gaussians that dominate each part, together; the lower end is that of single epsilons"
    if upper == math.inf:
        reason = "no bound on the loss far out is known; delta_least= asks for less"
    if upper == math.inf and found.at_points == math.inf:
        reason = "delta is next to 1 at some epsilon, and how close is not known"
    cells, tail = max(min(found.upper, upper) - found.at_points, 0.0), 0.0
    if found.tail > found.at_points:
        cells, tail = 0.0, cells
    told = place is not None and place.most < math.inf and upper < math.inf
    budget = _budget(cells, tail, place, lower) if told and place is not None else ErrorBreakdown()
    of = None if place is None else place.delta
    return law.bound(lower, upper, Told(reason, budget=budget, parameters={"epsilon": at}), of=of)


def _budget(cells: float, tail: float, place: ShiftPoint, lower: float) -> ErrorBreakdown:
    """In mu: what cells and the tail added, and what the delta that decided left open, shared as in its own budget."""
    above = {"discretisation": cells, "truncation": tail}
    below = {"discretisation": max(place.least - lower, 0.0)}  # where it is not sure that this point counts
    certificate, spread = place.delta.certificate, max(place.most - place.least, 0.0)
    own = ErrorBreakdown() if certificate is None else certificate.budget
    whole = sum(own.upper.values()) + sum(own.lower.values())
    for side, mine in ((own.upper, above), (own.lower, below)):
        for name, line in side.items():
            share = line / whole if 0.0 < whole < math.inf else float(name == "rounding")
            if share > 0.0:
                mine[name] = next_up(mine.get(name, 0.0) + share * spread)
    return ErrorBreakdown(error_lines(**above), error_lines(**below))


def _by_formula(law: Law, orders: Sequence[_Order], low: float, high: float) -> Bound:
    """Where a Gaussian that dominates is also the limit."""
    sampled = any(sampling_of(pair) is not None for order in orders for run in order.runs for pair, _ in run)
    reason = "the squares of mu add up"
    if sampled:
        reason += (
            "; sampling does not help here, since far out a sampled law follows its base: delta_least= asks for the mu "
            "that holds wherever delta is at least so large, where sampling does"
        )
    lines = error_lines(rounding=high - low)
    return law.bound(
        low, high, Told(reason, engine="closed_form", arithmetic="ball", budget=ErrorBreakdown(lines, lines))
    )


def _why_none(mass: arb) -> str:
    """Which delta_least has a mu."""
    low, high = chance(mass)
    return (
        f"the loss is infinite with probability {low} at least, so that delta never falls below, as every Gaussian's "
        f"does; delta_least above {high} has a mu"
    )
