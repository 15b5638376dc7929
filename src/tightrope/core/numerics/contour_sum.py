"""The contour sum in float64: the trapezoid rule for a product of powers of transforms, with its node errors.

I(eps) = (1/2 pi i) integral over Re z = c of e^{K(z) - z eps}/(z (z+1)) dz is approximated by scale S, where
scale = e^{K(c) - c eps}, S = (h/pi) Re [F_0/2 + F_1 + ... + F_J] and
F_j = prod phi_i(t_j)^{k_i} e^{-i t_j eps}/(z_j (z_j+1)), z_j = c + i t_j.
A computed phi within e of the truth gives a product within prod (|phi|+e)^k - prod |phi|^k of the truth.
At least one hit instead of all uses, each of which is marked as body (A) or hit (B): prod (A_i + B_i)^{k_i} - prod
A_i^{k_i} = prod A_i^{k_i} expm1(H), H = sum k_i log1p(r_i), r_i = B_i/A_i: relative precision, however rare hits are.
With moduli a, b of the computed A, B, and a+, b+ at or above those of the true ones, the difference errs by at most
prod (a+ + b+)^k - prod a+^k - [prod (a + b)^k - prod a^k].
Guarantee: |S computed - S exact| <= quadrature + rounding. Proof: docs/proofs/contour.md, sections 6, 7 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from .balls import lower_float, upper_float
from .enclosures import Enclosure, FloatArray
from .quadrature import Transform
from .rounding import ANGLE_MAX, ARCTANGENT, LOG, MILLIONS, UNIT, round_up

# Kernels of a contour sum: what every power of a transform is multiplied with before it is summed.
#
# smooth:     e^{-z eps} / (z (z+1)),
# ramp:       the same times (1 - e^{-(z+1) g}) / (1 - e^{-g}), or (1 - e^{-zg}) / (e^g - 1): secants of the profile,
# geometric:  e^{-z l} (a + b e^{-zh}) / ((1 - e^{-zh}) (1 - e^{-(z+1)h})) at z h = c h + 2 pi i n/N: a law on a
# lattice.
# Guarantee: each value within `error` times `size` of the truth.
# Proof: docs/proofs/contour.md, sections 7 and 12; docs/proofs/loss.md, section 6.

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


RATIO_ERROR = 64.0 * UNIT  # turn, product and quotient; log1p and arctangent as an error of the ratio


@dataclass(frozen=True, slots=True)
class Factor:
    """phi(t_j)^count e^{-i t_j count drift} as e^{log_modulus + i phase}, with the logs of two error factors.

    reach >= count log(|phi| + e); quadrature and rounding add up to at least count log(1 + e/|phi|), and to the
    rounding errors of log_modulus and phase. They may be infinite where phi vanishes; reach is finite.
    """

    log_modulus: FloatArray
    phase: FloatArray
    reach: FloatArray
    quadrature: FloatArray
    rounding: FloatArray


def power(transform: Transform, count: float) -> Factor:
    """The count-th power of a transform."""
    real, imaginary = transform.deviation.real, transform.deviation.imag
    size = abs(transform.deviation)
    square = 2.0 * real + size * size
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log = np.where(square > -0.5, 0.5 * np.log1p(square), np.log(np.hypot(1.0 + real, imaginary)))
        angle = np.arctan2(imaginary, 1.0 + real)
        modulus = np.exp(log)
        rounding = transform.rounding + 32.0 * UNIT * size * (1.0 + size)
        error = transform.quadrature + rounding
        last = UNIT * count * ((LOG + 4.0) * abs(log) + (ARCTANGENT + 4.0) * abs(angle))
        last = np.where(np.isfinite(last), last, np.inf)
        shares = [np.where(part > 0.0, part / modulus, 0.0) for part in (transform.quadrature, rounding)]
        spread = [count * 1.01 * np.log1p(share) for share in shares]  # 1.01 is for the rounding of modulus and log
        top = np.log(modulus + 1.01 * error)
        reach = count * (top + 16.0 * UNIT * (abs(top) + 2.0)) + np.where(np.isfinite(last), 2.0 * last, 0.0)
    return Factor(count * log, count * angle, reach, spread[0], spread[1] + last)


def bell(variance: Enclosure, times: FloatArray) -> Factor:
    """e^{-variance t^2/2}, the modulus of a normal transform."""
    log = -0.5 * variance.value * times * times
    rounding = abs(log) * 8.0 * UNIT + 0.51 * variance.radius * times * times
    return Factor(log, np.zeros_like(log), log + 2.0 * rounding, np.zeros_like(log), rounding)


@dataclass(frozen=True, slots=True)
class Hits:
    """H at the nodes, and sums over i of k_i log1p(b_i/a_i) with b computed, within quadrature, and within all errors.

    spread: sum of k_i |log1p(r_i)|, for the rounding of H.
    """

    log: FloatArray
    angle: FloatArray
    size: FloatArray
    quadrature: FloatArray
    reach: FloatArray
    spread: FloatArray


def hits(
    body: Transform, hit: Transform, log_ratio: Enclosure, drift: Enclosure, times: FloatArray, count: float
) -> Hits:
    """H of one term: log_ratio = log B(c)/A(c) at t = 0, drift that of the hits minus that of the body."""
    if not float(times[-1]) * abs(float(drift.value)) <= ANGLE_MAX:
        raise OverflowError("angles that are too large for float64")
    below, above = 1.0 + body.deviation, 1.0 + hit.deviation
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = np.exp(log_ratio.value)
        turn = times * float(drift.value)
        r = ratio * (above / below) * (np.cos(turn) + 1j * np.sin(turn))
        size = abs(r)
        square = 2.0 * r.real + size * size
        log = np.where(square > -0.5, 0.5 * np.log1p(square), np.log(np.hypot(1.0 + r.real, r.imag)))
        angle = np.arctan2(r.imag, 1.0 + r.real)
        modulus = abs(above)
        per_unit = ratio / abs(below)
        turned = times * float(drift.radius) + 4.0 * UNIT * abs(turn)
        blur = (
            1.01 * (float(log_ratio.radius) + turned) + RATIO_ERROR * (1.0 + size) + 4.0 * UNIT * abs(log_ratio.value)
        )
        whole = per_unit * (modulus + 1.01 * (hit.quadrature + hit.rounding) + 4.0 * UNIT) * (1.0 + blur + blur * blur)
        whole = np.where(blur < 0.5, whole, np.inf)  # e^x <= 1 + x + x^2 up to x = 1.7; each 1.01 is for rounding
        inner = per_unit * (modulus + hit.quadrature)
        spread = np.hypot(log, angle)
    parts = (log, angle, np.log1p(per_unit * modulus), np.log1p(inner), np.log1p(whole), spread)
    return Hits(*(count * np.where(np.isnan(part), np.inf, part) for part in parts))


def together(parts: Iterable[Hits]) -> Hits:
    """H of all terms."""
    found = list(parts)
    sums = {field.name: np.sum([getattr(part, field.name) for part in found], axis=0) for field in fields(Hits)}
    # Adding up errs by a unit of the spread per term; _hit_errors allows for eight units.
    return Hits(**{**sums, "spread": sums["spread"] * max(1.0, len(found) / 8.0)})


@dataclass(frozen=True, slots=True)
class NodeSpectrum:
    """All that the sum needs at any epsilon; with hits, only what has at least one of them is summed."""

    times: FloatArray
    step: float
    drift: Enclosure
    product: Factor
    hits: Hits | None = None


@dataclass(frozen=True, slots=True)
class ContourSum:
    """S and its two error radii."""

    value: float
    quadrature: float
    rounding: float


NOTHING_KNOWN = ContourSum(0.0, math.inf, math.inf)


def multiply(factors: Iterable[Factor]) -> Factor:
    """The product of all factors."""
    parts = list(factors)
    columns = ("log_modulus", "phase", "reach", "quadrature", "rounding")
    sums = [np.sum([getattr(part, name) for part in parts], axis=0) for name in columns]
    logs = np.sum([abs(part.log_modulus) + abs(part.phase) for part in parts], axis=0)
    added = np.where(np.isfinite(logs), len(parts) * UNIT * 1.01 * logs, 0.0)
    return Factor(sums[0], sums[1], sums[2] + added, sums[3], sums[4] + added)


@dataclass(frozen=True, slots=True)
class PlainSum:
    """S and its derivative at any point, without their errors: terms that only have to be turned."""

    times: FloatArray
    terms: ComplexArray
    slopes: ComplexArray

    @classmethod
    def of(cls, spectrum: NodeSpectrum, kernel: Kernel) -> PlainSum:
        """The terms at the point 0."""
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            modulus, across, along = _turned(spectrum, float(spectrum.drift.value))
            common = (spectrum.step / math.pi) * modulus * (across + 1j * along)
            common[0] *= 0.5
            return cls(spectrum.times, common * kernel.value, common * kernel.slope)

    def at(self, point: float) -> tuple[float, float]:
        """S, and the derivative of scale S by epsilon, divided by the scale."""
        turn = np.exp(-1j * point * self.times)
        return float(np.dot(self.terms, turn).real), -float(np.dot(self.slopes, turn).real)


@dataclass(frozen=True, slots=True)
class NodeErrors:
    """Errors of the powers, weighed by a kernel and added up: all that a sum needs to know of them at any point.

    An angle that is off by x adds at most m (e^x - 1) to the error of a power, m at or above its modulus.
    whole: of the transforms. inner: of the quadrature alone. last: of the last steps. per_time, per_phase: sums of m t
    and of m |phase|. phase: the largest of them. turns: the largest, with what hits turn by.
    """

    whole: float
    inner: float
    last: float
    per_time: float
    per_phase: float
    phase: float
    turns: float

    @classmethod
    def of(cls, spectrum: NodeSpectrum, kernel: Kernel) -> NodeErrors:
        """The sums over all nodes."""
        phase = abs(spectrum.product.phase)
        turns = phase if spectrum.hits is None else phase + spectrum.hits.spread
        with np.errstate(under="ignore", over="ignore", invalid="ignore"):
            found = (
                _errors(spectrum.product, kernel.error)
                if spectrum.hits is None
                else _hit_errors(spectrum, kernel.error)
            )
            whole, inner, last, most = (values * kernel.size for values in found)
            return cls(
                whole=float(np.sum(whole)),
                inner=float(np.sum(inner)),
                last=float(np.sum(last)),
                per_time=float(np.sum(most * spectrum.times)),
                per_phase=float(np.sum(most * phase)),
                phase=float(np.max(phase)),
                turns=float(np.max(turns)),
            )

    def at(self, last_time: float, turning: Enclosure, time_error: float) -> float:
        """All of them, where the terms turn this fast; an angle errs by per_time t + 4 UNIT |phase|."""
        per_time = float(turning.radius) + (4.0 * UNIT + time_error) * abs(float(turning.value))
        most = per_time * last_time + 4.0 * UNIT * self.phase
        if not most < 1.0:
            return math.inf
        # e^x - 1 <= x e^most
        turned = per_time * self.per_time + 4.0 * UNIT * self.per_phase
        return self.whole + math.exp(most) * (self.last + turned)


def contour_sum(spectrum: NodeSpectrum, kernel: Kernel, at: Enclosure, known: NodeErrors | None = None) -> ContourSum:
    """S where the terms turn around the point `at`; the errors of the powers may be known."""
    errors, last_time = known or NodeErrors.of(spectrum, kernel), float(spectrum.times[-1])
    turning = spectrum.drift - at
    if not last_time * abs(float(turning.value)) + errors.turns < ANGLE_MAX:
        return NOTHING_KNOWN
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        modulus, across, along = _turned(spectrum, float(turning.value))
        terms = modulus * (across * kernel.value.real - along * kernel.value.imag)
    if not np.all(np.isfinite(terms)):
        return NOTHING_KNOWN
    terms[0] = 0.5 * terms[0]
    scale, value = spectrum.step / math.pi, math.fsum(terms)
    # e^reach (1 - e^-x) never falls when x grows: what quadrature alone does not explain is rounding.
    total, inner = errors.at(last_time, turning, kernel.time_error), errors.inner
    return ContourSum(
        value=scale * value,
        quadrature=round_up(scale * inner, MILLIONS),
        rounding=round_up(scale * (max(total - inner, 0.0) + 8.0 * UNIT * total), MILLIONS)
        + 8.0 * UNIT * scale * abs(value),
    )


def _turned(spectrum: NodeSpectrum, turning: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Modulus, cosine and sine of the powers, turned."""
    product = spectrum.product
    angle = spectrum.times * turning + product.phase
    modulus, across, along = np.exp(product.log_modulus), np.cos(angle), np.sin(angle)
    if spectrum.hits is not None:
        across, along = _times_expm1(across, along, spectrum.hits)
    return modulus, across, along


