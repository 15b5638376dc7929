"""Parallel composition: the records are divided into cells, and each mechanism sees one cell.

Claim: a record that is added or removed lies in one cell, whichever; the outputs of the other cells have the same law
with it and without it, so that the pair of that cell dominates, and that of the largest profile over the cells
whichever cell it is, per direction. The cells must not depend on the data.
parallel(a, b) * 10: the cells may be drawn anew at each step, and the record may be in another one: the pair of the
largest profile is composed. parallel(a * 10, b * 10): they stay, and the answer is the largest over the cells of the
composed answers, which is smaller.
A record that is replaced may leave one cell and enter another: that is two changes, and refused here.
Guarantee: the pair dominates. A record of a cell attains its pair where the mechanism there does, and its cell may be
chosen by what was seen before: lower ends choose among the cells at each step.
Reference: McSherry 2009 (pure mechanisms). Proof: docs/proofs/points.md, section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Self

from ..calls import checked
from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism
from ..mechanisms.facts import Theorem
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Called
from .composition import parameters_of
from .theorems import PARALLEL, WITNESS


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
        from ..derived.maximum import maximum_pair

        return maximum_pair(cell.pair(direction) for cell in self.cells)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        from ..derived.maximum import undominated

        return undominated(floor for cell in self.cells for floor in cell.witnesses(direction))


@checked
def parallel(*cells: Mechanism | Iterable[Mechanism], name: str | None = None) -> Parallel:
    """Each mechanism runs on a cell of the records, and a record is in one cell; cells do not depend on the data.

    Neighbours add or remove a record. parallel(a, b) * 10 may draw the cells anew at each step, parallel(a * 10, b *
    10) keeps them: the largest over the cells of what their runs lose, which is less.
    """
    listed = chain.from_iterable(cell if isinstance(cell, Iterable) else (cell,) for cell in cells)
    return Parallel(cells=tuple(listed), name=name)
