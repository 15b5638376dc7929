"""K(z) = log E_P[e^{z l}; l finite] at any complex z where it is finite, as a ball.

The phi-function is e^{K(it)}, the Renyi divergence of order a is K(a - 1)/(a - 1). Where both laws live,
p e^{z l} = q e^{(-1 - z)(-l)}: left of Re z = -1/2 the reversed pair is asked at -1 - z, so that every tilt is at least
-1/2. K adds up under composition. Its imaginary part is known up to multiples of 2 pi, as for every logarithm.
Guarantee: the ball contains K(z). Proof: docs/proofs/contour.md, section 5, and docs/proofs/density.md, section 6.
Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions); Mironov 2017, Def. 3 (Renyi).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import acb, arb

from ...errors import UnsupportedMechanism
from ...kernels.ball import working_precision
from ...pair import Pair
from ...pairs.discrete_gaussian.pair import DiscreteGaussianPair
from ...pairs.logistic.pair import LogisticPair
from ...pairs.truncated.pair import ClampedPair, CutPair
from .cgf_of import cgf_of

BITS_WANTED = 60  # of K, relative to max(1, |K|)
BITS_STEPS = (96, 160, 320, 640)
POINTS_MOST = 200_000  # of one quadrature: a second at most
LOG_2 = math.log(2.0)


def cgf(pair: Pair, z: complex, bits: int = BITS_WANTED) -> acb:
    """A ball around K(z), as narrow as `bits` asks for where the family can be so precise.

    Raises UnsupportedMechanism where the cgf is not known or nothing can be said at z.
    """
    z = complex(z)
    if not (math.isfinite(z.real) and math.isfinite(z.imag)):
        raise UnsupportedMechanism(type(pair).__name__, f"its cgf is asked for at {z}, which is not finite")
    best = acb("nan")
    for extra in BITS_STEPS:
        with working_precision(bits + extra):
            found = _value(pair, z, bits + extra)
            if found.is_finite():
                best = found
                if abs(found).rad() + found.rad() <= arb(2) ** -bits * abs(found).max(arb(1)):
                    break
    if not best.is_finite():
        raise UnsupportedMechanism(type(pair).__name__, f"its cgf cannot be enclosed at {z}")
    return best


def _value(pair: Pair, z: complex, bits: int) -> acb:
    """K(z) at the working precision."""
    if isinstance(pair, LogisticPair):
        return _logistic(pair, _point(z))
    if isinstance(pair, DiscreteGaussianPair):
        return _discrete_gaussian(pair, _point(z))
    if isinstance(pair, CutPair | ClampedPair) and not pair.noise.whole and z.imag == 0.0 and z.real >= -0.5:
        return acb(pair.ball_moment(arb(z.real)).log())
    if z.real < -0.5:
        flipped = complex(-1.0 - z.real, -z.imag)
        if Fraction(flipped.real) != -1 - Fraction(z.real):
            raise UnsupportedMechanism(type(pair).__name__, f"1 + Re z is no double at {z}")
        return _value(pair.reversed(), flipped, bits)
    known, reach = cgf_of(pair), abs(z.imag)
    tolerance = 0.8 * bits * LOG_2
    if known.points(z.real, reach, tolerance) > POINTS_MOST:
        raise UnsupportedMechanism(type(pair).__name__, f"its quadrature needs too many points at {z}")
    law = known.ball_tilted(z.real, reach, tolerance)
    if not reach:
        return acb(law.log_mgf)
    turned = _log(law.phi(reach, 2)[1])
    return acb(law.log_mgf) + (turned if z.imag > 0.0 else turned.conjugate())


def _point(z: complex) -> acb:
    return acb(arb(z.real), arb(z.imag))


def _log(value: acb) -> acb:
    """A logarithm, its cut away from the value."""
    return (-value).log() + acb(0, arb.pi()) if value.real < 0 else value.log()


def _logistic(pair: LogisticPair, z: acb) -> acb:
    """sinh(w e)/(2 w sinh(e/2)) with w = z + 1/2, which is a quotient of sin(x)/x."""
    edge = arb(pair.epsilon)
    return _log((acb(0, 1) * (z + acb(0.5)) * edge).sinc() / (acb(0, 1) * edge / 2).sinc())


def _discrete_gaussian(pair: DiscreteGaussianPair, z: acb) -> acb:
    """M(z) = e^{-D u/2} T(u)/T(0), u = D (1 + z)/s^2, with the theta function T(u) = sum_x e^{u x - x^2/(2 s^2)}."""
    shift, variance = acb(pair.sensitivity), acb(arb(pair.sigma) ** 2)
    turn = 2 * acb.pi() * acb(0, 1)
    nome = acb(0, 1) / (2 * acb.pi() * variance)
    lift = shift * (1 + z) / variance
    ratio = acb.modular_theta(lift / turn, nome)[2] / acb.modular_theta(acb(0), nome)[2]
    return _log(ratio) - shift * lift / 2
