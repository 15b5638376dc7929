"""One use of a pair as merged cells in whole numbers, each entry on its side.

The finite losses are merged into cells around the points i h, first <= i <= last; the outer ones reach to the ends.
Cell i has the P-mass p_i, rounded down, and the Q-mass q_i, of which e^(i h) q_i is kept, rounded up: that is about
p_i, however far out the cell lies. Both are in units of 2^-bits.
Guarantee: entry by entry, P at least and Q at most. Proof: docs/proofs/adaptive.md, section 3.
Reference: Meiser, Mohammadi 2018, Def. 3 (buckets).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from flint import arb, fmpz

from ... import compute_budget
from ...errors import UnsupportedMechanism
from ...kernels.ball import integer
from ...pair import BallTails, Pair
from ..lattice.tuning import MASS_SECONDS

Masses = list[fmpz]


class Mesh(NamedTuple):
    """The step, and the bits of a mass."""

    step: float
    bits: int


@dataclass(frozen=True, slots=True)
class Cells:
    """p_i, e^(i h) q_i, the label of the first cell, and the P-mass of infinite loss."""

    p: Masses
    tilted: Masses
    start: int
    infinite: int

    @property
    def stop(self) -> int:
        """The label of the last cell."""
        return self.start + len(self.p) - 1


def whole_merged(pair: Pair, first: int, last: int, mesh: Mesh) -> Cells:
    """The cells with these labels; the working precision is that of the bits and more."""
    edges = [(label + 0.5) * mesh.step for label in range(first, last)]
    inner = _ball_tails(pair, edges, mesh.bits)
    leaked, lost = pair.infinite_mass(), pair.reversed().infinite_mass()
    all_above, none_above = BallTails(arb(1), 1 - lost, arb(0), lost), BallTails(leaked, arb(0), 1 - leaked, arb(1))
    tails = [all_above, *inner, none_above]
    scale = arb(2) ** mesh.bits
    p, tilted = [], []
    for label, (low, high) in enumerate(pairwise(tails), start=first):
        p.append(whole_below(scale * _narrower(low.p_above - high.p_above, high.p_below - low.p_below)))
        mass = _narrower(low.q_above - high.q_above, high.q_below - low.q_below)
        tilted.append(whole_above(scale * (arb(label) * arb(mesh.step)).exp() * mass))
    return Cells(p, tilted, first, int(whole_below(scale * leaked)))


def _ball_tails(pair: Pair, edges: list[float], bits: int) -> list[BallTails]:
    units = 0.5 * MASS_SECONDS * (1.0 + bits / 512.0) * compute_budget.UNITS_PER_SECOND
    found = []
    for edge in edges:
        compute_budget.spend(units)
        found.append(pair.ball_tails(arb(edge)))
    return found


def _narrower(one: arb, other: arb) -> arb:
    """Of two enclosures of one number."""
    return one if one.rad() <= other.rad() else other


def whole_below(ball: arb) -> fmpz:
    """The largest whole number at or below, and not below 0; 0 where none is known."""
    return fmpz(max(integer(ball.lower().floor()) or 0, 0))


def whole_above(ball: arb) -> fmpz:
    """The least whole number at or above."""
    value = integer(ball.upper().ceil())
    if value is None:
        raise UnsupportedMechanism("its masses cannot be enclosed at this precision")
    return fmpz(max(value, 0))
