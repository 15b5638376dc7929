"""epsilon from delta on a fixed contour: Newton on log delta, then two evaluations that prove the interval.

Guarantee: delta_up(e) <= delta proves epsilon <= e, delta_low(e) > delta proves epsilon >= e.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import cached_property
from typing import NamedTuple

from ...kernels.search import Inverse
from ..evaluation import Evaluation, SelfInverse
from . import tuning


class Found(NamedTuple):
    """An epsilon, log of delta without its infinite mass and its derivative there, approximately, and its bounds."""

    epsilon: float
    log_delta: float
    rate: float
    value: Evaluation


class ContourEvaluator(SelfInverse):
    """An evaluator that knows its own slope."""

    @cached_property
    def _solutions(self) -> dict[float, Found]:
        return {}

    @property
    @abstractmethod
    def start(self) -> float:
        """The epsilon that the contour was made for."""

    @abstractmethod
    def slope(self, epsilon: float) -> tuple[float, float]:
        """log of delta without its infinite mass, and its derivative, approximately."""

    @property
    @abstractmethod
    def floor(self) -> float:
        """The infinite mass, approximately."""

    def at(self, epsilon: float) -> Found:
        """All that is known at an epsilon."""
        return Found(epsilon, *self.slope(epsilon), self.delta(epsilon))

    def solution(self, delta: float) -> Found:
        """The same at the epsilon of this delta, which is looked for once."""
        if delta not in self._solutions:
            self._solutions[delta] = self.at(self._solve(delta))
        return self._solutions[delta]

    def _solve(self, delta: float) -> float:
        """The epsilon >= 0 of this delta, approximately."""
        target = math.log(delta - self.floor) if delta > self.floor else -math.inf
        centre, low, high = max(self.start, 0.0), 0.0, math.inf
        for _ in range(2 * tuning.STEPS_MOST):
            log, rate = self.slope(centre)
            # Where the sum is lost in its own errors, the side that the contour was made for tells.
            above = log > target if math.isfinite(log) else centre < self.start
            low, high = (max(low, centre), high) if above else (low, min(high, centre))
            following = centre + (target - log) / rate if math.isfinite(log) and rate < 0.0 else math.nan
            if not low <= following <= high:
                # Past zero, or where the sum is lost in its own errors, halving still finds the way.
                following = 0.5 * (low + high) if high < math.inf else 2.0 * centre + 1.0
            if not following < tuning.EPSILON_MOST:
                break
            moved, centre = abs(following - centre), following
            sure = abs(target - log) <= tuning.CLOSE_LOG or moved <= 2.0 * math.ulp(centre)
            if sure and moved <= tuning.CLOSE * (centre + 1e-3):
                break
        return centre

    def epsilon(self, delta: float) -> Inverse[Evaluation]:
        """An interval around the smallest epsilon >= 0 with delta(epsilon) <= delta; upper may be inf."""
        centre, _, rate, here = self.solution(delta)
        noise = (here.upper - here.lower) / max(2.0 * (delta - self.floor), 5e-324)
        step = max(tuning.BESIDE * noise / max(-rate, 1e-300), 2.0 * math.ulp(centre))
        low, at_low = self._below(delta, centre, step)
        high, at_high = self._above(delta, centre, step)
        return Inverse(low, high, at_low, at_high)

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        return self.epsilon(delta)

    def _below(self, delta: float, centre: float, step: float) -> tuple[float, Evaluation | None]:
        for _ in range(tuning.STEPS_MOST):
            if not centre - step > 0.0:
                break
            trial = self.delta(centre - step)
            if trial.lower > delta:
                return centre - step, trial
            step *= 2.0
        return 0.0, None

    def _above(self, delta: float, centre: float, step: float) -> tuple[float, Evaluation | None]:
        if centre == 0.0:
            trial = self.delta(0.0)
            if trial.upper <= delta:
                return 0.0, trial
        for _ in range(tuning.STEPS_MOST):
            if not centre + step < tuning.EPSILON_MOST:
                break
            trial = self.delta(centre + step)
            if trial.upper <= delta:
                return centre + step, trial
            step *= 2.0
        return math.inf, None
