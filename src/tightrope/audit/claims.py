"""A claim as what every proof here uses of it: H(e^epsilon) at most so much, both ways, at finitely many slopes.

(epsilon, delta)-privacy is one slope; a run is bounded at many, by certified upper ends of its deltas. Sets of
mechanisms only grow where a bound is raised or left out, so a refutation of these slopes refutes the claim.
Reference: docs/proofs/audit.md, sections 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from ..core.mechanisms.base import Mechanism
from ..core.mechanisms.parameters import nonnegative, probability
from ..core.numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..core.numerics.enclosures import FloatArray
from ..core.numerics.rounding import FEW, round_down, round_up
from ..core.values import compute_budget
from ..core.values.errors import InvalidParameter
from ..core.values.question import Direction, Relation

EPSILON_AUDITED_MAX = 500.0  # beyond, e^epsilon times a count is no double


@dataclass(frozen=True, slots=True)
class ClaimSlope:
    """H(e^epsilon) <= remove for (with the record, without it), <= add for the two exchanged."""

    epsilon: float
    remove: float
    add: float

    def swapped(self) -> ClaimSlope:
        """Of the claim with the roles of the two laws exchanged."""
        return ClaimSlope(self.epsilon, self.add, self.remove)


@dataclass(frozen=True, slots=True)
class SlopeClaim:
    """The slopes, and the text that they follow from: an expression, or empty for (epsilon, delta) itself."""

    slopes: tuple[ClaimSlope, ...]
    expression: str = ""

    @staticmethod
    def private(epsilon: float, delta: float) -> SlopeClaim:
        """(epsilon, delta)-privacy, in both directions."""
        return SlopeClaim((ClaimSlope(epsilon, delta, delta),))

    def swapped(self) -> SlopeClaim:
        """With the roles of the two laws exchanged."""
        return SlopeClaim(tuple(slope.swapped() for slope in self.slopes), self.expression)

    def tpr_upper(self, fprs: FloatArray) -> FloatArray:
        """At or above g, the most true positives at these rates of false ones.

        g(x) <= H_remove(a) + a x, and 1 - x - a (1 - g(x)) <= H_add(a) for the complement of the test.
        """
        values = np.ones_like(fprs)
        for slope in self.slopes:
            values = np.minimum(values, _lines(slope, fprs))
        return values

    def active(self, fprs: FloatArray) -> frozenset[int]:
        """The slopes that say most at some of these rates."""
        return frozenset(int(index) for index in np.argmin([_lines(slope, fprs) for slope in self.slopes], axis=0))

    def only(self, kept: Sequence[int]) -> SlopeClaim:
        """These slopes alone: a weaker claim, which the claim implies."""
        return SlopeClaim(tuple(self.slopes[index] for index in kept), self.expression)

    def remove_at(self, epsilon: float) -> float:
        """At or above H_remove(e^epsilon): that of a slope before; or at a = e^epsilon below e^e, of both directions at
        most delta there, 1 - (1 + a)(1 - delta)/(1 + e^e), since tests lie below the two lines of that slope."""
        value = 1.0
        for slope in self.slopes:
            if slope.epsilon <= epsilon:
                value = min(value, slope.remove)
            else:
                with compute_budget.uncounted(), working_precision(BITS_START):
                    kink = (1 + arb(epsilon).exp()) / (1 + arb(slope.epsilon).exp())
                    value = min(value, upper_float(1 - kink * (1 - arb(max(slope.remove, slope.add)))))
        return max(value, 0.0)


def _lines(slope: ClaimSlope, fprs: FloatArray) -> FloatArray:
    """At or above the lower of the two lines of a slope."""
    steep, flat = _slope_ends(slope.epsilon)
    line = round_up(slope.remove + round_up(steep * fprs, FEW), FEW)
    missed = np.maximum(round_down(1.0 - fprs, FEW) - slope.add, 0.0)
    return np.minimum(line, round_up(1.0 - round_down(flat * missed, FEW), FEW))


def _slope_ends(epsilon: float) -> tuple[float, float]:
    """At or above e^epsilon, and at or below e^-epsilon."""
    with compute_budget.uncounted(), working_precision(BITS_START):
        return upper_float(arb(epsilon).exp()), lower_float((-arb(epsilon)).exp())


def private_claim(epsilon: float, delta: float) -> SlopeClaim:
    """The claim of a user, checked."""
    epsilon, delta = nonnegative("epsilon", epsilon), probability("delta", delta)
    if epsilon > EPSILON_AUDITED_MAX:
        raise InvalidParameter(f"epsilon must be at most {EPSILON_AUDITED_MAX:g} to be audited, not {epsilon!r}")
    if delta == 1.0:
        raise InvalidParameter("delta 1 promises nothing: no audit refutes it")
    return SlopeClaim.private(epsilon, delta)


def run_claim(run: Mechanism, epsilons: Sequence[float], seconds: float) -> SlopeClaim:
    """A run's own curve at these epsilons, which rise: certified upper ends in both directions."""
    remove = run.curve(epsilons=epsilons, seconds=seconds, direction=_direction(run, Direction.REMOVE))
    if run.relation is Relation.REPLACE:
        add = remove
    else:
        add = run.curve(epsilons=epsilons, seconds=seconds, direction=Direction.ADD)
    uppers = zip(epsilons, (bound.upper for bound in remove.bounds), (bound.upper for bound in add.bounds), strict=True)
    return SlopeClaim(tuple(ClaimSlope(*upper) for upper in uppers), repr(run))


def run_epsilons(run: Mechanism, rare: float, count: int, seconds: float) -> tuple[float, ...]:
    """So many epsilons, evenly from 0 to where delta is rare: between them chords of a convex curve lose little."""
    last = run.epsilon(rare, seconds=seconds, accuracy=None).upper
    if not math.isfinite(last):
        last = 4.0  # part of the loss is infinite: the slopes before it still refute
    last = min(max(last, 0.1), EPSILON_AUDITED_MAX)
    return tuple(last * index / (count - 1) for index in range(count))


def _direction(run: Mechanism, direction: Direction) -> Direction | None:
    return None if run.relation is Relation.REPLACE else direction