def _errors(product: Factor, error: float) -> tuple[FloatArray, ...]:
    """Of each power: all errors of the transform, those of the quadrature alone, and of the last steps; its size."""
    most = np.exp(product.reach)
    whole = most * -np.expm1(-(product.quadrature + product.rounding))
    return whole, most * -np.expm1(-product.quadrature), np.exp(product.log_modulus) * error, most


def _hit_errors(spectrum: NodeSpectrum, error: float) -> tuple[FloatArray, ...]:
    """The same for prod (A + B)^k - prod A^k: what larger moduli would add, and the rounding of H and of expm1."""
    product, hits = spectrum.product, spectrum.hits
    assert hits is not None
    power = np.exp(product.reach)
    most = power * np.expm1(hits.reach)
    computed = np.exp(product.log_modulus) * np.expm1(hits.size)
    inner = power * np.expm1(hits.quadrature) - computed
    sizes = abs(product.log_modulus) + hits.reach
    last = most * (error + 16.0 * UNIT * (4.0 + sizes)) + power * np.exp(hits.reach) * 16.0 * UNIT * hits.spread
    return np.maximum(most - computed, 0.0), np.maximum(inner, 0.0), last, most


def _times_expm1(across: FloatArray, along: FloatArray, hits: Hits) -> tuple[FloatArray, FloatArray]:
    """(across + i along) expm1(H): e^u cos v - 1 = expm1(u) cos v - 2 sin^2(v/2)."""
    half = np.sin(0.5 * hits.angle)
    up = np.expm1(hits.log) * np.cos(hits.angle) - 2.0 * half * half
    out = np.exp(hits.log) * np.sin(hits.angle)
    return across * up - along * out, across * out + along * up


