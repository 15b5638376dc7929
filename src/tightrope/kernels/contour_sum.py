"""The contour sum in float64: the trapezoid rule for a product of powers of transforms, with its node errors.

I(eps) = (1/2 pi i) integral over Re z = c of e^{K(z) - z eps}/(z (z+1)) dz is approximated by scale S, where
scale = e^{K(c) - c eps}, S = (h/pi) Re [F_0/2 + F_1 + ... + F_J] and
F_j = prod phi_i(t_j)^{k_i} e^{-i t_j eps}/(z_j (z_j+1)), z_j = c + i t_j.
A computed phi within e of the truth gives a product within prod (|phi|+e)^k - prod |phi|^k of the truth.
Guarantee: |S computed - S exact| <= quadrature + rounding. Proof: docs/proofs/contour.md, sections 6 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .approx import Approx, FloatArray, exact
from .quadrature import Transform
from .ulps import ANGLE_MOST, ARCTANGENT, LOG, UNIT

TERM_ERROR = 64.0 * UNIT  # of one term, relative: exp, cosine, sine, the division by z (z+1) and three products

SUM_SLACK = 1e-9


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
        spread = [count * 1.01 * np.log1p(part / modulus) for part in (transform.quadrature, rounding)]
        top = np.log(modulus + 1.01 * error)
        reach = count * (top + 16.0 * UNIT * (abs(top) + 2.0)) + np.where(np.isfinite(last), 2.0 * last, 0.0)
    return Factor(count * log, count * angle, reach, spread[0], spread[1] + last)


def bell(variance: Approx, times: FloatArray) -> Factor:
    """e^{-variance t^2/2}, the modulus of a normal transform."""
    log = -0.5 * variance.value * times * times
    rounding = abs(log) * 8.0 * UNIT + 0.51 * variance.radius * times * times
    return Factor(log, np.zeros_like(log), log + 2.0 * rounding, np.zeros_like(log), rounding)


@dataclass(frozen=True, slots=True)
class Spectrum:
    """All that the sum needs at any epsilon."""

    tilt: float
    times: FloatArray
    step: float
    log_scale: Approx
    drift: Approx
    product: Factor


@dataclass(frozen=True, slots=True)
class ContourSum:
    """log of the scale, S, its two error radii, and the derivative of scale S by epsilon, divided by the scale."""

    log_scale: Approx
    value: float
    quadrature: float
    rounding: float
    slope: float


def multiply(factors: Iterable[Factor]) -> Factor:
    """The product of all factors."""
    parts = list(factors)
    columns = ("log_modulus", "phase", "reach", "quadrature", "rounding")
    sums = [np.sum([getattr(part, name) for part in parts], axis=0) for name in columns]
    logs = np.sum([abs(part.log_modulus) + abs(part.phase) for part in parts], axis=0)
    added = np.where(np.isfinite(logs), len(parts) * UNIT * 1.01 * logs, 0.0)
    return Factor(sums[0], sums[1], sums[2] + added, sums[3], sums[4] + added)


def contour_sum(spectrum: Spectrum, epsilon: float) -> ContourSum:
    """S at this epsilon."""
    c, t, product = spectrum.tilt, spectrum.times, spectrum.product
    turning = spectrum.drift - exact(epsilon)
    if not float(t[-1]) * abs(float(turning.value)) + float(np.max(abs(product.phase))) < ANGLE_MOST:
        return ContourSum(spectrum.log_scale, 0.0, math.inf, math.inf, -1.0)
    angle = t * float(turning.value) + product.phase
    real, imaginary = c * (c + 1.0) - t * t, t * (2.0 * c + 1.0)
    square = (c * c + t * t) * ((c + 1.0) ** 2 + t * t)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        modulus = np.exp(product.log_modulus)
        cosine, sine = np.cos(angle), np.sin(angle)
        terms = modulus * (cosine * real + sine * imaginary) / square
        slopes = modulus * (cosine * (c + 1.0) + sine * t) / ((c + 1.0) ** 2 + t * t)
        weight = 1.0 / np.sqrt(square)
        turned = t * float(turning.radius) + 4.0 * UNIT * (abs(t * float(turning.value)) + abs(product.phase))
        rounding = product.rounding + turned
        whole = np.exp(product.reach + turned) * -np.expm1(-(product.quadrature + rounding)) * weight
        quadrature = np.exp(product.reach) * -np.expm1(-product.quadrature) * weight
        last = modulus * weight * TERM_ERROR
    terms[0], slopes[0] = 0.5 * terms[0], 0.5 * slopes[0]
    scale = spectrum.step / math.pi
    # e^reach (1 - e^-x) never falls when x grows: what quadrature alone does not explain is rounding.
    total, inner = float(np.sum(whole + last)), float(np.sum(quadrature))
    return ContourSum(
        log_scale=spectrum.log_scale - exact(epsilon) * c,
        value=scale * math.fsum(terms),
        quadrature=scale * inner * (1.0 + SUM_SLACK),
        rounding=scale * (max(total - inner, 0.0) + 8.0 * UNIT * total) * (1.0 + SUM_SLACK)
        + 8.0 * UNIT * scale * abs(math.fsum(terms)),
        slope=-scale * math.fsum(slopes),
    )
