"""K of a disjoint union: K(z) = log sum w_i e^(K_i(z)), for parts that have one and no infinite loss.

Under the law tilted by e^(c l) the index i has the chance v_i = w_i e^(K_i(c)) / e^(K(c)), and phi = sum v_i phi_i.
With phi_i = e^(i t m_i) (1 + d_i), T_i = e^(i t (m_i - m)) - 1 and sum v_i = 1,
phi e^(-i t m) - 1 = sum v_i (d_i + T_i + d_i T_i): all terms are small where t is. |phi| <= max |phi_i|.
Guarantee: errors as stated by the parts and kernels.quadrature; those of the parts: docs/proofs/contour.md, 5 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

from ..facets.cgf import BallTilted, CfDecay, Cgf, Cumulants

if TYPE_CHECKING:
    from ..kernels.contour_sum import Factor
    from ..kernels.enclosure import Enclosure
    from ..kernels.quadrature import TiltedLaw
    from .public_mixture import Weights


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
        from ..errors import UnsupportedMechanism
        from ..kernels.enclosure import exact
        from ..kernels.quadrature import TiltedLaw

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

        from ..kernels.contour_sum import power
        from ..kernels.directed import MILLIONS, round_up
        from ..kernels.quadrature import TURN_ERROR, Transform, transform
        from ..kernels.ulps import ANGLE_MAX, UNIT

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
