"""Pairs of laws, for a mechanism of one's own: finitely many losses, or what a family knows of its pair."""

from __future__ import annotations

from ..core.losses.atoms import Atom, FiniteLaw, Lattice, LatticeStep
from ..core.losses.capabilities import Moments
from ..core.losses.finite.finite_pair import FinitePair
from ..core.losses.finite.laws import ListedLaw
from ..core.losses.operators.registered import condition_on_finite_loss
from ..core.losses.pair import Pair

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
