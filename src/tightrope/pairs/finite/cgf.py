"""Finite pairs: M(z) = sum p e^{z l} over the atoms of finite loss.

The transform of finitely many atoms returns again and again, so nothing is known of its decay: a contour needs another
part that falls. On a lattice it falls within half a period: |phi(t)|^2 <= 1 - 4 u sin^2(t step/2) with
u = sum of w_n w_{n+1} over neighbouring tilted masses.
Guarantee: exact. Proof: docs/proofs/contour.md, section 12.
Reference: Zhu, Dong, Wang 2021, Sec. 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import acb, arb

from ...errors import Refusal, UnsupportedMechanism
from ...facets.cgf import BallTilted, CfDecay, Cumulants, LatticeCgf, Tilted, point_cumulants
from ...facets.finite import FiniteLaw
from ...facets.lattice import Lattice, ratio_ball
from ...kernels.ball import BITS_START, complex_log, upper_float, working_precision
from ...kernels.quadrature_ball import point_law_ball
from .pair import FinitePair

CONTOUR_ATOMS_MAX = 20_000


@dataclass(frozen=True)
class FiniteCgf(LatticeCgf):
    """K of a finite pair; atoms are (mass, loss) in plain floats."""

    pair: FinitePair
    atoms: tuple[tuple[float, float], ...]

    def cumulants(self, tilt: float) -> Cumulants:
        return point_cumulants(self.atoms, tilt)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return len(self.atoms)

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        from ...kernels.contour_kernel import TIME_ERROR
        from ...kernels.enclosure import enclosed
        from ...kernels.quadrature import NO_ERROR, blurred, point_law

        centre = self.cumulants(tilt).mean
        with working_precision(BITS_START):
            balls = self.pair.law.listed()
            masses = enclosed([atom.p for atom in balls])
            offsets = enclosed([atom.loss - arb(centre) for atom in balls])
            missing = enclosed([self.pair.infinite_mass()])[0]
        return blurred(point_law(masses, offsets, centre, missing, tilt, NO_ERROR), TIME_ERROR)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        balls = self.pair.law.listed()
        losses, masses = tuple(atom.loss for atom in balls), tuple(atom.p for atom in balls)
        return point_law_ball(losses, masses, tilt, None)

    def own_period_cf_decay(self, tilt: float, own: Lattice) -> CfDecay:
        with working_precision(BITS_START):
            return NeighbourDecay(self._shared(tilt, own), own.step.ball())

    def _shared(self, tilt: float, own: Lattice) -> arb:
        """sum w_n w_{n+1} of the tilted masses, which sum to 1."""
        weights: dict[int, arb] = {}
        top = arb(max(loss for _, loss in self.atoms))
        base, width = ratio_ball(own.shift) + ratio_ball(own.factor).log(), own.step.ball()
        for atom in self.pair.law.listed():
            place = ((atom.loss - base) / width + arb(0.5)).floor().unique_fmpz()
            if place is None:
                return arb(0)
            weights[int(place)] = weights.get(int(place), arb(0)) + atom.p * (arb(tilt) * (atom.loss - top)).exp()
        shared = sum((weight * weights[n + 1] for n, weight in weights.items() if n + 1 in weights), arb(0))
        return shared / sum(weights.values(), arb(0)) ** 2


@dataclass(frozen=True)
class NeighbourDecay:
    """sqrt(1 - 4 u sin^2(t step/2)), which falls until t = pi/step."""

    shared: arb
    step: arb

    def log_bound(self, radius: float) -> float:
        with working_precision(BITS_START):
            half = (self.step * arb(radius)).min(arb.pi()) / 2
            return min(0.0, upper_float((-4 * self.shared * half.sin() ** 2).log1p() / 2))


def finite_cgf(pair: FinitePair) -> FiniteCgf:
    """The cgf of a finite pair that has finite losses, and not too many."""
    if pair.law.size() > CONTOUR_ATOMS_MAX:
        raise UnsupportedMechanism("it has too many atoms for a contour", Refusal.TOO_MUCH_WORK)
    with working_precision(BITS_START):
        points = tuple((float(atom.p.mid()), float(atom.loss.mid())) for atom in pair.law.listed())
    if not points or not all(mass > 0.0 and math.isfinite(loss) for mass, loss in points):
        raise UnsupportedMechanism("its atoms do not fit a contour; try engine='lattice'")
    return FiniteCgf(pair, points)


def finite_log_moment(law: FiniteLaw, z: acb) -> acb | None:
    """log of the sum as it stands, at any z; None without atoms or with too many."""
    if not 0 < law.size() <= CONTOUR_ATOMS_MAX:
        return None
    point = z.real if z.imag.is_zero() else z
    return complex_log(acb(sum((p * (point * loss).exp() for p, _, loss in law.listed()), acb(0))))
