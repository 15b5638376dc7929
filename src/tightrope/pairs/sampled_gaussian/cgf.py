"""Poisson-sampled Gaussian shifts, in both directions, by certified quadrature.

x is standard normal, g = 1 - rate + rate e^{mu x - mu^2/2}: M(z) = E[g^{1+z}] for remove and E[g^{-z}] for add.
Guarantee: errors as stated by quadrature_float, quadrature_ball and decay.
Reference: Zhu, Dong, Wang 2021, Thm 11; Trefethen, Weideman 2014, Thm 5.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ... import compute_budget
from ...errors import UnsupportedMechanism
from ...facets.cgf import LOG_TOLERANCE, BallTilted, CfDecay, Cgf, Cumulants, NoCfDecay
from ...facets.partition import Partitionable
from ...kernels.ball import BITS_START, working_precision
from ...kernels.mixture import STEEP_GROWTH, mixed_plain
from ..gaussian.cgf import mu_bounds, mu_value
from ..gaussian.pair import GaussianPair
from .decay_ball import ball_cf_decay
from .grid import COARSE, choose_grid, choose_step, error_modes, log_cumulants, restricted_strip, window
from .likelihood import Chance, Likelihood, likelihood
from .quadrature_ball import sampled_normal_ball
from .window import WHOLE, SoftWindow

if TYPE_CHECKING:
    from ...kernels.quadrature import TiltedLaw

ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
ALIAS_SLACK = 1e-9
EXPONENT_MAX = 1e5
COARSE_MAX = 20_000


@dataclass(frozen=True)
class SampledPart(Cgf):
    """K of ((1 - rate) Q + rate P, Q) (sign 1) or of its reverse (sign -1), for Gaussian (P, Q), whole or marked."""

    base: GaussianPair
    rate: Chance
    sign: int
    window: SoftWindow = WHOLE

    @cached_property
    def mu(self) -> float:
        """Approximately."""
        return mu_value(self.base)

    @cached_property
    def law(self) -> Likelihood:
        """Of its outputs, about."""
        return likelihood(self.mu, self.rate)

    def power(self, tilt: float) -> float:
        """The exponent a of the tilted density n g^a."""
        return 1.0 + tilt if self.sign > 0 else -tilt

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return choose_grid(self.mu, self.law, self.power(tilt), reach, log_tolerance, self.window).size

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw:
        from ...kernels.enclosure import enclosing
        from .quadrature_float import sampled_normal

        mu = enclosing(*mu_bounds(self.base))
        return sampled_normal(mu, self.rate, self.sign, tilt, reach, log_tolerance, self.window)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        mu = self.base.ball_mu()
        return sampled_normal_ball(mu, self.rate, self.sign, tilt, reach, log_tolerance, self.window)

    def cf_decay(self, tilt: float) -> CfDecay:
        from .decay_float import decay

        return decay(self.mu, self.law, self.power(tilt), self.window) or NoCfDecay()

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        with working_precision(BITS_START):
            return ball_cf_decay(self.base.ball_mu(), self.rate, self.power(tilt), self.window) or NoCfDecay()


class SampledCgf(SampledPart):
    """K of all of it."""

    def cumulants(self, tilt: float) -> Cumulants:
        """Trapezoid sums in plain floats, coarse but far better than the choice of a contour needs."""
        step = min(0.7, 1.2 / self.mu)
        cumulants = log_cumulants(*self._coarse(self.mu, tilt, step, 7.0), step / ROOT_TWO_PI)
        return Cumulants(cumulants.value, self.sign * cumulants.mean, cumulants.variance)

    def log_mgf_above(self, tilt: float) -> float:
        """The trapezoid sum, raised by its error and by more than all roundings; K grows with mu.

        The nodes reach 9 beyond everything heavy, so that what lies outside weighs less than e^-30.
        """
        mu, power = mu_bounds(self.base)[1], self.power(tilt)
        strip = restricted_strip(self.law, WHOLE)
        step = choose_step(mu, power, 0.0, 25.0, strip)
        if COARSE_MAX * step < 20.0:
            return float(self.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf.upper)
        _, logs = self._coarse(mu, tilt, step, 9.0)
        top = max(logs)
        error = math.exp(min(constant for constant, _ in error_modes(mu, power, step, strip)))
        if not (error < 1e-6 and max(map(abs, logs)) < EXPONENT_MAX):
            return math.inf
        total = sum([math.exp(log - top) for log in logs])
        return top + math.log(total * step / ROOT_TWO_PI) + 2.0 * error + ALIAS_SLACK

    def _coarse(self, mu: float, tilt: float, step: float, width: float) -> tuple[list[float], list[float]]:
        """Values of log g and logs of the tilted density on a grid, each to a few roundings of its parts."""
        power = self.power(tilt)
        low, high = window(mu, self.law, power, width)
        if self.law is self.rate:
            low = math.floor(low / step) * step  # many tilts share nodes
        size = math.ceil((high - low) / step) + 1
        if size > COARSE_MAX:
            raise UnsupportedMechanism("its losses are too large for a contour; try engine='lattice'")
        compute_budget.spend(COARSE * size)
        values, bells = self._nodes(mu, low, step, size)
        return values, [power * value - bell for value, bell in zip(values, bells, strict=True)]

    def _nodes(self, mu: float, low: float, step: float, size: int) -> tuple[list[float], list[float]]:
        """log g and x^2/2 at the nodes from low on; those of other tilts from there on are not worked out again."""
        law, middle, last = self.law, 0.5 * mu * mu, low + (size - 1) * step
        rate = law.participation_share  # or the rate
        plain = law is not self.rate and mu * last - middle <= STEEP_GROWTH and (rate < 0.5 or mu * low - middle > -1.0)
        here = mu, low, step, plain
        if here not in self._kept:  # a search stays with one
            self._kept.clear()
            self._kept[here] = [], []
        values, bells = self._kept[here]
        more = range(len(values), size)
        if law is self.rate:
            first = round(low / step)
            nodes = [(first + index) * step for index in more]
            values += [law.loss(x) for x in nodes]
        else:
            nodes = [low + index * step for index in more]
            if plain:
                values += [math.log1p(rate * math.expm1(mu * x - middle)) for x in nodes]
            else:
                values += [mixed_plain(mu * x - middle, rate) for x in nodes]
        bells += [0.5 * x * x for x in nodes]
        return values[:size], bells[:size]

    @cached_property
    def _kept(self) -> dict[tuple[float, float, float, bool], tuple[list[float], list[float]]]:
        return {}

    def partition(self) -> Partitionable | None:
        from .restricted import GaussianPartition

        return GaussianPartition(self.base, self.rate) if self.sign > 0 and self.rate != 1.0 else None
