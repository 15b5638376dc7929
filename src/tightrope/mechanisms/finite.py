"""A mechanism given by two probability vectors over the same outcomes.

The masses are taken as the given doubles divided by their exact sum, which must be 1 up to 1e-12.
Guarantee: tight for the mechanism whose two output laws are p and q.
Reference: Meiser, Mohammadi 2018, Def. 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import real, shares

SUM_TOLERANCE = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True, repr=False)
class Finite(Leaf):
    """p[i] and q[i] are the probabilities of outcome i with and without the record."""

    example = "Finite(p=[0.75, 0.25], q=[0.25, 0.75])"
    section = "laws"
    formula = "P = p, Q = q, each divided by its exact sum: H(a) = sum over i of (p[i] - a q[i])_+"
    theorem = "Meiser, Mohammadi 2018, Def. 2"
    tightness = "Tight, also under composition, for the mechanism whose outputs have these laws."
    relations = "Those between which p and q were taken: p with the record, q without it."
    p: Sequence[float]
    q: Sequence[float]

    def __post_init__(self) -> None:
        p, q = _masses("p", self.p), _masses("q", self.q)
        if len(p) != len(q):
            raise InvalidParameter(f"p and q must have the same length, not {len(p)} and {len(q)}")
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.laws import RationalLaw
        from ..pairs.finite.pair import FinitePair

        law = RationalLaw(shares(self.p), shares(self.q))
        return FinitePair(law) if direction is Direction.REMOVE else FinitePair(law).reversed()


def _masses(name: str, values: Sequence[float]) -> tuple[float, ...]:
    try:
        masses = tuple(real(f"{name}[{index}]", value) + 0.0 for index, value in enumerate(values))
    except TypeError:
        raise InvalidParameter(f"{name} must be a list of probabilities, not {values!r:.60}") from None
    if not masses:
        raise InvalidParameter(f"{name} must have at least one outcome")
    for index, mass in enumerate(masses):
        if not 0.0 <= mass <= 1.0 + float(SUM_TOLERANCE):
            raise InvalidParameter(f"{name}[{index}] must be a probability, not {mass!r}")
    if abs(sum(map(Fraction, masses), Fraction(0)) - 1) > SUM_TOLERANCE:
        raise InvalidParameter(f"the masses of {name} must sum to 1, not to {math.fsum(masses)!r}")
    return masses
