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
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import probability
from ..pair import Pair
from ..relation import Direction, Relation
from .composition import IDENTITY


@dataclass(frozen=True, slots=True, repr=False)
class Poisson(Mechanism):
    """The base mechanism on a Poisson sample of the records; all of a composition on the same one.

    tight as the base: the neighbours that attain all parts attain the mixture, which is made of the same two laws.
    """

    base: Mechanism
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability("rate", self.rate))
        if self.base.relation is Relation.REPLACE:
            raise InvalidParameter(
                "Poisson sampling is for add/remove neighbours; the base is about replacing a record"
            )

    def __repr__(self) -> str:
        return self._around(repr(self.base))

    def __str__(self) -> str:
        return self._around(str(self.base))

    def _around(self, base: str) -> str:
        several = len(self.base.terms) > 1 or self.base.terms[0][1] > 1
        return f"({base}).poisson(rate={self.rate!r})" if several else f"{base}.poisson(rate={self.rate!r})"

    @property
    def relation(self) -> Relation | None:
        return Relation.ADD_REMOVE

    @property
    def terms(self) -> tuple[tuple[Mechanism, int], ...]:
        return ((self, 1),)

    @property
    def tight(self) -> bool:
        return self.base.tight

    def pair(self, direction: Direction) -> Pair:
        if self.rate == 0.0:
            return IDENTITY.pair(direction)
        base = self.base.pair(direction)
        return base if self.rate == 1.0 else poisson_pair(base, self.rate, direction)
