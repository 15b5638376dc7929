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

from dataclasses import dataclass
from fractions import Fraction

from ..pair import Pair
from ..relation import Direction, Relation
from .base import Leaf
from .parameters import flag, positive, whole


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
        from ..pairs.sparse_vector.pair import SparseVectorPair

        moved = size * Fraction(self.sensitivity)
        threshold, answers = moved / Fraction(self.threshold_scale), self.answers * moved / Fraction(self.query_scale)
        if self.monotone:
            return SparseVectorPair(threshold, answers, direction is Direction.REMOVE)
        return SparseVectorPair(threshold, 2 * answers, None)
