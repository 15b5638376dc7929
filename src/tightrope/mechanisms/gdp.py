"""mu-Gaussian differential privacy: no more can be told apart than N(0, 1) from N(mu, 1).

Guarantee: the pair dominates; tight for a mechanism whose trade-off function is exactly G_mu.
Reference: Dong, Roth, Su 2021, Def. 2.6 and Cor. 2.13.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..pair import Pair
from ..pairs.gaussian.pair import GaussianPair
from ..relation import Direction
from .base import Leaf
from .parameters import positive


@dataclass(frozen=True, slots=True, repr=False)
class GDP(Leaf):
    """Any mechanism that is mu-GDP."""

    example = "GDP(mu=0.5)"
    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", positive("mu", self.mu))

    def pair(self, direction: Direction) -> Pair:
        return GaussianPair(((1.0, self.mu, 1),))
