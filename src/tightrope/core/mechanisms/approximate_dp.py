"""Any epsilon-DP or (epsilon, delta)-DP mechanism, through randomized response, which dominates all of them.

Pair: with probability delta the input leaks (loss +inf, and -inf for the other law), else randomized response.
Guarantee: the pair dominates; randomized response, leaky where delta > 0, attains it, also under composition.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..losses.atoms import LatticeStep
from ..losses.pair import Pair
from ..values.question import Direction
from .base import Leaf, LocalReport
from .parameters import nonnegative, probability


@dataclass(frozen=True, slots=True, repr=False, init=False)
class PureDP(Leaf):
    """Any mechanism that is epsilon-DP."""

    example = "PureDP(epsilon=0.1) * 20"
    universal = True
    section = "promises"
    formula = (
        "P = (p, 1 - p), Q = (1 - p, p), p = e^epsilon/(1 + e^epsilon): the loss is +-epsilon, and H(a) = p - a (1 - "
        "p) for a from e^-epsilon to e^epsilon, 0 beyond"
    )
    theorem = "Kairouz, Oh, Viswanath 2017, Thm 3.2"
    tightness = (
        "No better bound follows from the claim, also under composition: randomized response attains it. A particular "
        "mechanism may lose less."
    )
    relations = "That of the claim."
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})

    def __init__(self, epsilon: float, *, name: str | None = None) -> None:
        object.__setattr__(self, "epsilon_per_use", nonnegative("epsilon", epsilon))

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import ResponseLaw

        return FinitePair(ResponseLaw(self.epsilon_per_use, 0.0, 2))

    def local_report(self) -> LocalReport:
        """Any report of this loss."""
        return LocalReport(LatticeStep(Fraction(self.epsilon_per_use), False), 0, False)


@dataclass(frozen=True, slots=True, repr=False, init=False)
class ApproximateDP(Leaf):
    """Any mechanism that is (epsilon, delta)-DP."""

    example = "ApproximateDP(epsilon=0.1, delta=1e-8) * 20"
    universal = True
    section = "promises"
    formula = (
        "With probability delta all is told (the loss is inf, and -inf under the other law), else P = (p, 1 - p), Q = "
        "(1 - p, p), p = e^epsilon/(1 + e^epsilon)"
    )
    theorem = "Kairouz, Oh, Viswanath 2017, Thm 3.2"
    tightness = (
        "No better bound follows from the claim, also under composition: leaky randomized response attains it. A "
        "particular mechanism may lose less."
    )
    relations = "That of the claim."
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})
    delta_per_use: float = field(metadata={"keyword": "delta"})

    def __init__(self, epsilon: float, delta: float, *, name: str | None = None) -> None:
        object.__setattr__(self, "epsilon_per_use", nonnegative("epsilon", epsilon))
        object.__setattr__(self, "delta_per_use", probability("delta", delta))

    def pair(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import ResponseLaw

        return FinitePair(ResponseLaw(self.epsilon_per_use, self.delta_per_use, 2))
