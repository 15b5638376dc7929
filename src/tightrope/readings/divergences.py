"""Renyi divergences as readings: those of the composition's cgf."""

from __future__ import annotations

from ..bound import Bound
from ..convert import divergence
from .law import Law


def renyi(law: Law, order: float) -> Bound:
    """The largest of the directions asked."""
    return divergence.bound(law.mechanism, law.label, order, law.directions)


def mean_loss(law: Law) -> Bound:
    """Order 1."""
    return renyi(law, 1.0)
