"""Randomized response: report the truth with probability p, else one of the other categories, uniformly.

Pair: (p, (1-p)/(m-1), ...) against ((1-p)/(m-1), p, ...) for m categories; the losses are +-log(p (m-1)/(1-p)) and 0.
Guarantee: tight, also under composition.
Reference: Warner 1965; Kairouz, Oh, Viswanath 2016, Sec. 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import nonnegative, probability, whole


@dataclass(frozen=True, slots=True, repr=False, init=False)
class RandomizedResponse(Leaf):
    """Give either p, the probability of reporting the truth, or epsilon, the log of the odds."""

    example = "RandomizedResponse(p=0.51) * 512"
    section = "local"
    p: float | None = None
    epsilon_per_use: float | None = field(default=None, metadata={"keyword": "epsilon"})
    categories: int = 2

    def __init__(
        self, p: float | None = None, epsilon: float | None = None, categories: int = 2, *, name: str | None = None
    ) -> None:
        if (p is None) == (epsilon is None):
            raise InvalidParameter("RandomizedResponse takes either p (probability of the truth) or epsilon")
        object.__setattr__(self, "p", None if p is None else probability("p", p))
        object.__setattr__(self, "epsilon_per_use", None if epsilon is None else nonnegative("epsilon", epsilon))
        object.__setattr__(self, "categories", whole("categories", categories, least=2))

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.laws import ResponseLaw, response_law
        from ..pairs.finite.pair import FinitePair

        if self.p is not None:
            return FinitePair(response_law(self.p, self.categories))
        return FinitePair(ResponseLaw(self.epsilon_per_use or 0.0, 0.0, self.categories))
