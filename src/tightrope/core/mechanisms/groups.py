"""Groups: neighbours differ in so many records, all of them removed or all of them added.

Claim: with g the power of the best test of the base pair by its size, the chain of `size` neighbours has the power
g(g(... g(x))), and the pair of that function dominates. Noise that is shifted has the pair of the longer shift; a
sampled mechanism knows better (Mechanism.group_pair), since some of the group may be left out of the sample.
The same group differs at every use, so `group` is distributed over + and *. A mixed group, some records added and
others removed, is not covered.
Reference: Dong, Roth, Su 2022, Thm 2.14. Proof: docs/proofs/group.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..losses.pair import Pair
from ..values.calls import checked
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Mechanism, ZcdpUse, largest_loss
from .composition import Called, Transformation, compose, parameters_of, replaced_pair
from .parameters import whole
from .theorems import GROUP, GROUP_CONCENTRATED, PARALLEL, WITNESS, Theorem, sizes_in_groups

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


# Parallel composition: the records are divided into cells, and each mechanism sees one cell.
#
# Claim: a record that is added or removed lies in one cell, whichever; the outputs of the other cells have the same law
# with it and without it, so that the pair of that cell dominates, and that of the largest profile over the cells
# whichever cell it is, per direction. The cells must not depend on the data.
# parallel(a, b) * 10: the cells may be drawn anew at each step, and the record may be in another one: the pair of the
# largest profile is composed. parallel(a * 10, b * 10): they stay, and the answer is the largest over the cells of the
# composed answers, which is smaller.
# A record that is replaced may leave one cell and enter another: that is two changes, and refused here.
# Guarantee: the pair dominates. A record of a cell attains its pair where the mechanism there does, and its cell may be
# chosen by what was seen before: lower ends choose among the cells at each step.
# Reference: McSherry 2009 (pure mechanisms). Proof: docs/proofs/points.md, section 6.


@dataclass(frozen=True, slots=True, repr=False)
class Parallel(Called):
    """Each mechanism on a cell of its own, data-independent; a record is in one cell."""

    call: ClassVar[str] = "parallel"
    example: ClassVar[str] = "parallel(Gaussian(sigma=1), Laplace(scale=2)) * 10"
    formula: ClassVar[str] = "H(a) = max over the cells of H_i(a), per direction"
    theorem: ClassVar[str] = "McSherry 2009, for pure mechanisms; [proof](proofs/points.md)"
    tightness: ClassVar[str] = (
        "Attained where the cells are: one use by one of them at each epsilon, several by the best choice of a cell at "
        "each step that is found. Upper ends compose the largest profile, which is more where the cells cross."
    )
    relations: ClassVar[str] = "A record is added or removed; replacing one is refused, as it may change its cell."
    relation = Relation.ADD_REMOVE
    cells: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        for cell in self.cells:
            if not isinstance(cell, Mechanism):
                raise InvalidParameter(f"a cell of parallel is a mechanism, not {cell!r:.60}")
            PARALLEL.demand(cell)
        if not self.cells:
            raise InvalidParameter("parallel needs at least one mechanism")
        # In an order of their own, each once: of equal cells one says it all.
        object.__setattr__(self, "cells", tuple(sorted(dict.fromkeys(self.cells), key=repr)))

    def _called(self, inner: Callable[[Mechanism], str]) -> str:
        return f"{self.call}({', '.join(map(inner, self.cells))})"

    @property
    def _key(self) -> str:
        return self.call if self.name is None else self.name

    @property
    def parameters(self) -> Mapping[str, object]:
        return parameters_of([(cell, 1) for cell in self.cells])

    @property
    def nameless(self) -> Self:
        plain = tuple(cell.nameless for cell in self.cells)
        if self.name is None and all(one is two for one, two in zip(plain, self.cells, strict=True)):
            return self
        return self._with(name=None, cells=tuple(sorted(dict.fromkeys(plain), key=repr)))

    @property
    def tight(self) -> bool:
        """Of one cell, or of equal ones; no pair is made for this, since certificates ask when time may be up."""
        first, *others = (cell.nameless for cell in self.cells)
        return first.tight and all(cell == first for cell in others)

    def needs_others(self, batch: int | None) -> bool:
        return any(cell.needs_others(batch) for cell in self.cells)

    @property
    def rests_on(self) -> Theorem:
        """The theorem that gives its pair."""
        return PARALLEL

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset().union(*(cell.sizes for cell in self.cells))

    @property
    def beside_others(self) -> bool:
        return all(cell.beside_others for cell in self.cells)

    @property
    def everywhere(self) -> bool:
        """A group may take several records of a cell that samples from so many."""
        return not self.sizes and all(cell.everywhere for cell in self.cells)

    @property
    def known_in_groups(self) -> bool:
        return self.everywhere

    @property
    def gaussian_noise(self) -> bool:
        return False

    @property
    def attained(self) -> bool:
        return all(WITNESS.holds(cell) for cell in self.cells)

    def pair(self, direction: Direction) -> Pair:
        from ..losses.operators.extremes import maximum_pair

        return maximum_pair(cell.pair(direction) for cell in self.cells)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..losses.operators.extremes import undominated

        return undominated(floor for cell in self.cells for floor in cell.witnesses(direction))


@checked
def parallel(*cells: Mechanism | Iterable[Mechanism], name: str | None = None) -> Parallel:
    """Each mechanism runs on a cell of the records, and a record is in one cell; cells do not depend on the data.

    Neighbours add or remove a record. parallel(a, b) * 10 may draw the cells anew at each step, parallel(a * 10, b *
    10) keeps them: the largest over the cells of what their runs lose, which is less.
    """
    listed = chain.from_iterable(cell if isinstance(cell, Iterable) else (cell,) for cell in cells)
    return Parallel(cells=tuple(listed), name=name)
