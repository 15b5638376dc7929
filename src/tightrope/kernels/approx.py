"""float64 arrays that carry a rigorous error radius.

Claim: if every input of a formula lies within its radius, the exact result lies within the radius of the value.
Each operation adds the propagated error of its inputs, the rounding of its own result (kernels.ulps) and, through
INFLATE, the rounding of the radius itself. A radius of inf or a NaN means that nothing is known; `lower` and `upper`
turn that into -inf and inf, never into a wrong number.
Guarantee: exact value in [lower, upper], under the constants of kernels.ulps. Proof: docs/proofs/rounding.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import ulps
from .ulps import SUBNORMAL, UNIT

FloatArray = npt.NDArray[np.float64]

# A radius is the sum of at most six rounded terms, each made by at most six operations.
INFLATE = 1.0 + 2.0**-46


@dataclass(frozen=True, slots=True)
class Approx:
    """Values and error radii of equal shape."""

    value: FloatArray
    radius: FloatArray

    @property
    def lower(self) -> FloatArray:
        """At or below the exact value."""
        with np.errstate(all="ignore"):
            low = np.nextafter(self.value - self.radius, -np.inf)
        return np.where(np.isnan(low), -np.inf, low)

    @property
    def upper(self) -> FloatArray:
        """At or above the exact value."""
        with np.errstate(all="ignore"):
            high = np.nextafter(self.value + self.radius, np.inf)
        return np.where(np.isnan(high), np.inf, high)

    def __neg__(self) -> Approx:
        return Approx(-self.value, self.radius)

    def __add__(self, other: Approx | float) -> Approx:
        other = exact(other) if not isinstance(other, Approx) else other
        return _made(self.value + other.value, self.radius + other.radius, 1.0)

    def __sub__(self, other: Approx | float) -> Approx:
        return self + -(exact(other) if not isinstance(other, Approx) else other)

    def __mul__(self, other: Approx | float) -> Approx:
        other = exact(other) if not isinstance(other, Approx) else other
        spread = abs(self.value) * other.radius + abs(other.value) * self.radius + self.radius * other.radius
        return _made(self.value * other.value, spread, 1.0)

    def __truediv__(self, other: Approx | float) -> Approx:
        other = exact(other) if not isinstance(other, Approx) else other
        with np.errstate(all="ignore"):
            value = self.value / other.value
            least = np.maximum(abs(other.value) - other.radius, 0.0) * (1.0 - 2.0 * UNIT)
            spread = (self.radius + abs(value) * (1.0 + 2.0 * UNIT) * other.radius) / least
            spread = np.where(least > 0.0, spread, np.inf)
        return _made(value, spread, 1.0)

    def __radd__(self, other: float) -> Approx:
        return self + other

    def __rmul__(self, other: float) -> Approx:
        return self * other

    def __rsub__(self, other: float) -> Approx:
        return -self + other

    def __rtruediv__(self, other: float) -> Approx:
        return exact(other) / self

    def __getitem__(self, index: object) -> Approx:
        return Approx(np.asarray(self.value[index]), np.asarray(self.radius[index]))  # type: ignore[index]

    def exp(self) -> Approx:
        """e^x; the radius grows by the factor e^r - 1."""
        with np.errstate(all="ignore"):
            value = np.exp(self.value)
            spread = value * np.expm1(self.radius)
        return _made(value, np.where(self.radius == 0.0, 0.0, spread), ulps.EXP + 8.0 * UNIT)

    def expm1(self) -> Approx:
        """e^x - 1, relative precision near 0."""
        with np.errstate(all="ignore"):
            value = np.expm1(self.value)
            spread = np.exp(self.value) * (1.0 + 8.0 * UNIT) * np.expm1(self.radius)
        return _made(value, np.where(self.radius == 0.0, 0.0, spread), ulps.EXPM1)

    def log(self) -> Approx:
        """log x; nothing is known where the interval touches 0."""
        with np.errstate(all="ignore"):
            value = np.log(self.value)
            ratio = self.radius / self.value * (1.0 + 4.0 * UNIT)
            spread = np.where((self.value > 0.0) & (ratio < 1.0), -np.log1p(-ratio), np.inf)
        return _made(value, spread, ulps.LOG)

    def log1p(self) -> Approx:
        """log(1 + x), relative precision near 0."""
        with np.errstate(all="ignore"):
            value = np.log1p(self.value)
            ratio = self.radius / (1.0 + self.value) * (1.0 + 8.0 * UNIT)
            spread = np.where((self.value > -1.0) & (ratio < 1.0), -np.log1p(-ratio), np.inf)
        return _made(value, spread, ulps.LOG1P)

    def sqrt(self) -> Approx:
        """Square root of a positive number: |sqrt(x + d) - sqrt(x)| <= |d| / sqrt(x)."""
        with np.errstate(all="ignore"):
            value = np.sqrt(self.value)
            spread = np.where(self.radius == 0.0, 0.0, self.radius / value * (1.0 + 4.0 * UNIT))
            spread = np.where(self.value > self.radius, spread, np.where(self.value == 0, np.inf, spread))
        return _made(value, spread, 1.0)

    def sum(self) -> Approx:
        """Sum of all entries. numpy adds in blocks; n - 1 additions in any order err by at most n u sum|x|."""
        size = self.value.size
        total = np.sum(self.value)
        spread = np.sum(self.radius) * (1.0 + 2.0 * size * UNIT) + size * UNIT * 1.01 * np.sum(abs(self.value))
        return _made(np.asarray(total), np.asarray(spread), 0.0)

    def clip_below(self, floor: float) -> Approx:
        """max(x, floor): a contraction, so the radius stays."""
        return Approx(np.maximum(self.value, floor), self.radius)


def exact(value: npt.ArrayLike) -> Approx:
    """A double taken as it is."""
    array = np.asarray(value, dtype=np.float64)
    return Approx(array, np.zeros_like(array))


def enclosing(lower: npt.ArrayLike, upper: npt.ArrayLike) -> Approx:
    """The smallest Approx around [lower, upper]."""
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    middle = low + (high - low) / 2.0
    reach = np.maximum(high - middle, middle - low)
    return _made(middle, np.where(high == low, 0.0, np.nextafter(reach, np.inf)), 0.0)


def where(condition: npt.NDArray[np.bool_], then: Approx, other: Approx) -> Approx:
    """Elementwise choice."""
    return Approx(np.where(condition, then.value, other.value), np.where(condition, then.radius, other.radius))


def mills(x: Approx) -> Approx:
    """Mills ratio R(x) = (1 - Phi(x)) / phi(x) = sqrt(pi/2) erfcx(x / sqrt 2).

    R is convex and decreasing, so on [x - r, x + r] its slope is steepest at the left end, where
    |R'(y)| = 1 - y R(y) <= 1 / (1 + y^2) for y >= 0 and = 1 + |y| R(y) for y < 0.
    """
    from scipy.special import erfcx

    root_half, root_half_pi = math.sqrt(0.5), math.sqrt(math.pi / 2.0)
    with np.errstate(all="ignore"):
        scaled = x.value * root_half
        value = root_half_pi * erfcx(scaled)
        left = x.value - x.radius - 2.5 * UNIT * abs(x.value)
        slope = np.where(
            left >= 0.0,
            1.0 / (1.0 + left * left),
            1.0 + abs(left) * 1.2534 * erfcx(np.minimum(left, 0.0) * root_half * (1.0 + 4.0 * UNIT)),
        )
        spread = slope * (1.0 + 1e-9) * (x.radius + 2.5 * UNIT * abs(x.value))
    return _made(value, spread, ulps.ERFCX + 4.0)


def _made(value: FloatArray, spread: FloatArray, units: float) -> Approx:
    """Adds `units` roundings of the result to the propagated error."""
    with np.errstate(all="ignore"):
        radius = (spread + units * UNIT * abs(value)) * INFLATE
        if units:
            radius = radius + 4.0 * SUBNORMAL
    return Approx(np.asarray(value), np.asarray(radius))
