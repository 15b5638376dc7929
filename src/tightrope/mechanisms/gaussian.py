"""The Gaussian mechanism.

Pair: N(sensitivity, sigma^2) against N(0, sigma^2); the loss is normal with mean mu^2/2 and variance mu^2, mu =
sensitivity / sigma.
Guarantee: tight, also under composition.
Reference: Balle, Wang 2018, Thm 8.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..pair import Pair
from ..pairs.gaussian.pair import GaussianPair
from ..relation import Direction
from .base import Leaf
from .parameters import positive


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Leaf):
    """Adds noise of standard deviation sigma to a query of the given L2 sensitivity."""

    example = "Gaussian(sigma=2) * 10"
    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    def pair(self, direction: Direction) -> Pair:
        return GaussianPair(((self.sigma, self.sensitivity, 1),))
