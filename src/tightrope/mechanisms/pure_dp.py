"""Any epsilon-DP mechanism, through randomized response, which dominates all of them.

Guarantee: the pair dominates; randomized response attains it, also under composition.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.2 (delta = 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..pair import Pair
from ..pairs.finite.laws import ResponseLaw
from ..pairs.finite.pair import FinitePair
from ..relation import Direction
from .base import Leaf
from .parameters import nonnegative


@dataclass(frozen=True, slots=True, repr=False, init=False)
class PureDP(Leaf):
    """Any mechanism that is epsilon-DP."""

    example = "PureDP(epsilon=0.1) * 20"
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})

    def __init__(self, epsilon: float) -> None:
        object.__setattr__(self, "epsilon_per_use", nonnegative("epsilon", epsilon))

    def pair(self, direction: Direction) -> Pair:
        return FinitePair(ResponseLaw(self.epsilon_per_use, 0.0, 2))
