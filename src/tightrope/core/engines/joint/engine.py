"""The joint engine: compositions with parts that are known between two finite laws only.

One sample that serves several mechanisms has a product as its base (derived.product), which has no tails of its own;
a maximum of profiles, a group or a Renyi curve has none either (Pair.bracket). One use of a sampled product maps the
profile of the product (engine.py). Several uses, or others beside it, are composed twice, from pairs below the true
ones
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
from typing import NamedTuple

from flint import arb

from ...losses.capabilities import ProfileBounds, Resolution
from ...losses.operators.poisson import ball_inner, ball_loss
from ...losses.operators.product import unfolded
from ...losses.operators.registered import alternatives_of, has_bracket_only, hockey_stick_bounds, sampling_of
from ...losses.pair import Pair, Sampling
from ...numerics.balls import lower_float, upper_float, working_precision
from ...numerics.search import Compared, Inverse, compare, invert
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import UnsupportedMechanism, WorkExhausted, agreed
from ...values.question import Direction, Question
from .. import tuning
from ..planner import Answer, Planner, Point, Selection
from ..selection import Evaluation, Evaluator, SelfInverse, Term, inverse
from .bracket import bracket

# Uses that are one pair whose profile lies between two numbers that do not meet.
#
# delta is read at epsilon. The smallest epsilon for a delta is searched for twice: above it every upper end that is at
# most delta is an upper end of epsilon, and every lower end that is above delta a lower one.
# Guarantee: lower and upper, as those of the pair.


@dataclass
class BoundsEvaluator(SelfInverse):
    """What the pair says, each number once."""

    bounds: ProfileBounds
    _lower: dict[float, float] = field(default_factory=dict)
    _upper: dict[float, float] = field(default_factory=dict)

    arithmetic = "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        return self.bounds.parameters

    def lower(self, epsilon: float) -> float:
        """At or below delta, and not below 0."""
        if epsilon not in self._lower:
            self._lower[epsilon] = max(self.bounds.lower(epsilon), 0.0)
        return self._lower[epsilon]

    def upper(self, epsilon: float) -> float:
        """At or above delta, and at most 1."""
        if epsilon not in self._upper:
            self._upper[epsilon] = min(self.bounds.upper(epsilon), 1.0)
        return self._upper[epsilon]

    def delta(self, epsilon: float) -> Evaluation:
        lower, upper = agreed(self.lower(epsilon), self.upper(epsilon), "a polynomial below", "a polynomial above")
        lines = error_lines(discretisation=upper - lower)
        return Evaluation(lower, upper, ErrorBreakdown(lines, lines))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        def above(epsilon: float) -> Compared[float]:
            value = self.upper(epsilon)
            return compare(value, value, delta, value)

        def below(epsilon: float) -> Compared[float]:
            value = self.lower(epsilon)
            return compare(value, value, delta, value)

        tolerance = min(max(accuracy / 8.0, tuning.BOUNDS_FINEST), tuning.BOUNDS_ROUGHEST)
        upper = invert(above, ceiling, tolerance)
        lower = invert(below, ceiling, tolerance, start=upper.upper)
        low, high = agreed(lower.lower, upper.upper, "a polynomial below", "a polynomial above")
        ends = (None if end is None else self.delta(at) for end, at in ((lower.at_lower, low), (upper.at_upper, high)))
        return Inverse(low, high, *ends)


# One use of the pair with the largest of several profiles: the largest of their answers.
#
# delta = max_i delta_i at every epsilon, and the smallest epsilon for a delta is the largest of theirs; whichever
# engine
# suits one of them answers for it.
# Guarantee: as that of the engines asked. Proof: docs/proofs/points.md, section 5.


@dataclass
class LargestEvaluator(SelfInverse):
    """Who answers for each of the pairs."""

    each: tuple[Planner, ...]
    accuracy: float
    _asked: list[Answer] = field(default_factory=list)

    @property
    def arithmetic(self) -> str:
        return "float64" if any(answer.arithmetic == "float64" for answer in self._asked) else "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"alternatives": len(self.each), "asked": sorted({answer.engine.name for answer in self._asked})}

    def delta(self, epsilon: float) -> Evaluation:
        lower, worst = self._ask("delta", epsilon)
        return Evaluation(lower, worst.upper, worst.budget)

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        lower, worst = self._ask("epsilon", delta)
        end = Evaluation(0.0, 1.0, worst.budget)
        return Inverse(lower, worst.upper, end, end)

    def _ask(self, quantity: str, given: float) -> tuple[float, Answer]:
        """The largest lower end, and the answer with the largest upper one."""
        found = []
        for done, planner in enumerate(self.each):
            with compute_budget.part(1.0 / (len(self.each) - done)):
                found.append(planner.answer(Point(quantity, given), self.accuracy))
        self._asked[:] = found
        return max(answer.lower for answer in found), max(found, key=lambda answer: (answer.upper, answer.lower))


# One use of several mechanisms on one sample: the profile of their product, mapped.
#
# remove: delta(eps) = r delta_product(u), u = log(1 + (e^eps - 1)/r); add: delta(eps) = f delta_product(u) with
# f = 1 - (1 - r) e^eps, u = -log(1 + (e^-eps - 1)/r). What the product has at u comes from whichever engine answers for
# it; u lies between two doubles, and delta falls: each end is read at the one that is safe. Samples of samples were
# made
# one before (derived.poisson.sampled_once).
# Guarantee: as that of the engine asked, rounded outward. Proof: docs/proofs/joint.md, section 1.
# Reference: Zhu, Dong, Wang 2021, Thms 10 and 11.

MAP_BITS = 1200  # a rate of 5e-324 and its complement fit exactly


class _Mapped(NamedTuple):
    """delta = factor delta_product(u), low <= u <= high; without a u the factor encloses delta."""

    factor: arb
    low: float
    high: float


@dataclass
class OnceEvaluator(SelfInverse):
    """The sampling, if there is one, and who answers for the product."""

    sampling: Sampling | None
    product: Planner
    accuracy: float
    _asked: list[Answer] = field(default_factory=list)

    @property
    def arithmetic(self) -> str:
        return self._asked[-1].arithmetic if self._asked else "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        if not self._asked:
            return {"uses": 1}
        last = self._asked[-1]
        return {"uses": 1, "product": last.engine.name, **last.parameters}

    def delta(self, epsilon: float) -> Evaluation:
        factor, low, high = self._mapped(epsilon)
        if math.isnan(low):
            bottom, top = max(lower_float(factor), 0.0), min(upper_float(factor), 1.0)
            lines = error_lines(rounding=top - bottom)
            return Evaluation(bottom, top, ErrorBreakdown(lines, lines))
        above = self._ask("delta", low)
        below = above if high == low else self._ask("delta", high)
        with working_precision(MAP_BITS):
            bottom = max(lower_float(factor * arb(below.lower)), 0.0)
            top = min(upper_float(factor * arb(above.upper)), 1.0)
        lower, upper = agreed(bottom, top, "the product at a larger epsilon", "the product at a smaller one")
        return Evaluation(lower, upper, _scaled(ErrorBreakdown(above.budget.upper, below.budget.lower), factor))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        if self.sampling is not None and self.sampling.direction is Direction.ADD:
            start = self._outer(self._ask("epsilon", min(delta, 1.0)).upper)[1]
            start = start if 0.0 < start < math.inf else 1.0
            return inverse(self, delta, ceiling, min(1e-12, accuracy / 8.0), start)
        with working_precision(MAP_BITS):
            level = arb(delta) / self._rate
            few, many = lower_float(level), upper_float(level)
        if few >= 1.0:
            return Inverse(0.0, 0.0, None, None)
        answer = self._ask("epsilon", few)
        bottom = answer.lower if few == many else self._still_above(answer.lower, many)
        lower, upper = self._outer(bottom)[0], self._outer(answer.upper)[1]
        return Inverse(max(lower, 0.0), upper, self._evaluated(answer), self._evaluated(answer))

    def _still_above(self, epsilon: float, level: float) -> float:
        """A point just below epsilon where delta of the product is above a level that is a rounding error higher."""
        for share in tuning.BACKWARDS:
            point = epsilon * (1.0 - share)
            if point == 0.0 or self.product.answer(Point("delta", point), tuning.PREPARED).lower > level:
                return point
        return self._ask("epsilon", min(level, 1.0)).lower

    def _ask(self, quantity: str, given: float) -> Answer:
        answer = self.product.answer(Point(quantity, given), self.accuracy)
        self._asked[:] = [answer]
        return answer

    def _mapped(self, epsilon: float) -> _Mapped:
        with working_precision(MAP_BITS):
            if self.sampling is None:
                return _Mapped(arb(1), epsilon, epsilon)
            factor, inner = ball_inner(self.sampling, arb(epsilon))
            if inner is None:
                return _Mapped(factor, math.nan, math.nan)
            return _Mapped(factor, max(lower_float(inner), 0.0), upper_float(inner))

    def _outer(self, epsilon: float) -> tuple[float, float]:
        """Doubles around the epsilon of the sample that belongs to one of the product."""
        if epsilon == math.inf or self.sampling is None:
            return epsilon, epsilon
        with working_precision(MAP_BITS):
            loss = ball_loss(self.sampling, arb(epsilon))
            return lower_float(loss), upper_float(loss)

    def _evaluated(self, answer: Answer) -> Evaluation:
        """The budget of an answer, as what the sampling makes of it."""
        return Evaluation(0.0, 1.0, _scaled(answer.budget, self._rate))

    @property
    def _rate(self) -> arb:
        return arb(1 if self.sampling is None else self.sampling.rate)


def _scaled(budget: ErrorBreakdown, factor: arb) -> ErrorBreakdown:
    size = min(max(upper_float(factor), 0.0), 1.0)
    upper, lower = ({name: size * line for name, line in lines.items()} for lines in (budget.upper, budget.lower))
    return ErrorBreakdown(error_lines(**upper), error_lines(**lower))


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
    for _ in range(tuning.JOINT_ROUNDS_MAX):
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
