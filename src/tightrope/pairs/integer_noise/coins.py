"""Few coins: a finite law whose masses are fractions.

Guarantee: exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ...facets.finite import Atom, FiniteLaw
from ...facets.lattice import Lattice, ratio_ball, ratio_lattice
from ...pair import Pair
from ..finite.laws import ListedLaw
from ..finite.pair import FinitePair
from .binomial import CoinNoise
from .pair import IntegerNoisePair

COINS_LISTED = 512  # of a law that is listed: what every engine goes through in no time
LATTICE_MAX = 64  # losses among which a lattice is looked for


@dataclass(frozen=True)
class CoinLaw(ListedLaw):
    """trials: n. shift: D. Outputs from D to n have a finite loss."""

    trials: int
    sensitivity: int

    def _mass(self, k: int) -> Fraction:
        return Fraction(math.comb(self.trials, k), 2**self.trials)

    def atoms(self) -> list[Atom]:
        found = []
        for k in range(self.sensitivity, self.trials + 1):
            p, q = self._mass(k - self.sensitivity), self._mass(k)
            found.append(Atom(ratio_ball(p), ratio_ball(q), ratio_ball(p / q).log()))
        return found

    def infinite_mass(self) -> arb:
        first = max(0, self.trials - self.sensitivity + 1)
        return ratio_ball(sum((self._mass(k) for k in range(first, self.trials + 1)), Fraction(0)))

    def lost_mass(self) -> arb:
        return self.infinite_mass()

    def reversed(self) -> FiniteLaw:
        return self

    def lattice(self) -> Lattice | None:
        outputs = range(self.sensitivity, self.trials + 1)
        if len(outputs) > LATTICE_MAX:
            return None
        return ratio_lattice(self._mass(k - self.sensitivity) / self._mass(k) for k in outputs)

    def shifted(self, times: int) -> FiniteLaw | None:
        return CoinLaw(self.trials, times * self.sensitivity)


def coin_pair(trials: int, sensitivity: int) -> Pair:
    """Listed where there are few coins."""
    if trials <= COINS_LISTED:
        return FinitePair(CoinLaw(trials, sensitivity))
    return IntegerNoisePair(CoinNoise(trials), sensitivity)
