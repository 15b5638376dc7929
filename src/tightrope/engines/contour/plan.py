"""Saddle, step, reach and number of nodes for a question; the same for both arithmetics.

The tolerance starts well below the accuracy asked, since a digit costs a few nodes; where the integrand falls too
slowly for that, what was asked has to do; where even that needs too many nodes, the contour refuses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import Refusal, UnsupportedMechanism
from ...facets.cgf import LOG_TOLERANCE
from ..parts import Parts
from ..saddle import NodeStep, Saddle, choose_step
from . import tuning
from .period import Period
from .reach import Falling, LogBounds, find_reach

REFUSAL = "its transform does not fall fast enough for a contour; try engine='lattice'"


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

    @property
    def height(self) -> float:
        """The last node, exactly."""
        return self.step.step * (self.nodes - 1)

    @property
    def complete(self) -> bool:
        """Whether no node is left out."""
        return self.period is not None and 2 * self.nodes > self.cycle


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
    refusal = Refusal.NOT_KNOWN
    for tolerance in tolerances:
        log_tolerance = -math.log(tolerance)
        step = choose_step(parts, saddle, log_tolerance)
        if not (0.0 < step.step < math.inf and step.alias_tilt > saddle.tilt > 0.0):
            continue
        cycle = 0
        if period is not None:
            cycle = 2 * math.floor(math.pi / (step.step * period.width)) + 3
            step = NodeStep(2.0 * math.pi / (cycle * period.width), step.alias_tilt)
        most = step.step * (tuning.NODES_MOST - 1)
        found = find_reach(falling, saddle, log_scale, log_tolerance, most)
        if found is not None:
            height, log_bounds = found
            nodes = math.ceil(height / step.step) + 1
        elif 0 < cycle < 2 * tuning.NODES_MOST:
            nodes, log_bounds = cycle, ()
        else:
            continue
        if period is not None:
            whole = (cycle + 1) // 2
            nodes = whole if whole <= tuning.WHOLE_LEAST else min(nodes, whole)
        last = step.step * (nodes - 1)
        points = sum(cgf.points(saddle.tilt, last, LOG_TOLERANCE + math.log(count)) for cgf, count in cgfs)
        if nodes * points <= work_most:
            return ContourPlan(saddle, step, nodes, log_bounds, float(nodes * points), period, cycle)
        refusal = Refusal.TOO_MUCH_WORK
    raise UnsupportedMechanism(REFUSAL, refusal)
