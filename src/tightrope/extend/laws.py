"""Pairs of laws, for a mechanism of one's own: finitely many losses, or what a family knows of its pair."""

from __future__ import annotations

from ..facets.finite import Atom, FiniteLaw
from ..facets.lattice import Lattice, LatticeStep
from ..facets.moments import Moments
from ..operators import condition_on_finite_loss
from ..pair import Pair
from ..pairs.finite.laws import ListedLaw
from ..pairs.finite.pair import FinitePair

__all__ = [
    "Atom",
    "FiniteLaw",
    "FinitePair",
    "Lattice",
    "LatticeStep",
    "ListedLaw",
    "Moments",
    "Pair",
    "condition_on_finite_loss",
]
