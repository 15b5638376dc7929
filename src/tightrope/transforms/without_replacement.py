"""Sampling without replacement: a batch of fixed size, all such batches alike.

Claim, replacing a record: if the symmetric pair (P, Q) dominates the base where a record is replaced, the glued pair
(derived.fixed_size_subsampled) at the rate g = batch/records dominates. Its profile is attained at every alpha by
A = ((1 - g) Q + g P, Q) or by its reverse B, so one use has no better bound. Which of the two is the worse may change
from use to use: a composition of A alone is too small, also in the worse direction, and that of glued pairs is not
attained. Lower ends choose among A and B.
Claim, adding or removing a record: with the same base pair, A dominates for remove and B for add, as if the batch were
a Poisson sample at the rate g. Tight, also under composition.
g is the double at or above batch/records, for floors the one at or below.
Reference: Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Thm 11 and Prop. 30; Lebeda, Regehr, Kamath,
Steinke 2024 (one direction). Proof: docs/proofs/sampling.md, sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidParameter
from ..mechanisms.facts import Theorem
from ..mechanisms.parameters import whole
from ..pair import Pair
from ..relation import Direction, Relation, relation_named
from .base import Transformation
from .composition import IDENTITY
from .fixed_size_participation import PARTICIPATION_PARTS_MAX, fixed_size_participation_pair
from .sampled import rates, sampled_pair
from .terms import replaced_pair, replacement_witnesses
from .theorems import GROUP_IN_SAMPLE, SAMPLE_WITNESS, WITHOUT_REPLACEMENT, WITNESS


@dataclass(frozen=True, slots=True, repr=False)
class WithoutReplacement(Transformation):
    """The base mechanism on a batch of so many records, drawn without replacement; a composition on the same one.

    The base has its sensitivity under replacing a record, whatever the neighbours: 2 C for records clipped to norm C.
    records is the size of the data. Replacing keeps it; adding or removing leads to records + 1 or records - 1, where a
    batch is as large as before.
    """

    call = "without_replacement"
    example = "Gaussian(sigma=1, sensitivity=2).without_replacement(batch=100, records=10000)"
    formula = (
        "g = batch/records. Replace: H(a) = g Hb(1 + (a - 1)/g) for a >= 1, and 1 - a + a H(1/a) below. "
        "Add or remove: as `.poisson(g)` of the base under replacing"
    )
    theorem = (
        "Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Thm 11 and Prop. 30; [proof](proofs/sampling.md)"
    )
    tightness = (
        "Replace: attained by one use, at each epsilon by one order of a real pair of laws; composed, the upper end is "
        "that of the glued pair, and the lower end chooses among the two orders. Add or remove: tight, also composed."
    )
    relations = (
        "A record is replaced, or added or removed (`neighbours`); in both cases the base has its sensitivity under "
        "replacing one (2 C for records clipped to norm C)."
    )
    batch: int
    records: int
    neighbours: str = "replace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", whole("records", self.records, least=1))
        object.__setattr__(self, "batch", whole("batch", self.batch, least=0))
        relation_named(self.neighbours)
        if self.batch > self.records:
            raise InvalidParameter(f"batch must be at most records, {self.records}, not {self.batch}")
        self.rests_on.demand(self.base, self.batch)

    @property
    def rests_on(self) -> Theorem:
        return WITHOUT_REPLACEMENT

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset({self.records})

    @property
    def everywhere(self) -> bool:
        """Where records come and go the rate is that of data of this size alone."""
        return self.batch == 0 or (self.relation is Relation.REPLACE and self.base.everywhere)

    @property
    def known_in_groups(self) -> bool:
        return self.batch == 0 or self.base.everywhere

    @property
    def relation(self) -> Relation:
        return Relation(self.neighbours)

    @property
    def tight(self) -> bool:
        """Of the whole data: as the base where records are replaced; there is no smaller set that holds a batch."""
        if self.relation is Relation.REPLACE:
            return self.base.tight and (self.batch == 0 or (self.batch == self.records and self._one_order))
        lone = self.base.relation is None or self.batch == 0  # as of attained
        return self.base.tight and self.batch < self.records and self._one_order and lone

    @property
    def _one_order(self) -> bool:
        """Whether the base is the same in both orders; else its pair is the larger of two, which none attains twice."""
        return replacement_witnesses(self.base) == (replaced_pair(self.base),)

    @property
    def attained(self) -> bool:
        """A base under replacing may need two records of their own, and a batch shows one against any other."""
        whole_data = self.batch == self.records
        if self.base.relation is not None and not (whole_data or self.batch == 0):
            return False
        if not (SAMPLE_WITNESS if self.batch else WITNESS).holds(self.base, self.batch):
            return False
        return self.relation is Relation.REPLACE or not whole_data

    def pair(self, direction: Direction) -> Pair:
        base, rate = replaced_pair(self.base), rates(self.batch, self.records)[1]
        if self.relation is Relation.ADD_REMOVE or rate in (0.0, 1.0):
            return sampled_pair(base, rate, direction)
        from ..derived.fixed_size_subsampled import fixed_size_subsampled_pair

        return fixed_size_subsampled_pair(base, rate)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """Of records that come and go: as many of the group as are in the batch.

        The steps of a chain would have batches of ever smaller data, at rates of their own.
        Proof: docs/proofs/group.md, section 6.
        """
        if self.relation is Relation.REPLACE:
            return self.replaced_pair(size)
        if self.batch == 0 or size == 1:
            return Transformation.group_pair(self, size, direction)
        from ..derived.group_participation import group_participation_pair
        from ..facets.participation_law import HypergeometricParticipation

        GROUP_IN_SAMPLE.demand(self.base)
        return group_participation_pair(
            replaced_pair(self.base), HypergeometricParticipation(self.records, size, self.batch), direction
        )

    def replaced_pair(self, size: int) -> Pair:
        """Of noise that is shifted: by how many of the replaced records are in the batch, which must have others to
        fill it. Proof: docs/proofs/group.md, section 7."""
        few = 0 < self.batch <= self.records - size and size <= PARTICIPATION_PARTS_MAX
        if size == 1 or not few or not self.base.nameless.one_event(2):
            return Transformation.replaced_pair(self, size)
        from ..facets.participation_law import HypergeometricParticipation

        return fixed_size_participation_pair(self.base, HypergeometricParticipation(self.records, size, self.batch))

    def group_tight(self, size: int) -> bool:
        if size == 1 or self.relation is Relation.REPLACE:
            return size == 1 and self.tight
        return self.tight and self.base.nameless.one_event(size)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        rate = rates(self.batch, self.records)[0]
        if rate == 0.0:
            return (IDENTITY.pair(direction),)
        pairs = replacement_witnesses(self.base)
        ways = Direction if self.relation is Relation.REPLACE else (direction,)
        return tuple(dict.fromkeys(sampled_pair(floor, rate, way) for way in ways for floor in pairs))
