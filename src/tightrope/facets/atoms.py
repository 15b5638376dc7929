"""Losses with atoms only, as a list of them in float64.

An atom is an outcome, or several of one loss, of masses p, q > 0 and loss log(p / q).
Guarantee: all numbers with their radii; outcomes are listed, or of infinite loss, or lost, or among those left out.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..kernels.directed import next_up

if TYPE_CHECKING:
    from ..kernels.enclosure import Enclosure


class Atoms(NamedTuple):
    """The atoms of a pair by rising loss, up to the rounding of the losses."""

    p: Enclosure
    q: Enclosure
    loss: Enclosure
    infinite: Enclosure  # P-mass where Q = 0
    lost: Enclosure  # Q-mass where P = 0
    left_out: float = 0.0  # bounds the P-mass, and the Q-mass, of outcomes that are nowhere above

    def reversed(self) -> Atoms:
        """Those of the pair (Q, P)."""
        return Atoms(self.q[::-1], self.p[::-1], -self.loss[::-1], self.lost, self.infinite, self.left_out)

    def infinite_ends(self) -> tuple[float, float]:
        """Doubles around the P-mass of infinite loss; the upper one counts what is left out as such."""
        low, high = max(float(self.infinite.lower), 0.0), float(self.infinite.upper)
        return low, next_up(high + self.left_out) if self.left_out else high
