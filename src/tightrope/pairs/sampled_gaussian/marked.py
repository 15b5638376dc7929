"""A marked part of a Poisson-sampled Gaussian, in the direction of removal: M(z) = E_P[e^{zl} weight(x)].

weight: window. log M(0) < 0 is the log of the probability of the mark.
Guarantee: errors as stated by quadrature_marked, kernels.quadrature_ball and decay.
Proof: docs/proofs/contour.md, section 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from flint import arb

from ... import work
from ...facets.cgf import LOG_TOLERANCE, BallTilted, Cgf, Cumulants, Decay, NoDecay
from ...facets.quadrature import LawBallTilted, LawTilted
from ...kernels.ball import BITS_START, working_precision
from ...kernels.plain import softplus
from ..gaussian.cgf import mu_value
from ..gaussian.pair import GaussianPair
from .cgf import COARSE, mu_bounds
from .decay_ball import ball_decay
from .grid import choose_grid, log_odds
from .quadrature_ball import sampled_normal_ball
from .window import MarkWindow, ball_phi

LEAST = -8.0  # standard deviations: where plain sums begin
CELLS = 2.0  # nodes of plain sums per width of an edge
FINE, COARSE_MOST = 0.25, 4000


@dataclass(frozen=True)
class MarkedCgf(Cgf):
    """K of the part of ((1 - rate) Q + rate P, Q) with this window, which has a hard end."""

    base: GaussianPair
    rate: float
    marked: MarkWindow

    @cached_property
    def _points(self) -> list[tuple[float, float]]:
        """Losses and logs of the untilted masses on a grid, in plain floats."""
        mu = mu_value(self.base)
        step = max((self.marked.end - LEAST) / COARSE_MOST, min(FINE, 0.6 / mu, self.marked.narrowest / CELLS))
        size = math.floor((self.marked.end - LEAST) / step)
        shift, unit = log_odds(mu, self.rate), math.log(step) - 0.5 * math.log(2.0 * math.pi)
        work.spend(COARSE * size * (1 + len(self.marked.edges)))
        kept = math.log1p(-self.rate)
        found = []
        for index in range(size):
            x = self.marked.end - (index + 0.5) * step
            loss = kept + softplus(mu * x + shift)
            found.append((loss, unit + loss - 0.5 * x * x + self.marked.log_weight(x)))
        return found

    def cumulants(self, tilt: float) -> Cumulants:
        logs = [log + tilt * loss for loss, log in self._points]
        work.spend(COARSE * len(logs))
        top = max(logs)
        masses = [math.exp(log - top) for log in logs]
        total = sum(masses)
        mean = sum(mass * loss for mass, (loss, _) in zip(masses, self._points, strict=True)) / total
        variance = sum(mass * (loss - mean) ** 2 for mass, (loss, _) in zip(masses, self._points, strict=True)) / total
        return Cumulants(top + math.log(total), mean, variance)

    def depth(self, tilt: float) -> float:
        """How many e-folds the tilted density is lower at the hard end than at its highest, about."""
        logs = [log + tilt * loss for loss, log in self._points]
        return max(logs) - logs[0]

    def log_mgf_above(self, tilt: float) -> float:
        from ...kernels.enclosure import enclosing
        from .quadrature_marked import log_mgf_above

        return log_mgf_above(enclosing(*mu_bounds(self.base)), self.rate, tilt, LOG_TOLERANCE, self.marked)

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return choose_grid(mu_value(self.base), self.rate, 1.0 + tilt, reach, log_tolerance, self.marked).size

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> LawTilted:
        from ...kernels.enclosure import enclosing
        from .quadrature_marked import marked_normal

        mu = enclosing(*mu_bounds(self.base))
        return LawTilted(marked_normal(mu, self.rate, tilt, reach, log_tolerance, self.marked))

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        mu = self.base.ball_mu()
        return LawBallTilted(sampled_normal_ball(mu, self.rate, 1, tilt, reach, log_tolerance, self.marked))

    def decay(self, tilt: float) -> Decay:
        from .decay_float import decay

        return decay(mu_value(self.base), self.rate, 1.0 + tilt, self.marked) or NoDecay()

    def ball_decay(self, tilt: float) -> Decay:
        with working_precision(BITS_START):
            return ball_decay(self.base.ball_mu(), self.rate, 1.0 + tilt, self.marked) or NoDecay()

    def beyond(self) -> arb:
        """At or above the probability, under P, of what the last edge and the hard end leave out."""
        edge = self.marked.edges[-1]
        spread = (1 + arb(edge.width) ** 2).sqrt()
        return self._above(arb(edge.at), spread) + self._above(arb(self.marked.end), arb(1))

    def leak(self) -> arb:
        """At or above the probability, under P, of what the first edge would keep beyond the hard end."""
        end = arb(self.marked.end)
        return self.marked.edges[0].ball_weight(end) * self._above(end, arb(1))

    def _above(self, x: arb, spread: arb) -> arb:
        """P[output + noise > x], where both together have this spread."""
        share = arb(self.rate)
        return (1 - share) * ball_phi(-x / spread) + share * ball_phi((self.base.ball_mu() - x) / spread)
