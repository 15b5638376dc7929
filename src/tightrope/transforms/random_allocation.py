"""Random allocation (balls and bins): each record takes part in so many of the steps, all choices alike.

Claim, adding or removing a record, one use: let (P, Q) dominate a step, with the record and without it, and let
Y_i = dP/dQ be independent under Q. Then (mean over i of Q x ... x P x ... x Q, Q x ... x Q) dominates the run, with
L = (Y_1 + ... + Y_steps)/steps for remove; H(a) = E(L - a)_+ + P[Q = 0]. For add H(a) = E(1 - a L)_+ with (Q, P) the
pair of that direction. A step may be chosen by what was seen before it. Tight where the base is.
Claim, several uses: L is the mean over all sets of `uses` steps of the products of their Y_i. Of Gaussian noise that is
what is bounded, from both sides. Of other noise the composition of `uses` blocks of steps, whose sizes differ by one at
most, with one use in each: the run is a mixture of such, so that this dominates. It is not attained.
All steps: the composition of so many uses of the base. Groups, in one use of Gaussian noise: scattered.py.
Reference: Feldman, Shenfeld 2025 and 2026; Chua et al. 2025 (balls and bins). Proof: docs/proofs/allocation.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism
from ..mechanisms.facts import Theorem
from ..mechanisms.parameters import whole
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .composition import repeat
from .scattered import SPREAD_MAX, scattered_pair
from .theorems import ALLOCATED_SETS, ALLOCATION, EVERY_STEP, GROUP_SCATTERED, SAMPLE_WITNESS


@dataclass(frozen=True, slots=True, repr=False)
class RandomAllocation(Transformation):
    """The base mechanism at each of so many steps; every record is in `uses` of them, chosen by itself at random.

    One epoch over batches that are filled so: each step runs on those records whose step it is. The base has its
    sensitivity under adding or removing a record: C for records clipped to norm C. A composition is one step.
    """

    call = "random_allocation"
    example = "Gaussian(sigma=1).random_allocation(steps=100)"
    relation = Relation.ADD_REMOVE
    formula = (
        "Y_i = dP/dQ of step i, independent under Q, L their mean over the steps; remove: H(a) = E(L - a)_+ + w, "
        "add: H(a) = E(1 - a L)_+, w the mass of P where Q has none. Several uses: L is the mean over all sets of "
        "`uses` steps of the products of their Y_i, for Gaussian noise; for other noise composition of `uses` blocks "
        "of steps, one use in each"
    )
    theorem = (
        "Feldman, Shenfeld 2025 and 2026; Chua, Ghazi, Harrison et al. 2025 (balls and bins); "
        "[proof](proofs/allocation.md)"
    )
    tightness = (
        "One use, as many uses as steps, and any uses of Gaussian noise: tight where the base is, also under "
        "composition (a new allocation each time); else lower ends are those of its real neighbours. Several uses of "
        "other noise, more than 256, or of more than 131072 steps: not tight, and lower ends speak of the dominating "
        "pair."
    )
    relations = (
        "A record is added or removed; the base has its sensitivity under that (C for records clipped to norm C). "
        "Replacing one is not covered, nor is one order of the records for several epochs, nor batches of fixed size."
    )
    steps: int
    uses: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        object.__setattr__(self, "uses", whole("uses", self.uses, least=1))
        if self.uses > self.steps:
            raise InvalidParameter(
                f"uses must be at most steps, {self.steps}, not {self.uses}: a record is in a step once at most"
            )
        (EVERY_STEP if self.uses == self.steps else ALLOCATION).demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        """All records at each step need no size."""
        if self.uses == self.steps:
            return EVERY_STEP
        return ALLOCATED_SETS if self._by_sets else ALLOCATION

    @property
    def everywhere(self) -> bool:
        return self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.base.known_in_groups if self.uses == self.steps else self.base.everywhere

    @property
    def _everywhere(self) -> Mechanism | None:
        """Where every record is in every step: the composition, the base itself where there is one step."""
        return repeat(self.base, self.steps) if self.uses == self.steps else None

    @property
    def _by_sets(self) -> bool:
        """Whether several uses have the pair of all sets, and not that of blocks: so has what is below them."""
        from ..derived.allocated.several import sets_known

        if self.uses in (1, self.steps) or not ALLOCATED_SETS.holds(self.base):
            return False
        pairs = (
            pair for direction in Direction for pair in (self.base.pair(direction), *self.base.witnesses(direction))
        )
        return all(sets_known(pair, self.steps, self.uses) for pair in pairs)

    @property
    def tight(self) -> bool:
        return self.base.tight and (self.uses in (1, self.steps) or self._by_sets)

    @property
    def attained(self) -> bool:
        every = self._everywhere
        if every is not None:
            return every.attained
        return (self.uses == 1 or self._by_sets) and SAMPLE_WITNESS.holds(self.base)

    @property
    def attained_once(self) -> bool:
        every = self._everywhere
        return self.attained if every is None else every.attained_once

    def pair(self, direction: Direction) -> Pair:
        every = self._everywhere
        return self._allocated(self.base.pair(direction), direction) if every is None else every.pair(direction)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """The same floor at every step, with the record and without it; of blocks nothing is known below the pair."""
        every = self._everywhere
        if every is not None:
            return every.witnesses(direction)
        if self.uses > 1 and not self._by_sets:
            return (self.pair(direction),)
        return tuple(self._allocated(floor, direction) for floor in self.base.witnesses(direction))

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        """Neighbours that are real at one point only have no law that steps could mix."""
        every = self._everywhere
        return self.witnesses(direction) if every is None else every.witnesses_once(direction)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """Of Gaussian noise, one use: by which of the group share a step. Of all steps: the group at each.

        Else a chain: whatever the other records, each link of it has this pair. Proof: docs/proofs/allocation.md,
        section 6.
        """
        every = self._everywhere
        if every is not None:
            return every.group_pair(size, direction)
        if self.uses == 1 and 1 < size <= SPREAD_MAX and GROUP_SCATTERED.holds(self.base):
            return scattered_pair(self.base, size, self.steps, direction)
        return Transformation.group_pair(self, size, direction)

    def group_tight(self, size: int) -> bool:
        every = self._everywhere
        return size == 1 and self.tight if every is None else every.group_tight(size)

    def _allocated(self, base: Pair, direction: Direction) -> Pair:
        """One of all steps; several by all of their sets, or by a block of steps for each of them."""
        from ..derived.allocated.pair import allocated_pair
        from ..derived.allocated.several import blocks_pair, several_pair

        if self.uses == 1:
            return allocated_pair(base, self.steps, direction)
        make = several_pair if self._by_sets else blocks_pair
        return make(base, self.steps, self.uses, direction)
