"""Fourier transforms of discrete laws in float64, as phi - 1, with error radii.

A law of finitely many weights f_x at offsets d_x stands for a tilted law, exactly or as the nodes of a quadrature:
phi(t) - 1 = sum_x f_x (e^{i t d_x} - 1) / sum_x f_x. Summing e^{i theta} - 1 instead of e^{i theta} makes the error
proportional to t E|d|, which is what a k-th power needs: it grows like the square root of k, not like k.
With t_j = (j1 B + j0) step the exponentials split, (1 + E1)(1 + E2) - 1 = E1 E2 + E1 + E2, and the sum over x is one
real matrix product.
Guarantee: |phi(t_j) - 1 - deviation_j| <= quadrature_j + rounding_j. Proof: docs/proofs/contour.md, sections 5 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from flint import acb, arb, arb_mat

from .enclosures import Enclosure, FloatArray, exact
from .rounding import ANGLE_MAX, COSINE, MILLIONS, SINE, UNIT, round_up

if TYPE_CHECKING:
    from .contour_sum import Factor


# Error of a computed e^{ip} - 1 = -2 sin^2(p/2) + 2i sin(p/2) cos(p/2) for a given p, in units of min(|p|, 2) UNIT.
TURN_ERROR = 4.0 * SINE + 2.0 * COSINE + 8.0
CHUNK = 64  # inner products are summed in chunks of about this length, then chunk by chunk
OF_TOTAL_MAX = 0.5  # relative error of the total of the weights beyond which nothing is claimed
LEVELS = 48  # where the growth of E min(2, t|d|) with t is sampled


@dataclass(frozen=True)
class QuadratureError:
    """Relative error of the transform at t: fixed + min over modes of exp(constant + slope t)."""

    fixed: float
    modes: tuple[tuple[float, float], ...]

    def at(self, t: FloatArray) -> FloatArray:
        """The bound at each t, rounded up."""
        if not self.modes:
            return np.full_like(t, self.fixed)
        exponents = np.min([constant + slope * t for constant, slope in self.modes], axis=0)
        with np.errstate(over="ignore", under="ignore"):
            return round_up(np.asarray(self.fixed + np.exp(exponents + 1e-9 * (1.0 + abs(exponents)))), MILLIONS)

    @cached_property
    def at_zero(self) -> float:
        """The bound at 0."""
        return float(self.at(np.zeros(1))[0])


NO_ERROR = QuadratureError(0.0, ())


@dataclass(frozen=True, slots=True)
class TiltedLaw:
    """The tilted law of a loss: drift + offsets, weights up to a common factor, and log M(c).

    The true weights sum to what `weights` enclose, up to `error`.
    """

    drift: Enclosure
    log_mgf: Enclosure
    offsets: Enclosure
    weights: Enclosure
    error: QuadratureError

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        """The count-th power of the transform at t = 0, step, ..., (nodes - 1) step."""
        from .contour_sum import power

        return power(transform(self, step, nodes), float(count))


@dataclass(frozen=True, slots=True)
class Transform:
    """phi(t_j) e^{-i t_j drift} - 1 at t_j = j step, and two error radii."""

    deviation: npt.NDArray[np.complex128]
    quadrature: FloatArray
    rounding: FloatArray


def transform(law: TiltedLaw, step: float, nodes: int) -> Transform:
    """phi - 1 at t = 0, step, ..., (nodes - 1) step; step j must be exact for every j."""
    offsets, weights = law.offsets.value, law.weights.value
    if not (np.all(np.isfinite(offsets)) and np.all(np.isfinite(weights))):
        raise OverflowError("losses beyond float64")
    block = max(1, math.isqrt(nodes))
    rows = -(-nodes // block)
    outer, inner = step * block * np.arange(rows, dtype=np.float64), step * np.arange(block, dtype=np.float64)
    if 0.5 * float(max(outer[-1], inner[-1])) * float(np.max(abs(offsets))) > ANGLE_MAX:
        raise OverflowError("angles that are too large for float64")
    # Rows: E1 real, E1 imaginary, ones; columns: E2 real, E2 imaginary, ones: all nine sums at once.
    length = max(CHUNK, math.isqrt(offsets.size))
    cuts = range(0, offsets.size, length)
    sums = np.zeros((2 * rows + 1, 2 * block + 1))
    for cut in cuts:
        chunk = slice(cut, cut + length)
        sums += (_turns(outer, offsets[chunk]) * weights[chunk]) @ _turns(inner, offsets[chunk]).T
    first, second, total = slice(0, rows), slice(rows, 2 * rows), sums[2 * rows, 2 * block]
    real, imaginary, last = slice(0, block), slice(block, 2 * block), 2 * block
    up = sums[first, real] - sums[second, imaginary] + sums[first, last:] + sums[2 * rows :, real]
    across = sums[first, imaginary] + sums[second, real] + sums[second, last:] + sums[2 * rows :, imaginary]
    deviation = ((up + 1j * across) / total).ravel()[:nodes]
    times = step * np.arange(nodes, dtype=np.float64)
    with np.errstate(over="ignore"):  # an error beyond doubles is inf, and so is the width that it makes
        quadrature = 4.0 * law.error.at(times) + 4.0 * law.error.at_zero
    dot = 1.01 * (length + len(cuts) + 16) * UNIT  # gamma of such an inner product, any order inside a chunk
    return Transform(deviation, quadrature, _rounding(law, times, dot))


def _turns(times: FloatArray, offsets: FloatArray) -> FloatArray:
    """Rows of e^{i t d} - 1: the real parts for every t, the imaginary parts, and ones."""
    size = times.size
    turns = np.empty((2 * size + 1, offsets.size))
    real, imaginary = turns[:size], turns[size : 2 * size]
    half = (0.5 * times)[:, None] * offsets
    np.sin(half, out=real)
    np.cos(half, out=imaginary)
    imaginary *= real
    imaginary *= 2.0
    real *= real
    real *= -2.0
    turns[2 * size] = 1.0
    return turns


def _rounding(law: TiltedLaw, times: FloatArray, dot: float) -> FloatArray:
    """Bounds the error of each deviation: angles, weights, summation and the division by the total.

    With G(t) = E min(2, t|d|), which never falls with t: an angle p = t d errs by UNIT p and by t times the radius of
    d; the rest of a turn, the sums and the total err by multiples of G; a weight by its radius times min(2, t|d|).
    G under the true weights is at most that under the computed ones, radii included, divided by 1 - of_total: that
    factor holds the second-order terms. 1.01 is for the rounding of these sums, and holds up to 10^13 nodes.
    """
    sizes, weights, radii = abs(law.offsets.value), law.weights.value, law.weights.radius
    total = float(np.sum(weights))
    linear = float(np.sum(weights * (2.0 * UNIT * sizes + law.offsets.radius))) / total
    most = float(times[-1])
    if most == 0.0:
        return np.full_like(times, 1e-300)
    levels = most * 0.5 ** np.arange(LEVELS, dtype=np.float64)[::-1]
    turns = levels[:, None] * sizes
    np.minimum(turns, 2.0, out=turns)
    mean, blurred = turns @ weights / total, turns @ radii / total
    of_total = round_up(float(np.sum(radii)) / total + dot, MILLIONS)
    if not of_total < OF_TOTAL_MAX:
        return np.full_like(times, np.inf)
    at_levels = mean * (TURN_ERROR * UNIT + 8.0 * dot + of_total) + blurred
    growing = at_levels[np.minimum(np.searchsorted(levels, times), LEVELS - 1)]
    return 1.01 / (1.0 - of_total) * (times * linear + growing) + 1e-300


def blurred(law: TiltedLaw, time_error: float) -> TiltedLaw:
    """The law for transforms at times that are known up to this relative error: the same as errors of the offsets."""
    radius = law.offsets.radius + time_error * abs(law.offsets.value)
    return replace(law, offsets=Enclosure(law.offsets.value, radius))


def widened(value: Enclosure, relative: float) -> Enclosure:
    """log of a number known up to this relative error: |log(1 + x)| <= 1.01 |x| for |x| <= 0.0197."""
    slack = 1.01 * relative if relative < 0.01 else np.inf
    return Enclosure(value.value, value.radius + slack)


def point_law(
    masses: Enclosure, offsets: Enclosure, centre: float, missing: Enclosure, tilt: float, error: QuadratureError
) -> TiltedLaw:
    """The law of given points at centre + offsets, tilted by e^{tilt loss}; the masses sum to 1 - missing.

    log M(c) = c centre + log1p(sum p expm1(c offset) - missing) where that is sharper than the log of the sum.
    """
    growth = offsets * tilt
    top = float(np.max(growth.value))
    weights = masses * (growth - top).exp()
    with np.errstate(over="ignore", invalid="ignore"):
        rise = (masses * growth.expm1()).sum() - missing
    if np.isfinite(rise.radius) and float(rise.lower) > -0.5 and float(rise.upper) < 1.0:
        log = rise.log1p()
    else:
        log = weights.sum().log() + top
    slack = 4.0 * error.at_zero  # M >= 1/2 in the first branch, so twice the error of the plain sum
    return TiltedLaw(exact(centre), widened(log, slack) + exact(centre) * tilt, offsets, weights, error)


# Fourier transforms of tilted laws in balls.
#
# The formulas of kernels.quadrature without their detours: balls carry every rounding, so
# phi(t) = sum_x f_x e^{i t l_x} / sum_x f_x is summed as it stands, the quadrature error added as a radius.
# Gauss-Legendre quadrature: if f is analytic inside the ellipse with foci +-half and semi-axes half (r +- 1/r)/2, and
# |f| <= M there, n nodes on [-half, half] err by at most 8 half M r^{1-2n}/(r - 1): the rule is exact up to degree
# 2n - 1, its weights are positive, and the Chebyshev series of f, cut there, is within 2 M r^{1-2n}/(r - 1) of f.
# Guarantee: every ball contains the truth. Proof: docs/proofs/contour.md, section 5.
# Reference: Trefethen 2019, Approximation Theory and Approximation Practice, Thm 8.2 and 19.3.

SEMI_MINORS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 2.8)
RULE_NODES_MAX = 2000


class BallError(Protocol):
    """Relative errors of a quadrature: of the transform at t >= 0, and of the mass left out on one side of the sum."""

    @property
    def ends(self) -> arb: ...
    def at(self, t: float) -> arb: ...


@dataclass(frozen=True, slots=True)
class BallLaw:
    """Losses and weights of a tilted law, and log M(c); without an error the sums are exact."""

    losses: tuple[arb, ...]
    weights: tuple[arb, ...]
    log_mgf: arb
    error: BallError | None

    @property
    def total(self) -> arb:
        """The mass that the weights stand for."""
        return total_mass(self.weights, self.error)

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        """phi(t) at t = 0, step, ..., (nodes - 1) step; the exponentials split into a matrix product."""
        block = max(1, math.isqrt(nodes))
        rows = -(-nodes // block)
        outer = [[(loss * (step * block * row)).sin_cos() for loss in self.losses] for row in range(rows)]
        inner = [[(loss * (step * column)).sin_cos() for column in range(block)] for loss in self.losses]
        # Real matrices, cosines over sines: Arb multiplies them several times faster than complex ones.
        left = [
            [weight * turn[part] for turn, weight in zip(row, self.weights, strict=True)]
            for part in (1, 0)
            for row in outer
        ]
        right = [[turn[part] for part in (1, 0) for turn in row] for row in inner]
        products = (arb_mat(left) * arb_mat(right)).tolist()
        sums = [
            acb(
                products[row][column] - products[rows + row][block + column],
                products[row][block + column] + products[rows + row][column],
            )
            for row in range(rows)
            for column in range(block)
        ]
        total, error = self.total, self.error
        if error is None:
            return [value / total for value in sums[:nodes]]
        assert isinstance(step, float)  # only exact sums are asked for at other times
        left_out = sum(self.weights, arb(0)) * error.ends
        values = []
        for index in range(nodes):
            slack = around_zero(left_out + total * error.at(step * index))
            values.append((sums[index] + acb(slack, slack)) / total)
        return values


def total_mass(weights: tuple[arb, ...], error: BallError | None) -> arb:
    """The integral behind a sum of weights."""
    mass = sum(weights, arb(0))
    return mass if error is None else mass * arb(1).union(1 + error.ends) / (1 + around_zero(error.at(0.0)))


def point_law_ball(losses: tuple[arb, ...], masses: tuple[arb, ...], tilt: float, error: BallError | None) -> BallLaw:
    """The law of given points, tilted by e^{tilt loss}."""
    weights = tuple(mass * (arb(tilt) * loss).exp() for loss, mass in zip(losses, masses, strict=True))
    return BallLaw(losses, weights, total_mass(weights, error).log(), error)


def around_zero(size: arb) -> arb:
    """The ball around 0 with this radius; everything if the size is not finite."""
    return arb(0, size.abs_upper()) if size.is_finite() else arb.nan()


@dataclass(frozen=True, slots=True)
class Ellipse:
    """The ellipse with foci +-half and this semi-minor axis, as a double; the rest in balls."""

    half: arb
    minor: float

    @property
    def ratio(self) -> arb:
        """r, the sum of the semi-axes divided by half the distance of the foci."""
        slope = arb(self.minor) / self.half
        return slope + (1 + slope * slope).sqrt()

    @property
    def major(self) -> arb:
        """The semi-major axis."""
        return (self.half * self.half + arb(self.minor) ** 2).sqrt()


@dataclass(frozen=True, slots=True)
class EllipseError:
    """size e^{minor t}: the relative error at t of a transform whose integrand grows like that on the ellipse."""

    size: arb
    minor: float

    @property
    def ends(self) -> arb:
        return arb(0)

    def at(self, t: float) -> arb:
        """An upper bound at t >= 0."""
        return self.size * (arb(self.minor) * arb(t)).exp()


def choose_rule(
    half: arb, log_size: Callable[[Ellipse], float], reach: float, log_tolerance: float
) -> tuple[Ellipse, int] | None:
    """The ellipse that needs the fewest nodes, and their number; log_size is log M at t = 0, relative."""
    best: tuple[Ellipse, int] | None = None
    for minor in SEMI_MINORS:
        ellipse = Ellipse(half, minor)
        ratio = float(ellipse.ratio.mid())
        need = log_size(ellipse) + minor * reach + log_tolerance + math.log(8.0 * float(half.mid()) / (ratio - 1.0))
        nodes = max(2, math.ceil(0.5 + 0.5 * need / math.log(ratio)))
        if best is None or nodes < best[1]:
            best = (ellipse, nodes)
    return best if best is not None and best[1] <= RULE_NODES_MAX else None


def rule_error(ellipse: Ellipse, nodes: int, size: arb) -> EllipseError:
    """The error of the rule for an integrand of at most size e^{minor t} on the ellipse."""
    ratio = ellipse.ratio
    return EllipseError(8 * ellipse.half * size * ratio ** (1 - 2 * nodes) / (ratio - 1), ellipse.minor)


def rule(half: arb, nodes: int) -> list[tuple[arb, arb]]:
    """Nodes and weights on [-half, half]."""
    pairs = [arb.legendre_p_root(nodes, index, weight=True) for index in range(nodes)]
    return [(half * node, half * weight) for node, weight in pairs]
