"""Tilted laws that are given by weighted points, exactly or as the nodes of a quadrature, in both arithmetics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import acb, arb

from ..kernels.quadrature_ball import BallLaw, transform_ball
from .cgf import BallTilted, Tilted

if TYPE_CHECKING:
    from ..kernels.contour_sum import Factor
    from ..kernels.enclosure import Enclosure
    from ..kernels.quadrature import TiltedLaw


@dataclass(frozen=True)
class LawTilted(Tilted):
    """Weighted points in float64."""

    law: TiltedLaw

    @property
    def log_mgf(self) -> Enclosure:
        return self.law.log_mgf

    @property
    def drift(self) -> Enclosure:
        return self.law.drift

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        from ..kernels.contour_sum import power
        from ..kernels.quadrature import transform

        return power(transform(self.law, step, nodes), float(count))


@dataclass(frozen=True)
class LawBallTilted(BallTilted):
    """Weighted points in balls."""

    law: BallLaw

    @property
    def log_mgf(self) -> arb:
        return self.law.log_mgf

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        return transform_ball(self.law, step, nodes)
