"""Cumulant generating functions: K(z) = log E_P[e^{z l}; l < inf] of a pair, tilted and transformed.

Composition adds cgfs, so one of these per distinct pair is all that a contour needs. The phi-function is the value at
z = i t; the Renyi divergence of order a is K(a - 1)/(a - 1).
Each quantity comes twice: in float64 with radii, and in balls without numpy. `cumulants` is neither: plain floats that
only choose where the contour runs.
Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

from flint import acb, arb

from ..numerics.balls import BITS_START, complex_log, upper_float, working_precision
from ..values import compute_budget
from ..values.errors import UnsupportedMechanism

if TYPE_CHECKING:
    from ..numerics.contour_sum import Factor
    from ..numerics.enclosures import Enclosure
    from ..numerics.quadrature import TiltedLaw
    from .atoms import Lattice, LatticeStep
    from .pair import Pair


ORDINARY = (1e-150, 1e150)  # squares of a shift stay within doubles
# Inner quadrature aims at this relative error, times the count: far below the rounding of a double.
LOG_TOLERANCE = 42.0
WALL = 1e100  # how steeply K rises beyond the strip where it is finite, for searches: they turn back


def demand_ordinary(shift: Callable[[], arb]) -> None:
    """Refuses a pair whose shift, in units of its noise, is beyond float64."""
    with working_precision(BITS_START):
        if not ORDINARY[0] < shift() < ORDINARY[1]:
            raise UnsupportedMechanism("its scale is beyond float64; try engine='lattice'")


class Cumulants(NamedTuple):
    """K(c), K'(c) and K''(c), approximately."""

    value: float
    mean: float
    variance: float


def beyond_pole(tilt: float, pole: float) -> Cumulants:
    """A wall from the last tilt on where K is finite, on either side of 0."""
    return Cumulants(WALL * abs(tilt - pole), math.copysign(WALL, tilt - pole), WALL)


def point_cumulants(points: Sequence[tuple[float, float]], tilt: float) -> Cumulants:
    """K, K' and K'' of (mass, loss) points."""
    top = max(tilt * loss for _, loss in points)
    weights = [(mass * math.exp(tilt * loss - top), loss) for mass, loss in points]
    total = math.fsum(weight for weight, _ in weights)
    mean = math.fsum(weight * loss for weight, loss in weights) / total
    variance = math.fsum(weight * (loss - mean) ** 2 for weight, loss in weights) / total
    return Cumulants(top + math.log(total), mean, variance)


class Tilted(Protocol):
    """The loss under the law tilted by e^{c l}, in float64."""

    @property
    def log_mgf(self) -> Enclosure:
        """K(c)."""

    @property
    def drift(self) -> Enclosure:
        """m such that phi(t) = e^{i t m} times what `factor` gives."""

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """(phi(t) e^{-i t m})^count at t = 0, step, ..., (nodes - 1) step."""


class BallTilted(Protocol):
    """The loss under the law tilted by e^{c l}, in balls at the working precision."""

    @property
    def log_mgf(self) -> arb:
        """K(c)."""

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        """phi(t) at t = 0, step, ..., (nodes - 1) step; a step that is no double only for losses on a lattice."""


class CfDecay(Protocol):
    """How |phi(t)| falls under the law tilted by e^{c l}."""

    def log_bound(self, radius: float) -> float:
        """At or above log |phi(t)| for every t >= radius >= 0; 0 where nothing is known."""


class NoCfDecay:
    """|phi| <= 1 is all that is known: atoms make a transform return."""

    def log_bound(self, radius: float) -> float:
        return 0.0


class Cgf(ABC):
    """K of one pair."""

    @abstractmethod
    def cumulants(self, tilt: float) -> Cumulants:
        """K, K' and K'' at tilt, approximately, in plain Python."""

    def log_mgf_above(self, tilt: float) -> float:
        """An upper bound of K(tilt) in float64, close, and as cheap as there is: it only weighs aliases."""
        return float(self.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf.upper)

    @abstractmethod
    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        """How many points a transform up to |t| = reach sums over."""

    @abstractmethod
    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        """The tilted law for transforms up to |t| = reach, quadrature errors near e^-log_tolerance."""

    @abstractmethod
    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        """The same in balls."""

    def cf_decay(self, tilt: float) -> CfDecay:
        """Bounds of |phi| in float64; those proven in balls unless there are cheaper ones."""
        return self.ball_cf_decay(tilt)

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        """Bounds of |phi| proven in balls; nothing is known of laws with atoms."""
        return NoCfDecay()

    def horizon(self) -> float:
        """Up to when the bounds of |phi| hold; beyond, outcomes that are nearly on a lattice may make it return."""
        return math.inf

    def partition(self) -> Partitionable | None:
        """How its outputs can be marked, to sum the law in parts; None where that is not known."""
        return None


class LatticeCgf(Cgf):
    """K of a pair whose losses may lie on a lattice; its transforms hold at times known up to TIME_ERROR."""

    pair: Pair

    def period_cf_decay(self, tilt: float, step: LatticeStep) -> CfDecay:
        """Bounds of |phi(t)|, in balls, for every t from the radius on up to pi/step."""
        own = self.pair.lattice()
        return self.own_period_cf_decay(tilt, own) if own is not None and own.step == step else NoCfDecay()

    @abstractmethod
    def own_period_cf_decay(self, tilt: float, own: Lattice) -> CfDecay:
        """The same for the step of its own lattice."""


Terms = Sequence[tuple[Cgf, int]]


