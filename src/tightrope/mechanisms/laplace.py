"""The Laplace mechanism.

Pair: Laplace(sensitivity, scale) against Laplace(0, scale); the loss lies in [-e, e], e = sensitivity / scale, with
P-atoms 1/2 at e and exp(-e)/2 at -e, and the density exp((l - e)/2)/4 between.
Guarantee: tight, also under composition.
Reference: Dwork, McSherry, Nissim, Smith 2006, Prop. 1; Koskela, Jaelkoe, Honkela 2020, Sec. 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive


@dataclass(frozen=True, slots=True, repr=False)
class Laplace(Leaf):
    """Adds Laplace noise of the given scale to a query of the given L1 sensitivity."""

    example = "Laplace(scale=10) * 3"
    section = "noise"
    formula = (
        "P = Laplace(sensitivity, scale), Q = Laplace(0, scale). With e = sensitivity/scale: H(e^t) = 1 - e^((t - "
        "e)/2) for |t| <= e, and 0 beyond e; the loss is e with probability 1/2, -e with e^-e/2, and has the density "
        "e^((l - e)/2)/4 between"
    )
    theorem = "Dwork, McSherry, Nissim, Smith 2006, Prop. 1; law of the loss: Koskela, Jaelkoe, Honkela 2020, Sec. 6"
    tightness = (
        "Tight, also under composition: neighbours whose query results differ by the sensitivity in one number attain "
        "it."
    )
    relations = (
        "Either relation, with the sensitivity under it: the largest L1 distance between the query on two neighbours."
    )
    scale: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.laplace.pair import LaplacePair

        return LaplacePair(self.scale, self.sensitivity)
