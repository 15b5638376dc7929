"""An upper bound of delta without a contour: delta <= w + kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s}.

It holds for every s > 0, and without outputs that are rare, where their probability is added. It is too large by a
factor near sqrt(2 pi s^2 K''), and more where few large losses decide: enough to see that the better of two directions
is not the worse one.
Guarantee: upper. Proof: docs/proofs/contour.md, sections 1, 7 and 10.
Reference: Chernoff 1952, Thm 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from ...errors import UnsupportedMechanism
from ...facets.cgf import Terms
from ...facets.cumulant import cgf_of
from ...kernels.directed import exp_up
from ..evaluation import Term
from ..saddle import find_saddle, log_alias_height
from .parts import Parts, sampled, without_rare

FAR = 1e3  # times the delta that is wanted: what rare outputs make of the bound, and no other law does
RARE = 1e-3  # of the delta that is wanted: what may be left out


def delta_above(terms: Sequence[Term], epsilon: float, mass: float, wanted: float = 0.0, near: float = 1.0) -> float:
    """At or above delta at a finite epsilon, for an infinite mass of at most `mass`; inf where nothing is known.

    Where that is far above a delta that is wanted, outputs far rarer than that delta are left out. near: a tilt to
    start from.
    """
    try:
        cgfs = [(cgf_of(pair), count) for pair, count in terms]
    except UnsupportedMechanism:
        return math.inf
    above = _above(Parts(cgfs), epsilon, mass, near)
    if above > FAR * wanted > FAR * mass and any(sampled(cgf) for cgf, _ in cgfs):
        with suppress(UnsupportedMechanism, OverflowError):
            log_rare = math.log(RARE) + math.log(wanted - mass)  # apart: their product may be below every double
            parts, _ = without_rare(cgfs, log_rare, lambda shape: find_saddle(shape, epsilon, None))
            above = min(above, _above(parts, epsilon, math.nextafter(mass + parts.rare_above(), math.inf), near))
    return above


def _above(parts: Parts, epsilon: float, left_out: float, near: float) -> float:
    """The bound of what the parts sum, with what they leave out."""
    try:
        s = find_saddle(parts.sample(), epsilon, None, start=near).tilt
        log = log_above(log_mgf_above(parts.terms, s), s, epsilon)
    except (UnsupportedMechanism, OverflowError):
        return math.inf
    return math.nextafter(left_out + exp_up(log, 1.0), math.inf)


def log_mgf_above(terms: Terms, s: float) -> float:
    """At or above K(s) of the composition."""
    parts = [count * cgf.log_mgf_above(s) for cgf, count in terms]
    return sum(parts) + 1e-12 * sum(map(abs, parts))  # parts with infinite mass are negative


def log_above(log_mgf: float, s: float, epsilon: float) -> float:
    """At or above log of kappa(s) e^{K(s) - s eps}, given K(s) at most log_mgf."""
    size = abs(log_mgf) + s * epsilon + 1.0 + math.log1p(s)
    return log_alias_height(log_mgf, s, epsilon) + 1e-14 * size