# K(z) = log E_P[e^{z l}; l finite] of a pair: the one answer, from whatever the pair knows of itself.
#
# The phi-function is e^{K(it)}, the Renyi divergence of order a is K(a - 1)/(a - 1). A formula is asked first. Without
# one, where both laws live, p e^{z l} = q e^{(-1 - z)(-l)}: left of Re z = -1/2 the reversed pair is asked at -1 - z,
# so
# that every tilt of a quadrature is at least -1/2. K adds up under composition. Its imaginary part is known up to
# multiples of 2 pi, as for every logarithm.
# Guarantee: the ball contains K(z); `cumulant_above` is at or above it. Proof: docs/proofs/contour.md, section 5,
# docs/proofs/density.md, section 6, and docs/proofs/classic.md, section 4.
# Reference: Zhu, Dong, Wang 2021, Sec. 4 (characteristic functions); Mironov 2017, Def. 3 (Renyi); Abadi et al. 2016.

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


# Marks: a law in parts that its outputs tell apart.
#
# A use is marked by what it puts out, with probabilities that are the same under both hypotheses: rare (less likely
# than
# delta can see), hit (a loss that counts) or body. Losses stay what they are, so each part has a cgf of its own.
# Where marks are set is a choice in plain floats, and any are valid; what they leave out is bounded in balls.
# Proof: docs/proofs/contour.md, section 10.

SHARPNESSES = 10  # cuts from the softest to the sharpest


class Partitionable(ABC):
    """A law whose outputs can be marked."""

    @abstractmethod
    def log_alone(self, epsilon: float) -> float:
        """log of the delta of one use alone, about."""

    @abstractmethod
    def alone(self, log_delta: float) -> float:
        """The epsilon of one use alone, about."""

    @abstractmethod
    def cut(self, log_mass: float, sharpness: int) -> RestrictedCgf:
        """The law without outputs whose probability is e^log_mass, about."""

    @abstractmethod
    def cut_above(self, loss: float) -> RestrictedCgf | None:
        """The law without outputs that lose more, nearly all of them; None where that cannot be done."""


class RestrictedCgf(Cgf):
    """K of a part of a law, below a hard end."""

    @property
    @abstractmethod
    def share(self) -> float:
        """About how likely a use is a hit: the law of which most are expected leads a split."""

    @abstractmethod
    def split_loss(self, epsilon: float, height: float) -> float:
        """A loss to split at for this epsilon, from the least (height 0) to the largest that makes sense (height 1)."""

    @abstractmethod
    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw: ...

    @abstractmethod
    def depth(self, tilt: float) -> float:
        """How many e-folds the tilted density is lower at the hard end than at its highest, about."""

    @abstractmethod
    def split(self, loss: float, epsilon: float, widths: float, log_mass: float) -> Split:
        """Body below about this loss and hits above it, this many widths of the split from a loss of epsilon.

        The body may end where it has no more than e^log_mass beyond.
        """

    @abstractmethod
    def beyond(self) -> arb:
        """At or above the probability, under P, of what the cut and the hard end leave out."""

    @abstractmethod
    def leak(self) -> arb:
        """Of a body: at or above the probability, under P, of what would be body beyond its hard end."""

    @abstractmethod
    def log_low(self, s: float) -> float:
        """log of E_Q[e^{-sl}; rare], about."""

    @abstractmethod
    def decisive(self, s: float, balls: bool) -> Decisive:
        """All that a bound needs to know of what is rare, where that decides; in balls or with bounds in float64."""


class Decisive(NamedTuple):
    """Of a law that was cut: the probabilities P and Q of what is rare, and two upper bounds of what Q has.

    low: E_Q[e^{-sl}; rare]. log_low_all: log E_Q[e^{-sl}] of the whole law, at least 0.
    """

    p: arb
    q: arb
    low: arb
    log_low_all: arb


class Split(NamedTuple):
    """Two disjoint parts of a law that was cut."""

    body: RestrictedCgf
    hit: RestrictedCgf

    def log_ratio(self, tilt: float) -> Enclosure:
        """log of B(c)/A(c), hits to body."""
        return self.hit.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf - self.body.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf

    def ball_log_ratio(self, tilt: float) -> arb:
        """The same in balls."""
        hit, body = (part.ball_tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf for part in (self.hit, self.body))
        return hit - body


# The Laplace transform of the ratio of both laws: psi(s) = E_Q e^{-s (Y - 1)}, Y = dP/dQ, for Re s > 0.
#
# |psi(s)| <= psi(Re s), and psi^t is the transform of a sum of t independent ratios, which is what one of t steps shows
# (derived/allocated). Only smooth laws offer it: their psi falls along vertical lines.


class RatioDecay(NamedTuple):
    """|psi(c + i v)| is at most e^log_bound for every v >= u, and at most slope/v."""

    log_bound: arb
    slope: arb


class RatioTransform(Protocol):
    """psi at the working precision."""

    def values(self, real: arb, step: arb, nodes: int, log_error: float) -> list[acb]:
        """psi(real + i n step), n < nodes, each with a radius of about e^log_error besides rounding."""
        ...

    def value_work(self, real: float, log_error: float) -> float:
        """Units of work of one value, about."""
        ...

    def fall(self, real: arb, least: arb) -> RatioDecay:
        """Of psi beyond an imaginary part."""
        ...

    def log_rough(self, real: float) -> float:
        """log psi at a real number, about."""
        ...

    def spread(self) -> float:
        """The standard deviation of Y under Q, about."""
        ...
