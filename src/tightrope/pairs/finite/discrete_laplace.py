"""Two-sided geometric noise on the integers, shifted by an integer sensitivity D: D + 1 losses.

Mass proportional to r^|x|, r = e^(-1/scale). Around D against around 0 the output x in [0, D] has the loss
(2x - D)/scale; all outputs below 0 share the loss of 0, all above D that of D. So
    P[x <= n] = r^(D-n)/(1+r) and Q[x > n] = r^(n+1)/(1+r) for n in [0, D-1].
So many steps of binary randomized response of the loss 1/scale are this law too (docs/proofs/group.md, section 3).
Guarantee: exact; float64 with the radius of kernels.enclosure, its tails without sums.
Reference: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb

from ... import compute_budget
from ...errors import UnsupportedMechanism
from ...facets.finite import Atom, FiniteLaw, FloatAtoms
from ...facets.lattice import Lattice, LatticeStep
from ...kernels.ball import floors
from ...kernels.double_double import double_double
from ...kernels.enclosure import exact, where
from ...pair import LossRange, Tails

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
