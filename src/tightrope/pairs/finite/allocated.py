"""One of several steps, chosen at random, of a law with few atoms: all that the steps may show, listed.

Steps are counted by what they show: n_j of them atom j of the base, ratio y_j = p_j/q_j, 0 where P has no mass.
Under Q the counts are multinomial, and the ratio of the two laws is the mean (sum n_j y_j)/steps.
Guarantee: exact. Proof: docs/proofs/allocation.md, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from ...facets.finite import Atom, FiniteLaw
from ...kernels.ball import spreads
from ...relation import Direction
from .laws import ListedLaw, listed_atoms


@dataclass(frozen=True)
class AllocatedLaw(ListedLaw):
    """One of so many copies of Q is P, whichever, against copies of Q alone; for ADD the reverse, of a base that is."""

    base: FiniteLaw
    steps: int
    direction: Direction

    @property
    def _step(self) -> FiniteLaw:
        """With the record, and without it."""
        return self.base if self.direction is Direction.REMOVE else self.base.reversed()

    def _counted(self) -> list[Atom]:
        """(P, Q) of all counts but those where no step could have come from P."""
        step = self._step
        shown = [(atom.q, atom.loss.exp()) for atom in step.listed()]
        lost = step.lost_mass()
        shown += [] if lost.is_zero() else [(lost, arb(0))]
        factorials = [arb(1)]
        for n in range(1, self.steps + 1):
            factorials.append(factorials[-1] * n)
        powers = [[q**n / factorials[n] for n in range(self.steps + 1)] for q, _ in shown]
        found = []
        for row in spreads(self.steps, len(shown)):
            mass, mean = factorials[-1], arb(0)
            for count, known, (_, ratio) in zip(row, powers, shown, strict=True):
                mass, mean = mass * known[count], mean + count * ratio
            if not mean.is_zero():
                mean /= self.steps
                found.append(Atom(mass * mean, mass, mean.log()))
        return found

    def atoms(self) -> list[Atom]:
        found = self._counted()
        return found if self.direction is Direction.REMOVE else [Atom(q, p, -loss) for p, q, loss in found]

    def infinite_mass(self) -> arb:
        """The step of the record has it; for ADD all steps."""
        mass = self.base.infinite_mass()
        return mass if self.direction is Direction.REMOVE else mass**self.steps

    def lost_mass(self) -> arb:
        mass = self.base.lost_mass()
        return mass**self.steps if self.direction is Direction.REMOVE else mass

    def reversed(self) -> FiniteLaw:
        return AllocatedLaw(self.base.reversed(), self.steps, self.direction.opposite)


def allocated_atoms(base: FiniteLaw, steps: int, direction: Direction) -> int:
    """How many there are, about."""
    lost = base.lost_mass() if direction is Direction.REMOVE else base.infinite_mass()
    return listed_atoms([(base.size() + (not lost.is_zero()), steps)])
