"""What is known of a composition without any engine: its infinite mass and the supremum of its loss.

w = 1 - prod (1 - w_i)^count_i, supremum = sum count_i sup_i.
Guarantee: exact, rounded outward.
Reference: Meiser, Mohammadi 2018, Def. 5 (the infinity bucket).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from .evaluation import Term


@dataclass(frozen=True, slots=True)
class Edges:
    """Doubles around the infinite mass and around the supremum of the finite losses."""

    mass: tuple[float, float]
    supremum: tuple[float, float]


def edges(terms: Sequence[Term]) -> Edges:
    """The edges of a composition."""
    with working_precision(BITS_START):
        masses = [(pair.infinite_mass(), count) for pair, count in terms]
        leaking = [(mass, count) for mass, count in masses if not mass.is_zero()]
        if len(leaking) == 1 and leaking[0][1] == 1:
            mass = leaking[0][0]
        else:
            survival = arb(1)
            for each, count in leaking:
                survival *= (1 - each) ** count
            mass = 1 - survival
        supremum = arb(0)
        for pair, count in terms:
            highest = pair.loss_range().highest
            supremum = arb.pos_inf() if not highest.is_finite() else supremum + count * highest
        return Edges((max(lower_float(mass), 0.0), upper_float(mass)), (lower_float(supremum), upper_float(supremum)))