# A product of many transforms that are combinations of two, in float64, with error radii.
#
# Uses i = 1, ..., n have the moments M_i = M_A + v_i (M_B - M_A), v_i >= 0. With X = phi_A, D = rho phi_B - phi_A,
# rho = M_B/M_A at t = 0 and R = D/X, the product of all M_i is M_A^n X^n prod (1 + v_i R), and
# sum log(1 + v_i R) = sum_p (-1)^(p+1) S_p R^p/p, S_p = sum v_i^p: the cost does not depend on n.
# Guarantee: |product - computed| as kernels.contour_sum.Factor says, or None where some |v R| may exceed 1/2.
# Proof: docs/proofs/pools.md, section 3.

SERIES = 12  # terms
RATIO_MAX = 0.5  # of |v R|: the series falls faster than powers of it
BINNING_BLUR_MAX = 1e-3  # of what is known to relative precision only
BINNING_HORNER = 256.0  # units, of S_1 |R|: twelve complex steps, and coefficients of 16 units


@dataclass(frozen=True, slots=True)
class Shares:
    """Weights v >= 0 with counts: how many, their largest, and sums of their powers, to 16 units each."""

    count: int
    largest: float
    powers: tuple[float, ...]

    @classmethod
    def of(cls, weights: Sequence[tuple[float, int]]) -> Shares:
        """The sums over all."""
        powers = (math.fsum(count * weight**order for weight, count in weights) for order in range(1, SERIES + 1))
        return cls(sum(count for _, count in weights), max(weight for weight, _ in weights), tuple(powers))


