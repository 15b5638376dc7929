"""A mechanism given by two probability vectors over the same outcomes.

The masses are taken as the given doubles divided by their exact sum, which must be 1 up to 1e-12.
Guarantee: tight for the mechanism whose two output laws are p and q.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import masses, shares


@dataclass(frozen=True, slots=True, repr=False)
class Finite(Leaf):
    """p[i] and q[i] are the probabilities of outcome i with and without the record, where that shows most."""

    example = "Finite(p=[0.75, 0.25], q=[0.25, 0.75])"
    section = "laws"
    formula = "P = p, Q = q, each divided by its exact sum: H(a) = sum over i of (p[i] - a q[i])_+"
    theorem = "Meiser, Mohammadi 2018, Def. 2"
    tightness = "Tight, also under composition, for the mechanism whose outputs have these laws."
    relations = (
        "p is with the record, q without it. That no test tells more of any two neighbours, whatever the other records "
        "are, is part of what is given; laws of two data sets alone are Histograms(kind='probabilities')."
    )
    p: Sequence[float]
    q: Sequence[float]

    def __post_init__(self) -> None:
        p, q = masses("p", self.p), masses("q", self.q)
        if len(p) != len(q):
            raise InvalidParameter(f"p and q must have the same length, not {len(p)} and {len(q)}")
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.laws import RationalLaw
        from ..pairs.finite.pair import FinitePair

        law = RationalLaw(shares(self.p), shares(self.q))
        return FinitePair(law) if direction is Direction.REMOVE else FinitePair(law).reversed()
