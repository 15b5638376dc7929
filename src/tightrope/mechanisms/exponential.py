"""The exponential mechanism, and every other mechanism of bounded range.

It draws r with probability proportional to e^(epsilon u(r) / (2 D)), D the sensitivity of the scores u, or without the
2 where all scores move the same way: then the losses against a neighbour lie in an interval of length epsilon, which is
all that is used. Report-noisy-max with Gumbel noise is the same mechanism.
Guarantee: the logistic pair dominates. One use attains it at each epsilon, by a neighbour that depends on epsilon;
under composition no single one does, and the lower end is that of the dominating pair (NoisyMax with Gumbel noise, the
same mechanism by its scale, has that of real scores).
Reference: McSherry, Talwar 2007; Dong, Durfee, Rogers 2020, Sec. 3. Proof: docs/proofs/exponential.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .approximate_dp import PureDP
from .base import Leaf, ZcdpUse
from .parameters import nonnegative

EPSILON_MIN = 1e-280  # below, halves and products of losses leave the range of doubles


@dataclass(frozen=True, slots=True, repr=False, init=False)
class Exponential(Leaf):
    """The exponential mechanism, and any other whose losses against a neighbour span at most epsilon."""

    example = "Exponential(epsilon=0.1) * 20"
    section = "selection"
    formula = (
        "P = Logistic(epsilon, 1), Q = Logistic(0, 1): H(e^t) = (1 - e^((t - epsilon)/2))^2/(1 - e^-epsilon) for |t| "
        "<= epsilon, and 0 beyond epsilon"
    )
    theorem = "McSherry, Talwar 2007; Dong, Durfee, Rogers 2020, Sec. 3; [proof](proofs/exponential.md)"
    tightness = (
        "One use attains it at each epsilon, by scores that depend on epsilon. Composed, no single pair of neighbours "
        "does, and lower ends speak of the dominating pair."
    )
    relations = (
        "Either relation, with the sensitivity D of each score under it: r is drawn with probability ~ e^(epsilon "
        "u(r)/(2 D)), or e^(epsilon u(r)/D) where all scores move the same way: counts do so where a record is added "
        "or removed, not where one is replaced."
    )
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})

    def __init__(self, epsilon: float, *, name: str | None = None) -> None:
        given = nonnegative("epsilon", epsilon)
        if 0.0 < given < EPSILON_MIN:
            raise InvalidParameter(f"epsilon must be 0 or at least {EPSILON_MIN}, not {epsilon!r}")
        object.__setattr__(self, "epsilon_per_use", given)

    @property
    def tight(self) -> bool:
        return self.epsilon_per_use == 0.0

    @property
    def attained_once(self) -> bool:
        """By two candidates. Proof: docs/proofs/exponential.md, section 3."""
        return True

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        """rho = epsilon^2/8; a group moves scores so many times as far. Two candidates whose odds start even are real.

        Reference: Cesar, Rogers 2021, Lemma 3.2. Proof: docs/proofs/exponential.md, section 6.
        """
        epsilon = size * Fraction(self.epsilon_per_use)
        return ZcdpUse(epsilon**2 / 8, PureDP(float(epsilon / 2))) if epsilon else None

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.laws import ResponseLaw
        from ..pairs.finite.pair import FinitePair
        from ..pairs.logistic.pair import LogisticPair

        if self.epsilon_per_use == 0.0:
            return FinitePair(ResponseLaw(0.0, 0.0, 2))
        return LogisticPair(self.epsilon_per_use)
