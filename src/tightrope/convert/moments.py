"""Moments of the loss: at or above K(c) = log E_P[e^(c l); l finite] of one use, for c > 0.

Where a cgf is known it is certified; a sampled pair without one obeys E[e^(c l')] <= 1 - r + r E[e^(c l)] by convexity
of the f-divergence x^(c+1); integer noise is at most as far apart as the noise it is rounded from.
Guarantee: upper; inf where nothing is known. Proof: docs/proofs/classic.md, section 4.
Reference: Abadi et al. 2016, Sec. 3.2; Mironov 2017; Canonne, Kamath, Steinke 2020, Prop. 5 (discrete Gaussian).
"""

from __future__ import annotations

import math

from flint import arb

from ..engines.cgf import LOG_TOLERANCE
from ..engines.cgf_of import cgf_of
from ..errors import UnsupportedMechanism
from ..pair import Pair
from ..pairs.discrete_gaussian import DiscreteGaussianPair
from ..pairs.poisson import PoissonAdd, PoissonRemove
from ..pairs.truncated import ClampedPair, CutPair
from .outward import at_or_above


def log_moment(pair: Pair, order: float) -> float:
    """At or above K(order)."""
    try:
        if isinstance(pair, CutPair | ClampedPair):
            return at_or_above(lambda: pair.ball_moment(arb(order)).log())
        if isinstance(pair, DiscreteGaussianPair):
            return at_or_above(
                lambda: arb(order) * (arb(order) + 1) * (arb(pair.sensitivity) / arb(pair.sigma)) ** 2 / 2
            )
        if isinstance(pair, PoissonRemove | PoissonAdd):
            return min(_by_cgf(pair, order), _by_convexity(pair, order))
        return _by_cgf(pair, order)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _by_cgf(pair: Pair, order: float) -> float:
    try:
        value = float(cgf_of(pair).tilted(order, 0.0, LOG_TOLERANCE).log_mgf.upper)
    except UnsupportedMechanism:
        return math.inf
    return math.inf if math.isnan(value) else value


def _by_convexity(pair: PoissonRemove | PoissonAdd, order: float) -> float:
    base = log_moment(pair.base, order)
    if base == math.inf:
        return math.inf
    return at_or_above(lambda: (arb(pair.rate) * arb(base).expm1()).log1p())
