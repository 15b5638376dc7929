"""Where the loss of shifted integer noise passes a number: the first output whose loss exceeds it.

The loss rises with the output, so a guess in plain floats is corrected by comparisons in balls.
Guarantee: the true output is among those given.
"""

from __future__ import annotations

import math
from enum import Enum

from flint import arb

from .noise import IntegerNoise

UNSEEN_DEPTH = 20000.0  # outputs whose mass is below e^-UNSEEN_DEPTH are seen by nobody
UNSURE_MAX = 3
CAST_MAX = 1e300


class FarSide(Enum):
    """Where t lies: between the losses of the far outputs, beyond one of them, or undecided."""

    BETWEEN, ABOVE, BELOW, UNKNOWN = range(4)


def far_output(noise: IntegerNoise, shift: int) -> int:
    """An output that both laws hardly reach: P[X > this - shift] is about e^-UNSEEN_DEPTH; or the last of all."""
    far = noise.reach(UNSEEN_DEPTH) + shift
    return far if noise.last is None else min(far, noise.last)


def side_of(noise: IntegerNoise, shift: int, t: arb) -> FarSide:
    """Whether the far output has a loss above t, and the one opposite none."""
    far = far_output(noise, shift)
    if far == noise.last:
        return FarSide.BETWEEN  # all that there are
    top, bottom = (_exceeds(noise, shift, t, k) for k in (far, noise.mirror(far) + shift))
    if top is None or bottom is None:
        return FarSide.UNKNOWN
    return FarSide.BELOW if bottom else FarSide.BETWEEN if top else FarSide.ABOVE


def first_outputs(noise: IntegerNoise, shift: int, t: arb) -> range:
    """All that the first output with a loss above t may be, where t lies between the losses of the far outputs.

    Nothing where that is more than a few.
    """
    far = far_output(noise, shift)
    more = int(far == noise.last)  # further outputs have an infinite loss
    # What lies at or below `low` does not exceed t, what lies at or above `high` does.
    low, high = _bracket(noise, shift, t, (noise.mirror(far) + shift - more, far + more))
    while high - low > 1:
        middle = (low + high) // 2
        exceeds = _exceeds(noise, shift, t, middle)
        if exceeds is None:
            low, high = _settled(noise, shift, t, (low, middle, high))
            break
        low, high = (low, middle) if exceeds else (middle, high)
    return range(low + 1, high + 1) if high - low <= UNSURE_MAX else range(0)


def _exceeds(noise: IntegerNoise, shift: int, t: arb, k: int) -> bool | None:
    """Whether the loss at k is above t; None where that cannot be told."""
    loss = noise.loss(k, shift)
    return True if loss > t else False if loss <= t else None


def _bracket(noise: IntegerNoise, shift: int, t: arb, ends: tuple[int, int]) -> tuple[int, int]:
    """Outputs on either side of the crossing, from a guess on, between two ends that are."""
    low, high = ends
    guess = noise.plain_output(float(t.mid()), shift)
    start = max(low + 1, min(high - 1, math.floor(max(-CAST_MAX, min(CAST_MAX, guess)))))
    for side in (-1, 1):
        k, step = start + (side > 0), 1
        while low < k < high:
            exceeds = _exceeds(noise, shift, t, k)
            if exceeds is False:
                low = k
            if exceeds is True:
                high = k
            if exceeds is (side > 0):
                break
            k, step = k + side * step, 2 * step
    return low, high


def _settled(noise: IntegerNoise, shift: int, t: arb, ends: tuple[int, int, int]) -> tuple[int, int]:
    """The nearest outputs around an undecided one that are decided, as far as a few steps show them."""
    low, middle, high = ends
    for k in range(middle - 1, max(low, middle - UNSURE_MAX), -1):
        if _exceeds(noise, shift, t, k) is False:
            low = k
            break
    for k in range(middle + 1, min(high, middle + UNSURE_MAX)):
        if _exceeds(noise, shift, t, k) is True:
            high = k
            break
    return low, high
