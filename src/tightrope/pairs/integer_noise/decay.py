"""How the transform of finitely many atoms falls, up to a horizon: looked at, piece by piece, in float64.

Early: 1 - |phi(t)|^2 >= V t^2 - W t^4, V the variance and W = (mu_4 + 3 V^2)/12, which rises up to t^2 = V/(2W).
Then |phi| at the middle of a piece, and what it can grow by on half of it: E|l - mean| times that;
or, where pieces were too many, |phi| <= (1/2) sum of |w_k + w_{k+m} e^{it(l_{k+m} - l_k)}|, with m next to half a turn,
which grows by (1/2) sum of min(w_k, w_{k+m}) (l_{k+m} - l_k) times that.
Guarantee: upper, up to the horizon. Proof: docs/proofs/integer_noise.md, section 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ... import compute_budget
from ...kernels.enclosure import FloatArray
from ...kernels.quadrature import TiltedLaw

PIECE_RISE = 0.05  # how much a bound may grow along a piece
SWEPT_MAX = 2e7  # pieces times atoms
SWEPT_UNITS = 20.0
MOMENT_ROUNDING = 1e-9  # relative, far above that of sums of positive terms
SLACK_MAX = 0.01
LOOKED_AT = 8.0  # standard deviations: before, |phi| itself is looked at


@dataclass(frozen=True)
class SweptDecay:
    """variance: at or below V. fourth: at or above W. slack: at or above all rounding of |phi|, and what is left out.

    starts: of pieces. later: bounds from each on, to the horizon.
    """

    variance: float
    fourth: float
    slack: float
    starts: FloatArray
    later: FloatArray

    def log_bound(self, radius: float) -> float:
        first = float(self.starts[0])
        if not radius <= float(self.starts[-1]):
            return 0.0
        place = max(0, int(np.searchsorted(self.starts, radius, side="right")) - 1)
        value = float(self.later[place])
        if radius < first:
            square = radius * radius
            value = max(value, math.sqrt(max(0.0, 1.0 - self.variance * square + self.fourth * square * square)))
        return min(0.0, math.log(min(1.0, value + self.slack)))


def swept(law: TiltedLaw, horizon: float) -> SweptDecay:
    """The bounds of a tilted law; 1 where rounding could matter, or the sweep takes too long."""
    total = float(np.sum(law.weights.value))
    weights, losses = law.weights.value / total, law.offsets.value
    mean = float(weights @ losses)
    second, fourth = (float(weights @ (losses - mean) ** power) for power in (2, 4))
    variance, quarter = (
        second * (1.0 - MOMENT_ROUNDING),
        (fourth + 3.0 * second * second) / 12.0 * (1.0 + MOMENT_ROUNDING),
    )
    if not quarter > 0.0:  # all in one output, as far as doubles see: |phi| is at most 1
        return SweptDecay(0.0, 0.0, 0.0, np.array([horizon]), np.array([1.0]))
    first = min(math.sqrt(variance / (2.0 * quarter)), horizon)
    reach = float(np.max(abs(losses))) * horizon
    blur = float(np.sum(law.weights.radius)) / total + horizon * float(np.max(law.offsets.radius)) + 1e-15 * reach
    slack = 4.0 * (blur + law.error.fixed + losses.size * 2.0**-52)
    if not slack < SLACK_MAX:
        return SweptDecay(variance, quarter, slack, np.array([first]), np.array([1.0]))
    spread = math.sqrt(second)
    starts, found = [first], []
    pieces = (horizon - first) * spread / PIECE_RISE
    near = horizon if pieces * losses.size <= SWEPT_MAX else min(horizon, LOOKED_AT / spread)
    width, slope = PIECE_RISE / spread, float(weights @ abs(losses - mean))
    compute_budget.spend(SWEPT_UNITS * losses.size * ((near - first) / width + 1.0))
    while starts[-1] < near:
        stop = min(starts[-1] + width, near)
        middle = 0.5 * (starts[-1] + stop)
        value = abs(complex(weights @ np.cos(middle * losses), weights @ np.sin(middle * losses)))
        found.append(value + slope * (stop - starts[-1]))
        starts.append(stop)
    gap = float(np.max(weights[1:] * (losses[1:] - losses[:-1]))) / float(np.max(weights[1:]))
    while starts[-1] < horizon and losses.size > 1:
        value, stop = _paired(weights, losses, starts[-1], gap, horizon)
        found.append(value)
        starts.append(stop)
    later = np.maximum.accumulate(np.array([*found, found[-1]])[::-1])[::-1] if found else np.array([1.0])
    return SweptDecay(variance, quarter, slack, np.array(starts), later)


def _paired(weights: FloatArray, losses: FloatArray, start: float, gap: float, horizon: float) -> tuple[float, float]:
    """A bound from a time on, and how far it holds."""
    apart = min(max(1, round(math.pi / (start * gap))), losses.size - 1)
    left, right = weights[:-apart], weights[apart:]
    turn = losses[apart:] - losses[:-apart]
    slope = 0.5 * float(np.minimum(left, right) @ abs(turn))
    stop = min(horizon, start + 2.0 * PIECE_RISE / max(slope, 1e-300))
    compute_budget.spend(SWEPT_UNITS * losses.size)
    middle = 0.5 * (start + stop)
    sizes = np.sqrt(np.maximum(left * left + right * right + 2.0 * left * right * np.cos(middle * turn), 0.0))
    alone = float(np.sum(weights[:apart])) + float(np.sum(weights[-apart:]))
    return 0.5 * (float(np.sum(sizes)) + alone) + slope * 0.5 * (stop - start), stop
