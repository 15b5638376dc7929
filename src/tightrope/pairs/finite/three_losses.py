"""Laws with the losses +epsilon, -epsilon and 0, the same with P and Q exchanged: randomized response that may say
nothing.

P[-epsilon] = e^-epsilon P[+epsilon], so that P[+epsilon] and P[0] say all.
Guarantee: exact, in balls; nothing cancels.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ...facets.finite import Atom, FiniteLaw
from ...facets.lattice import Lattice, LatticeStep
from .laws import ListedLaw


@dataclass(frozen=True)
class ThreeLossLaw(ListedLaw):
    """Yours gives the two masses."""

    epsilon: float

    @abstractmethod
    def masses(self) -> tuple[arb, arb]:
        """P[+epsilon] and P[0]; the latter is exactly zero where there is none."""

    def atoms(self) -> list[Atom]:
        epsilon, (more, same) = arb(self.epsilon), self.masses()
        less = (-epsilon).exp() * more
        told = [Atom(more, less, epsilon), Atom(less, more, -epsilon)]
        return told if same.is_zero() else [*told, Atom(same, same, arb(0))]

    def infinite_mass(self) -> arb:
        return arb(0)

    def lost_mass(self) -> arb:
        return arb(0)

    def reversed(self) -> FiniteLaw:
        return self

    def lattice(self) -> Lattice | None:
        edge = Fraction(self.epsilon)
        if self.masses()[1].is_zero():
            return Lattice(LatticeStep(2 * edge, False), -edge)
        return Lattice(LatticeStep(edge, False))


@dataclass(frozen=True)
class StaircaseLaw(ThreeLossLaw):
    """Noise X whose density falls by e^-epsilon at gamma, 1 + gamma, ... on both sides of 0, at 0 and at 1.

    P[+epsilon] (1 - e^-epsilon) = P[|X| <= 1/2]; 1 - h/2 with h = e^(-epsilon/2) for the gamma that is meant by None.
    """

    gamma: float | None

    def masses(self) -> tuple[arb, arb]:
        epsilon = arb(self.epsilon)
        fall, gap = (-epsilon).exp(), -(-epsilon).expm1()
        if self.gamma is None:
            half = (-epsilon / 2).exp()
            return 1 - half / 2, half * (-epsilon / 2).expm1() ** 2 / 2
        if self.gamma == 0.0:
            return arb(0.5), gap / 2
        # The masses above 0 and between 0 and 1/2, over the density at 0; on the same step seen from both is |1 - 2g|.
        gamma = arb(self.gamma)
        side, apart = gamma + fall * (1 - gamma), abs(1 - 2 * gamma)
        if self.gamma > 0.5:
            return 1 / (2 * side), gap * apart / (2 * side)
        return (gamma + fall * apart / 2) / side, gap * apart * fall / (2 * side)


@dataclass(frozen=True)
class SubsetLaw(ThreeLossLaw):
    """A set of `size` out of so many categories, e^epsilon times as likely where it holds the true one.

    With k categories, d = size, a = e^-epsilon: it holds the true one by the chance d / (d + (k - d) a), and the others
    in it, or in the rest, are any.
    """

    categories: int
    size_of_set: int

    def masses(self) -> tuple[arb, arb]:
        inside, outside, others = self.size_of_set, self.categories - self.size_of_set, self.categories - 1
        odds = (-arb(self.epsilon)).exp()
        total = others * (inside + outside * odds)
        same = inside * (inside - 1) + outside * (outside - 1) * odds
        return inside * outside / total, same / total if self.categories > 2 else arb(0)
