"""The sparse vector technique with Laplace noise: which of many queries lie above a threshold.

The threshold gets the noise Laplace(threshold_scale) once, each query Laplace(query_scale) anew; the answers say above
or below, and the run ends with the last of so many answers above. Queries may depend on the answers before.
Pair: the noise whose density is h(F), F its cdf, h(y) = min(a y, K, b (1 - y)), shifted by 1; with D the sensitivity
and x = D / threshold_scale: a = b = x + s, K = s/(4 log 2), s = answers 2 D / query_scale; where adding a record lowers
no query a = s, b = x + s, K = s/(e log 2), s = answers D / query_scale, from the data with the record to those without.
Guarantee: dominates; no neighbours are known that attain it, and lower ends are those of the pair.
Reference: Dwork, Roth 2014, Alg. 1 and 2; Lyu, Su, Li 2017, Alg. 7, Thm 4 and 5 (the largest losses);
Zhu, Wang 2020 (moments). The profile is ours. Proof: docs/proofs/sparse_vector.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ..losses.pair import Pair
from ..values.compute_budget import uncounted
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Leaf
from .parameters import finite, flag, positive, probability, whole

if TYPE_CHECKING:
    from ..losses.finite.laws import Leak


@dataclass(frozen=True, slots=True, repr=False)
class SparseVector(Leaf):
    """Says which queries lie above a noisy threshold, until so many do; AboveThreshold is answers=1.

    The sparse vector technique (SVT). threshold_scale and query_scale are those of the Laplace noise on the threshold
    and on each query, 2/epsilon and 4/epsilon for one answer; it stops after so many above. sensitivity: how far one
    query moves. monotone: adding a record lowers no query, as it lowers no count.
    """

    example = "SparseVector(threshold_scale=2, query_scale=4, monotone=True) * 10"
    section = "selection"
    formula = (
        "noise of density h(F), F its cdf, h(y) = min(a y, K, b (1 - y)), around 1 and around 0; "
        "x = sensitivity / threshold_scale, s = answers * 2 * sensitivity / query_scale, "
        "a = b = x + s, K = s/(4 log 2). monotone: s is half of that, a = s, b = x + s, K = s/(e log 2) for removing a "
        "record, the reverse for adding one"
    )
    theorem = (
        "Ours, [proof](proofs/sparse_vector.md); the largest loss is that of Lyu, Su, Li 2017, Thm 4 and 5, for the "
        "algorithm of Dwork, Roth 2014, Sec. 3.6"
    )
    tightness = "Not tight; lower ends speak of the dominating pair, which no neighbours are known to attain."
    relations = (
        "Either relation, sensitivity being what one query may move by; monotone is about adding or removing a record, "
        "as one that is replaced may raise some queries and lower others. The noise of the threshold is drawn once: "
        "where it is drawn again after each answer above, write SparseVector(...) * answers. "
        "What is said of a query is above or below, never its value."
    )
    threshold_scale: float
    query_scale: float
    answers: int = 1
    sensitivity: float = 1.0
    monotone: bool = False

    def __post_init__(self) -> None:
        for name in ("threshold_scale", "query_scale", "sensitivity"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        object.__setattr__(self, "answers", whole("answers", self.answers, least=1))
        flag("monotone", self.monotone)

    @property
    def tight(self) -> bool:
        return False

    @property
    def relation(self) -> Relation | None:
        return Relation.ADD_REMOVE if self.monotone else None

    def pair(self, direction: Direction) -> Pair:
        return self.group_pair(1, direction)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """A group moves each query so many times as far."""
        from ..losses.sparse_vector import SparseVectorPair

        moved = size * Fraction(self.sensitivity)
        threshold, answers = moved / Fraction(self.threshold_scale), self.answers * moved / Fraction(self.query_scale)
        if self.monotone:
            return SparseVectorPair(threshold, answers, direction is Direction.REMOVE)
        return SparseVectorPair(threshold, 2 * answers, None)


# Counts of the keys that occur, each with Laplace noise, released where they exceed a threshold.
#
# Every key with a count of at least 1 gets Lap(1/epsilon) noise and is released, with its noisy count, if that is above
# the threshold; a key that nobody has is never released. Each user has one key.
# Pair, removing a user: of a count that stays above 0, Laplace noise with loss epsilon, which the threshold tells less
# of; of a count of 1, a leak: the key is released with probability w = P[1 + Lap(1/epsilon) > threshold], and without
# the
# user never. The larger profile is H(a) = max(H_Laplace(a), w, 1 - a); adding is its mirror.
# Guarantee: exact for one use, attained at each epsilon by one of the two. Composed, the pair dominates, and lower ends
# are those of the better choice of the two at each use; where w >= 1 - e^-epsilon the leak is all, and tight.
# Reference: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016 (stability-based histograms).
# Proof: docs/proofs/stability.md, sections 3 to 5.


@dataclass(frozen=True, slots=True, repr=False, init=False)
class StabilityHistogram(Leaf):
    """Noisy counts, Laplace of scale 1/epsilon, of the keys that occur, those above the threshold; one key per user.

    threshold: a noisy count above it is shown with its key; 1 + log(1/(2 d))/epsilon for a delta of d in one use. Keys
    that are shown without counts (partition selection) are covered as well.
    """

    example = "StabilityHistogram(epsilon=0.1, threshold=170) * 10"
    section = "stability"
    formula = (
        "w = P[1 + Lap(1/epsilon) > threshold], e^(-epsilon (threshold - 1))/2 from threshold 1 on. Remove: "
        "H(a) = max(1 - e^((log a - epsilon)/2), 1 - a, w): Laplace, or a key that only this user has. "
        "Add: max(1 - e^((log a - epsilon)/2), 1 - a (1 - w), 0)"
    )
    theorem = "Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016; [proof](proofs/stability.md)"
    tightness = (
        "Attained by one use at each epsilon, by a count of 1 or by one far above the threshold. Composed, the upper "
        "end is that of the larger profile, and the lower end chooses among the two at each use. Every Renyi "
        "divergence is infinite: with probability w the loss is. In a sample other users hide more of a count: lower "
        "ends speak of the dominating pair there."
    )
    relations = (
        "A user, who has one key, is added or removed; a user with several keys is not covered. To replace one: "
        ".poisson(rate=1, neighbours='replace')."
    )
    relation = Relation.ADD_REMOVE
    epsilon_per_use: float = field(metadata={"keyword": "epsilon"})
    threshold: float

    def __init__(self, epsilon: float, threshold: float, *, name: str | None = None) -> None:
        object.__setattr__(self, "epsilon_per_use", positive("epsilon", epsilon))
        object.__setattr__(self, "threshold", finite("threshold", threshold))

    @property
    def tight(self) -> bool:
        """Where the leak tells the most at every epsilon; asked when time may be up."""
        with uncounted():
            return not self._noise_shows

    @property
    def attained(self) -> bool:
        return True

    def needs_others(self, batch: int | None) -> bool:
        """A count far above the threshold is one of other users, of whom a sample has a random number."""
        return not self.tight

    def pair(self, direction: Direction) -> Pair:
        from ..losses.leaky_laplace import LeakyLaplacePair

        if not self._noise_shows:
            return self._leaking(direction)
        return LeakyLaplacePair(self._leak, direction is Direction.ADD)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """A count of 1, and one so far above the threshold that all the noise is seen."""
        from ..losses.laplace import LaplacePair

        leak = self._leaking(direction)
        return (leak, LaplacePair(1.0, self.epsilon_per_use)) if self._noise_shows else (leak,)

    @property
    def _leak(self) -> Leak:
        from ..losses.finite.laws import Leak

        return Leak(self.epsilon_per_use, self.threshold)

    @property
    def _noise_shows(self) -> bool:
        """Whether w < 1 - e^-epsilon; they are never equal."""
        from ..losses.finite.instability import above_zero, settled
        from ..losses.leaky_laplace import KeptEdges

        edges = KeptEdges(self._leak)
        return settled(lambda: above_zero(edges.ball_edge()))

    def _leaking(self, direction: Direction) -> Pair:
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.laws import LeakLaw

        return FinitePair(LeakLaw(self._leak, direction is Direction.ADD))


# An answer without noise where the data are far from any on which it would change, else none.
#
# dist(D) is how many records must be added or removed before the local sensitivity of q is no longer 0. q(D) is
# released
# if dist(D) + Lap(1/epsilon) > log(1/delta)/epsilon.
# Pair: the largest profile over all neighbours. Where q differs both distances are 0, and each answer is released with
# probability delta/2: H(a) = delta/2 + (1 - delta/2) (1 - a)_+. Where it does not, the distances differ by at most 1,
# and
# all that is told is whether it is released; of these pairs those next to the threshold tell the most.
# Guarantee: exact for one use, attained at each epsilon by neighbours that depend on it. Composed, the pair dominates,
# and lower ends are those of the best choice of neighbours found.
# Reference: Thakurta, Smith 2013 (the mechanism); Zhu, Dong, Wang 2021, Example 14 (its Renyi divergences are
# infinite).
# Proof: docs/proofs/stability.md, sections 1 and 2.


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
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.instability import Margin, UnstableLaw

        differ, *others = self.witnesses(direction)
        return FinitePair(UnstableLaw(Margin(self.epsilon_per_use, self.delta_per_use))) if others else differ

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """Answers that differ, and the distances that are corners of the hull, in both orders."""
        from ..losses.finite.finite_pair import FinitePair
        from ..losses.finite.instability import Margin, ReleasedLaw
        from ..losses.finite.laws import RationalLaw

        leak, none = Fraction(self.delta_per_use) / 2, Fraction(0)
        differ = FinitePair(RationalLaw((leak, 1 - leak, none), (none, 1 - leak, leak)))
        if self.delta_per_use == 1.0:
            return (differ,)
        margin = Margin(self.epsilon_per_use, self.delta_per_use)
        found = [
            ReleasedLaw(margin, d, flipped) for d in margin.distances[: margin.corners] for flipped in (False, True)
        ]
        return (differ, *map(FinitePair, found))
