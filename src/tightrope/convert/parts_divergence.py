"""What the divergences of its parts say of the divergence of a pair, at any order, however deep its masses are.

With M = e^((order - 1) D) of a part and M' of the pair:
    a pair that dominates others      D' >= D of each
    the largest of several profiles   M' - 1 <= sum of M - 1; D' <= sum of D at order 1; 1 - M' <= sum of 1 - M below
    a Poisson sample                  the same with rate (M - 1), rate D, rate (1 - M) in place of the sum
    the same, remove, order > 1       rate^order M <= M' <= (1 - rate + rate M^(1/order))^order
    any                               D' <= sup loss, max(order, 1) rho, and K(c)/c, c >= order - 1, c > 0
Guarantee: lower and upper. Proof: docs/proofs/renyi.md, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flint import arb

from ..facets.cumulant import cumulant_above
from ..kernels.ball import working_precision
from ..operators import alternatives_of, dominated_pairs, sampling_of
from ..pair import Pair, Sampling
from ..relation import Direction
from .divergence_ends import Divergence, ends

PARTS_BITS = 640
ABOVE_ONE = 2.0**-4  # c, for orders up to 1

OfPart = Callable[[Pair], Divergence]
NOTHING = Divergence(0.0, math.inf)


def from_parts(pair: Pair, order: float, of_part: OfPart) -> Divergence:
    """What is known without the masses of the pair; it has no infinite loss, or the order lies below 1."""

    def asked(part: Pair) -> Divergence:
        """A part may have infinite losses where the pair has none: nothing is known above then."""
        open_ended = order >= 1.0 and not part.infinite_mass().is_zero()
        divergence = of_part(part)
        return divergence._replace(upper=math.inf) if open_ended else divergence

    inside, sampling = [asked(each) for each in dominated_pairs(pair)], sampling_of(pair)
    base = None if sampling is None else asked(sampling.base)
    with working_precision(PARTS_BITS):
        found = _by_itself(pair, order)
        if inside:
            found = found.narrowed(Divergence(max(divergence.lower for divergence in inside), math.inf, *_how(inside)))
        if alternatives_of(pair):
            found = found.narrowed(_at_most(arb(1), inside, order))
        if sampling is not None and base is not None:
            found = found.narrowed(_at_most(arb(sampling.rate), [base], order))
            if sampling.direction is Direction.REMOVE and order > 1.0:
                found = found.narrowed(_sampled(sampling, order, base))
    return found


def _by_itself(pair: Pair, order: float) -> Divergence:
    """An upper end, where there is no infinite loss."""
    if not pair.infinite_mass().is_zero():
        return NOTHING
    divergence, c = NOTHING, max(order - 1.0, ABOVE_ONE)
    highest, rho = pair.loss_range().highest, pair.moments().zcdp_rho()
    known = [arb(cumulant_above(pair, c)) / c]
    known += [highest] if highest.is_finite() else []
    known += [] if rho is None else [arb(max(order, 1.0)) * rho]  # below order 1 it is at most D_1
    for upper in known:
        divergence = divergence.narrowed(ends(arb(0), upper))
    return divergence


def _how(parts: Sequence[Divergence]) -> tuple[int, bool]:
    return max(part.rows for part in parts), all(part.balls for part in parts)


def _at_most(share: arb, parts: Sequence[Divergence], order: float) -> Divergence:
    """An upper end: the divergence that belongs to M is, but for its scale, at most this share of the sum of theirs."""
    if any(part.upper == math.inf for part in parts) and order >= 1.0:
        return NOTHING
    tops, c = [arb(part.upper) for part in parts], arb(order) - 1
    if order == 1.0:
        return ends(arb(0), share * sum(tops, arb(0)), *_how(parts))
    moment = share * sum(((c * top).expm1() for top in tops), arb(0))
    return ends(arb(0), moment.log1p() / c, *_how(parts)) if moment > -1 else NOTHING


def _sampled(sampling: Sampling, order: float, base: Divergence) -> Divergence:
    """Of removing, at an order above 1."""
    rate, o = arb(sampling.rate), arb(order)
    c = o - 1
    lower = (o * rate.log() + c * arb(base.lower)) / c if base.lower < math.inf else arb.pos_inf()
    upper = o / c * (rate * (c / o * arb(base.upper)).expm1()).log1p() if base.upper < math.inf else arb.pos_inf()
    return ends(lower, upper, *_how([base]))
