"""The pair that every pair within given limits stays below, and one that every pair within them stays above.

Masses within limits, p_low <= p <= p_up and q_low <= q <= q_up, that add up to 1. For a set S of bins p(S) is at most
the sum of p_up over S and 1 less that of p_low over the others, and q(S) likewise at least; so for alpha >= 0
H(alpha) <= sum (p_up - alpha q_low)_+, sum max(p_up, alpha q_up) - alpha, 1 - sum min(p_low, alpha q_low) and
1 - alpha + sum (alpha q_up - p_low)_+. The lower convex envelope of all four and the point (0, 1) is the profile of a
finite law.
From below: a test that claims S has p(S) at least the sum of p_low over S and 1 less that of p_up over the others, q(S)
at most likewise. The power of the best test is at or above the concave hull of such points for sets of the likeliest
bins, which is the power of a finite law.
Guarantee: dominates, and is dominated, in exact fractions. Proof: docs/proofs/classic.md, section 6.
Reference: Clopper, Pearson 1934; Zhu, Dong, Wang 2021, Prop. 10 (pairs of a profile).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from flint import arb, fmpq

from ...numerics.balls import BITS_START, working_precision
from ..operators.shuffle.report_law import at_least, at_most
from .laws import RationalLaw

Corner: TypeAlias = tuple[Fraction, Fraction]  # alpha, and a height that the profile does not exceed there


def upper_limit(count: int, total: int, level: Fraction) -> Fraction:
    """A probability p with P[Bin(total, p) <= count] <= level: too low with probability at most level."""
    from scipy.special import betaincinv

    if count == total:
        return Fraction(1)
    guess = 1.0 - float(betaincinv(total - count, count + 1, float(level)))
    return _certified(guess, 1, lambda p: at_most(total, count, p, 1 - p), level)


def lower_limit(count: int, total: int, level: Fraction) -> Fraction:
    """A probability p with P[Bin(total, p) >= count] <= level: too high with probability at most level."""
    from scipy.special import betaincinv

    if count == 0:
        return Fraction(0)
    guess = float(betaincinv(count, total - count + 1, float(level)))
    return _certified(guess, -1, lambda p: at_least(total, count, p, 1 - p), level)


def _certified(guess: float, side: int, error: Callable[[arb], arb], level: Fraction) -> Fraction:
    """The guess, moved outward until a ball shows that the error is at most the level."""
    with working_precision(2 * BITS_START):
        wanted = arb(fmpq(level.numerator, level.denominator))
        step = 1e-13
        while step < 1.0:
            point = guess * (1.0 + side * step)
            if not 0.0 < point < 1.0:
                break
            if error(arb(point)) <= wanted:
                return Fraction(point)
            step *= 4.0
    return Fraction(1) if side > 0 else Fraction(0)


class MassLimits(NamedTuple):
    """Of the masses of a law, bin by bin; they add up to 1, which the limits alone do not say."""

    low: Sequence[Fraction]
    up: Sequence[Fraction]


def law_within(p: MassLimits, q: MassLimits) -> RationalLaw:
    """The law that dominates all pairs within the limits."""
    corners = [(Fraction(0), Fraction(1))]
    rest, more = 1 - sum(p.low, Fraction(0)), sum(q.up, Fraction(0)) - 1
    for u, level in ((p.up, Fraction(0)), (p.low, rest)):
        for v, rise in ((q.low, Fraction(0)), (q.up, more)):
            corners += _corners(u, v, level, rise)
    hull = _lower_hull(corners)
    slopes = [(h0 - h1) / (a1 - a0) for (a0, h0), (a1, h1) in pairwise(hull)] + [Fraction(0)]
    atoms = [(alpha, slope - after) for (alpha, _), (slope, after) in zip(hull[1:], pairwise(slopes), strict=True)]
    return RationalLaw(
        (hull[-1][1], *(alpha * mass for alpha, mass in atoms), Fraction(0)),
        (Fraction(0), *(mass for _, mass in atoms), 1 - slopes[0]),
    )


def law_below(p: MassLimits, q: MassLimits) -> RationalLaw:
    """A law that all pairs within the limits dominate; that of (q, p) is its reverse."""
    bins = [
        ((p_low + p_up) / total, p_low, p_up, q_low, q_up)
        for p_low, p_up, q_low, q_up in zip(*p, *q, strict=True)
        if (total := p_low + p_up + q_low + q_up)
    ]
    inside, others = [Fraction(0)] * 4, [sum(column, Fraction(0)) for column in (*p, *q)]
    rates = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))]  # of false alarms and of misses, both at most
    for _, alike in groupby(sorted(bins, reverse=True), key=itemgetter(0)):
        for _, *masses in alike:
            inside = [total + mass for total, mass in zip(inside, masses, strict=True)]
            others = [total - mass for total, mass in zip(others, masses, strict=True)]
        rates.append((min(inside[3], 1 - others[2]), min(others[1], 1 - inside[0])))
    hull = _lower_hull(rates)
    steps = [(m0 - m1, x1 - x0) for (x0, m0), (x1, m1) in pairwise(hull)]
    first, last = (1 - hull[0][1], Fraction(0)), (Fraction(0), 1 - hull[-1][0])
    return RationalLaw(*(tuple(masses) for masses in zip(first, *steps, last, strict=True)))


def _corners(u: Sequence[Fraction], v: Sequence[Fraction], level: Fraction, rise: Fraction) -> list[Corner]:
    """(alpha, G) where G(alpha) = level + rise alpha + sum (u_i - alpha v_i)_+ bends, from the last bend on."""
    left = sorted(((u_i / v_i, u_i, v_i) for u_i, v_i in zip(u, v, strict=True) if v_i and u_i), reverse=True)
    above, slope = level + sum((u_i for u_i, v_i in zip(u, v, strict=True) if not v_i), Fraction(0)), rise
    found: list[Corner] = []
    for alpha, u_i, v_i in left:
        found.append((alpha, above + slope * alpha))
        above, slope = above + u_i, slope - v_i
    return [*found, (Fraction(0), above)]


def _lower_hull(corners: Sequence[Corner]) -> list[Corner]:
    """The lower hull of corners and of all that lies above or to the right of one, as far as it falls."""
    hull: list[Corner] = []
    for alpha, height in sorted(corners):
        if hull and height >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (a0, h0), (a1, h1) = hull[-2:]
            if (h0 - h1) * (alpha - a0) > (h0 - height) * (a1 - a0):
                break
            hull.pop()
        hull.append((alpha, height))
    return hull