def pooled(
    low: Transform, high: Transform, log_ratio: Enclosure, lead: Enclosure, times: FloatArray, shares: Shares
) -> Factor | None:
    """prod (X + v_i D) e^{-i t n drift}; log_ratio = log rho, lead the drift of B minus that of A."""
    rise, turn = float(log_ratio.value), times * float(lead.value)
    if not (float(np.max(abs(turn))) < ANGLE_MAX and abs(rise) < 1.0):
        return None
    grown, half, small = math.exp(rise), np.sin(0.5 * turn), np.minimum(abs(turn), 2.0)
    beyond = math.expm1(rise) * np.cos(turn) - 2.0 * half * half + 1j * grown * np.sin(turn)  # rho e^{i turn} - 1
    known = float(log_ratio.radius) + times * float(lead.radius) + 4.0 * UNIT * abs(turn)
    blur = 1.02 * grown * known + 64.0 * UNIT * grown * (abs(rise) + small)
    factor, size_high = 1.0 + beyond, abs(high.deviation)
    ahead = beyond + factor * high.deviation - low.deviation
    modulus = abs(1.0 + low.deviation)
    if not (np.all(blur < BINNING_BLUR_MAX) and np.all(low.quadrature + low.rounding < BINNING_BLUR_MAX * modulus)):
        return None
    ratio = ahead / (1.0 + low.deviation)
    size = abs(ratio)
    lifted = 1.01 * abs(factor)
    sizes = abs(beyond) + lifted * size_high + abs(low.deviation)
    quadrature = (low.quadrature * (1.0 + size) + lifted * high.quadrature) * (1.02 / modulus)
    rounding = low.rounding * (1.0 + size) + lifted * high.rounding + 1.02 * blur * (1.0 + size_high)
    rounding = (rounding + 16.0 * UNIT * sizes) * (1.02 / modulus) + 32.0 * UNIT * size
    if not np.all(shares.largest * (size + quadrature + rounding) < RATIO_MAX):
        return None
    log = np.zeros_like(ratio)
    for order in range(SERIES, 0, -1):
        log = (log + (-1.0) ** (order + 1) * shares.powers[order - 1] / order) * ratio
    first = shares.powers[0]
    left_out = 2.1 * first * size * (shares.largest * size) ** SERIES / (SERIES + 1.0)
    spread, last = 2.04 * first * quadrature, 2.04 * first * rounding + BINNING_HORNER * UNIT * first * size + left_out
    own = Factor(log.real, log.imag, log.real + spread + 2.0 * last, spread, last)
    return multiply([power(low, float(shares.count)), own])


def shifted(factor: Factor, log: Enclosure) -> Factor:
    """The factor divided by e^log."""
    value, radius = float(log.value), float(log.radius)
    slack = radius + 4.0 * UNIT * (abs(value) + abs(factor.log_modulus))
    return Factor(
        factor.log_modulus - value,
        factor.phase,
        factor.reach - value + 2.0 * slack,
        factor.quadrature,
        factor.rounding + slack,
    )
