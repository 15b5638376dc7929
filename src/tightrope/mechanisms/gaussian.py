"""The Gaussian mechanism, and mu-Gaussian differential privacy: what can be told apart no better than its outputs.

Pair: N(sensitivity, sigma^2) against N(0, sigma^2); the loss is normal with mean mu^2/2 and variance mu^2, mu =
sensitivity / sigma.
Guarantee: tight, also under composition. Of mu-GDP the pair dominates; tight where the trade-off function is G_mu.
Reference: Balle, Wang 2018, Thm 8; Dong, Roth, Su 2021, Def. 2.6 and Cor. 2.13.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..pair import Pair
from ..relation import Direction
from .base import Leaf, ZcdpUse
from .parameters import positive


@dataclass(frozen=True, slots=True, repr=False)
class Gaussian(Leaf):
    """Adds noise of standard deviation sigma to a query of the given L2 sensitivity.

    sigma over the sensitivity is the noise multiplier. DP-SGD is Gaussian(sigma).poisson(rate) * steps.
    """

    example = "Gaussian(sigma=2) * 10"
    section = "noise"
    formula = (
        "P = N(sensitivity, sigma^2), Q = N(0, sigma^2). With mu = sensitivity/sigma: H(e^t) = Phi(mu/2 - t/mu) - e^t "
        "Phi(-mu/2 - t/mu), and the loss is normal with mean mu^2/2 and variance mu^2"
    )
    theorem = "Balle, Wang 2018, Thm 8; Dong, Roth, Su 2022, Cor. 2.13"
    tightness = "Tight, also under composition: neighbours whose query results lie the sensitivity apart attain it."
    relations = (
        "Either relation, with the sensitivity under it: the largest L2 distance between the query on two neighbours. "
        "A sum of records clipped to norm C has C under adding or removing one, and 2 C under replacing one."
    )
    sigma: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", positive("sensitivity", self.sensitivity))

    @property
    def gaussian_noise(self) -> bool:
        return True

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        """rho = mu^2/2, in a sum with parts that have less as zCDP."""
        mu = size * Fraction(self.sensitivity) / Fraction(self.sigma)
        return ZcdpUse(mu**2 / 2, self if size == 1 else self.group(size=size), better=False)

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.gaussian.pair import GaussianPair

        return GaussianPair(((self.sigma, self.sensitivity, 1),))


@dataclass(frozen=True, slots=True, repr=False)
class GDP(Leaf):
    """Any mechanism that is mu-GDP."""

    example = "GDP(mu=0.5)"
    universal = True
    section = "promises"
    formula = "P = N(mu, 1), Q = N(0, 1): H(e^t) = Phi(mu/2 - t/mu) - e^t Phi(-mu/2 - t/mu)"
    theorem = "Dong, Roth, Su 2022, Def. 2.6 and Cor. 2.13"
    tightness = (
        "No better bound follows from the claim, also under composition: the Gaussian mechanism with sigma = "
        "sensitivity/mu attains it. A mechanism that does more than it claims loses less."
    )
    relations = "That of the claim."
    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", positive("mu", self.mu))

    @property
    def gaussian_noise(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.gaussian.pair import GaussianPair

        return GaussianPair(((1.0, self.mu, 1),))
