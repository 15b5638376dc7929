"""Pairs told apart by a public index: both sides draw it from the same law, and show it.

Given I = i the pair is (P_i, Q_i): tails, profile and moments are sums with the weights w_i = P[I = i],
p(t) = sum w_i p_i(t), H(alpha) = sum w_i H_i(alpha). The disjoint union dominates the mixture, in which the index is
hidden: to hide it is to process the output.
Guarantee: exact; float64 with the radius of kernels.enclosure. Proof: docs/proofs/sampling.md, section 1.
Reference: Balle, Barthe, Gaboardi 2018, Sec. 2 (joint convexity).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import acb, arb

from ...numerics.balls import BITS_START, complex_log, working_precision
from ...numerics.enclosures import Enclosure, enclosed, enclosing, exact
from ...numerics.rounding import ANGLE_MAX, MILLIONS, UNIT, round_up
from ...values.errors import UnsupportedMechanism
from ..atoms import Atoms, ratio_ball
from ..capabilities import Moments
from ..cgf import BallTilted, CfDecay, Cgf, Cumulants, cumulant_above
from ..pair import BallTails, LossRange, Pair, Tails
from .registered import remake

if TYPE_CHECKING:
    from ...numerics.contour_sum import Factor
    from ...numerics.double_double import DoubleDouble
    from ...numerics.quadrature import TiltedLaw
    from ...values.question import Direction


# K of a disjoint union: K(z) = log sum w_i e^(K_i(z)), for parts that have one and no infinite loss.
#
# Under the law tilted by e^(c l) the index i has the chance v_i = w_i e^(K_i(c)) / e^(K(c)), and phi = sum v_i phi_i.
# With phi_i = e^(i t m_i) (1 + d_i), T_i = e^(i t (m_i - m)) - 1 and sum v_i = 1,
# phi e^(-i t m) - 1 = sum v_i (d_i + T_i + d_i T_i): all terms are small where t is. |phi| <= max |phi_i|.
# Guarantee: errors as stated by the parts and kernels.quadrature; those of the parts: docs/proofs/contour.md, 5 and 7.


@dataclass(frozen=True)
class PublicMixtureCgf(Cgf):
    """K of the union of these parts, in the order of the weights."""

    weights: Weights
    parts: tuple[Cgf, ...]

    def cumulants(self, tilt: float) -> Cumulants:
        found = [part.cumulants(tilt) for part in self.parts]
        shares = [float(share.mid()) for share in self.weights.listed()]
        top = max(cumulants.value for cumulants in found)
        mixed = [share * math.exp(cumulants.value - top) for share, cumulants in zip(shares, found, strict=True)]
        total = math.fsum(mixed)
        mean = math.fsum(share * cumulants.mean for share, cumulants in zip(mixed, found, strict=True)) / total
        spread = (cumulants.variance + (cumulants.mean - mean) ** 2 for cumulants in found)
        variance = math.fsum(share * value for share, value in zip(mixed, spread, strict=True)) / total
        return Cumulants(top + math.log(total), mean, variance)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return sum(part.points(tilt, reach, log_tolerance) for part in self.parts)

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PublicMixtureTilted:
        from ...numerics.quadrature import TiltedLaw

        found = [part.tilted(tilt, reach, log_tolerance) for part in self.parts]
        laws = tuple(law for law in found if isinstance(law, TiltedLaw))
        if len(laws) < len(found):
            raise UnsupportedMechanism("a contour knows unions of sampled laws only; try engine='lattice'")
        top = max(float(law.log_mgf.value) for law in laws)
        shares = self.weights.enclosures()
        mixed = [shares[index] * (law.log_mgf - top).exp() for index, law in enumerate(laws)]
        total = exact(0.0)
        for enclosure in mixed:
            total = total + enclosure
        heaviest = max(range(len(laws)), key=lambda index: float(mixed[index].value))
        return PublicMixtureTilted(
            total.log() + top, laws[heaviest].drift, laws, tuple(each / total for each in mixed), heaviest
        )

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        laws = tuple(part.ball_tilted(tilt, reach, log_tolerance) for part in self.parts)
        mixed = [share * law.log_mgf.exp() for share, law in zip(self.weights.listed(), laws, strict=True)]
        total = sum(mixed, arb(0))
        return BallPublicMixtureTilted(total.log(), laws, tuple(value / total for value in mixed))

    def cf_decay(self, tilt: float) -> CfDecay:
        return LeastDecay(tuple(part.cf_decay(tilt) for part in self.parts))

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return LeastDecay(tuple(part.ball_cf_decay(tilt) for part in self.parts))

    def horizon(self) -> float:
        return min(part.horizon() for part in self.parts)


@dataclass(frozen=True)
class LeastDecay:
    """A mean falls no slower than the slowest part."""

    parts: tuple[CfDecay, ...]

    def log_bound(self, radius: float) -> float:
        return max(part.log_bound(radius) for part in self.parts)


@dataclass(frozen=True)
class PublicMixtureTilted:
    """The tilted law, in float64: the tilted laws of the parts, and the chances of the index."""

    log_mgf: Enclosure
    drift: Enclosure
    laws: tuple[TiltedLaw, ...]
    shares: tuple[Enclosure, ...]
    heaviest: int  # whose drift is that of all

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """The count-th power of the mean of the transforms."""
        import numpy as np

        from ...numerics.contour_sum import power
        from ...numerics.quadrature import TURN_ERROR, Transform, transform

        times = step * np.arange(nodes, dtype=np.float64)
        deviation, quadrature, rounding = np.zeros(nodes, dtype=np.complex128), np.zeros(nodes), np.full(nodes, 1e-300)
        for index, (law, chance) in enumerate(zip(self.laws, self.shares, strict=True)):
            part, share, doubt = transform(law, step, nodes), float(chance.value), float(chance.radius)
            off, blur = (0.0, 0.0) if index == self.heaviest else self._apart(law)
            angle = times * off
            if not 0.5 * float(np.max(abs(angle))) <= ANGLE_MAX:
                raise OverflowError("angles that are too large for float64")
            sine, cosine = np.sin(0.5 * angle), np.cos(0.5 * angle)
            turn = -2.0 * sine * sine + 2j * sine * cosine
            added = part.deviation + turn + part.deviation * turn
            size, error = abs(part.deviation) + abs(turn), part.quadrature + part.rounding
            turned = (TURN_ERROR * np.minimum(abs(angle), 2.0) + 4.0 * abs(angle)) * UNIT + times * blur
            own = part.rounding + turned * (1.0 + error) + 64.0 * UNIT * size  # 64: sums and products, of few parts
            deviation += share * added
            quadrature += (share + doubt) * part.quadrature
            # A chance that is off counts as much as what it is the chance of.
            rounding += (share + doubt) * own + doubt * (abs(added) + part.quadrature)
            rounding += len(self.laws) * 4.0 * UNIT * share * abs(added)
        return power(Transform(deviation, round_up(quadrature, MILLIONS), round_up(rounding, MILLIONS)), float(count))

    def _apart(self, law: TiltedLaw) -> tuple[float, float]:
        gap = law.drift - self.drift
        return float(gap.value), float(gap.radius)


@dataclass(frozen=True)
class BallPublicMixtureTilted:
    """The same in balls."""

    log_mgf: arb
    laws: tuple[BallTilted, ...]
    shares: tuple[arb, ...]

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        """The mean of the transforms."""
        columns = zip(*(law.phi(step, nodes) for law in self.laws), strict=True)
        return [sum((v * each for v, each in zip(self.shares, column, strict=True)), acb(0)) for column in columns]


TOO_RARE = 2.0**-60  # of a sum: what is rarer changes no digit of it
SHARE_BITS = 256  # of every weight: far more than any answer needs


class Weights(ABC):
    """The law of an index. Instances are frozen values; what was worked out once is kept."""

    @abstractmethod
    def balls(self) -> Sequence[arb]:
        """P[I = i] for each i, at the working precision; they sum to 1."""

    def listed(self) -> Sequence[arb]:
        """The same to SHARE_BITS, worked out once: sums over many trials take long at many bits."""
        kept: Sequence[arb] | None = self.__dict__.get("_listed")
        if kept is None:
            with working_precision(SHARE_BITS):
                kept = self.__dict__["_listed"] = self.balls()
        return kept

    def enclosures(self) -> Enclosure:
        """The same in float64."""
        kept: Enclosure | None = self.__dict__.get("_enclosures")
        if kept is None:
            with working_precision(BITS_START):
                kept = self.__dict__["_enclosures"] = enclosed(self.listed())
        return kept


@dataclass(frozen=True)
class ExactWeights(Weights):
    """Weights that are fractions."""

    shares: tuple[Fraction, ...]

    def balls(self) -> Sequence[arb]:
        return [ratio_ball(share) for share in self.shares]


@dataclass(frozen=True, slots=True)
class PublicMixturePair(Pair):
    """The disjoint union of pairs with these weights, in the same order."""

    weights: Weights
    pairs: tuple[Pair, ...]

    def tails(self, t: DoubleDouble) -> Tails:
        # Positive terms, few of them: the sum has the relative error of its parts and a unit for each.
        sums = [np.zeros(t.hi.shape) for _ in Tails._fields]
        with np.errstate(under="ignore"):
            for share, _, pair in self._falling():
                told = reduce(np.minimum, sums) * TOO_RARE < share
                for total, part in zip(sums, pair.tails(t[told]) if told.any() else (), strict=False):
                    total[told] += share * part
        return Tails(*sums)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        value, radius = np.zeros(epsilon.value.shape), np.zeros(epsilon.value.shape)
        for share, off, pair in self._falling():
            before = Enclosure(value.copy(), radius.copy())
            # A part that is too rare to be seen beside those before it lies between nothing and its weight.
            told = before.lower * TOO_RARE < share
            rare = before + enclosing(0.0, math.nextafter(share + off, math.inf))
            value, radius = np.where(told, value, rare.value), np.where(told, radius, rare.radius)
            if told.any():
                part = before[told] + pair.hockey_stick(epsilon[told]) * Enclosure(np.asarray(share), np.asarray(off))
                value[told], radius[told] = part.value, part.radius
        return Enclosure(value, radius)

    def _falling(self) -> list[tuple[float, float, Pair]]:
        """Weights in float64, their radii and the pairs, the heaviest first."""
        shares = self.weights.enclosures()
        rows = zip(shares.value.tolist(), shares.radius.tolist(), self.pairs, strict=True)
        return sorted(rows, key=lambda row: -row[0])

    def ball_tails(self, t: arb) -> BallTails:
        found = [pair.ball_tails(t) for pair in self.pairs]
        return BallTails(*(self._sum(column) for column in zip(*found, strict=True)))

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        return self._sum([pair.ball_hockey_stick(epsilon) for pair in self.pairs])

    def reversed(self) -> PublicMixturePair:
        return PublicMixturePair(self.weights, tuple(pair.reversed() for pair in self.pairs))

    def infinite_mass(self) -> arb:
        return self._sum([pair.infinite_mass() for pair in self.pairs])

    def loss_range(self) -> LossRange:
        ranges = [pair.loss_range() for pair in self.pairs]
        return LossRange(
            reduce(arb.min, (each.lowest for each in ranges)), reduce(arb.max, (each.highest for each in ranges))
        )

    def hockey_stick_cost(self) -> int:
        return sum(pair.hockey_stick_cost() for pair in self.pairs)

    def bases(self) -> tuple[Pair, ...]:
        return self.pairs

    def atoms(self) -> Atoms | None:
        listed = [pair.atoms() for pair in self.pairs]
        known = [atoms for atoms in listed if atoms is not None]
        if len(known) < len(listed):
            return None
        shares = self.weights.enclosures()
        p, q = (_joined([column[field] * shares[i] for i, column in enumerate(known)]) for field in (0, 1))
        loss = _joined([atoms.loss for atoms in known])
        infinite = _total([atoms.infinite * shares[i] for i, atoms in enumerate(known) if atoms.infinite.upper > 0.0])
        lost = _total([atoms.lost * shares[i] for i, atoms in enumerate(known) if atoms.lost.upper > 0.0])
        order = np.argsort(loss.value, kind="stable")
        # The weights sum to 1, so what is left out is at most the most that any part leaves out.
        return Atoms(p[order], q[order], loss[order], infinite, lost, max(atoms.left_out for atoms in known))

    def cgf(self) -> Cgf | None:
        found = [pair.cgf() for pair in self.pairs if pair.infinite_mass().is_zero()]
        known = tuple(cgf for cgf in found if cgf is not None)
        return PublicMixtureCgf(self.weights, known) if len(known) == len(self.pairs) else None

    def _sum(self, balls: Sequence[arb]) -> arb:
        return sum((share * ball for share, ball in zip(self.weights.listed(), balls, strict=True)), arb(0))

    def moments(self) -> PublicMixtureMoments:
        return PublicMixtureMoments(self)


@remake.register(PublicMixturePair)
def _(pair: PublicMixturePair, bases: Sequence[Pair]) -> PublicMixturePair:
    return PublicMixturePair(pair.weights, tuple(bases))


class PublicMixtureMoments(Moments[PublicMixturePair]):
    def log_moment(self, z: acb) -> acb | None:
        """log sum w_i e^(K_i(z))."""
        values = [pair.moments().log_moment(z) for pair in self.pair.pairs]
        moments = [value.exp() for value in values if value is not None]
        if len(moments) < len(values):
            return None
        shares = self.pair.weights.listed()
        return complex_log(sum((share * moment for share, moment in zip(shares, moments, strict=True)), acb(0)))

    def log_moment_above(self, order: float) -> arb:
        return self.pair._sum([arb(cumulant_above(pair, order)).exp() for pair in self.pair.pairs]).log()

    def zcdp_rho(self) -> arb | None:
        """The largest: moments are means of moments."""
        values = [pair.moments().zcdp_rho() for pair in self.pair.pairs]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if len(known) == len(values) else None

    def gdp_mu(self) -> arb | None:
        """The largest."""
        values = [pair.moments().gdp_mu() for pair in self.pair.pairs]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if len(known) == len(values) else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """The largest of those that have a share."""
        shares = zip(self.pair.weights.listed(), self.pair.pairs, strict=True)
        values = [pair.moments().gdp_mu_lower(direction) for share, pair in shares if share > 0]
        known = [value for value in values if value is not None]
        return reduce(arb.max, known) if known else None


def _joined(parts: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(
        np.concatenate([np.atleast_1d(part.value) for part in parts]),
        np.concatenate([np.atleast_1d(part.radius) for part in parts]),
    )


def _total(parts: Sequence[Enclosure]) -> Enclosure:
    """Exactly nothing where there is nothing to add."""
    return reduce(Enclosure.__add__, parts) if parts else exact(0.0)
