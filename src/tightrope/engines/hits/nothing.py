"""A delta below every double: some use would have to lose what none does.

If the total of n uses exceeds eps > 0, some use exceeds eps/n, so delta(eps) <= sum k_i P_i[l > eps/n].
Guarantee: upper, in balls; the lower end is 0. Proof: the union bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import arb

from ...bound import Budget, budget_lines
from ...kernels.ball import BITS_START, upper_float, working_precision
from ..evaluation import Evaluation, Evaluator, Term

LEAST = 5e-324


@dataclass(frozen=True)
class SomeUse(Evaluator):
    """delta between 0 and the union bound."""

    arithmetic = "ball"
    terms: tuple[Term, ...]

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"way": "union bound"}

    def delta(self, epsilon: float) -> Evaluation:
        uses = sum(count for _, count in self.terms)
        with working_precision(BITS_START):
            share = arb(epsilon) / uses
            most = sum((count * pair.ball_tails(share).p_above for pair, count in self.terms), arb(0))
            upper = min(upper_float(most), 1.0)
        return Evaluation(0.0, upper, Budget(budget_lines(truncation=upper), budget_lines()))


def prepare(terms: Sequence[Term], epsilon: float | None) -> Evaluator | None:
    """The evaluator where it says all that doubles can, else None."""
    if epsilon is None or not epsilon > 0.0:
        return None
    found = SomeUse(tuple(terms))
    return found if found.delta(epsilon).upper <= LEAST else None
