"""K(z) = log E_P[e^{z l}; l finite] of a pair: the one answer, from whatever the pair knows of itself.

The phi-function is e^{K(it)}, the Renyi divergence of order a is K(a - 1)/(a - 1). A formula is asked first. Without
one, where both laws live, p e^{z l} = q e^{(-1 - z)(-l)}: left of Re z = -1/2 the reversed pair is asked at -1 - z, so
that every tilt of a quadrature is at least -1/2. K adds up under composition. Its imaginary part is known up to
multiples of 2 pi, as for every logarithm.
Guarantee: the ball contains K(z); `cumulant_above` is at or above it. Proof: docs/proofs/contour.md, section 5,
docs/proofs/density.md, section 6, and docs/proofs/classic.md, section 4.
Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions); Mironov 2017, Def. 3 (Renyi); Abadi et al. 2016.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import acb, arb

from .. import compute_budget
from ..errors import UnsupportedMechanism
from ..kernels.ball import BITS_START, complex_log, upper_float, working_precision
from .cgf import LOG_TOLERANCE

if TYPE_CHECKING:
    from ..pair import Pair
    from .cgf import Cgf

CUMULANT_BITS = 60  # of K, relative to max(1, |K|)
BITS_STEPS = (96, 160, 320, 640)
QUADRATURE_POINTS_MAX = 200_000  # of one quadrature: a second at most
QUADRATURE_ORDER_MAX = 3e4  # of a quadrature: beyond, it would take many points for what simpler bounds tell as well
MOMENT_WORK = 5e5  # units, of one moment of one part


def cgf_of(pair: Pair) -> Cgf:
    """The cgf of a pair that has one; raises UnsupportedMechanism."""
    known = pair.cgf()
    if known is None:
        raise UnsupportedMechanism("its cgf is not known; epsilon, delta and renyi do without it")
    return known


def cumulant(pair: Pair, z: complex, bits: int = CUMULANT_BITS) -> acb:
    """A ball around K(z), as narrow as `bits` asks for where the family can be so precise; +inf where K is.

    Raises UnsupportedMechanism where K is not known or nothing can be said at z.
    """
    z = complex(z)
    if not (math.isfinite(z.real) and math.isfinite(z.imag)):
        raise UnsupportedMechanism(f"its cgf is asked for at {z}, which is not finite")
    best = acb("nan")
    for extra in BITS_STEPS:
        with working_precision(bits + extra):
            value = _value(pair, z, bits + extra)
            if value.real == arb.pos_inf():
                return value
            if value.is_finite():
                best = value
                if abs(value).rad() + value.rad() <= arb(2) ** -bits * abs(value).max(arb(1)):
                    break
    if not best.is_finite():
        raise UnsupportedMechanism(f"its cgf cannot be enclosed at {z}")
    return best


def cumulant_above(pair: Pair, order: float) -> float:
    """At or above K(order), order > 0: the least of what is known; inf where nothing is."""
    compute_budget.spend(MOMENT_WORK)
    try:
        with working_precision(BITS_START):
            formula = pair.moments().log_moment(acb(order))
            if formula is not None:
                return upper_float(formula.real)
            bound = pair.moments().log_moment_above(order)
            above = math.inf if bound is None else upper_float(bound)
        return min(above, _by_supremum(pair, order) if order > QUADRATURE_ORDER_MAX else _by_quadrature(pair, order))
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _value(pair: Pair, z: complex, bits: int) -> acb:
    """K(z) at the working precision."""
    formula = pair.moments().log_moment(acb(z.real, z.imag))
    if formula is not None:
        return formula
    if z.real < -0.5:
        flipped = complex(-1.0 - z.real, -z.imag)
        if Fraction(flipped.real) != -1 - Fraction(z.real):
            raise UnsupportedMechanism(f"1 + Re z is no double at {z}")
        return _value(pair.reversed(), flipped, bits)
    known, reach = cgf_of(pair), abs(z.imag)
    tolerance = 0.8 * bits * math.log(2.0)
    if known.points(z.real, reach, tolerance) > QUADRATURE_POINTS_MAX:
        raise UnsupportedMechanism(f"its quadrature needs too many points at {z}")
    law = known.ball_tilted(z.real, reach, tolerance)
    if not reach:
        return acb(law.log_mgf)
    turned = complex_log(law.phi(reach, 2)[1])
    return acb(law.log_mgf) + (turned if z.imag > 0.0 else turned.conjugate())


def _by_quadrature(pair: Pair, order: float) -> float:
    """In float64, which is faster than balls by far."""
    with suppress(UnsupportedMechanism):
        known = pair.cgf()
        if known is not None and known.points(order, 0.0, LOG_TOLERANCE) <= QUADRATURE_POINTS_MAX:
            value = float(known.tilted(order, 0.0, LOG_TOLERANCE).log_mgf.upper)
            return math.inf if math.isnan(value) else value
    return math.inf


def _by_supremum(pair: Pair, order: float) -> float:
    """c sup l, which is close for large orders; inf where the loss is unbounded."""
    with working_precision(BITS_START):
        highest = pair.loss_range().highest
        return upper_float(arb(order) * highest.max(arb(0))) if highest.is_finite() else math.inf
