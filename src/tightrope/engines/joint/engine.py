"""The joint engine: compositions with parts that are known between two finite laws only.

One sample that serves several mechanisms has a product as its base (derived.product), which has no tails of its own;
a maximum of profiles, a group or a Renyi curve has none either (Pair.bracket). One use of a sampled product maps the
profile of the product (once.py). Several uses, or others beside it, are composed twice, from pairs below the true ones
and from pairs above (bracket.py): if (P-, Q-) <= (P, Q) <= (P+, Q+) as profiles for every use, the compositions are in
the same order, so that lower = the lower end of the first, upper = the upper end of the second. The pairs are made
finer until that is narrow.
Guarantee: upper and lower. Proof: docs/proofs/joint.md, sections 1 and 2.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ... import compute_budget
from ...bound import ErrorBreakdown, error_lines
from ...derived.product import unfolded
from ...errors import UnsupportedMechanism, WorkExhausted, agreed
from ...facets.bounds import ProfileBounds
from ...facets.resolution import Resolution
from ...kernels.search import Inverse
from ...operators import alternatives_of, has_bracket_only, hockey_stick_bounds, sampling_of
from ...pair import Pair
from ...question import Question
from ..answer import Answer, Point
from ..evaluation import Evaluation, Evaluator, SelfInverse, Term
from ..plan import Planner, Selection
from . import tuning
from .bounds import BoundsEvaluator
from .bracket import bracket
from .largest import LargestEvaluator
from .once import OnceEvaluator


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 1e-6,
    proof: bool = False,
) -> Evaluator:
    """An evaluator for terms of which some are samples of a product."""
    if not any(has_bracket_only(pair) for pair, _ in terms):
        raise UnsupportedMechanism("the law of every part is known by itself; leave out engine='joint'")
    counts: dict[Pair, int] = {}
    for pair, count in unfolded(terms):
        counts[pair] = counts.get(pair, 0) + count
    flat = tuple(counts.items())
    question = Question("delta", proof=proof)
    if not any(has_bracket_only(pair) for pair, _ in flat):
        return OnceEvaluator(None, Planner(flat, question, several=True), accuracy)
    bounds = _bounds(flat, proof)
    if bounds is not None:
        if not bounds.wide or sum(count for _, count in flat) == 1:
            return BoundsEvaluator(bounds)
        with suppress(UnsupportedMechanism, WorkExhausted):
            return _several(flat, epsilon, delta, accuracy, proof)
        return BoundsEvaluator(bounds)
    alone = flat[0][0] if len(flat) == 1 and flat[0][1] == 1 else None
    if alone is not None and alternatives_of(alone):
        planners = (Planner(unfolded([(pair, 1)]), question, several=True) for pair in alternatives_of(alone))
        return LargestEvaluator(tuple(planners), accuracy)
    sampling = None if alone is None else sampling_of(alone)
    if sampling is not None:
        return OnceEvaluator(sampling, Planner(unfolded([(sampling.base, 1)]), question, several=True), accuracy)
    return _several(flat, epsilon, delta, accuracy, proof)


def _bounds(terms: Sequence[Term], proof: bool) -> ProfileBounds | None:
    """Of all uses as one pair, where one of them is known between two numbers and can hold the others."""
    for pair, _ in terms:
        if hockey_stick_bounds(pair, proof) is not None:
            whole = pair.compose_exact(terms)
            return hockey_stick_bounds(whole, proof) if isinstance(whole, Pair) else None
    return None


@dataclass
class SeveralEvaluator(SelfInverse):
    """Who answers for the pairs below and for those above."""

    below: Selection
    above: Selection
    accuracy: float
    atoms: int
    _known: dict[tuple[str, float], tuple[Answer, Answer]] = field(default_factory=dict)

    @property
    def arithmetic(self) -> str:
        kinds = {answer.arithmetic for pair in self._known.values() for answer in pair}
        return "float64" if "float64" in kinds else "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        engines = sorted({answer.engine.name for pair in self._known.values() for answer in pair})
        return {"atoms": self.atoms, "product": "lattice", "composed_by": engines}

    def answers(self, quantity: str, given: float) -> tuple[Answer, Answer]:
        """Below and above."""
        if (quantity, given) not in self._known:
            point = Point(quantity, given)
            with compute_budget.part(tuning.ABOVE_SHARE):
                above = self.above.answer(point, self.accuracy)
            self._known[quantity, given] = self.below.answer(point, self.accuracy), above
        return self._known[quantity, given]

    def delta(self, epsilon: float) -> Evaluation:
        below, above = self.answers("delta", epsilon)
        _, upper = agreed(below.lower, above.upper, "the finite pair below", "the finite pair above")
        lines = error_lines(discretisation=upper - below.lower)
        return Evaluation(below.lower, upper, ErrorBreakdown(lines, lines))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        below, above = self.answers("epsilon", delta)
        # Budgets are in units of delta, so each end tells its own.
        ends = (Evaluation(0.0, 1.0, answer.budget) for answer in (below, above))
        lower, upper = agreed(below.lower, above.upper, "the finite pair below", "the finite pair above")
        return Inverse(lower, upper, *ends)


def _several(
    terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float, proof: bool
) -> SeveralEvaluator:
    """Brackets until the width is met, the points are used up, or finer ones do not help."""
    uses = sum(count for _, count in terms)
    quantity, given = ("epsilon", delta) if epsilon is None else ("delta", epsilon)
    assert given is not None
    first_tail = _tail(delta, accuracy, uses) if delta else tuning.TAIL_FIRST
    fine = Resolution(tuning.POINTS_FIRST, first_tail, proof, delta, epsilon, uses)
    aim = max(accuracy * tuning.PLAN_SHARE, tuning.FIRST_AIM)
    best: tuple[tuple[float, float], SeveralEvaluator] | None = None
    for _ in range(tuning.ROUNDS_MAX):
        before = compute_budget.left()
        try:
            made = _made(terms, fine, aim)
            spent = before - compute_budget.left()
            below, above = made.answers(quantity, given)
        except (UnsupportedMechanism, WorkExhausted):
            if best is None:
                raise
            break
        width = _relative(below.lower, above.upper)
        if best is None or (width, above.upper) < best[0]:
            best = (width, above.upper), made
        if width <= accuracy:
            break
        # Between the pairs themselves: what finer ones can narrow.
        between = _relative(min(below.upper, above.lower), above.lower)
        tail = fine.tail
        if epsilon is not None:
            tail = min(tail, _tail(below.lower, accuracy, uses) if below.lower else tuning.TAIL_MIN)
        deeper = tail < tuning.SHALLOW * fine.tail
        if not deeper and between < tuning.HELPS * width and aim <= tuning.PLAN_SHARE * accuracy:
            break
        most = min(tuning.PROOF_POINTS_MAX if proof else tuning.JOINT_POINTS_MAX, _affordable(fine.points, spent))
        wanted = (
            fine.points * min(max(math.sqrt(2.0 * width / accuracy), 2.0), tuning.FASTEST)
            if width < 1.0
            else fine.points
        )
        finer = max(min(int(wanted), most), fine.points)
        if finer == fine.points and not deeper:
            break
        aim = max(tuning.PLAN_SHARE * accuracy, min(aim, tuning.PLAN_SHARE * width * (fine.points / finer) ** 2))
        fine = replace(fine, points=finer, tail=tail)
    assert best is not None
    return best[1]


def _relative(lower: float, upper: float) -> float:
    if lower >= upper:
        return 0.0
    return (upper - lower) / upper if upper < math.inf else math.inf


def _affordable(points: int, spent: float) -> int:
    """So many points take half of the work that is left; none is counted where there is no end to it."""
    left = compute_budget.left()
    return (
        tuning.JOINT_POINTS_MAX
        if left == math.inf or not spent > 0.0
        else int(points * tuning.WORK_SHARE * left / spent)
    )


def _tail(delta: float, accuracy: float, uses: int) -> float:
    return max(tuning.TAIL_SHARE * min(accuracy, 1.0) * delta / uses, tuning.TAIL_MIN)


def _made(terms: Sequence[Term], fine: Resolution, aim: float) -> SeveralEvaluator:
    found = [(bracket(pair, fine), count) for pair, count in terms]
    below, above = ([(each[side], count) for each, count in found] for side in (0, 1))
    sides = [Selection(side, Question("delta", proof=fine.proof), several=False) for side in (below, above)]
    return SeveralEvaluator(sides[0], sides[1], aim, fine.points)
