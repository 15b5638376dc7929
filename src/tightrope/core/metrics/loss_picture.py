"""The picture of the privacy loss: what is asked of a run to fill the bins of a LossLaw, in every direction.

The ends of the bins are quantiles, roughly; then P[loss <= edge] at every edge, and the atoms of heavy bins.
Guarantee: every mass holds, however early the work ended. Proof: docs/proofs/loss.md, section 7.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..accountant import Case, ask, counted
from ..answers.loss_law import SEEN_WIDTH, LossLaw, LossSide, loss_atoms, loss_edges
from ..engines.loss_planner import LossPlanner, survey
from ..engines.planner import Answer, Point, nothing_known
from ..mechanisms.base import Mechanism
from ..values import compute_budget
from ..values.bound import Bound
from ..values.question import Direction, Question, Relation, asked_directions, parsed

OUTSIDE = 1e-3  # of the loss, on each side: beyond the bins
RANGE_AIM, RANGE_SHARE = 1e-2, 0.2  # of the ends, and what each may take of the work
EDGES_SHARE = 0.8  # of the work: the rest is for atoms


def loss_law(mechanism: Mechanism, question: Question, bins: int) -> LossLaw:
    """The masses of equal bins from the lowest quantile to the highest, in every direction, and the atoms in them."""
    count = counted("bins", bins, least=1)
    question = replace(question, accuracy=None)  # bins have any mass
    with compute_budget.allowance(question.seconds), compute_budget.part(1.0) as meter:
        infinite = {each: _infinite(mechanism, question, each) for each in _directions(mechanism, question)}
        case = Case.of(mechanism, question, True, RANGE_AIM)
        planners = {planner.terms: planner for planner in case.planners.values() if isinstance(planner, LossPlanner)}
        highest = (1.0 - OUTSIDE) * (1.0 - max(mass.upper for mass in infinite.values()))
        edges = loss_edges(_ends(planners.values(), (OUTSIDE, highest)), count)
        with compute_budget.part(EDGES_SHARE):
            found = dict(zip(planners, survey([planner.law for planner in planners.values()], edges), strict=True))
        sides = []
        for direction, mass in infinite.items():
            side = _Side(case, direction, meter)
            bounds = side.certified(edges, found[side.planner.terms] if side.planner else None)
            told = None if mechanism.relation is Relation.REPLACE else direction
            sides.append(LossSide(told, edges, bounds, loss_atoms(side.below, edges, bounds), mass))
    return LossLaw(tuple(sides))


def _directions(mechanism: Mechanism, question: Question) -> tuple[Direction, ...]:
    return asked_directions(mechanism.relation, parsed(question.direction))


def _infinite(mechanism: Mechanism, question: Question, direction: Direction) -> Bound:
    only = None if mechanism.relation is Relation.REPLACE else direction
    bound = ask(mechanism, replace(question, quantity="delta", direction=only), math.inf)
    assert isinstance(bound, Bound)
    return bound


def _ends(planners: Iterable[LossPlanner], places: Sequence[float]) -> list[float]:
    """Quantiles, roughly."""
    values: list[float] = []
    for planner in planners:
        for p in places:
            with compute_budget.part(RANGE_SHARE):
                end = planner.roughly(p, RANGE_AIM)
            values += (end.lower, end.upper)
    return values


@dataclass(frozen=True, slots=True)
class _Side:
    """P[loss <= t] in one direction, as narrow as a picture needs it."""

    case: Case
    direction: Direction
    meter: compute_budget.Meter

    @property
    def planner(self) -> LossPlanner | None:
        """None where even the pairs took too long."""
        planner = self.case.planners.get(self.direction)
        return planner if isinstance(planner, LossPlanner) else None

    def below(self, places: Sequence[float]) -> tuple[Bound, ...]:
        """At many t."""
        return self.certified(places, None if self.planner is None else survey([self.planner.law], places)[0])

    def certified(self, places: Sequence[float], answers: Sequence[Answer] | None) -> tuple[Bound, ...]:
        """What was found as bounds; anything may be true where nothing was."""
        told = answers or [nothing_known(Point("loss_cdf", t)) for t in places]
        return tuple(
            self.case.certified(answer, self.direction, self.meter, answer.width <= SEEN_WIDTH) for answer in told
        )
