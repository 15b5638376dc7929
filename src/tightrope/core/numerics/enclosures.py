"""float64 arrays that carry a rigorous error radius.

Claim: if every input of a formula lies within its radius, the exact result lies within the radius of the value.
Each operation adds the propagated error of its inputs, the rounding of its own result (kernels.ulps) and, through
INFLATE, the rounding of the radius itself. A radius of inf or a NaN means that nothing is known; `lower` and `upper`
turn that into -inf and inf, never into a wrong number.
Guarantee: exact value in [lower, upper], under the constants of kernels.ulps. Proof: docs/proofs/rounding.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from flint import arb

from ..values import compute_budget
from . import rounding
from .balls import lower_float, upper_float
from .fp_environment import demand_erfcx
from .rounding import SUBNORMAL, UNIT

FloatArray = npt.NDArray[np.float64]

# Covers the rounding of a radius: fewer than 64 roundings and library errors of UNIT each.
INFLATE = 1.0 + 2.0**-46
# Covers what underflow hides: at most 16 for a library function, and a half for each of fewer than 16 products.
UNDERFLOW = 24.0 * SUBNORMAL


OPERATION = 20.0  # units of work, for one entry


@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """Values and error radii of equal shape."""

    value: FloatArray
    radius: FloatArray

    # Lets array + Enclosure reach __radd__ as a whole.
    __array_ufunc__: ClassVar[None] = None

    @property
    def lower(self) -> FloatArray:
        """At or below the exact value."""
        return -(-self).upper

    @property
    def upper(self) -> FloatArray:
        """At or above the exact value."""
        if self.value.ndim == 0:
            value, radius = float(self.value), float(self.radius)
            one = value if radius == 0.0 else math.nextafter(value + radius, math.inf)
            return np.asarray(math.inf if math.isnan(one) else one)
        with np.errstate(all="ignore"):
            high = np.nextafter(self.value + self.radius, np.inf)
        high = np.where(self.radius == 0.0, self.value, high)
        return np.where(np.isnan(high), np.inf, high)

    def __neg__(self) -> Enclosure:
        return Enclosure(np.asarray(-self.value), self.radius)

    def __add__(self, other: Enclosure | npt.ArrayLike) -> Enclosure:
        number: object = other
        if isinstance(number, float):
            with np.errstate(all="ignore"):
                return _made(self.value + number, self.radius, 1.0)
        other = _lifted(other)
        with np.errstate(all="ignore"):
            return _made(self.value + other.value, self.radius + other.radius, 1.0)

    def __sub__(self, other: Enclosure | npt.ArrayLike) -> Enclosure:
        number: object = other
        return self + (-number if isinstance(number, float) else -_lifted(other))

    def __mul__(self, other: Enclosure | npt.ArrayLike) -> Enclosure:
        number: object = other
        if isinstance(number, float):
            with np.errstate(all="ignore"):
                return _made(self.value * number, self.radius * abs(number), 1.0)
        other = _lifted(other)
        with np.errstate(all="ignore"):
            spread = abs(self.value) * other.radius + abs(other.value) * self.radius + self.radius * other.radius
            return _made(self.value * other.value, spread, 1.0)

    def __truediv__(self, other: Enclosure | npt.ArrayLike) -> Enclosure:
        """x / y: X/Y - x/y = (X - x)/Y + (x/y) (y - Y)/Y, nothing known where the interval of y touches 0."""
        other = _lifted(other)
        with np.errstate(all="ignore"):
            value = self.value / other.value
            least = np.maximum(abs(other.value) - other.radius, 0.0) * (1.0 - 2.0 * UNIT)
            # SUBNORMAL stands for a quotient that underflowed, which a wide divisor may magnify.
            spread = self.radius / least + (abs(value) + SUBNORMAL) * (other.radius / least)
            return _made(value, np.where(least > 0.0, spread, np.inf), 1.0)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: npt.ArrayLike) -> Enclosure:
        return -self + other

    def __rtruediv__(self, other: npt.ArrayLike) -> Enclosure:
        return exact(other) / self

    def __getitem__(self, index: Any) -> Enclosure:
        return Enclosure(np.asarray(self.value[index]), np.asarray(self.radius[index]))

    def exp(self) -> Enclosure:
        """e^x; |e^X - e^x| <= e^x (e^r - 1)."""
        with np.errstate(all="ignore"):
            value = np.exp(self.value)
            return _made(value, _growth(value, self.radius), rounding.EXP)

    def expm1(self) -> Enclosure:
        """e^x - 1, relative precision near 0."""
        with np.errstate(all="ignore"):
            return _made(np.expm1(self.value), _growth(np.exp(self.value), self.radius), rounding.EXPM1)

    def log(self) -> Enclosure:
        """log x; |log X - log x| <= -log(1 - r/x), nothing known where the interval touches 0."""
        with np.errstate(all="ignore"):
            return _made(np.log(self.value), _shrinkage(self.value, self.radius), rounding.LOG)

    def log1p(self) -> Enclosure:
        """log(1 + x), relative precision near 0."""
        with np.errstate(all="ignore"):
            return _made(np.log1p(self.value), _shrinkage(1.0 + self.value, self.radius), rounding.LOG1P)

    def sqrt(self) -> Enclosure:
        """Square root of a number known to be >= 0: |sqrt X - sqrt x| <= min(r / sqrt x, sqrt r)."""
        with np.errstate(all="ignore"):
            value = np.sqrt(self.value)
            return _made(value, np.fmin(self.radius / abs(value), np.sqrt(self.radius)), 1.0)  # the root of -0 is -0

    def sum(self) -> Enclosure:
        """Sum of all entries; n - 1 additions in any order err by at most 1.01 n u sum|x| for n <= 2**40."""
        with np.errstate(all="ignore"):
            share = self.value.size * UNIT
            spread = np.sum(self.radius) * (1.0 + 2.0 * share) + 1.01 * share * np.sum(abs(self.value))
            return _made(np.asarray(np.sum(self.value)), np.asarray(spread), 0.0)

    def clip_below(self, floor: float) -> Enclosure:
        """max(x, floor): a contraction, so the radius stays, and exactly floor where x cannot be above it."""
        settled = self.upper <= floor
        return Enclosure(np.where(settled, floor, np.maximum(self.value, floor)), np.where(settled, 0.0, self.radius))


def exact(value: npt.ArrayLike) -> Enclosure:
    """A double taken as it is."""
    array = np.asarray(value, dtype=np.float64)
    return Enclosure(array, np.zeros_like(array))


def count_enclosure(count: int) -> Enclosure:
    """A whole number of any size that fits into a double."""
    nearest = float(count)
    return around(nearest, abs(float(count - int(nearest))) * (1.0 + 2.0 * UNIT))  # the rest may be rounded too


def around(value: npt.ArrayLike, radius: npt.ArrayLike) -> Enclosure:
    """A value that is known up to a radius."""
    return Enclosure(np.asarray(value, dtype=np.float64), np.asarray(radius, dtype=np.float64))


def enclosing(lower: npt.ArrayLike, upper: npt.ArrayLike) -> Enclosure:
    """An Enclosure around [lower, upper], barely wider."""
    low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
    with np.errstate(all="ignore"):
        middle = np.where(high == low, low, low + (high - low) / 2.0)
        reach = np.maximum(abs(high - middle), abs(middle - low))
        return Enclosure(middle, np.where(high == low, 0.0, np.nextafter(reach, np.inf)))


def enclosed(balls: Sequence[arb]) -> Enclosure:
    """Doubles with radii around balls."""
    return enclosing(np.array([lower_float(ball) for ball in balls]), np.array([upper_float(ball) for ball in balls]))


def falling(ends: Callable[[FloatArray], tuple[FloatArray, FloatArray]], points: Enclosure) -> Enclosure:
    """A function that falls from 1 to 0 at uncertain points, from doubles around its values at rows of doubles."""
    known = (np.isfinite(points.value) & np.isfinite(points.radius)).ravel()
    least, most = (np.where(known, end.ravel(), 0.0) for end in (points.lower, points.upper))
    with np.errstate(all="ignore"):
        lower, upper = ends(least)
        if np.any(points.radius):
            lower = ends(most)[0]
    shape = points.value.shape
    return enclosing(
        np.where(known, np.maximum(lower, 0.0), 0.0).reshape(shape),
        np.where(known, np.minimum(upper, 1.0), 1.0).reshape(shape),
    )


def where(condition: npt.NDArray[np.bool_], then: Enclosure, other: Enclosure) -> Enclosure:
    """Elementwise choice."""
    return Enclosure(np.where(condition, then.value, other.value), np.where(condition, then.radius, other.radius))


def mills(x: Enclosure) -> Enclosure:
    """Mills ratio R(x) = (1 - Phi(x)) / phi(x) = sqrt(pi/2) erfcx(x / sqrt 2).

    R is convex and decreasing, so on [x - r, x + r] its slope is steepest at the left end, where
    |R'(y)| = 1 - y R(y) <= 1 / (1 + y^2) for y >= 0 and = 1 + |y| R(y) for y < 0.
    """
    from scipy.special import erfcx, errstate

    demand_erfcx()
    root_half, root_half_pi = math.sqrt(0.5), math.sqrt(math.pi / 2.0)
    with np.errstate(all="ignore"), errstate(all="ignore"):
        scaled = x.value * root_half  # off by less than 2.5 UNIT, which counts as a part of the radius
        reach = x.radius + 2.5 * UNIT * abs(x.value)
        left = (x.value - reach) - 4.0 * UNIT * (abs(x.value) + reach)
        slant = np.hypot(1.0, left)
        steep = 1.0 + abs(left) * 1.2534 * erfcx(np.minimum(left, 0.0) * root_half * (1.0 + 4.0 * UNIT))
        spread = np.where(left >= 0.0, reach / slant / slant, steep * reach) * (1.0 + 1e-9)
        units = rounding.ERFCX + 4.0 + np.minimum(scaled, 0.0) ** 2
        return _made(root_half_pi * erfcx(scaled), spread, units)


def log_normal_sides(u: Enclosure) -> tuple[Enclosure, Enclosure]:
    """log Phi(u) and log Phi(-u): the smaller side is e^(-u^2/2) R(|u|)/sqrt(2 pi), the other one minus it."""
    negative = u.value < 0.0
    size = where(negative, -u, u)
    small = size * size * -0.5 - LOG_ROOT_TWO_PI + mills(size).log()
    with np.errstate(under="ignore"):
        large = (-small.exp()).log1p()
    return where(negative, small, large), where(negative, large, small)


LOG_ROOT_TWO_PI = Enclosure(np.asarray(0.9189385332046728), np.asarray(2.0 * UNIT))


def _lifted(value: Enclosure | npt.ArrayLike) -> Enclosure:
    return value if isinstance(value, Enclosure) else exact(value)


def _growth(power: FloatArray, radius: FloatArray) -> FloatArray:
    """e^x (e^r - 1) from e^x as computed, which may have underflowed to 0 where e^(x+r) has not."""
    return np.where(radius == 0.0, 0.0, (power + UNDERFLOW) * np.expm1(radius))


def _shrinkage(argument: FloatArray, radius: FloatArray) -> FloatArray:
    """-log(1 - r/y), or inf where y - r may be <= 0."""
    ratio = radius / argument * (1.0 + 8.0 * UNIT)
    return np.where((argument > 0.0) & (ratio < 1.0), -np.log1p(-ratio), np.inf)


def _made(value: FloatArray, spread: FloatArray, units: float | FloatArray) -> Enclosure:
    """Adds `units` roundings of the result, and what underflow may hide, to the propagated error."""
    if value.size >= compute_budget.SIZE_MIN:
        compute_budget.spend(OPERATION * value.size)
    radius = (spread + units * UNIT * abs(value)) * INFLATE + UNDERFLOW
    return Enclosure(np.asarray(value), np.asarray(radius))
