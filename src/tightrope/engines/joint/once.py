"""One use of several mechanisms on one sample: the profile of their product, mapped.

remove: delta(eps) = r delta_product(u), u = log(1 + (e^eps - 1)/r); add: delta(eps) = f delta_product(u) with
f = 1 - (1 - r) e^eps, u = -log(1 + (e^-eps - 1)/r). What the product has at u comes from whichever engine answers for
it; u lies between two doubles, and delta falls: each end is read at the one that is safe. Samples of samples were made
one before (derived.poisson.sampled_once).
Guarantee: as that of the engine asked, rounded outward. Proof: docs/proofs/joint.md, section 1.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from flint import arb

from ...bound import ErrorBreakdown, error_lines
from ...derived.poisson import ball_inner, ball_loss
from ...errors import agreed
from ...kernels.ball import lower_float, upper_float, working_precision
from ...kernels.search import Inverse
from ...pair import Sampling
from ...relation import Direction
from ..answer import Answer, Point
from ..evaluation import Evaluation, SelfInverse, inverse
from ..plan import Planner
from . import tuning

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
