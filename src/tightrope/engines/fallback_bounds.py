"""The outline of an answer, for when nothing better is at hand: two bounds that take milliseconds.

Above, the moment bound delta <= w + kappa(s) e^{K(s) - s eps} where a cgf is known (chernoff.py), else 1;
below, single events (events.py), at least the infinite mass. Both hold at every epsilon, so a search brackets epsilon.
Guarantee: lower <= delta <= upper; with proof the upper bound is 1, since moments are summed in float64.
Proof: docs/proofs/events.md; docs/proofs/contour.md, sections 1 and 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..bound import ErrorBreakdown, error_lines
from ..errors import agreed
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..operators import is_opaque
from .evaluation import Evaluation, Evaluator, Term
from .events import lower_by_events
from .extremes_of_loss import loss_extremes
from .tuning import TERMS_MAX


@dataclass(frozen=True)
class FallbackBounds(Evaluator):
    """delta between single events and moments."""

    terms: tuple[Term, ...]
    mass: tuple[float, float]
    proof: bool

    @property
    def arithmetic(self) -> str:
        return "ball" if self.proof else "float64"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {}

    def delta(self, epsilon: float) -> Evaluation:
        upper = 1.0
        if not self.proof:
            from .chernoff import delta_above

            upper = min(delta_above(self.terms, epsilon, self.mass[1]), 1.0)
        lower = self.mass[0]
        if len(self.terms) <= TERMS_MAX and not any(is_opaque(pair) for pair, _ in self.terms):
            lower = max(lower, lower_by_events(self.terms, epsilon))
        lines = error_lines(truncation=upper - lower)
        return Evaluation(*agreed(lower, upper, "single events", "moments"), ErrorBreakdown(lines, lines))


def prepare(terms: Sequence[Term], *, proof: bool = False) -> FallbackBounds:
    """The outline of a composition; it is the same for every question."""
    with working_precision(BITS_START):
        mass = loss_extremes(terms).mass
        return FallbackBounds(tuple(terms), (max(lower_float(mass), 0.0), min(upper_float(mass), 1.0)), proof)
