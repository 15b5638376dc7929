"""An answer without noise where the data are far from any on which it would change, else none.

dist(D) is how many records must be added or removed before the local sensitivity of q is no longer 0. q(D) is released
if dist(D) + Lap(1/epsilon) > log(1/delta)/epsilon.
Pair: the largest profile over all neighbours. Where q differs both distances are 0, and each answer is released with
probability delta/2: H(a) = delta/2 + (1 - delta/2) (1 - a)_+. Where it does not, the distances differ by at most 1, and
all that is told is whether it is released; of these pairs those next to the threshold tell the most.
Guarantee: exact for one use, attained at each epsilon by neighbours that depend on it. Composed, the pair dominates,
and lower ends are those of the best choice of neighbours found.
Reference: Thakurta, Smith 2013 (the mechanism); Zhu, Dong, Wang 2021, Example 14 (its Renyi divergences are infinite).
Proof: docs/proofs/stability.md, sections 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..compute_budget import uncounted
from ..errors import InvalidParameter
from ..pair import Pair
from ..relation import Direction
from .base import Leaf
from .parameters import positive, probability


@dataclass(frozen=True, slots=True, repr=False, init=False)
class DistanceToInstability(Leaf):
    """Releases q(D) as it is where dist(D) + Lap(1/epsilon) > log(1/delta)/epsilon, else nothing.

    q(D): any answer on the data D. dist(D): how many records must change before q may. It is the test of
    propose-test-release (PTR), with an answer that takes no noise.
    """

    example = "DistanceToInstability(epsilon=0.1, delta=4e-8) * 10"
    section = "stability"
    formula = (
        "H(a) = the largest of delta/2 + (1 - delta/2) (1 - a)_+, where the answers differ, and of the pairs "
        "(released, not) at distances d and d + 1 in both orders, released with probability P[d + Lap(1/epsilon) > "
        "log(1/delta)/epsilon], of which two distances count"
    )
    theorem = (
        "Thakurta, Smith 2013 (the mechanism); Zhu, Dong, Wang 2021, Example 14; "
        "[proof of the profile](proofs/stability.md)"
    )
    tightness = (
        "Attained by one use at each epsilon, by neighbours that depend on it. Composed, the upper end is that of the "
        "largest profile, and the lower end chooses among real neighbours at each use. Every Renyi divergence is "
        "infinite: with probability delta/2 the loss is."
    )
    relations = (
        "Either relation, as long as dist counts the same changes: how many records must be added or removed (or "
        "replaced) to reach data on which one more such change alters q. It is a whole number, 0 where q is not stable."
    )
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})
    delta_per_use: float = field(metadata={"keyword": "delta"})

    def __init__(self, epsilon: float, delta: float, *, name: str | None = None) -> None:
        object.__setattr__(self, "epsilon_per_use", positive("epsilon", epsilon))
        object.__setattr__(self, "delta_per_use", probability("delta", delta))
        if self.delta_per_use == 0.0:
            raise InvalidParameter("delta must be above 0 and at most 1, not 0: without it nothing is ever released")

    @property
    def tight(self) -> bool:
        """Where answers that differ tell the most at every epsilon; asked when time may be up."""
        with uncounted():
            return len(self.witnesses(Direction.REMOVE)) == 1

    def needs_others(self, batch: int | None) -> bool:
        """A distance is no more than the records of a batch of fixed size, of which each step replaces one."""
        return batch is not None and not self.tight

    @property
    def attained(self) -> bool:
        return True

    def pair(self, direction: Direction) -> Pair:
        from ..pairs.finite.instability import Margin, UnstableLaw
        from ..pairs.finite.pair import FinitePair

        differ, *others = self.witnesses(direction)
        return FinitePair(UnstableLaw(Margin(self.epsilon_per_use, self.delta_per_use))) if others else differ

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """Answers that differ, and the distances that are corners of the hull, in both orders."""
        from ..pairs.finite.instability import Margin, ReleasedLaw
        from ..pairs.finite.laws import RationalLaw
        from ..pairs.finite.pair import FinitePair

        leak, none = Fraction(self.delta_per_use) / 2, Fraction(0)
        differ = FinitePair(RationalLaw((leak, 1 - leak, none), (none, 1 - leak, leak)))
        if self.delta_per_use == 1.0:
            return (differ,)
        margin = Margin(self.epsilon_per_use, self.delta_per_use)
        found = [
            ReleasedLaw(margin, d, flipped) for d in margin.distances[: margin.corners] for flipped in (False, True)
        ]
        return (differ, *map(FinitePair, found))
