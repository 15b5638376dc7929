"""Products of finite laws, atom by atom.

A law with atoms (p_i, q_i, l_i) used k times has the atoms sum n_i l_i with multinomial masses; laws multiply.
Guarantee: exact.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flint import arb, fmpz

from ...facets.finite import Atom, FiniteLaw
from ...facets.lattice import Lattice
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
        listed = [Atom(arb(1), arb(1), arb(0))]
        for law, count in self.factors:
            power = _power(law.listed(), count)
            listed = [Atom(a.p * b.p, a.q * b.q, a.loss + b.loss) for a in listed for b in power]
        return listed

    def infinite_mass(self) -> arb:
        return _some([(law.infinite_mass(), count) for law, count in self.factors])

    def lost_mass(self) -> arb:
        return _some([(law.lost_mass(), count) for law, count in self.factors])

    def reversed(self) -> FiniteLaw:
        return ProductLaw(tuple((law.reversed(), count) for law, count in self.factors))

    def lattice(self) -> Lattice | None:
        return None


def _some(masses: Sequence[tuple[arb, int]]) -> arb:
    """1 - prod (1 - w)^k, exactly zero where every w is."""
    if any(mass >= 1 for mass, _ in masses):
        return arb(1)
    return -sum((count * (-mass).log1p() for mass, count in masses), arb(0)).expm1()


def _power(atoms: list[Atom], count: int) -> list[Atom]:
    """Every way to spread count uses over the atoms."""
    if count == 1:
        return atoms
    if len(atoms) == 1:
        p, q, loss = atoms[0]
        return [Atom(p**count, q**count, loss * count)]
    listed = []
    for row in _shares(count, len(atoms)):
        ways = arb(_multinomial(row))
        p, q, loss = ways, ways, arb(0)
        for uses, atom in zip(row, atoms, strict=True):
            if uses:
                p, q, loss = p * atom.p**uses, q * atom.q**uses, loss + uses * atom.loss
        listed.append(Atom(p, q, loss))
    return listed


def _shares(count: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write count as an ordered sum of parts non-negative integers; none where there is no part."""
    for bars in itertools.combinations(range(count + parts - 1), parts - 1) if parts else ():
        ends = (-1, *bars, count + parts - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(ends))


def _multinomial(row: Sequence[int]) -> fmpz:
    ways, total = 1, 0
    for uses in row:
        total += uses
        ways *= math.comb(total, uses)
    return fmpz(ways)
