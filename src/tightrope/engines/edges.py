"""What is known of a composition without any engine: its infinite mass and the supremum of its loss.

w = 1 - prod (1 - w_i)^count_i, supremum = sum count_i sup_i.
Guarantee: exact, rounded outward.
Reference: Meiser, Mohammadi 2018, Def. 5 (the infinity bucket).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from ..digits import rounded
from ..kernels.ball import lower_float, upper_float, working_precision
from .evaluation import Term

EDGE_BITS = 1200  # a mass of 5e-324 and its complement fit exactly


@dataclass(frozen=True, slots=True)
class Edges:
    """Balls around the infinite mass and the supremum of the finite losses; a comparison that holds is proven."""

    mass: arb
    supremum: arb

    def why_infinite(self, delta: float) -> str:
        """Why no epsilon will do below the mass, and which delta has one: delta(epsilon) falls to the mass."""
        low, high = rounded(lower_float(self.mass), 3, up=False), rounded(upper_float(self.mass), 3, up=True)
        finite = f"every delta above {high} has" if float(high) < 1.0 else "no delta below 1 is known to have"
        return f"the loss is infinite with probability {low} at least, above delta {delta!r}; {finite} a finite epsilon"


def edges(terms: Sequence[Term]) -> Edges:
    """The edges of a composition."""
    with working_precision(EDGE_BITS):
        survival, supremum = arb(1), arb(0)
        for pair, count in terms:
            survival *= (1 - pair.infinite_mass()) ** count
            highest = pair.loss_range().highest
            supremum = supremum + count * highest  # what is not finite stays so: +inf, or nothing known
        return Edges(1 - survival, supremum)
