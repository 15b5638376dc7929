"""Groups: neighbours differ in so many records, all of them removed or all of them added.

Claim: with g the power of the best test of the base pair by its size, the chain of `size` neighbours has the power
g(g(... g(x))), and the pair of that function dominates. Noise that is shifted has the pair of the longer shift; a
sampled mechanism knows better (Mechanism.group_pair), since some of the group may be left out of the sample.
The same group differs at every use, so `group` is distributed over + and *. A mixed group, some records added and
others removed, is not covered.
Reference: Dong, Roth, Su 2022, Thm 2.14. Proof: docs/proofs/group.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism, ZcdpUse, largest_loss
from ..mechanisms.facts import Theorem, sizes_in_groups
from ..mechanisms.parameters import whole
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .composition import compose
from .terms import replaced_pair
from .theorems import GROUP, GROUP_CONCENTRATED

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, slots=True, repr=False)
class Group(Transformation):
    """The base mechanism where neighbours differ in a group of records: all are removed, or all added."""

    call = "group"
    example = "Laplace(scale=10).group(size=3)"
    formula = (
        "power g(g(... g(x))), size times, g the power of the base; of shifted noise: size times the shift; of a "
        "sample: by how many of the group are in it"
    )
    theorem = (
        "Dong, Roth, Su 2022, Thm 2.14; in samples: Ganesh 2024, Balle, Barthe, Gaboardi 2018, Thm 10, and ours; "
        "[proof](proofs/group.md)"
    )
    tightness = (
        "Tight for shifted noise, and for what is known by its trade-off alone (PureDP, ApproximateDP, GDP, "
        "TradeoffCurve): a count with canonical noise attains it. Lower ends of NoisyMax and PermuteAndFlip are those "
        "of real scores, which a group moves so many times as far. Else they speak of the dominating pair."
    )
    relations = "As the base, with a group in the place of a record: all of it is added, removed or replaced."
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole("size", self.size, least=1))
        if self.size > 1:
            self.rests_on.demand(self.base)
        for records in sorted(self.base.sizes):
            if self.size > records:
                raise InvalidParameter(f"size must be at most {records}, the records of the base, not {self.size}")

    @classmethod
    def of(cls, base: Mechanism, **given: Any) -> Mechanism:
        """Of a sum: the sum of the groups."""
        if base.name is not None or not _several(base):
            return cls(base=base, **given)
        name = given.pop("name", None)
        made = compose(cls.of(part, **given) * count for part, count in base.parts)
        return made if name is None else made.named(name)

    @property
    def rests_on(self) -> Theorem:
        return GROUP

    @property
    def sizes(self) -> frozenset[int]:
        """Of groups."""
        return sizes_in_groups(self.base.sizes, self.size)

    @property
    def everywhere(self) -> bool:
        return self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.base.known_in_groups

    @property
    def gaussian_noise(self) -> bool:
        return self.base.gaussian_noise

    @property
    def relation(self) -> Relation | None:
        return self.base.relation

    @property
    def nameless(self) -> Mechanism:
        base = self.base.nameless
        if _several(base):
            return self.of(base, size=self.size).nameless
        return self if self.name is None and base is self.base else self._with(name=None, base=base)

    @property
    def tight(self) -> bool:
        return self.base.group_tight(self.size)

    def pair(self, direction: Direction) -> Pair:
        return self.base.group_pair(self.size, direction)

    def group_witness(self, size: int) -> Mechanism | None:
        return self.base if self.size * size == 1 else self.base.group_witness(self.size * size)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        alike = self.group_witness(1)
        return (self.pair(direction),) if alike is None else alike.witnesses(direction)

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        alike = self.group_witness(1)
        return self.witnesses(direction) if alike is None else alike.witnesses_once(direction)

    @property
    def attained(self) -> bool:
        alike = self.group_witness(1)
        return self.tight if alike is None else alike.attained

    def group_pair(self, size: int, direction: Direction) -> Pair:
        return self.base.group_pair(self.size * size, direction)

    def replaced_pair(self, size: int) -> Pair:
        return replaced_pair(self.base, self.size * size)

    def largest_loss(self) -> arb | None:
        """Each record of the group may meet either order."""
        return largest_loss([self.replaced_pair(1)])

    def concentrated(self, size: int = 1) -> ZcdpUse | None:
        return self.base.concentrated(self.size * size) if GROUP_CONCENTRATED.holds(self.base) else None

    def one_event(self, size: int) -> bool:
        return self.base.one_event(self.size * size)

    def group_tight(self, size: int) -> bool:
        return self.base.group_tight(self.size * size)


def _several(base: Mechanism) -> bool:
    """Whether it is made of parts, or of one several times."""
    return base.parts != ((base, 1),)


def group_sizes(mechanism: Mechanism) -> set[int]:
    """In how many records neighbours differ, of each part that runs, however deep the groups stand in it."""
    own = mechanism.size if isinstance(mechanism, Group) else 1
    return {own * size for part in _inside(mechanism) for size in group_sizes(part)} or {own}


def _inside(mechanism: Mechanism) -> Iterator[Mechanism]:
    """What a mechanism is made of, one step down; nothing for one that stands by itself."""
    for item in fields(mechanism):
        if item.name == "base":
            yield getattr(mechanism, item.name)
        elif item.name == "cells":
            yield from getattr(mechanism, item.name)
    yield from (part for part, _ in mechanism.parts if part is not mechanism)
