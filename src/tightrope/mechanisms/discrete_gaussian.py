"""The discrete Gaussian mechanism.

Pair: mass proportional to exp(-(x - sensitivity)^2 / (2 sigma^2)) on the integers against the same around 0; the
losses are sensitivity (2x - sensitivity) / (2 sigma^2).
Guarantee: tight, also under composition.
Reference: Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive, whole


@dataclass(frozen=True, slots=True, repr=False)
class DiscreteGaussian(Leaf):
    """Adds integer Gaussian noise of parameter sigma to an integer query of the given sensitivity."""

    example = "DiscreteGaussian(sigma=5, sensitivity=2)"
    section = "noise"
    formula = (
        "On the integers P(x) ~ exp(-(x - sensitivity)^2/(2 sigma^2)), Q(x) ~ exp(-x^2/(2 sigma^2)); the losses are "
        "sensitivity (2 x - sensitivity)/(2 sigma^2)"
    )
    theorem = "Canonne, Kamath, Steinke 2020, Def. 1 and Thm 7"
    tightness = "Tight, also under composition: neighbours whose query results differ by the sensitivity attain it."
    relations = (
        "Either relation, with the sensitivity under it: the largest difference, a whole number, of the query on two "
        "neighbours. The query is one integer; several are composed."
    )
    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", whole("sensitivity", self.sensitivity, least=1))

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.discrete_gaussian.pair import DiscreteGaussianPair

        return DiscreteGaussianPair(self.sigma, self.sensitivity)
