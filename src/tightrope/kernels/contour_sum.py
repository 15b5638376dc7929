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
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from .contour_kernel import ComplexArray, Kernel
from .directed import MILLIONS, round_up
from .enclosure import Enclosure, FloatArray
from .quadrature import Transform
from .ulps import ANGLE_MAX, ARCTANGENT, LOG, UNIT

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
