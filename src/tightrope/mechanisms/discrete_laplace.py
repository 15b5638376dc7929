"""The discrete Laplace (two-sided geometric) mechanism.

Pair: mass proportional to exp(-|x - sensitivity| / scale) on the integers against the same around 0. The losses are
(2x - sensitivity) / scale for x = 0 .. sensitivity; all outputs beyond share the two ends.
Guarantee: tight, also under composition.
Reference: Ghosh, Roughgarden, Sundararajan 2009, Def. 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive, whole


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteLaplace(Leaf):
    """Adds integer Laplace noise of the given scale to an integer query of the given sensitivity.

    It is the geometric mechanism, of ratio e^(-1/scale).
    """

    example = "DiscreteLaplace(scale=4)"
    section = "noise"
    formula = (
        "On the integers P(x) ~ exp(-|x - sensitivity|/scale), Q(x) ~ exp(-|x|/scale); the losses are (2 x - "
        "sensitivity)/scale for x = 0, ..., sensitivity, and all outputs beyond have one of the two ends"
    )
    theorem = "Ghosh, Roughgarden, Sundararajan 2009, Def. 2.2"
    tightness = "Tight, also under composition: neighbours whose query results differ by the sensitivity attain it."
    relations = (
        "Either relation, with the sensitivity under it: the largest difference, a whole number, of the query on two "
        "neighbours."
    )
    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity, least=1))

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.discrete_laplace import DiscreteLaplaceLaw
        from ..pairs.finite.pair import FinitePair

        return FinitePair(DiscreteLaplaceLaw(self.scale, self.sensitivity))
