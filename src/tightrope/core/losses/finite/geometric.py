"""Two-sided geometric noise on the integers, shifted by an integer sensitivity D: D + 1 losses.

Mass proportional to r^|x|, r = e^(-1/scale). Around D against around 0 the output x in [0, D] has the loss
(2x - D)/scale; all outputs below 0 share the loss of 0, all above D that of D. So
    P[x <= n] = r^(D-n)/(1+r) and Q[x > n] = r^(n+1)/(1+r) for n in [0, D-1].
So many steps of binary randomized response of the loss 1/scale are this law too (docs/proofs/group.md, section 3).
Guarantee: exact; float64 with the radius of kernels.enclosure, its tails without sums.
Reference: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from ...numerics.balls import BITS_START, floors, working_precision
from ...numerics.double_double import double_double
from ...numerics.enclosures import exact, where
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ..atoms import Atom, FiniteLaw, FloatAtoms, Lattice, LatticeStep, common_step
from ..pair import LossRange, Tails
from .laws import ListedLaw, RationalLaw, ResponseLaw

LOSSES_MAX = 200_000
ATOM_UNITS = 3e4  # of work, for one atom in balls


@dataclass(frozen=True)
class DiscreteLaplaceLaw(FiniteLaw):
    """Noise around the sensitivity against noise around 0; inverse: `scale` is 1 over that of the noise."""

    scale: float
    sensitivity: int
    inverse: bool = False

    def _rate(self) -> arb:
        """1/scale of the noise."""
        return arb(self.scale) if self.inverse else 1 / arb(self.scale)

    def size(self) -> int:
        if self.sensitivity >= LOSSES_MAX:
            raise UnsupportedMechanism(
                f"a sensitivity of {LOSSES_MAX} or more has too many losses; divide the query, scale and sensitivity"
            )
        return self.sensitivity + 1

    def atoms(self) -> list[Atom]:
        compute_budget.spend(ATOM_UNITS * self.size())
        rate = -self._rate()
        ratio, size = rate.exp(), self.sensitivity
        edge, far = 1 / (1 + ratio), (size * rate).exp() / (1 + ratio)
        unit = -rate.expm1() / (1 + ratio)
        atoms = [Atom(edge, far, -size * rate), Atom(far, edge, size * rate)]
        atoms += [
            Atom(unit * ((size - x) * rate).exp(), unit * (x * rate).exp(), (size - 2 * x) * rate)
            for x in range(1, size)
        ]
        return atoms

    def loss_range(self) -> LossRange:
        edge = self.sensitivity * self._rate() if self.inverse else self.sensitivity / arb(self.scale)
        return LossRange(-edge, edge)

    @cached_property
    def floats(self) -> FloatAtoms:
        outputs = np.arange(self.size(), dtype=np.float64)
        distances = exact(self.sensitivity - outputs)  # to the centre of P
        rate = exact(self.scale) if self.inverse else 1.0 / exact(self.scale)
        tail = (-(distances * rate)).exp() / (1.0 + (-rate).exp())  # of all outputs at or below
        ends = (outputs == 0.0) | (outputs == self.sensitivity)
        p = where(ends, tail, tail * -(-rate).expm1())
        loss = exact(2.0 * outputs - self.sensitivity) * rate
        return FloatAtoms(p, loss, exact(0.0), self._tails())

    def _tails(self) -> Tails:
        """After 0, 1, ..., D + 1 atoms."""
        counts = np.arange(1, self.sensitivity + 1, dtype=np.float64)  # n + 1 outputs are at or below n
        rate = -1.0 * (double_double(self.scale) if self.inverse else double_double(1.0) / double_double(self.scale))
        whole = 1.0 + float(np.exp(rate.collapse()))
        below = (double_double(self.sensitivity + 1.0 - counts) * rate).exp().collapse() / whole
        above = (double_double(counts) * rate).exp().collapse() / whole
        columns = ((1.0, 1.0 - below, 0.0), (1.0, above, 0.0), (0.0, below, 1.0), (0.0, 1.0 - above, 1.0))
        return Tails(*(np.concatenate([[first], inner, [last]]) for first, inner, last in columns))

    def hockey_stick(self, epsilon: arb) -> arb | None:
        """P[x >= m] - e^eps Q[x >= m], m the first output whose loss exceeds eps; the true one attains the maximum."""
        size, rate = self.sensitivity, -self._rate()
        steps = epsilon / arb(self.scale) if self.inverse else epsilon * arb(self.scale)
        before = floors((steps + size) / 2)
        if not before:
            return arb(0).union(arb(1))
        whole, best = 1 + rate.exp(), arb(0)
        for m in (last + 1 for last in before):
            if m <= 0:
                best = best.max(-epsilon.expm1())
            elif m <= size:
                p, q = 1 - ((size + 1 - m) * rate).exp() / whole, (m * rate).exp() / whole
                best = best.max(p - epsilon.exp() * q)
        return best

    def infinite_mass(self) -> arb:
        return arb(0)

    def lost_mass(self) -> arb:
        return arb(0)

    def reversed(self) -> FiniteLaw:
        return self

    def shifted(self, times: int) -> DiscreteLaplaceLaw:
        return DiscreteLaplaceLaw(self.scale, times * self.sensitivity, self.inverse)

    def lattice(self) -> Lattice | None:
        rate = Fraction(self.scale) if self.inverse else 1 / Fraction(self.scale)
        return Lattice(LatticeStep(2 * rate, False), -self.sensitivity * rate)


# Chains of finite laws: what tells data sets apart that are several neighbours away.
#
# g(x), the power of the best test of size x, has a line of slope e^l and width q for each atom. One g after another has
# lines again: their losses add up where the P-masses of the inner law and the Q-masses of the outer law, both laid out
# by
# falling loss, overlap. An overlap m of the atoms (p, q, l) inside and (p', q', l') outside is the atom
# (m e^l', m e^-l, l + l'); what the inner law has of infinite loss becomes infinite, what the outer law has lost is
# lost.
# Guarantee: exact; overlaps that no precision tells from nothing are refused.
# Reference: Dong, Roth, Su 2022, Thm 2.14. Proof: docs/proofs/group.md, sections 1 and 3.

GROUP_PRIVACY_ATOMS_MAX = 4096  # of a chain that is listed
PRECISIONS = 6  # each twice the one before
OVERLAP = 2e4  # units of work, for one atom in balls

FRACTION_MAX = 1 << 13  # bits of a fraction

Link = tuple[FiniteLaw, int]
Row = tuple[Fraction, Fraction]


class _Undecided(Exception):
    """Two ends that this precision does not tell apart."""


class _Laid(NamedTuple):
    """A law by falling loss."""

    infinite: arb
    atoms: tuple[Atom, ...]
    lost: arb


@dataclass(frozen=True)
class GroupPrivacyLaw(ListedLaw):
    """(law, count) links, the first of them outermost: its P is that of the chain, the Q of the last its Q."""

    links: tuple[Link, ...]

    def atoms(self) -> list[Atom]:
        return list(self._laid().atoms)

    def infinite_mass(self) -> arb:
        return self._laid().infinite

    def lost_mass(self) -> arb:
        return self._laid().lost

    def reversed(self) -> FiniteLaw:
        return GroupPrivacyLaw(tuple((law.reversed(), count) for law, count in reversed(self.links)))

    def lattice(self) -> Lattice | None:
        """Losses add up, one of each link."""
        lattices = [(law.lattice(), count) for law, count in self.links]
        found = [(lattice, count) for lattice, count in lattices if lattice is not None]
        step = common_step(lattice.step for lattice, _ in found) if len(found) == len(lattices) else None
        if step is None:
            return None
        result = Lattice(step)
        for lattice, count in found:
            result = Lattice(step, result.shift + count * lattice.shift, result.factor * lattice.factor**count)
        return result

    def _laid(self) -> _Laid:
        kept: dict[int, _Laid] = self.__dict__.setdefault("_chains", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = _chained(self.links, ctx.prec)
        return kept[ctx.prec]


def group_privacy_law(links: Sequence[Link]) -> FiniteLaw | None:
    """The chain, where it can be listed; of fractions in fractions, of binary responses by a formula."""
    one, steps = links[0]
    binary = isinstance(one, ResponseLaw) and one.delta == 0.0 and one.categories == 2 and one.epsilon > 0.0
    if binary and len(links) == 1 and 1 < steps < LOSSES_MAX:
        assert isinstance(one, ResponseLaw)
        return DiscreteLaplaceLaw(one.epsilon, steps, inverse=True)
    if sum(law.size() * count for law, count in links) > GROUP_PRIVACY_ATOMS_MAX:
        return None
    law: FiniteLaw = GroupPrivacyLaw(tuple(links))
    rational = [(law, count) for law, count in links if isinstance(law, RationalLaw)]
    if len(rational) == len(links):
        return _rational(rational)
    try:
        with working_precision(BITS_START):
            law.listed()
    except UnsupportedMechanism:
        return None
    return law


def _rational(links: Sequence[tuple[RationalLaw, int]]) -> RationalLaw | None:
    """In exact fractions, whose length adds up along the chain."""
    length = max(mass.denominator.bit_length() for law, _ in links for mass in (*law.p, *law.q))
    if length * sum(count for _, count in links) > FRACTION_MAX:
        return None
    outer: list[Row] | None = None
    for law, count in links:
        rows = sorted(zip(law.p, law.q, strict=True), key=lambda row: (bool(row[1]), -row[0] / (row[1] or 1)))
        for _ in range(count):
            outer = rows if outer is None else _rows_after(outer, rows)
    assert outer is not None
    return RationalLaw(tuple(p for p, _ in outer), tuple(q for _, q in outer))


def _rows_after(outer: Sequence[Row], inner: Sequence[Row]) -> list[Row]:
    """The same overlaps, rows (p, q) by falling ratio."""
    compute_budget.spend(OVERLAP * (len(outer) + len(inner)))
    rows: list[Row] = [row for row in outer if not row[1]]
    above = [row for row in outer if row[1]]
    j, right = 0, above[0][1]
    for p, q in inner:
        left = p
        while left:
            width = min(left, right)
            rows.append((width * above[j][0] / above[j][1], width * q / p))
            left, right = left - width, right - width
            if not right and j + 1 < len(above):
                j += 1
                right = above[j][1]
        if not p:
            rows.append((p, q))
    return [row for row in rows if row[0] or row[1]]


def _chained(links: Sequence[Link], wanted: int) -> _Laid:
    """At a precision at which every mass keeps the bits that are wanted."""
    bits = 2 * wanted
    for _ in range(PRECISIONS):
        with working_precision(bits):
            try:
                found = _composed([_power(_laid_out(law), count) for law, count in links])
                masses = [mass for atom in found.atoms for mass in atom[:2]] + [found.infinite, found.lost]
                if all(mass.is_zero() or mass.rel_accuracy_bits() >= wanted for mass in masses):
                    return found
            except _Undecided:
                pass
        bits *= 2
    raise UnsupportedMechanism("the ends of its masses cannot be told apart; move a probability by a little")


def _laid_out(law: FiniteLaw) -> _Laid:
    atoms = sorted(law.listed(), key=lambda atom: -float(atom.loss.mid()))
    if not all(one.loss > other.loss for one, other in itertools.pairwise(atoms)):
        raise _Undecided
    return _Laid(law.infinite_mass(), tuple(atoms), law.lost_mass())


def _power(law: _Laid, count: int) -> _Laid:
    """By squaring."""
    result: _Laid | None = None
    while True:
        if count % 2:
            result = law if result is None else _after(law, result)
        count //= 2
        if not count:
            assert result is not None
            return result
        law = _after(law, law)


def _composed(laws: Sequence[_Laid]) -> _Laid:
    result = laws[-1]
    for law in reversed(laws[:-1]):
        result = _after(law, result)
    return result


def _after(outer: _Laid, inner: _Laid) -> _Laid:
    """g of the outer law after that of the inner one."""
    compute_budget.spend(OVERLAP * (len(outer.atoms) + len(inner.atoms)))
    # None stands for the atom that the two sides do not share.
    below = [(inner.infinite, None), *((atom.p, atom) for atom in inner.atoms)]
    above = [*((atom.q, atom) for atom in outer.atoms), (outer.lost, None)]
    below, above = ([atom for atom in side if not atom[0].is_zero()] for side in (below, above))
    infinite, lost, atoms = outer.infinite, inner.lost, []
    i = j = 0
    left, right = (side[0][0] if side else arb(0) for side in (below, above))
    while i < len(below) and j < len(above):
        ends = i + 1 == len(below), j + 1 == len(above)  # both sides end at 1
        first = (ends[1] and not ends[0]) or (not ends[0] and bool(left < right))
        second = (ends[0] and not ends[1]) or (not ends[1] and bool(right < left))
        if not (first or second or all(ends)):
            raise _Undecided
        width = left if first else right
        into, out = below[i][1], above[j][1]
        if into is None and out is not None:
            infinite += width * out.loss.exp()
        elif into is not None and out is None:
            lost += width * (-into.loss).exp()
        elif into is not None and out is not None:
            atoms.append(Atom(width * out.loss.exp(), width * (-into.loss).exp(), into.loss + out.loss))
        if not second:
            i += 1
        if not first:
            j += 1
        left = left - width if second else (below[i][0] if i < len(below) else left)
        right = right - width if first else (above[j][0] if j < len(above) else right)
    return _Laid(infinite, tuple(atoms), lost)
