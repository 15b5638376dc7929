"""Products of finite laws, atom by atom.

A law with atoms (p_i, q_i, l_i) used k times has the atoms sum n_i l_i with multinomial masses; laws multiply.
Guarantee: exact.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from ...facets.finite import Atom, FiniteLaw, power, product
from ...facets.lattice import Lattice
from ...kernels.ball import some
from .laws import ListedLaw

TOO_MANY = 1 << 40


def listed_atoms(factors: Sequence[tuple[int, int]]) -> int:
    """Atoms of a product of laws with so many atoms, each used count times; TOO_MANY where there are more."""
    total = 1
    for atoms, count in factors:
        if min(atoms, count) > 64:
            return TOO_MANY
        total *= math.comb(count + atoms - 1, atoms - 1) if atoms else 1
        if total > TOO_MANY:
            return TOO_MANY
    return total


@dataclass(frozen=True)
class ProductLaw(ListedLaw):
    """The product of (law, count) factors, with all atoms listed."""

    factors: tuple[tuple[FiniteLaw, int], ...]

    def atoms(self) -> list[Atom]:
        return product(power(law.listed(), count) for law, count in self.factors)

    def infinite_mass(self) -> arb:
        return some([(law.infinite_mass(), count) for law, count in self.factors])

    def lost_mass(self) -> arb:
        return some([(law.lost_mass(), count) for law, count in self.factors])

    def reversed(self) -> FiniteLaw:
        return ProductLaw(tuple((law.reversed(), count) for law, count in self.factors))

    def lattice(self) -> Lattice | None:
        return None
