"""A pair that is known between two finite ones: how fine they are wanted.

Some laws have a profile and no tails that doubles can hold: the maximum of several profiles, a chain of trade-offs, a
bound on Renyi divergences. Under composition two finite pairs stand for such a law, one that it
dominates and one that dominates it, and both are made finer until the answer is narrow.
Guarantee: lower <= true <= upper, as profiles, also when composed. Proof: docs/proofs/joint.md, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resolution:
    """points of a finite law, the P-mass that may go to infinite loss, and whether balls alone are used.

    delta, epsilon: what is asked of all `uses` together, of which this is one, where that is known: what a law may
    aim at.
    """

    points: int
    tail: float
    proof: bool
    delta: float | None = None
    epsilon: float | None = None
    uses: int = 1
