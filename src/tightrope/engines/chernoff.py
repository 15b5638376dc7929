"""An upper bound of delta without a contour: delta <= w + kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s}.

It holds for every s > 0, and without outputs that are rare, where their probability is added. It is too large by a
factor near sqrt(2 pi s^2 K''), and more where few large losses decide: enough to see that the better of two directions
is not the worse one.
Guarantee: upper. Proof: docs/proofs/contour.md, sections 1 and 10.
Reference: Chernoff 1952, Thm 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from flint import arb

from ..errors import UnsupportedMechanism
from ..facets.cgf import Terms
from ..facets.cumulant import cgf_of
from ..kernels.ball import BITS_START, upper_float, working_precision
from .evaluation import Term
from .parts import Parts, partitionable, without_rare
from .saddle import find_saddle
from .tuning import FAR_ABOVE, RARE


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
    if above > FAR_ABOVE * wanted > FAR_ABOVE * mass and partitionable(cgfs):
        with suppress(UnsupportedMechanism, OverflowError):
            log_rare = math.log(RARE) + math.log(wanted - mass)  # apart: their product may be below every double
            parts, _ = without_rare(cgfs, log_rare, lambda shape, start: find_saddle(shape, epsilon, None, start=start))
            above = min(above, _above(parts, epsilon, mass, near))
    return above


def _above(parts: Parts, epsilon: float, mass: float, near: float) -> float:
    """The bound of what the parts sum, with what they leave out."""
    try:
        s = find_saddle(parts.sample(), epsilon, None, start=near).tilt
        with working_precision(BITS_START):
            return upper_float(
                arb(mass) + parts.rare_mass() + chernoff(arb(s), log_mgf_above(parts.terms, s), arb(epsilon))
            )
    except (UnsupportedMechanism, OverflowError):
        return math.inf


def log_mgf_above(terms: Terms, s: float) -> arb:
    """At or above K(s) of the composition, from bounds in float64."""
    return sum((count * arb(cgf.log_mgf_above(s)) for cgf, count in terms), arb(0))


def chernoff(s: arb, log_mgf: arb, epsilon: arb) -> arb:
    """kappa(s) e^{K(s) - s eps}, kappa(s) = s^s/(1+s)^{1+s}, given K(s)."""
    return (log_mgf - s * epsilon + s * s.log() - (1 + s) * (1 + s).log()).exp()
