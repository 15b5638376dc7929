"""Bounds on Renyi divergences, in both directions: a table of orders, or rho-zCDP; and the largest delta that follows.

Among all laws that keep to them two outcomes (p, 1 - p), (q, 1 - q) have the largest p - a q. Any order's tangent at
any point bounds it from above, a point that keeps to all orders from below. Where to look is found by a search.
Proof: docs/proofs/renyi_curve.md, sections 1 to 5; docs/proofs/checker_laws.md, "Renyi curves".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..law import CheckedLaw, NotCheckable, Term, exact, power, precision
from .bounded import BoundedLaw
from .gaussian import GaussianLaw
from .renyi_search import searched
from .two_outcomes import SOLVE_BITS, RenyiBounds, TwoOutcomes

PEAK_BITS = 60  # how near to a peak it is looked at, relative
SHRINKS = (110, 90, 70, 58, 50)  # by how little a point is moved inward, so that it keeps to all orders


@dataclass(frozen=True)
class DivergencesLaw(CheckedLaw):
    """D_order <= r at each order of the table, or <= rho order at all; given an event of probability 1 - leak."""

    table: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction = Fraction(0)
    leak: Fraction = Fraction(0)

    def infinite(self) -> arb:
        return exact(self.leak)

    def reversed(self) -> DivergencesLaw:
        return self

    def shifted(self, size: int) -> CheckedLaw | None:
        """rho size^2 (docs/proofs/group.md, section 9), which Gaussian noise shows."""
        if size == 1 or self.table or self.leak:
            return self if size == 1 else None
        rho = self.rho * size**2
        return BoundedLaw(DivergencesLaw((), rho), (GaussianLaw(2 * rho),), once=False)


def converted(terms: Sequence[Term], epsilon: arb) -> Iterator[tuple[arb, arb]]:
    """Lower and upper end of the largest delta of a sum of such laws."""
    laws = [(law, uses) for law, uses in terms if isinstance(law, DivergencesLaw)]
    if len(laws) < len(terms):
        raise NotCheckable("bounds on divergences beside other laws are not known to the checker")
    tables = [(law, uses) for law, uses in laws if law.table]
    orders = {tuple(order for order, _ in law.table) for law, _ in tables}
    if len(orders) > 1 or len(terms) == 0:
        raise NotCheckable("tables of different orders are not known to the checker")
    rho = sum((law.rho * uses for law, uses in laws), Fraction(0))
    sums = tuple(
        (order, sum((law.table[i][1] * uses for law, uses in tables), rho * order))
        for i, order in enumerate(next(iter(orders), ()))
    )
    curve, kept = RenyiBounds(sums, rho), arb(1)
    for law, uses in laws:
        kept *= power(exact(1 - law.leak), uses)
    if epsilon == arb("inf") or epsilon == arb("-inf"):
        yield ((1 - kept,) * 2) if epsilon > 0 else (arb(1), arb(1))
        return
    with precision(SOLVE_BITS):
        low, high = _enclosed(curve, abs(epsilon))
        if len({law.table for law, _ in laws}) > 1:  # each says more of other orders than the sum of both tables
            low = arb(0)
        low, high = 1 - kept + kept * low, 1 - kept + kept * high
        if epsilon < 0:
            share = epsilon.exp()
            low, high = 1 - share + share * low, 1 - share + share * high
        yield low, high


def _enclosed(curve: RenyiBounds, epsilon: arb) -> tuple[arb, arb]:
    """Of an epsilon of 0 or more, so that p + q <= 1 may be assumed, and then one order of the laws is enough."""
    if (curve.rho == 0 and not curve.table) or any(r == 0 for _, r in curve.table):
        return arb(0), arb(0)
    alpha = epsilon.exp()
    found = searched(curve, epsilon)
    if found is None:
        return arb(0), arb(1)
    two, orders, corner = found
    high = _cuts(curve, two, orders, alpha, corner)
    for bits in SHRINKS:
        inside = TwoOutcomes(*((number * (1 - arb(2) ** -bits)).mid() for number in (two.up, two.down)))
        if inside.down <= inside.up and _keeps(curve, inside, orders[0]):
            return (inside.p() - alpha * inside.q()).max(arb(0)), high.min(arb(1))
    return arb(0), high.min(arb(1))


def _cuts(curve: RenyiBounds, two: TwoOutcomes, orders: list[arb], alpha: arb, corner: bool) -> arb:
    """p - s q <= p0 - s q0 + (e^k - f0)/f_p over all that keep to an order, s its slope; for two bounds a mean of them.

    At a corner the other bound is p + q <= 1. What the slope is above alpha costs as much, as q <= 1; what it is below
    costs nothing, as q >= 0.
    """
    heights = [(arb(-1), arb(1))] if corner else []
    for c in orders:
        most, slope = curve.most(c), two.slope(c)
        room = (most if c.is_zero() else most.expm1()) - two.moment(c)
        heights.append((slope, two.p() - slope * two.q() + room / two.rising(c)))
    heights.sort(key=lambda each: each[0].mid())
    (slope, height), (other, level) = heights[0], heights[-1]
    if len(heights) > 1 and slope < other:
        share = ((other - alpha) / (other - slope)).mid().max(arb(0)).min(arb(1))
        slope, height = share * slope + (1 - share) * other, share * height + (1 - share) * level
    return height + (slope - alpha).max(arb(0))


def _keeps(curve: RenyiBounds, two: TwoOutcomes, near: arb) -> bool:
    """Whether it keeps to every order: K(c)/(c (c + 1)) has one peak, which is between two places around `near`.

    Where l = m it is largest at order 1 (docs/proofs/zcdp.md, theorem 1).
    """
    if curve.table:
        return all(
            two.moment(exact(o - 1)) <= (exact((o - 1) * r).expm1() if o > 1 else exact(r)) for o, r in curve.table
        )
    if near.is_zero():
        return bool(two.up == two.down and two.moment(near) <= exact(curve.rho))
    first, last = near * (1 - arb(2) ** -PEAK_BITS), near * (1 + arb(2) ** -PEAK_BITS)
    if not (two.peak(first) > 0 and two.peak(last) < 0):
        return False
    here = first.union(last)
    steep = abs(two.peak(here) / (here * (here + 1)) ** 2).upper()
    return bool((1 + two.moment(first)).log() / (first * (first + 1)) + (last - first) * steep <= exact(curve.rho))
