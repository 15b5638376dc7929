"""At least one hit: prod (A_i + B_i)^{k_i} - prod A_i^{k_i} along a contour, from the transforms of body and hits.

Every use is marked as body (A) or hit (B). The difference is prod A_i^{k_i} expm1(H), H = sum k_i log1p(r_i),
r_i = B_i/A_i: relative precision, however rare hits are. With moduli a, b of the computed A, B, and a+, b+ at or above
those of the true ones, the difference errs by at most prod (a+ + b+)^k - prod a+^k - [prod (a + b)^k - prod a^k].
Guarantee: `reach` and `size` make that bound in kernels.contour_sum. Proof: docs/proofs/contour.md, section 11.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from ..errors import Refusal, UnsupportedMechanism
from .enclosure import Enclosure, FloatArray
from .quadrature import Transform
from .ulps import ANGLE_MOST, UNIT

RATIO_ERROR = 64.0 * UNIT  # turn, product and quotient; log1p and arctangent as an error of the ratio


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
    if not float(times[-1]) * abs(float(drift.value)) <= ANGLE_MOST:
        raise UnsupportedMechanism("its angles are too large for float64; try proof", Refusal.NEEDS_BALLS)
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
    # Adding up errs by a unit of the spread per term; kernels.contour_sum allows for eight units.
    return Hits(**{**sums, "spread": sums["spread"] * max(1.0, len(found) / 8.0)})
