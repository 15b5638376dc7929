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
    scale: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.laplace.pair import LaplacePair

        return LaplacePair(self.scale, self.sensitivity)
