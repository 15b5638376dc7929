"""The loss on one even grid, by chords, as libraries of privacy loss distributions report it.

The profile of each use is replaced by its chords between the multiples of a step, and the uses are convolved: what the
step costs grows with the count. Nothing is cut off that a digit would show.
Guarantee: upper, in the worse direction. Proof: docs/proofs/lattice.md.
Reference: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Alg. 1 (connect the dots).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..engines.evaluation import Evaluator, Term
from ..engines.lattice.one_step import chords_at
from ..mechanisms.base import Mechanism
from ..relation import Direction
from ..transforms.terms import terms_of

CHORD_HALVINGS = 60  # of an interval around epsilon
CHORD_CLOSE = 1e-10  # relative: where they end
EPSILON_BEYOND = 1e4  # where nothing met delta until there, nothing is said


@dataclass(frozen=True, slots=True)
class ChordGrid:
    """An accountant by its step of the loss."""

    step: float

    def epsilon(self, run: Mechanism, delta: float) -> float:
        """At delta, in the worse direction; inf where nothing is said."""
        return max(_epsilon(terms, self.step, delta) for terms in _sides(run))

    def delta(self, run: Mechanism, epsilon: float) -> float:
        """At epsilon, likewise."""
        return max(min(chords_at(terms, self.step, epsilon, None).delta(epsilon).upper, 1.0) for terms in _sides(run))


def _sides(run: Mechanism) -> list[Sequence[Term]]:
    """Of both directions, where they differ."""
    first, other = (terms_of(run.nameless, direction) for direction in (Direction.REMOVE, Direction.ADD))
    return [first] if first == other else [first, other]


def _epsilon(terms: Sequence[Term], step: float, delta: float) -> float:
    """The least epsilon found whose delta is at most the one given."""
    if delta >= 1.0:
        return 0.0
    evaluator: Evaluator = chords_at(terms, step, None, delta)
    if evaluator.delta(0.0).upper <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while evaluator.delta(high).upper > delta:
        low, high = high, 2.0 * high
        if high > EPSILON_BEYOND:
            return math.inf
    for _ in range(CHORD_HALVINGS):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if evaluator.delta(middle).upper > delta else (low, middle)
        if high - low <= CHORD_CLOSE * high:
            break
    return high
