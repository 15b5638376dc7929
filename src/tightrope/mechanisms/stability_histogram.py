"""Counts of the keys that occur, each with Laplace noise, released where they exceed a threshold.

Every key with a count of at least 1 gets Lap(1/epsilon) noise and is released, with its noisy count, if that is above
the threshold; a key that nobody has is never released. Each user has one key.
Pair, removing a user: of a count that stays above 0, Laplace noise with loss epsilon, which the threshold tells less
of; of a count of 1, a leak: the key is released with probability w = P[1 + Lap(1/epsilon) > threshold], and without the
user never. The larger profile is H(a) = max(H_Laplace(a), w, 1 - a); adding is its mirror.
Guarantee: exact for one use, attained at each epsilon by one of the two. Composed, the pair dominates, and lower ends
are those of the better choice of the two at each use; where w >= 1 - e^-epsilon the leak is all, and tight.
Reference: Korolova, Kenthapadi, Mishra, Ntoulas 2009; Bun, Nissim, Stemmer 2016 (stability-based histograms).
Proof: docs/proofs/stability.md, sections 3 to 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..compute_budget import uncounted
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Leaf
from .parameters import finite, positive

if TYPE_CHECKING:
    from ..pairs.finite.leak import Leak


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
        from ..pairs.laplace.leaky import LeakyLaplacePair

        if not self._noise_shows:
            return self._leaking(direction)
        return LeakyLaplacePair(self._leak, direction is Direction.ADD)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """A count of 1, and one so far above the threshold that all the noise is seen."""
        from ..pairs.laplace.pair import LaplacePair

        leak = self._leaking(direction)
        return (leak, LaplacePair(1.0, self.epsilon_per_use)) if self._noise_shows else (leak,)

    @property
    def _leak(self) -> Leak:
        from ..pairs.finite.leak import Leak

        return Leak(self.epsilon_per_use, self.threshold)

    @property
    def _noise_shows(self) -> bool:
        """Whether w < 1 - e^-epsilon; they are never equal."""
        from ..pairs.decided import above_zero, settled
        from ..pairs.laplace.leaky import KeptEdges

        edges = KeptEdges(self._leak)
        return settled(lambda: above_zero(edges.ball_edge()))

    def _leaking(self, direction: Direction) -> Pair:
        from ..pairs.finite.leak import LeakLaw
        from ..pairs.finite.pair import FinitePair

        return FinitePair(LeakLaw(self._leak, direction is Direction.ADD))
