"""A composition without its leaks: for a delta so close to the infinite mass that doubles cannot tell them apart.

If every use with an infinite loss is, apart from outcomes that one side alone has, a law of which P and Q have the same
mass 1 - w_i, then delta(eps) = w + (1 - w) delta'(eps), delta' that of the renormalised laws and 1 - w = prod
(1 - w_i)^k_i. So epsilon at delta is epsilon' at (delta - w)/(1 - w), whose digits are all its own.
Guarantee: exact; (delta - w)/(1 - w) rounded to both sides. Proof: docs/proofs/hits.md, section 3.
Reference: Meiser, Mohammadi 2018, Def. 5 (the infinity bucket).
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from ..kernels.ball import lower_float, upper_float, working_precision
from .edges import EDGE_BITS
from .evaluation import Term

CLOSE = 1e-4  # of delta: a larger rest is as well known by itself


def sealed(terms: Sequence[Term]) -> tuple[Term, ...] | None:
    """The terms renormalised without their leaks; None where one of them leaks in another way."""
    kept = [(pair.sealed(), count) for pair, count in terms]
    found = tuple((pair, count) for pair, count in kept if pair is not None)
    return found if len(found) == len(kept) else None


def rest(mass: arb, delta: float) -> tuple[float, float] | None:
    """(delta - w)/(1 - w) rounded down and up, where delta is next to w and above it; else None."""
    with working_precision(EDGE_BITS):
        above = arb(delta) - mass
        if not (mass > 0 and above > 0 and above < CLOSE * arb(delta)):
            return None
        share = above / (1 - mass)
        low, high = lower_float(share), upper_float(share)
    return (low, high) if low > 0.0 else None
