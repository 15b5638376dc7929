"""Kernels of a contour sum: what every power of a transform is multiplied with before it is summed.

smooth:     e^{-z eps} / (z (z+1)),
ramp:       the same times (1 - e^{-(z+1) g}) / (1 - e^{-g}), or (1 - e^{-zg}) / (e^g - 1): secants of the profile,
geometric:  e^{-z l} (a + b e^{-zh}) / ((1 - e^{-zh}) (1 - e^{-(z+1)h})) at z h = c h + 2 pi i n/N: a law on a lattice.
Guarantee: each value within `error` times `size` of the truth.
Proof: docs/proofs/contour.md, sections 7 and 12; docs/proofs/loss.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from .ball import lower_float, upper_float
from .directed import round_up
from .enclosure import FloatArray
from .ulps import UNIT

ComplexArray = npt.NDArray[np.complexfloating[Any, Any]]
TERM_ERROR = 64.0 * UNIT  # of one term, relative: exp, cosine, sine, the division by z (z+1) and three products
GEOMETRIC_ERROR = 256.0 * UNIT  # of one geometric kernel, relative to its size
RAMP_UNITS = 128.0  # what the numerator and the denominator of a ramp err by, for small angles
TIME_ERROR = 8.0 * UNIT  # of a node 2 pi n/(N h), relative: two products and a division, h and pi, and n times it


@dataclass(frozen=True, slots=True)
class Kernel:
    """Values at the nodes: k, and that of the derivative by eps, divided by the scale."""

    value: ComplexArray
    slope: ComplexArray
    size: FloatArray  # at or above |k|
    error: float = TERM_ERROR  # of a term, relative to its size
    time_error: float = 0.0  # of the nodes, relative


class Relative(NamedTuple):
    """A double at or above a number >= 0, and how much of it may be too much, at most 1."""

    value: float
    error: float


def relative(ball: arb) -> Relative:
    """A number >= 0 read off its ball."""
    low, high = max(lower_float(ball), 0.0), upper_float(ball)
    return Relative(high, round_up((high - low) / high, 4.0) if high > 0.0 else 0.0)


def smooth(tilt: float, times: FloatArray) -> Kernel:
    """1/(z (z+1)) at z = tilt + i t."""
    c, t = tilt, times
    real, imaginary = c * (c + 1.0) - t * t, t * (2.0 * c + 1.0)
    far = (c + 1.0) ** 2 + t * t
    square = (c * c + t * t) * far
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        value: ComplexArray = np.asarray((real - 1j * imaginary) / square, dtype=np.complex128)
        slope: ComplexArray = ((c + 1.0) - 1j * t) / far
        return Kernel(value, slope, 1.0 / np.sqrt(square))


def ramp(tilt: float, times: FloatArray, gap: float, second: bool) -> Kernel:
    """The smooth kernel times (1 - e^{-(z+1) gap}) / (1 - e^{-gap}), or (1 - e^{-z gap}) / (e^gap - 1) where second.

    1 - e^{-(a + it) g} = (1 - e^{-ag}) + 2 e^{-ag} sin^2(tg/2) + i e^{-ag} sin(tg), at most min(2, |a + it| g).
    """
    whole = smooth(tilt, times)
    a, turn = tilt if second else tilt + 1.0, times * gap
    fall, half = math.exp(-a * gap), np.sin(0.5 * turn)
    bottom = math.expm1(gap) if second else -math.expm1(-gap)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        top = (-math.expm1(-a * gap) + 2.0 * fall * half * half) + 1j * (fall * np.sin(turn))
        most = np.minimum(1.0 + fall, gap * np.sqrt(a * a + times * times))
        value: ComplexArray = whole.value * top / bottom
        size = round_up(whole.size * most / bottom, 64.0)
    error = TERM_ERROR + UNIT * (RAMP_UNITS + 4.0 * float(turn[-1]))
    return Kernel(value, np.zeros_like(value), size, error)


Relatives = Sequence[Relative]


def geometric(
    nodes: int, kept: int, step: float, falls: Relatives, gaps: Relatives, parts: Relatives, last: Relative
) -> Kernel:
    """The geometric kernel times the lattice step, in the place of 1/(z (z+1)), at the first nodes; step = 2 pi/(N h).

    falls: e^{-ch} and e^{-(c+1)h}. gaps: 1 less these. parts: (a, b). last: e^{-x}.
    """
    half = (math.pi / nodes) * np.arange(kept, dtype=np.float64)
    sine, cosine = np.sin(half), np.cos(half)
    turn = (-2.0 * sine * sine) - 2.0j * sine * cosine  # e^{-i theta} - 1
    (a, b), near, ends = parts, falls[0], list(zip(gaps, falls, strict=True))
    top = (a.value + b.value * near.value) + b.value * near.value * turn
    bottoms = [gap.value - fall.value * turn for gap, fall in ends]
    sizes = [np.sqrt(gap.value * gap.value + 4.0 * fall.value * sine * sine) for gap, fall in ends]
    # (1/N) = (step/2 pi) h: the sum that follows has the factor step/pi, and counts every node but the first twice.
    width = 2.0 * math.pi / (nodes * step)
    with np.errstate(under="ignore", over="ignore", invalid="ignore", divide="ignore"):
        value = width * top / (bottoms[0] * bottoms[1])
        size = width * (a.value + b.value * near.value) / (sizes[0] * sizes[1])
    slope = width * last.value / bottoms[1]
    # The error that the parts bring, relative to the size; fall |e^{-i theta} - 1| is at most |1 - e^{-zh}|.
    above, second = a.value + b.value * near.value, b.value * near.value * (b.error + near.error)
    given = (a.value * a.error + second) / above if above > 0.0 else 0.0
    for gap, fall in ends:
        given += gap.error + fall.error * min(1.0, 2.0 * fall.value / gap.value if gap.value > 0.0 else 1.0)
    return Kernel(value, slope, round_up(size, 64.0), TERM_ERROR + GEOMETRIC_ERROR + 2.0 * given, TIME_ERROR)
