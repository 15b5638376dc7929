"""The outputs of shifted integer noise in float64: losses and tails of all that a double can see.

Masses above the centre are listed in balls, one from the next; those below are their mirror images, and so are the
losses, l(D + 2 centre - k) = -l(k).
Guarantee: losses within half a unit and their balls, tails to a few units; outputs that are left out have at most
`left_out` under either law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import arb

from ... import compute_budget
from ...errors import Refusal, UnsupportedMechanism
from ...kernels.ball import upper_float, working_precision
from ...kernels.enclosure import Enclosure, FloatArray
from .noise import IntegerNoise

LISTED_MAX = 700_000  # masses: three seconds
LISTED_UNITS = 3000.0  # of work, for one of them
LISTED_BITS = 160
FAR_OUTPUT = 1 << 60
LISTED_DEPTH = 722.0  # e^-722 is below 1e-313
HALF_UNIT = 2.0**-52  # of a ball turned into a double, with room


@dataclass(frozen=True)
class Listing:
    """shift: D. The outputs are those from `first` to `last` that are not further from both centres than `reach`."""

    noise: IntegerNoise
    shift: int

    @cached_property
    def reach(self) -> int:
        """The last output around the centre that is listed."""
        return self.noise.reach(LISTED_DEPTH)

    @cached_property
    def left_out(self) -> float:
        """At or above the mass of each law that is not listed."""
        if self.noise.last is not None and self.reach >= self.noise.last:
            return 0.0
        with working_precision(LISTED_BITS):
            return upper_float(2 * self.noise.chernoff(self.reach + 1))

    def demand_few(self) -> None:
        """Refuses to list too many."""
        if self.size > LISTED_MAX:
            raise UnsupportedMechanism(
                f"its outputs are listed where no more than {LISTED_MAX} matter; ask for one use, or for renyi",
                Refusal.TOO_MUCH_WORK,
            )

    @property
    def size(self) -> int:
        """How many masses are listed."""
        return self.reach + self.shift - self._middle + 1

    @property
    def _middle(self) -> int:
        """The first output at or above the centre."""
        return -(-self.noise.twice_centre // 2)

    @cached_property
    def masses(self) -> list[arb]:
        """From the centre on."""
        self.demand_few()
        compute_budget.spend(LISTED_UNITS * self.size)
        last = self.reach + self.shift
        last = last if self.noise.last is None else min(last, self.noise.last)
        with working_precision(LISTED_BITS):
            return self.noise.masses(self._middle, last)

    @cached_property
    def outputs(self) -> npt.NDArray[np.int64]:
        """Those that are listed and have a finite loss, rising."""
        self.demand_few()
        low, high = self.noise.mirror(self.reach), self.reach
        if self.shift <= high - low + 1:
            values = np.arange(low, high + self.shift + 1)
        else:
            values = np.concatenate([np.arange(low, high + 1), np.arange(low, high + 1) + self.shift])
        if self.noise.last is not None:
            values = values[(values >= self.shift) & (values <= self.noise.last)]
        return values

    @property
    def joined(self) -> bool:
        """Whether no output between the two centres is left out."""
        return len(self.outputs) == int(self.outputs[-1]) - int(self.outputs[0]) + 1

    def _places(self, outputs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Where their masses are in the list."""
        return np.maximum(outputs, self.noise.twice_centre - outputs) - self._middle

    @cached_property
    def loss(self) -> Enclosure:
        """Of each output."""
        with working_precision(LISTED_BITS):
            logs = [mass.log() for mass in self.masses]
            upper = self.outputs[2 * self.outputs >= self.shift + self.noise.twice_centre]
            first, second = self._places(upper - self.shift).tolist(), self._places(upper).tolist()
            balls = [logs[i] - logs[j] for i, j in zip(first, second, strict=True)]
            half = read(balls)
        # An output whose loss is 0 is its own mirror image.
        own = int(len(upper) > 0 and 2 * int(upper[0]) == self.shift + self.noise.twice_centre)
        below = -half[own:][::-1]
        return Enclosure(np.concatenate([below.value, half.value]), np.concatenate([below.radius, half.radius]))

    @cached_property
    def mass(self) -> Enclosure:
        """From the centre on."""
        with working_precision(LISTED_BITS):
            return read(self.masses)

    def law(self, shift: int) -> Enclosure:
        """The masses of the outputs under the noise around this shift."""
        return self.mass[self._places(self.outputs - shift)]

    @cached_property
    def _above(self) -> FloatArray:
        """P[X >= k] from the first output above the centre on."""
        with working_precision(LISTED_BITS):
            last = self._middle + len(self.masses) - 1
            total = self.noise.tail(last + 1)
            values = [total]
            for mass in reversed(self.masses):
                total = total + mass
                values.append(total)
            return np.array([float(ball.mid()) for ball in reversed(values)])

    def above(self, outputs: npt.NDArray[np.int64]) -> FloatArray:
        """P[X >= k]."""
        far = 2 * outputs > self.noise.twice_centre
        places = np.where(far, outputs, self.noise.twice_centre - outputs + 1) - self._middle
        tails: FloatArray = np.append(self._above, 0.0)[np.minimum(places, len(self._above))]
        values: FloatArray = np.where(far, tails, 1.0 - tails)
        return values

    def first_above(self, t: FloatArray) -> npt.NDArray[np.int64]:
        """The first output whose loss exceeds t, or one that differs by what is left out."""
        last = self.noise.last
        low, high = (-FAR_OUTPUT, FAR_OUTPUT) if last is None else (self.shift, max(last + 1, self.shift))
        # Below all losses of the list it is the first output of all, above them the first of an infinite loss.
        starts = np.concatenate([[low], self.outputs[1:], [high]]) if len(self.outputs) else np.array([high])
        return starts[np.searchsorted(self.loss.value, t, side="right")]


def read(balls: list[arb]) -> Enclosure:
    """Doubles with radii around balls, faster where these are narrow."""
    value = np.array([float(ball.mid()) for ball in balls], dtype=np.float64)
    radius = np.array([float(ball.rad()) for ball in balls], dtype=np.float64)
    return Enclosure(value, abs(value) * HALF_UNIT + 1.01 * radius + math.ulp(0.0) * 4.0)
