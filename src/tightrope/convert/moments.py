"""Moments of the loss: at or above K(c) = log E_P[e^(c l); l finite] of one use, for c > 0.

Where a cgf is known it is certified; a sampled pair without one obeys E[e^(c l')] <= 1 - r + r E[e^(c l)] by convexity
of the f-divergence x^(c+1); integer noise is at most as far apart as the noise it is rounded from.
Guarantee: upper; inf where nothing is known. Proof: docs/proofs/classic.md, section 4.
Reference: Abadi et al. 2016, Sec. 3.2; Mironov 2017; Canonne, Kamath, Steinke 2020, Prop. 5 (discrete Gaussian).
"""

from __future__ import annotations

import math

from flint import arb

from .. import work
from ..derived.poisson import PoissonAdd, PoissonRemove
from ..derived.product import ProductPair
from ..engines.contour.cgf_of import cgf_of
from ..errors import UnsupportedMechanism
from ..facets.cgf import LOG_TOLERANCE
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..pair import Pair
from ..pairs.discrete_gaussian.pair import DiscreteGaussianPair
from ..pairs.finite.pair import FinitePair
from ..pairs.gaussian.pair import GaussianPair
from ..pairs.laplace.pair import LaplacePair
from ..pairs.truncated.pair import ClampedPair, CutPair
from .outward import at_or_above, weighted_sum

QUADRATURE_MOST = 3e4  # orders beyond would take many points for what simpler bounds tell as well
MOMENT_WORK = 5e5  # units, of one moment of one part
POINTS_MOST = 200_000  # of one quadrature: a second at most


def log_moment(pair: Pair, order: float) -> float:
    """At or above K(order)."""
    work.spend(MOMENT_WORK)
    try:
        if isinstance(pair, CutPair | ClampedPair):
            return at_or_above(lambda: pair.ball_moment(arb(order)).log())
        if isinstance(pair, DiscreteGaussianPair):
            return at_or_above(
                lambda: arb(order) * (arb(order) + 1) * (arb(pair.sensitivity) / arb(pair.sigma)) ** 2 / 2
            )
        if isinstance(pair, LaplacePair):
            return at_or_above(_laplace, pair, order)
        if isinstance(pair, ProductPair):  # moments of a product multiply
            return at_or_above(weighted_sum, [(log_moment(each, order), count) for each, count in pair.parts])
        if order > QUADRATURE_MOST and not isinstance(pair, GaussianPair | FinitePair):
            return min(_by_supremum(pair, order), _by_convexity(pair, order))
        if isinstance(pair, PoissonRemove | PoissonAdd):
            return min(_by_cgf(pair, order), _by_convexity(pair, order))
        return _by_cgf(pair, order)
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _by_cgf(pair: Pair, order: float) -> float:
    try:
        cgf = cgf_of(pair)
        if cgf.points(order, 0.0, LOG_TOLERANCE) > POINTS_MOST:
            return math.inf
        value = float(cgf.tilted(order, 0.0, LOG_TOLERANCE).log_mgf.upper)
    except UnsupportedMechanism:
        return math.inf
    return math.inf if math.isnan(value) else value


def _by_supremum(pair: Pair, order: float) -> float:
    """c sup l, which is close for large orders; inf where the loss is unbounded."""
    with working_precision(BITS_START):
        highest = pair.loss_range().highest
        return upper_float(arb(order) * highest.max(arb(0))) if highest.is_finite() else math.inf


def _laplace(pair: LaplacePair, order: float) -> arb:
    """((c + 1) e^(c e) + c e^(-(c + 1) e)) / (2 c + 1), the larger exponential taken out."""
    c, edge = arb(order), pair.ball_edge()
    return c * edge + ((c + 1 + c * (-(2 * c + 1) * edge).exp()) / (2 * c + 1)).log()


def _by_convexity(pair: Pair, order: float) -> float:
    if not isinstance(pair, PoissonRemove | PoissonAdd):
        return math.inf
    base = log_moment(pair.base, order)
    if base == math.inf:
        return math.inf

    def mixed() -> arb:
        rate, atom = arb(pair.rate), arb(0)
        if isinstance(pair, PoissonAdd):
            # Sampled for add, the base's infinite mass w is an atom of the finite loss -log(1 - rate).
            atom = pair.base.infinite_mass() * ((1 - rate) ** -arb(order) - (1 - rate))
        return (rate * arb(base).expm1() + atom).log1p()

    return at_or_above(mixed)
