"""What is known of a composition without any engine: its infinite mass and the supremum of its loss.

w = 1 - prod (1 - w_i)^count_i, supremum = sum count_i sup_i.
Guarantee: exact, rounded outward.
Reference: Meiser, Mohammadi 2018, Def. 5 (the infinity bucket).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


class Leaky(Protocol):
    """A pair, or a finite law."""

    def infinite_mass(self) -> arb:
        """P-mass of infinite loss."""


def leaked(terms: Sequence[tuple[Leaky, int]]) -> arb:
    """The infinite mass of a composition."""
    with working_precision(EDGE_BITS):
        survival = arb(1)
        for each, count in terms:
            survival *= (1 - each.infinite_mass()) ** count
        return 1 - survival


def edges(terms: Sequence[Term]) -> Edges:
    """The edges of a composition; a supremum that is not finite stays so: +inf, or nothing known."""
    with working_precision(EDGE_BITS):
        supremum = sum((count * pair.loss_range().highest for pair, count in terms), arb(0))
        return Edges(leaked(terms), supremum)
