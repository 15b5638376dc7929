"""Poisson sampling: each record takes part independently with probability rate.

Claim: if (P, Q) dominates the base for remove, ((1 - rate) Q + rate P, Q) dominates the sampled mechanism for
remove, and the reverse of that pair for add. Relation: add or remove one record.
Of a composition (P, Q) is the product pair: one sample is drawn, and every part runs on it. That is not the composition
of sampled parts, which draws a new sample for each.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11. Proof: docs/proofs/joint.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..derived.poisson import poisson_pair
from ..errors import InvalidParameter
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
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability("rate", self.rate))
        if self.base.relation is Relation.REPLACE:
            raise InvalidParameter(
                "Poisson sampling is for add/remove neighbours; the base is about replacing a record"
            )

    def pair(self, direction: Direction) -> Pair:
        if self.rate == 0.0:
            return IDENTITY.pair(direction)
        base = self.base.pair(direction)
        return base if self.rate == 1.0 else poisson_pair(base, self.rate, direction)
