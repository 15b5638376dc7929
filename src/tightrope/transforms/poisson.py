"""Poisson sampling: each record takes part independently with probability rate.

Claim, adding or removing a record: if (P, Q) dominates the base for remove, ((1 - rate) Q + rate P, Q) dominates the
sampled mechanism for remove, and the reverse of that pair for add.
Claim, replacing a record: with M(c) the Gaussian noise of the base around c and C its sensitivity under adding or
removing, ((1 - rate) M(0) + rate M(C), (1 - rate) M(0) + rate M(-C)) dominates, and is tight. For any other base the
chain of the sampled remove and add pairs does: one record out, another in.
Of a composition (P, Q) is the product pair: one sample is drawn, and every part runs on it. That is not the composition
of sampled parts, which draws a new sample for each.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11. Proof: docs/proofs/joint.md, docs/proofs/sampling.md, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..derived.group_privacy import group_privacy_pair
from ..derived.poisson import poisson_pair
from ..mechanisms.facts import Theorem
from ..mechanisms.parameters import probability
from ..operators import sampled_replacement, shifted_pair
from ..pair import Pair
from ..relation import Direction, Relation, relation_named
from .base import Transformation
from .composition import IDENTITY
from .sampled import participation_in_sample
from .terms import swapped_pair
from .theorems import ALL_RECORDS, GROUP_IN_SAMPLE, POISSON, POISSON_REPLACED, SAMPLE_WITNESS, WITNESS


@dataclass(frozen=True, slots=True, repr=False)
class Poisson(Transformation):
    """The base mechanism on a Poisson sample of the records; all of a composition on the same one.

    The base has its sensitivity under adding or removing a record, whatever the neighbours: C for records clipped to C.
    Adding or removing: tight as the base, since the neighbours that attain all parts attain the mixture, which is made
    of the same two laws. Replacing: tight for Gaussian noise; else lower ends are those of a record against one that
    shows nothing.
    """

    call = "poisson"
    example = "Gaussian(sigma=1).poisson(rate=0.01)"
    formula = (
        "remove: ((1 - rate) Q + rate P, Q); add: (P, (1 - rate) P + rate Q), (P, Q) the base pair of that direction. "
        "Replace, Gaussian noise M: ((1 - rate) M(0) + rate M(C), (1 - rate) M(0) + rate M(-C)); "
        "other bases: power g_remove(g_add(x))"
    )
    theorem = (
        "Zhu, Dong, Wang 2021, Thms 10 and 11; [proof](proofs/poisson.md), [of one sample for several](proofs/joint.md)"
        ", [of replacing](proofs/sampling.md)"
    )
    tightness = (
        "Tight where the base is, also under composition: the neighbours that attain the base attain the mixture. "
        "Replace: tight for Gaussian noise; else lower ends are those of a record against one that shows nothing."
    )
    relations = (
        "A record is added or removed, or replaced (`neighbours`); in both cases the base has its sensitivity under "
        "adding or removing one (C for records clipped to norm C)."
    )
    rate: float
    neighbours: str = "add_remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability("rate", self.rate))
        relation_named(self.neighbours)
        self.rests_on.demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        """All records as they are need no size; of replaced ones a cell of parallel may lose many."""
        if self.relation is Relation.REPLACE and self.rate != 0.0:
            return POISSON_REPLACED
        return ALL_RECORDS if self.rate in (0.0, 1.0) else POISSON

    @property
    def everywhere(self) -> bool:
        return self.rate == 0.0 or self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        if self.rate in (0.0, 1.0):
            return self.rate == 0.0 or self.base.known_in_groups
        return GROUP_IN_SAMPLE.holds(self.base)

    @property
    def relation(self) -> Relation:
        return Relation(self.neighbours)

    @property
    def tight(self) -> bool:
        if self.relation is Relation.ADD_REMOVE:
            return self.base.tight
        return self.base.tight and (self.rate == 0.0 or self._replaced is not None)

    @property
    def attained(self) -> bool:
        return self._alike.holds(self.base)

    @property
    def attained_once(self) -> bool:
        if self.relation is Relation.REPLACE:
            return self.attained
        return self.base.attained_once and (self.rate in (0.0, 1.0) or not self.base.needs_others(None))

    @property
    def _alike(self) -> Theorem:
        """Whether a record in the sample shows what it shows in the data, whoever else is sampled."""
        return WITNESS if self.rate in (0.0, 1.0) else SAMPLE_WITNESS

    @property
    def _replaced(self) -> Pair | None:
        """The pair of a replaced record where that is one of its family."""
        base = self.base.pair(Direction.REMOVE)
        return shifted_pair(base, 2) if self.rate == 1.0 else sampled_replacement(base, self.rate)

    def pair(self, direction: Direction) -> Pair:
        if self.relation is Relation.ADD_REMOVE or self.rate == 0.0:
            return self._sampled(self.base.pair(direction), direction)
        if self.rate == 1.0:
            return swapped_pair(self.base)
        return self._replaced or group_privacy_pair([(self._sampled(self.base.pair(way), way), 1) for way in Direction])

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """As many of the group as are in the sample; all out, and as many others in, where they are replaced.

        Proof: docs/proofs/group.md, sections 6 and 7.
        """
        if self.relation is Relation.REPLACE:
            return self.replaced_pair(size)
        return self._grouped(size, direction)

    def replaced_pair(self, size: int) -> Pair:
        if size == 1:
            return self.pair(Direction.REMOVE)
        return group_privacy_pair([(self._grouped(size, way), 1) for way in Direction])

    def _grouped(self, size: int, direction: Direction) -> Pair:
        """Of a group that is added or removed."""
        if self.rate in (0.0, 1.0) or size == 1:
            return self._sampled(self.base.group_pair(size, direction), direction)
        from ..facets.participation_law import BinomialParticipation

        return participation_in_sample(self.base, BinomialParticipation(size, self.rate), direction)

    def group_tight(self, size: int) -> bool:
        """Where one event is the best for every number of hits: the noise of the chain attains it."""
        if size == 1:
            return self.tight
        if self.relation is Relation.REPLACE and self.base.pair(Direction.REMOVE) != self.base.pair(Direction.ADD):
            return False  # each record may meet either order of its laws
        if self.relation is Relation.ADD_REMOVE and self.rate in (0.0, 1.0):
            return self.base.group_tight(size)
        return self.base.nameless.one_event(size)

    @property
    def _witnessed_by_pair(self) -> bool:
        return self.neighbours == Relation.ADD_REMOVE.value and self.base._witnessed_by_pair

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        if self.relation is Relation.REPLACE:
            if self.tight:
                return (self.pair(direction),)
            both = [self._sampled(floor, way) for way in Direction for floor in self.base.witnesses(way)]
            return tuple(dict.fromkeys(both))
        return tuple(self._sampled(floor, direction) for floor in self.base.witnesses(direction))

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        """A sample of each point: the power (1 - rate) x + rate g(x) has the same neighbours."""
        if self.relation is Relation.REPLACE:
            return self.witnesses(direction)
        return tuple(self._sampled(floor, direction) for floor in self.base.witnesses_once(direction))

    def _sampled(self, base: Pair, direction: Direction) -> Pair:
        if self.rate == 0.0:
            return IDENTITY.pair(direction)
        return base if self.rate == 1.0 else poisson_pair(base, self.rate, direction)
