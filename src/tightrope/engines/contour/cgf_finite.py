"""Finite pairs: M(z) = sum p e^{z l} over the atoms of finite loss.

The transform of finitely many atoms returns again and again, so nothing is known of its decay: a contour needs another
part that falls.
Guarantee: exact.
Reference: Zhu, Dong, Wang 2021, Sec. 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ...errors import UnsupportedMechanism
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.quadrature_ball import point_law_ball
from ...pairs.finite import FinitePair
from .cgf import LOG_TOLERANCE, BallTilted, Cgf, Cumulants, Decay, NoDecay, Tilted
from .cgf_law import LawBallTilted, LawTilted

if TYPE_CHECKING:
    from ...kernels.approx import Approx

ATOMS_MOST = 20_000


def approximate(balls: Sequence[arb]) -> Approx:
    """Doubles with radii around balls."""
    import numpy as np

    from ...kernels.approx import enclosing

    return enclosing(np.array([lower_float(ball) for ball in balls]), np.array([upper_float(ball) for ball in balls]))


def point_cumulants(points: Sequence[tuple[float, float]], tilt: float) -> Cumulants:
    """K, K' and K'' of (mass, loss) points."""
    top = max(tilt * loss for _, loss in points)
    weights = [(mass * math.exp(tilt * loss - top), loss) for mass, loss in points]
    total = math.fsum(weight for weight, _ in weights)
    mean = math.fsum(weight * loss for weight, loss in weights) / total
    variance = math.fsum(weight * (loss - mean) ** 2 for weight, loss in weights) / total
    return Cumulants(top + math.log(total), mean, variance)


@dataclass(frozen=True)
class FiniteCgf(Cgf):
    """K of a finite pair; atoms are (mass, loss) in plain floats."""

    pair: FinitePair
    atoms: tuple[tuple[float, float], ...]

    def cumulants(self, tilt: float) -> Cumulants:
        return point_cumulants(self.atoms, tilt)

    def log_mgf_above(self, tilt: float) -> float:
        return float(self.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf.upper)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return len(self.atoms)

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:
        from ...kernels.quadrature import NO_ERROR, point_law

        centre = self.cumulants(tilt).mean
        with working_precision(BITS_START):
            balls = self.pair.law.atoms()
            masses = approximate([atom.p for atom in balls])
            offsets = approximate([atom.loss - arb(centre) for atom in balls])
            missing = approximate([self.pair.infinite_mass()])[0]
        return LawTilted(point_law(masses, offsets, centre, missing, tilt, NO_ERROR))

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        balls = self.pair.law.atoms()
        losses, masses = tuple(atom.loss for atom in balls), tuple(atom.p for atom in balls)
        return LawBallTilted(point_law_ball(losses, masses, tilt, None))

    def decay(self, tilt: float) -> Decay:
        return NoDecay()

    def ball_decay(self, tilt: float) -> Decay:
        return NoDecay()


def finite_cgf(pair: FinitePair) -> FiniteCgf:
    """The cgf of a finite pair that has finite losses, and not too many."""
    with working_precision(BITS_START):
        points = tuple((float(atom.p.mid()), float(atom.loss.mid())) for atom in pair.law.atoms())
    if not points or len(points) > ATOMS_MOST or not all(mass > 0.0 and math.isfinite(loss) for mass, loss in points):
        raise UnsupportedMechanism(repr(pair), "its atoms do not fit a contour; try engine='lattice'")
    return FiniteCgf(pair, points)
