"""Saddle, step, reach and number of nodes for a question; the same for both arithmetics.

The tolerance starts well below the accuracy asked, since a digit costs a few nodes; where the integrand falls too
slowly for that, what was asked has to do; where even that needs too many nodes, the contour refuses.
Where it may stop: cutting the sum after t_J costs at most scale rho atan2(c, t_J)/(pi c), rho = sup over t > t_J of
prod |phi_i(t)|^{k_i}. Where that is known up to a horizon only, what was there before bounds what returns beyond.
Guarantee: `log_bounds` are upper bounds, all else is a choice. Proof: docs/proofs/contour.md, sections 3 and 16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...errors import Refusal, UnsupportedMechanism
from ...facets.cgf import LOG_TOLERANCE, CfDecay, Cgf, LatticeCgf
from ...facets.partition import Split
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...kernels.plain import log_expm1, softplus
from ..parts import Parts
from ..saddle import NodeStep, Saddle, choose_step
from ..tuning import SAMPLE
from . import tuning
from .period import Period

REFUSAL = "its transform does not fall fast enough for a contour; try engine='lattice'"


class Falling(NamedTuple):
    """How one term falls: bounds of |phi|, its count, and for hits a bound of log B(c)/A(c)."""

    decay: CfDecay
    uses: int
    log_ratio: float | None = None


class Fallen(NamedTuple):
    """A bound of log |phi| beyond a height, the count, and for hits the bound of log B(c)/A(c)."""

    log_bound: float
    uses: int
    log_ratio: float | None = None


LogBounds = tuple[Fallen, ...]


@dataclass(frozen=True, slots=True)
class ContourPlan:
    """Where the contour runs and how far; log_bounds are proven bounds of log |phi_i(t)| beyond the last node."""

    saddle: Saddle
    step: NodeStep
    nodes: int
    log_bounds: LogBounds
    work: float  # nodes times inner points
    period: Period | None = None  # of a lattice; then `cycle` nodes are all there are
    cycle: int = 0
    horizon: float = math.inf  # up to when log_bounds hold

    @property
    def height(self) -> float:
        """The last node, exactly."""
        return self.step.step * (self.nodes - 1)


def plan_contour(
    parts: Parts,
    falling: Sequence[Falling],
    saddle: Saddle,
    tolerances: Sequence[float],
    work_most: float,
    period: Period | None = None,
) -> ContourPlan:
    """The first tolerance (relative, on delta) that needs little enough work."""
    log_scale = parts.body.cumulants(saddle.tilt).value if parts.splits else saddle.cumulants.value
    cgfs = [*parts.terms, *((split.hit, 1) for split in parts.splits if split is not None)]
    refusal, horizon = Refusal.NOT_KNOWN, min(cgf.horizon() for cgf, _ in parts.terms)
    if parts.splits and horizon < math.inf:
        raise UnsupportedMechanism(REFUSAL)
    height = 0.0
    for tolerance in tolerances:
        log_tolerance = -math.log(tolerance)
        step = choose_step(parts, saddle, log_tolerance)
        if not (0.0 < step.step < math.inf and step.alias_tilt > saddle.tilt > 0.0):
            continue
        cycle = 0
        if period is not None:
            cycle = 2 * math.floor(math.pi / (step.step * period.width)) + 3
            step = NodeStep(2.0 * math.pi / (cycle * period.width), step.alias_tilt)
        most = min(step.step * (tuning.NODES_MAX - 1), horizon / 2.0)
        found = find_reach(falling, saddle, log_scale, log_tolerance, most, tuning.EASIER * height)
        if found is not None:
            height, log_bounds = found
            nodes = math.ceil(height / step.step) + 1
        elif 0 < cycle < 2 * tuning.NODES_MAX:
            nodes, log_bounds = cycle, ()
        else:
            continue
        if period is not None:
            whole = (cycle + 1) // 2
            nodes = whole if whole <= tuning.WHOLE_MIN else min(nodes, whole)
        last = step.step * (nodes - 1)
        points = sum(cgf.points(saddle.tilt, last, LOG_TOLERANCE + math.log(count)) for cgf, count in cgfs)
        if nodes * points <= work_most:
            return ContourPlan(saddle, step, nodes, log_bounds, float(nodes * points), period, cycle, horizon)
        refusal = Refusal.TOO_MUCH_WORK
    raise UnsupportedMechanism(REFUSAL, refusal)


def falling_of(parts: Parts, tilt: float, balls: bool, period: Period | None) -> list[Falling]:
    """How every term falls under the tilt; where terms are split, how their hits fall."""
    splits = parts.splits or (None,) * len(parts.terms)
    return [
        Falling(_decay(cgf, tilt, balls, period), count)
        if split is None
        else Falling(_decay(split.hit, tilt, balls, period), count, _log_ratio(split, tilt, balls))
        for (cgf, count), split in zip(parts.terms, splits, strict=True)
    ]


def _decay(cgf: Cgf, tilt: float, balls: bool, period: Period | None) -> CfDecay:
    if period is not None:
        assert isinstance(cgf, LatticeCgf)
        return cgf.period_cf_decay(tilt, period.step)
    return cgf.ball_cf_decay(tilt) if balls else cgf.cf_decay(tilt)


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
    falling: Sequence[Falling], saddle: Saddle, log_scale: float, log_tolerance: float, most: float, start: float = 0.0
) -> tuple[float, LogBounds] | None:
    """A height whose truncation error is below delta e^-log_tolerance, with its bounds; None beyond `most`.

    start: where to begin, if that is known to be about right.
    """
    c = saddle.tilt
    allowed = saddle.log_delta - log_tolerance - (log_scale - c * saddle.epsilon)
    first = min(most, tuning.FIRST_GUESS * math.sqrt(2.0 * log_tolerance / saddle.curvature))
    height = max(first, min(most, start))
    # Some of many terms stand for all of them until the end.
    stride = max(1, len(falling) // SAMPLE)

    def fallen(height: float) -> tuple[LogBounds, float, float]:
        """The bounds at a height, what is wanted of them, and what they reach."""
        bounds = tuple(Fallen(decay.log_bound(height), count, ratio) for decay, count, ratio in falling[::stride])
        reached = log_product(bounds)
        reached *= len(falling) / len(bounds) if reached < 0.0 else 1.0
        return bounds, allowed - math.log(math.atan2(c, height) / (math.pi * c)), reached

    below: tuple[float, float] | None = None  # the height before, and what was reached there
    for step in range(60):
        bounds, wanted, reached = fallen(height)
        if step == 0 and height > first and reached <= wanted:  # too far for so little: where it falls slowly
            height = first
            continue
        if step == tuning.STEPS_BEFORE_MAX and reached > wanted and height < most:
            _, wanted_there, reached_there = fallen(most)  # what is out of reach altogether is seen there at once
            if reached_there > wanted_there:
                return None
        if reached <= wanted and stride > 1:
            stride = 1
            continue
        if reached <= wanted:
            return height, bounds
        if height >= most:
            return None
        log_growth = math.inf
        if wanted < 0.0 and reached < 0.0:
            log_growth = math.log(1.03) + (math.log(-wanted) - math.log(-reached)) / _order(below, height, reached)
        below = height, reached
        log_growth = max(math.log(tuning.GROWTH_MIN), min(math.log(tuning.GROWTH_MAX), log_growth))
        height = min(most, height * math.exp(log_growth))
    return None


def _order(below: tuple[float, float] | None, height: float, reached: float) -> float:
    """With which power of the height |phi| falls: like a bell first, and slower where the last two heights say so."""
    if below is None or not below[1] < 0.0:
        return 2.0
    slope = (math.log(-reached) - math.log(-below[1])) / math.log(height / below[0])
    return max(tuning.ORDER_MIN, min(2.0, slope))
