"""One use of the pair with the largest of several profiles: the largest of their answers.

delta = max_i delta_i at every epsilon, and the smallest epsilon for a delta is the largest of theirs; whichever engine
suits one of them answers for it.
Guarantee: as that of the engines asked. Proof: docs/proofs/points.md, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ... import compute_budget
from ...kernels.search import Inverse
from ..answer import Answer, Point
from ..evaluation import Evaluation, SelfInverse
from ..plan import Planner


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
