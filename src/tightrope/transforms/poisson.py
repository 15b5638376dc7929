"""Poisson sampling: each record takes part independently with probability rate.

Claim: if (P, Q) dominates the base for remove, ((1 - rate) Q + rate P, Q) dominates the sampled mechanism for
remove, and the reverse of that pair for add. Relation: add or remove one record.
Of a composition (P, Q) is the product pair: one sample is drawn, and every part runs on it. That is not the composition
of sampled parts, which draws a new sample for each.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11. Proof: docs/proofs/joint.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..derived.hit_chain import hit_pair
from ..derived.poisson import poisson_pair
from ..errors import InvalidParameter
from ..facets.hits import BinomialHits
from ..mechanisms.parameters import probability
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .composition import IDENTITY


@dataclass(frozen=True, slots=True, repr=False)
class Poisson(Transformation):
    """The base mechanism on a Poisson sample of the records; all of a composition on the same one.

    tight as the base: the neighbours that attain all parts attain the mixture, which is made of the same two laws.
    """

    call = "poisson"
    example = "Gaussian(sigma=1).poisson(rate=0.01)"
    relation = Relation.ADD_REMOVE
    formula = (
        "remove: ((1 - rate) Q + rate P, Q); add: (P, (1 - rate) P + rate Q), (P, Q) the base pair of that direction"
    )
    theorem = (
        "Zhu, Dong, Wang 2021, Thms 10 and 11; [proof](proofs/poisson.md), [of one sample for several](proofs/joint.md)"
    )
    tightness = (
        "Tight where the base is, also under composition: the neighbours that attain the base attain the mixture."
    )
    relations = "A record is added or removed; the base has its sensitivity under that."
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability("rate", self.rate))
        if self.base.relation is Relation.REPLACE:
            raise InvalidParameter(
                "Poisson sampling is for add/remove neighbours; the base is about replacing a record"
            )

    @property
    def attained(self) -> bool:
        return self.base.attained

    def pair(self, direction: Direction) -> Pair:
        return self._sampled(self.base.pair(direction), direction)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """As many of the group as are in the sample. Proof: docs/proofs/group.md, section 6."""
        if self.rate in (0.0, 1.0) or size == 1:
            return self._sampled(self.base.group_pair(size, direction), direction)
        base = self.base.pair(direction)
        return hit_pair(
            base if direction is Direction.REMOVE else base.reversed(), BinomialHits(size, self.rate), direction
        )

    def group_tight(self, size: int) -> bool:
        """Where one event is the best for every number of hits: the noise of the chain attains it."""
        return self.base.group_tight(size)

    def floors(self, direction: Direction) -> tuple[Pair, ...]:
        return tuple(self._sampled(floor, direction) for floor in self.base.floors(direction))

    def _sampled(self, base: Pair, direction: Direction) -> Pair:
        if self.rate == 0.0:
            return IDENTITY.pair(direction)
        return base if self.rate == 1.0 else poisson_pair(base, self.rate, direction)
