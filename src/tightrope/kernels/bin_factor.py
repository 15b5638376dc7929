"""A product of many transforms that are combinations of two, in float64, with error radii.

Uses i = 1, ..., n have the moments M_i = M_A + v_i (M_B - M_A), v_i >= 0. With X = phi_A, D = rho phi_B - phi_A,
rho = M_B/M_A at t = 0 and R = D/X, the product of all M_i is M_A^n X^n prod (1 + v_i R), and
sum log(1 + v_i R) = sum_p (-1)^(p+1) S_p R^p/p, S_p = sum v_i^p: the cost does not depend on n.
Guarantee: |product - computed| as kernels.contour_sum.Factor says, or None where some |v R| may exceed 1/2.
Proof: docs/proofs/pools.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .contour_sum import Factor, multiply, power
from .enclosure import Enclosure, FloatArray
from .quadrature import Transform
from .ulps import ANGLE_MAX, UNIT

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
