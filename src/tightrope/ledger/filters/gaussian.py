"""What a Gaussian axis is charged: mu^2 of Gaussian noise itself, and of any other job the least that dominates it.

Gaussian noise costs the sum of mu^2, also where every use is mu-GDP only. Of the rest, with the floor E and slack d,
the least c with M x E <= E x G_sqrt(c) x ApproximateDP(0, d); without slack the smallest mu^2 whose Gaussian dominates
M.
Guarantee: upper. Proof: docs/proofs/ledger.md, Theorem D; docs/proofs/gdp.md (without slack).
Reference: Dong, Roth, Su 2022, Cor. 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

from flint import acb, arb

from ... import Direction, Mechanism, Relation, UnsupportedMechanism, WorkExhausted, compose
from ...extend.laws import Pair
from ...extend.numbers import BITS_START, upper_float, working_precision
from ..domination import LeastSquare, ended_by_work, least_square
from .jobs import pieces, refused, uses
from .terms import SLACK, charged_upper, shortened_up

MU2 = "mu2"


class GaussianCost(NamedTuple):
    """mu^2 and slack, whether they are a sum over uses, and how they came about."""

    square: Fraction
    slack: Fraction
    additive: bool
    evidence: list[dict[str, Any]]
    ended: bool = False  # whether work ended a search, so that more of it may find less


def gaussian_cost(
    terms: Sequence[tuple[Mechanism, int]], relation: Relation, floor: float, slack: float
) -> GaussianCost:
    """Of all terms together; floor is a mu, slack the delta that they may use."""
    square, lost, early = Fraction(0), Fraction(0), False
    evidence: list[dict[str, Any]] = []
    others: list[Mechanism] = []
    for part, count in terms:
        own = noise_square(part)
        if own is None:
            others.append(part * count)
        elif own == math.inf:
            raise refused(part, "its noise is so small that no double holds its mu^2")
        else:
            square += count * Fraction(own)
            evidence.append({"mechanism": repr(part), "count": count, MU2: repr(own), SLACK: "0.0"})
    charged = pieces(compose(others), relation) if others else ()
    share = slack / max(sum(count for _, count in charged), 1)
    for piece, count in charged:
        own, ended = _bare_square(piece) if share == 0.0 else _square_with(piece, floor, share)
        early = early or ended
        square, lost = square + count * Fraction(own), lost + count * Fraction(share)
        evidence.append({"mechanism": repr(piece), "count": count, MU2: repr(own), SLACK: repr(share)})
    return GaussianCost(square, lost, not charged, evidence, early)


def noise_square(part: Mechanism) -> float | None:
    """At or above mu^2 of one use that is Gaussian noise, or stands for what no better than it can be told; else None.

    Where a Gaussian dominates it, follows it far out, and its moments are a formula: a sample has the first two only.
    """
    found = []
    for direction in Direction:
        with working_precision(BITS_START):
            squares = [(_square(use.pair), use.times) for use in uses(part, direction)]
            known = [count * square for square, count in squares if square is not None]
            if len(known) < len(squares):
                return None
            found.append(upper_float(sum(known, arb(0))))
    return max(found)


def _square(pair: Pair) -> arb | None:
    above, limit = pair.moments().gdp_mu(), pair.moments().gdp_mu_lower(Direction.REMOVE)
    if above is None or limit is None or not above.overlaps(limit) or pair.moments().log_moment(acb(1)) is None:
        return None
    return above * above


def _square_with(piece: Mechanism, floor: float, slack: float) -> LeastSquare:
    """By itself, or beside the floor where that is less: what holds without a floor holds beside it."""
    alone = _shortened(least_square(piece, 0.0, slack))
    if floor > 0.0:
        with suppress(WorkExhausted, UnsupportedMechanism):
            return min(alone, _shortened(least_square(piece, floor, slack)))
    return alone


def _shortened(found: LeastSquare) -> LeastSquare:
    return found._replace(square=shortened_up(found.square))


def _bare_square(piece: Mechanism) -> LeastSquare:
    bound = piece.gdp()
    mu = charged_upper(bound)
    if not math.isfinite(mu):
        raise refused(piece, "no Gaussian dominates it, or none is known: give it a slack")
    with working_precision(BITS_START):
        return LeastSquare(upper_float(arb(mu) ** 2), ended_by_work(bound))
