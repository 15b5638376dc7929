"""The law of a leak: with the record an output that shows it has the mass w, without it none; nothing else is told.

H(a) = w + (1 - w - a)_+ where P leaks, (1 - a (1 - w))_+ where Q does.
Guarantee: exact. Proof: docs/proofs/stability.md, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from ...facets.finite import Atom, FiniteLaw
from .laws import ListedLaw


@dataclass(frozen=True)
class Leak:
    """One count, 1 + Lap(1/epsilon), above the threshold, where without the record there is none."""

    epsilon: float
    threshold: float

    def mass(self) -> arb:
        """w."""
        return self._ends()[0]

    def kept(self) -> arb:
        """1 - w."""
        return self._ends()[1]

    def move(self) -> arb:
        """m = log(1 - w), by whichever form cancels nothing."""
        small, other = self._ends()
        return (-small).log1p() if self.threshold >= 1.0 else other.log()

    def _ends(self) -> tuple[arb, arb]:
        beyond = arb(self.threshold) - 1
        small = (-abs(arb(self.epsilon) * beyond)).exp() / 2
        return (small, 1 - small) if self.threshold >= 1.0 else (1 - small, small)


@dataclass(frozen=True)
class LeakLaw(ListedLaw):
    """P leaks or, flipped, Q."""

    leak: Leak
    flipped: bool = False

    def atoms(self) -> list[Atom]:
        kept, move = self.leak.kept(), self.leak.move()
        return [Atom(arb(1), kept, -move) if self.flipped else Atom(kept, arb(1), move)]

    def infinite_mass(self) -> arb:
        return arb(0) if self.flipped else self.leak.mass()

    def lost_mass(self) -> arb:
        return self.leak.mass() if self.flipped else arb(0)

    def reversed(self) -> FiniteLaw:
        return LeakLaw(self.leak, not self.flipped)
