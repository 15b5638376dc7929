"""Saddle, step, reach and number of nodes for a question; the same for both arithmetics.

The tolerance starts well below the accuracy asked, since a digit costs a few nodes; where the integrand falls too
slowly for that, what was asked has to do; where even that needs too many nodes, the contour refuses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ...errors import Refusal, UnsupportedMechanism
from .cgf import LOG_TOLERANCE
from .parts import Parts
from .reach import Falling, LogBounds, find_reach
from .saddle import Saddle, Step, choose_step

NODES_MOST = 1 << 17
FLOAT_WORK_MOST, BALL_WORK_MOST = 1.5e8, 1e7  # nodes times inner points: seconds at most
FLOAT_UNITS, BALL_UNITS = 20.0, 450.0  # of work, for one node and inner point
REFUSAL = "its transform does not fall fast enough for a contour; try engine='lattice'"


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the contour runs and how far; log_bounds are proven bounds of log |phi_i(t)| beyond the last node."""

    saddle: Saddle
    step: Step
    nodes: int
    log_bounds: LogBounds
    work: float  # nodes times inner points

    @property
    def height(self) -> float:
        """The last node, exactly."""
        return self.step.step * (self.nodes - 1)

    @property
    def parameters(self) -> Mapping[str, object]:
        """For the certificate."""
        return MappingProxyType(
            {
                "tilt": self.saddle.tilt,
                "alias_tilt": self.step.alias_tilt,
                "step": self.step.step,
                "nodes": self.nodes,
            }
        )


def plan_contour(
    parts: Parts, falling: Sequence[Falling], saddle: Saddle, tolerances: Sequence[float], work_most: float
) -> Plan:
    """The first tolerance (relative, on delta) that needs little enough work."""
    log_scale = parts.body.cumulants(saddle.tilt).value if parts.hits else saddle.cumulants.value
    cgfs = [*parts.terms, *((hit, 1) for hit in parts.hits if hit is not None)]
    refusal = Refusal.NOT_KNOWN
    for tolerance in tolerances:
        log_tolerance = -math.log(tolerance)
        step = choose_step(parts, saddle, log_tolerance)
        if not (0.0 < step.step < math.inf and step.alias_tilt > saddle.tilt > 0.0):
            continue
        found = find_reach(falling, saddle, log_scale, log_tolerance, step.step * (NODES_MOST - 1))
        if found is None:
            continue
        height, log_bounds = found
        nodes = math.ceil(height / step.step) + 1
        last = step.step * (nodes - 1)
        points = sum(cgf.points(saddle.tilt, last, LOG_TOLERANCE + math.log(count)) for cgf, count in cgfs)
        if nodes * points <= work_most:
            return Plan(saddle, step, nodes, log_bounds, float(nodes * points))
        refusal = Refusal.TOO_MUCH_WORK
    raise UnsupportedMechanism("this composition", REFUSAL, refusal)


def sensitivity(saddle: Saddle, asks_delta: bool) -> float:
    """How much wider a relative error of delta may be than the relative error asked of the answer, at most 1."""
    return 1.0 if asks_delta else max(1e-6, min(1.0, saddle.tilt * saddle.epsilon))
