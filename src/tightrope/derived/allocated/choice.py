"""Which statistic tells most of k of t steps: found in plain numbers, by what its sums alone show.

Nothing here is certified, and no bound rests on it: any labels and any window are valid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ... import work
from ...kernels.enclosure import FloatArray
from ...relation import Direction
from .statistic import Labels, Window

REACH = 10.0  # standard deviations of a step, on either side of both laws
GRID_POINTS = 2001
SKETCH_CELLS = 1 << 11
SKETCH_UNITS = 5e6  # of work: one statistic looked at
TRIES = 24
STRIDE, STRIDE_LEAST = 0.4, 0.06
COMPASS = ((-1.0, 1.0), (1.0, -1.0), (0.5, 0.5), (-0.5, -0.5))  # along the ridge, and across
START = (0.3, 1.5)  # x/(k/(t - k)) and c, between what is best for few uses and for many

DEEP = 1e-11
TILT_SPACING, TILT_SHARE = 0.5, 0.8
EVENT_LEAST = 1e-280
FEW_BITS = 12


class Wanted(NamedTuple):
    """What counts, for one use: a delta, or else an epsilon."""

    delta: float | None
    epsilon: float | None


class Shape(NamedTuple):
    """x and c of the labels, the log ratio that counts, and about how that grows with T, in units of T step."""

    x: float
    c: float
    near: float
    slope: float


class Sketch(NamedTuple):
    """About the masses of T = n step under Q and P."""

    total: FloatArray
    q: FloatArray
    p: FloatArray


class Chooser:
    """Statistics of k of t steps at mu, for one direction."""

    def __init__(self, mu: float, steps: int, uses: int, direction: Direction) -> None:
        self.mu, self.steps, self.uses, self.direction = mu, steps, uses, direction
        self.odds = uses / (steps - uses)
        self.z = np.linspace(-REACH, mu * 2.0 + REACH, GRID_POINTS)
        self.log_ratio = mu * self.z - mu * mu / 2.0
        weight = np.exp(-0.5 * self.z**2)
        self.weight = weight / weight.sum()

    def shape(self, wanted: Wanted) -> Shape:
        """The statistic that shows most at the ratio where this much is shown."""
        first = self.sketch(self.odds * START[0], START[1])
        near = self._near(first, wanted)
        a = math.exp(near)

        def shown(at: Sequence[float]) -> float:
            share, c = math.exp(at[0]), math.expm1(abs(at[1]))
            if not (1e-3 < share < 1e2 and c < 1e3):
                return 0.0
            work.spend(SKETCH_UNITS)
            return -self._shown(self.sketch(self.odds * share, c), a)

        found = (math.log(START[0]), math.log1p(START[1]))
        best, stride = shown(found), STRIDE
        for _ in range(TRIES):
            tries = [(found[0] + stride * u, found[1] + stride * v) for u, v in COMPASS]
            values = [shown(each) for each in tries]
            least = min(values)
            if least < best:
                best, found = least, tries[values.index(least)]
            else:
                stride *= 0.5
                if stride < STRIDE_LEAST:
                    break
        x, c = self.odds * math.exp(found[0]), math.expm1(abs(found[1]))
        law = self.sketch(x, c)
        return Shape(x, c, self._near(law, wanted), self._slope(law, near))

    def sketch(self, x: float, c: float) -> Sketch:
        """By plain transforms, each value from the tilt where it has most digits."""
        label = self.label(x, c)
        low, high = self._ends(label, 1.0 / (1.0 + c / 2.0), 1.5)
        step = (high - low) / SKETCH_CELLS
        index = np.rint(label / step).astype(np.int64)
        start = math.floor(low / step)
        n = start + np.arange(SKETCH_CELLS)
        moved = [self.weight, self.weight * np.exp(self.mu * self.z - self.mu**2 / 2.0)]
        best = [np.zeros(SKETCH_CELLS) for _ in moved]
        radius = [np.full(SKETCH_CELLS, np.inf) for _ in moved]
        with np.errstate(all="ignore"):
            for tilt in (0.0, 0.9, 1.8):
                tilt = tilt / (1.0 + c / 2.0)
                power = np.exp(tilt * step * (index - index[0]))
                rows = [np.bincount(index % SKETCH_CELLS, each * power, SKETCH_CELLS) for each in moved]
                sums = [float(row.sum()) for row in rows]
                waves = [np.log(np.fft.rfft(row / total)) for row, total in zip(rows, sums, strict=True)]
                for side, taken in enumerate((0, self.uses)):
                    made = np.fft.irfft(np.exp((self.steps - taken) * waves[0] + taken * waves[1]), SKETCH_CELLS)
                    logs = (self.steps - taken) * math.log(sums[0]) + taken * math.log(sums[1])
                    scale = np.exp(logs - tilt * step * (n - self.steps * float(index[0])))
                    made = np.roll(made, -start % SKETCH_CELLS) * scale
                    closer = scale * made.max(initial=0.0) < np.inf
                    closer &= scale < radius[side]
                    best[side] = np.where(closer & (made > 1e-12 * scale), made, np.where(closer, 0.0, best[side]))
                    radius[side] = np.where(closer, scale, radius[side])
        return Sketch(n * step, best[0], best[1])

    def label(self, x: float, c: float) -> FloatArray:
        """log(1 + x Y) + c x Y/(1 + x Y), at the points of the grid."""
        log_x = self.log_ratio + math.log(x)
        return np.logaddexp(0.0, log_x) + c / (1.0 + np.exp(-log_x))

    def placed(self, shape: Shape, cells: int, tail: float) -> tuple[Labels, Window]:
        """Labels and a window with so many cells."""
        label = self.label(shape.x, shape.c)
        slope = min(max(shape.slope, 0.02), 1.5)
        low_tilt, high_tilt = self._tilts(label, shape, slope)
        low, high = self._ends(label, slope, high_tilt, low_tilt)
        step = _few_bits((high - low) / (cells - 4))
        top = min(self.mu + math.sqrt(2.0 * -math.log(tail)) + 2.0, float(self.z[-1]))
        first = round(float(label[0]) / step)
        last = min(round(float(np.interp(top, self.z, label)) / step), first + cells - 2)
        edges = (np.arange(first, last) + 0.5) * step
        points = np.maximum.accumulate(np.interp(edges, label, self.z))
        end = min(top, float(np.interp((last + 0.5) * step, label, self.z)))
        points = points[points < end]
        count = max(math.ceil((high_tilt - low_tilt) / TILT_SPACING), 1)
        tilts = tuple(slope * step * float(each) for each in np.linspace(low_tilt, high_tilt, count + 1))
        labels = Labels(np.concatenate([[-np.inf], points, [end]]), first, step, shape.x)
        return labels, Window(math.floor(low / step), cells, tilts, slope * step)

    def _shown(self, law: Sketch, a: float) -> float:
        gain = law.p - a * law.q if self.direction is Direction.REMOVE else law.q - a * law.p
        return float(np.maximum(gain, 0.0).sum())

    def _near(self, law: Sketch, wanted: Wanted) -> float:
        """The epsilon that counts."""
        if wanted.epsilon is not None:
            return wanted.epsilon
        delta = max(wanted.delta or 1e-5, EVENT_LEAST)
        low, high = -50.0, 200.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._shown(law, math.exp(middle)) > delta else (low, middle)
        return low

    def _slope(self, law: Sketch, near: float) -> float:
        """About d log L/dT where the log ratio is near."""
        known = np.flatnonzero((law.q > 0.0) & (law.p > 0.0))
        if len(known) < 8:
            return 0.5
        loss = np.log(law.p[known] / law.q[known])
        sign = 1.0 if self.direction is Direction.REMOVE else -1.0
        at = int(np.argmin(abs(loss - sign * near)))
        left, right = max(at - len(known) // 8, 0), min(at + len(known) // 8, len(known) - 1)
        return float((loss[right] - loss[left]) / (law.total[known[right]] - law.total[known[left]]))

    def _tilts(self, label: FloatArray, shape: Shape, slope: float) -> tuple[float, float]:
        """From Q to beyond what counts, in units of the slope."""
        sign = 1.0 if self.direction is Direction.REMOVE else -1.0
        law = self.sketch(shape.x, shape.c)
        known = np.flatnonzero((law.q > 0.0) & (law.p > 0.0))
        wanted = float(law.total[known[np.argmin(abs(np.log(law.p[known] / law.q[known]) - sign * shape.near))]])
        low, high = -4.0, 6.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self._mean(label, slope * middle) < wanted else (low, middle)
        return min(0.0, low), max(1.0, low*TILT_SHARE)

    def _mean(self, label: FloatArray, tilt: float) -> float:
        power = self.weight * np.exp(tilt * (label - label[0]))
        return self.steps * float(power @ label) / float(power.sum())

    def _log(self, label: FloatArray, tilt: float) -> float:
        """log E_Q e^(tilt T)."""
        with np.errstate(all="ignore"):
            return self.steps * (tilt * label[0] + math.log(float(self.weight @ np.exp(tilt * (label - label[0])))))

    def _ends(self, label: FloatArray, slope: float, high: float, low: float = 0.0) -> tuple[float, float]:
        """Where T lies under all of these tilts but for next to nothing, by Chernoff."""
        ends = []
        for tilt, side in ((low, -1.0), (high, 1.0)):
            at, base = slope * tilt, self._log(label, slope * tilt)
            further = slope * np.geomspace(0.05, 64.0, 40)
            tries = [(self._log(label, at + side * each) - base - math.log(DEEP)) / each for each in further.tolist()]
            ends.append(side * min(each for each in tries if each == each))
        return ends[0], ends[1]


def _few_bits(step: float) -> float:
    """A little above, with so few bits that multiples of it are doubles."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(math.ldexp(mantissa, FEW_BITS)), exponent - FEW_BITS)
