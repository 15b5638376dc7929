"""Where the contour may stop: a bound on the product of all |phi| beyond a height, and the height that is enough.

Cutting the sum after t_J costs at most scale rho atan2(c, t_J)/(pi c), rho = sup over t > t_J of prod |phi_i(t)|^{k_i}.
Guarantee: upper. Proof: docs/proofs/contour.md, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...facets.cgf import Cgf, Decay, LatticeCgf
from ...facets.marks import Split
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.plain import log_expm1, softplus
from ..parts import Parts
from ..saddle import SAMPLE, Saddle
from . import tuning
from .period import Period


class Falling(NamedTuple):
    """How one term falls: bounds of |phi|, its count, and for hits a bound of log B(c)/A(c)."""

    decay: Decay
    uses: int
    log_ratio: float | None = None


class Fallen(NamedTuple):
    """A bound of log |phi| beyond a height, the count, and for hits the bound of log B(c)/A(c)."""

    log_bound: float
    uses: int
    log_ratio: float | None = None


LogBounds = tuple[Fallen, ...]


def falling_of(parts: Parts, tilt: float, balls: bool, period: Period | None) -> list[Falling]:
    """How every term falls under the tilt; where terms are split, how their hits fall."""
    splits = parts.splits or (None,) * len(parts.terms)
    return [
        Falling(_decay(cgf, tilt, balls, period), count)
        if split is None
        else Falling(_decay(split.hit, tilt, balls, period), count, _log_ratio(split, tilt, balls))
        for (cgf, count), split in zip(parts.terms, splits, strict=True)
    ]


def _decay(cgf: Cgf, tilt: float, balls: bool, period: Period | None) -> Decay:
    if period is not None:
        assert isinstance(cgf, LatticeCgf)
        return cgf.period_decay(tilt, period.step)
    return cgf.ball_decay(tilt) if balls else cgf.decay(tilt)


def _log_ratio(split: Split, tilt: float, balls: bool) -> float:
    """At or above log B(c)/A(c)."""
    if not balls:
        return float(split.log_ratio(tilt).upper)
    with working_precision(BITS_START):
        return upper_float(split.ball_log_ratio(tilt))


def log_product(bounds: Sequence[Fallen]) -> float:
    """log of a bound of prod |phi|^k, or with hits of |prod (A + B)^k - prod A^k| / prod A(c)^k.

    The latter is at most prod |phi|^k of the other terms times expm1(sum k log1p(|B|/A(c))).
    """
    whole = math.fsum(count * bound for bound, count, ratio in bounds if ratio is None)
    if all(ratio is None for _, _, ratio in bounds):
        return whole
    hits = sum(count * softplus(r + bound) for bound, count, r in bounds if r is not None)
    return whole + log_expm1(hits)


def find_reach(
    falling: Sequence[Falling], saddle: Saddle, log_scale: float, log_tolerance: float, most: float
) -> tuple[float, LogBounds] | None:
    """A height whose truncation error is below delta e^-log_tolerance, with its bounds; None beyond `most`."""
    c = saddle.tilt
    allowed = saddle.log_delta - log_tolerance - (log_scale - c * saddle.epsilon)
    height = min(most, tuning.FIRST_GUESS * math.sqrt(2.0 * log_tolerance / saddle.curvature))
    # Some of many terms stand for all of them until the end.
    stride = max(1, len(falling) // SAMPLE)
    for _ in range(60):
        fixed = math.log(math.atan2(c, height) / (math.pi * c))
        wanted = allowed - fixed
        bounds = tuple(Fallen(decay.log_bound(height), count, ratio) for decay, count, ratio in falling[::stride])
        reached = log_product(bounds)
        reached *= len(falling) / len(bounds) if reached < 0.0 else 1.0
        if reached <= wanted and stride > 1:
            stride = 1
            continue
        if reached <= wanted:
            return height, bounds
        if height >= most:
            return None
        # |phi| falls like a bell first; where it falls slower, the step grows.
        growth = math.sqrt(wanted / reached) if wanted < 0.0 and reached < 0.0 else tuning.GROWTH_MOST
        height = min(most, height * max(tuning.GROWTH_LEAST, min(tuning.GROWTH_MOST, 1.03 * growth)))
    return None
