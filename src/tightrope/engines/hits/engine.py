"""The hits engine: compositions of Poisson-sampled uses in which few hits, or hits that are seen, decide.

Hits that are seen are counted (visible.py: little noise); few hits leave a law that is short once the losses that
decide alone are cut off (cut.py); and a delta below every double is said at once: if the total of n uses exceeds
eps > 0, some use exceeds eps/n, so delta(eps) <= sum k_i P_i[l > eps/n].
Guarantee: lower <= delta <= upper. Proof: docs/proofs/hits.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from ...bound import ErrorBreakdown, FrozenMapping, error_lines
from ...errors import UnsupportedMechanism
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...operators import sampling_of
from ..evaluation import Evaluation, Evaluator, Term
from . import visible

TINIEST_DELTA = 5e-324


@dataclass(frozen=True)
class SomeUse(Evaluator):
    """delta between 0 and the union bound."""

    arithmetic = "ball"
    parameters = FrozenMapping({"way": "union bound"})
    terms: tuple[Term, ...]

    def delta(self, epsilon: float) -> Evaluation:
        uses = sum(count for _, count in self.terms)
        with working_precision(BITS_START):
            share = arb(epsilon) / uses
            most = sum((count * pair.ball_tails(share).p_above for pair, count in self.terms), arb(0))
            upper = min(upper_float(most), 1.0)
        return Evaluation(0.0, upper, ErrorBreakdown(error_lines(truncation=upper), error_lines()))


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> Evaluator:
    """An evaluator for one direction and one question; a refusal takes a millisecond."""
    if any(sampling_of(pair) is not None for pair, _ in terms):
        use = SomeUse(tuple(terms))
        if epsilon is not None and epsilon > 0.0 and use.delta(epsilon).upper <= TINIEST_DELTA:
            return use
    try:
        return visible.prepare(terms, epsilon, delta, accuracy)
    except UnsupportedMechanism:
        if proof:
            raise
    from .ends import CutQuestion  # late: it needs numpy, which proofs do without

    asked = CutQuestion.of(terms)
    asked.check_short()
    from . import cut  # later still: most runs are refused before, and need no grid

    return cut.prepare(asked, epsilon, delta, accuracy)
