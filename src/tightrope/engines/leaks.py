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
from ..pairs.finite.pair import FiniteLaw, FinitePair, RationalLaw, ResponseLaw
from .edges import EDGE_BITS
from .evaluation import Term

CLOSE = 1e-4  # of delta: a larger rest is as well known by itself


def sealed(terms: Sequence[Term]) -> tuple[Term, ...] | None:
    """The terms renormalised without their leaks; None where one of them leaks in another way."""
    kept: list[Term] = []
    for pair, count in terms:
        if pair.infinite_mass().is_zero():
            kept.append((pair, count))
            continue
        law = _sealed(pair.law) if isinstance(pair, FinitePair) else None
        if law is None:
            return None
        kept.append((FinitePair(law), count))
    return tuple(kept)


def _sealed(law: FiniteLaw) -> FiniteLaw | None:
    match law:
        case ResponseLaw(epsilon, delta, categories) if delta < 1.0:
            return ResponseLaw(epsilon, 0.0, categories)
        case RationalLaw():
            shared = [(p, q) for p, q in zip(law.p, law.q, strict=True) if p and q]
            first, second = sum(p for p, _ in shared), sum(q for _, q in shared)
            if first and first == second:
                return RationalLaw(tuple(p / first for p, _ in shared), tuple(q / second for _, q in shared))
    return None


def rest(mass: arb, delta: float) -> tuple[float, float] | None:
    """(delta - w)/(1 - w) rounded down and up, where delta is next to w and above it; else None."""
    with working_precision(EDGE_BITS):
        above = arb(delta) - mass
        if not (mass > 0 and above > 0 and above < CLOSE * arb(delta)):
            return None
        share = above / (1 - mass)
        low, high = lower_float(share), upper_float(share)
    return (low, high) if low > 0.0 else None
