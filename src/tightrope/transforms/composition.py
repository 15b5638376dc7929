"""Adaptive composition: the only place that makes counts.

Claim: if (P1, Q1) dominates M1 and (P2, Q2) dominates M2 for every output of M1, the product pair dominates both
together. Equal parts are grouped and sorted, so a + b == b + a and a * 2 + a == a * 3. Parts of different names are
not equal, and a composition that has a name stays one part; questions see through both (`nameless`).
Reference: Zhu, Dong, Wang 2021, Thm 10.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from ..bound import FrozenMapping
from ..derived.product import product_pair
from ..errors import InvalidParameter
from ..mechanisms.approximate_dp import PureDP
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import WHOLE_MAX, whole
from ..pair import Pair
from ..relation import Direction, Relation
from .theorems import COMPOSITION, COMPOSITION_REPLACED

if TYPE_CHECKING:
    from flint import arb

LABELLED_MAX = 8  # parts in a label
MANY = 8  # parts, from which on another one is put into its place
IDENTITY = PureDP(epsilon=0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Mechanism):
    """Two or more uses; build it with +, * or compose."""

    # For docs/transformations.md, as those of transforms.base.
    example = "Gaussian(sigma=2) * 10 + Laplace(scale=10)"
    formula = "(P_1 x P_2 x ..., Q_1 x Q_2 x ...): losses add up; H by the engines"
    theorem = (
        "Zhu, Dong, Wang 2021, Thm 10; how engines bound it: [lattice](proofs/lattice.md), [contour](proofs/contour.md)"
    )
    tightness = (
        "Tight where every part is. Where real neighbours show one of several pairs at each use, the lower end is that "
        "of the best adaptive choice found ([proof](proofs/adaptive.md))."
    )
    relations = "Those of its parts, which must agree; a part that leaves them open takes those of the others."
    parts: tuple[tuple[Mechanism, int], ...]

    def __repr__(self) -> str:
        return self._written(repr)

    def __str__(self) -> str:
        return self._written(str)

    def _written(self, inner: Callable[[Mechanism], str]) -> str:
        joined = _joined(self.parts, inner)
        return joined if self.name is None else f"({joined}).named({self.name!r})"

    @property
    def label(self) -> str:
        if self.name is not None:
            return self.name
        more = len(self.parts) - LABELLED_MAX
        return _joined(self.parts[:LABELLED_MAX], attrgetter("label")) + (f" + {more:,} more" if more > 0 else "")

    @property
    def _key(self) -> str:
        return "compose" if self.name is None else self.name

    @property
    def names(self) -> Mapping[str, int]:
        return FrozenMapping({key: count for key, (_, count) in _by_key(self.parts).items()})

    @property
    def parameters(self) -> Mapping[str, object]:
        return parameters_of(self.parts)

    @property
    def nameless(self) -> Mechanism:
        plain = [part.nameless for part, _ in self.parts]
        if self.name is None and all(mechanism is part for mechanism, (part, _) in zip(plain, self.parts, strict=True)):
            return self
        counts: dict[Mechanism, int] = {}
        for each, (_, times) in zip(plain, self.parts, strict=True):
            for part, count in each.parts:
                counts[part] = counts.get(part, 0) + count * times
        return _grouped(counts)

    @property
    def relation(self) -> Relation | None:
        for part, _ in self.parts:
            relation = part.relation
            if relation is not None:
                return relation
        return None

    @property
    def tight(self) -> bool:
        """Under replacing a record, of a part that leaves the relation open only where both orders have one pair."""
        if self.relation is Relation.REPLACE and not all(settled(part) for part, _ in self.parts):
            return False
        return all(part.tight for part, _ in self.parts)

    @property
    def attained(self) -> bool:
        """Of data whose size some part names all parts run on so many: too few for a count, and for distances where
        records are replaced."""
        named = self.sizes
        if named and self.needs_others(None):
            return False
        few = named if self.relation is Relation.REPLACE else ()
        return all(part.attained for part, _ in self.parts) and not any(
            part.relation is None and part.needs_others(size) for part, _ in self.parts for size in few
        )

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset().union(*(part.sizes for part, _ in self.parts))

    @property
    def beside_others(self) -> bool:
        return all(part.beside_others for part, _ in self.parts)

    @property
    def everywhere(self) -> bool:
        return all(part.everywhere for part, _ in self.parts)

    @property
    def known_in_groups(self) -> bool:
        return all(part.known_in_groups for part, _ in self.parts)

    @property
    def gaussian_noise(self) -> bool:
        return all(part.gaussian_noise for part, _ in self.parts)

    def largest_loss(self) -> arb | None:
        """Losses of the parts add up, each in whichever order."""
        losses = [(part.largest_loss(), count) for part, count in self.parts]
        known = [count * loss for loss, count in losses if loss is not None]
        return sum(known[1:], known[0]) if len(known) == len(losses) else None

    def needs_others(self, batch: int | None) -> bool:
        return any(part.needs_others(batch) for part, _ in self.parts)

    def pair(self, direction: Direction) -> Pair:
        """All parts together as one pair: what one sample, drawn once for all of them, is a mixture of."""
        from .terms import terms_of

        return product_pair(terms_of(self.nameless, direction))

    def replaced_pair(self, size: int) -> Pair:
        from .terms import replaced_pair

        return replaced_pair(self, size)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """The same group at every use."""
        from .group import Group

        return Group.of(self.nameless, size=size).pair(direction)

    def group_tight(self, size: int) -> bool:
        if self.relation is Relation.REPLACE and not all(settled(part) for part, _ in self.parts):
            return False
        return all(part.group_tight(size) for part, _ in self.parts)

    @property
    def _witnessed_by_pair(self) -> bool:
        return all(part._witnessed_by_pair for part, _ in self.parts)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """One alternative of each part for all of its uses: some of what may be chosen."""
        from .terms import choices_of, fixed_choices

        return tuple(product_pair(choice) for choice in fixed_choices(choices_of(self.nameless, direction)))


def named_relation(law: Mechanism) -> Relation | None:
    """Whose neighbours an answer is about: those of the run, or, where it leaves them open, add/remove if its pairs are
    not their own reverse; None where the same answer holds for either. Proof: docs/proofs/facts.md, section 1.

    One order of all uses is what adding, or removing, means; a record that is replaced may meet either order at each.
    """
    if law.relation is not None or all(settled(part) for part, _ in law.parts):
        return law.relation
    return Relation.ADD_REMOVE


def settled(part: Mechanism) -> bool:
    """Whether it has one pair where a record is replaced."""
    return part.relation is not None or part.pair(Direction.REMOVE) == part.pair(Direction.ADD)


def parameters_of(parts: Sequence[tuple[Mechanism, int]]) -> Mapping[str, object]:
    """Those of all parts, by the names of the parts."""
    found: dict[str, object] = {}
    for key, (part, _) in _by_key(parts).items():
        for name, value in part.parameters.items():
            place = f"{key}:{name}"
            while place in found:  # names may hold a colon themselves
                place += " again"
            found[place] = value
    return FrozenMapping(found)


def _by_key(parts: Sequence[tuple[Mechanism, int]]) -> dict[str, tuple[Mechanism, int]]:
    """The parts by their names; where several share one, those after the first are numbered."""
    found: dict[str, tuple[Mechanism, int]] = {}
    times: dict[str, int] = {}
    for part, count in parts:
        key = own = part._key
        while key in found:
            times[own] = times.get(own, 1) + 1
            key = f"{own} #{times[own]}"
        found[key] = part, count
    return found


def compose(*mechanisms: Mechanism | Iterable[Mechanism]) -> Mechanism:
    """All of them run, each may look at the outputs before it; nothing at all is the identity.

    They are given one by one, as one or more lists, or both.
    """
    counts: dict[Mechanism, int] = {}
    for mechanism in chain.from_iterable(map(_listed, mechanisms)):
        if not isinstance(mechanism, Mechanism):
            raise InvalidParameter(f"only mechanisms can be composed, not {mechanism!r:.60}")
        for part, count in _summands(mechanism):
            counts[part] = counts.get(part, 0) + count
    return _grouped(counts)


def added(run: Mechanism, other: Mechanism) -> Mechanism:
    """Both: `compose`, or where one part joins many, its place among them, so that a sum of many takes no square."""
    parts, new = _summands(run), _summands(other)
    if len(new) > 1 or len(parts) < MANY or other == IDENTITY:
        return compose((run, other))
    if other.relation is not None:
        _check_relations((run, other))
    (part, count), *_ = new
    written = repr(part)
    place = bisect_left(parts, written, key=_order)
    while place < len(parts) and parts[place][0] != part and _order(parts[place]) == written:
        place += 1
    known = [uses for mechanism, uses in parts[place : place + 1] if mechanism == part]
    total = count + sum(known)
    _check_count(part, total)
    return Composition(parts=(*parts[:place], (part, total), *parts[place + len(known) :]))


def _order(item: tuple[Mechanism, int]) -> str:
    """By which parts are sorted."""
    return repr(item[0])


def _check_relations(parts: Collection[Mechanism]) -> None:
    """All parts are about the relation of the first that names one."""
    relation = next((part.relation for part in parts if part.relation is not None), None)
    if relation is not None:
        theorem = COMPOSITION if relation is Relation.ADD_REMOVE else COMPOSITION_REPLACED
        for part in parts:
            theorem.demand(part)


def _check_count(part: Mechanism, count: int) -> None:
    if count > WHOLE_MAX:
        whole(f"the count of {part!r:.60}", count, least=1)


def _summands(mechanism: Mechanism) -> tuple[tuple[Mechanism, int], ...]:
    """What goes into a sum: the parts, unless they have a name together."""
    return mechanism.parts if mechanism.name is None else ((mechanism, 1),)


def _joined(parts: Iterable[tuple[Mechanism, int]], written: Callable[[Mechanism], str]) -> str:
    return " + ".join(written(part) + (f" * {count}" if count > 1 else "") for part, count in parts)


def _listed(given: object) -> Iterable[object]:
    return given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def repeat(mechanism: Mechanism, count: float) -> Mechanism:
    """The mechanism run count times; 0 times is the identity."""
    times = whole("count", count, least=0)
    return _grouped({part: uses * times for part, uses in _summands(mechanism)})


def _grouped(counts: dict[Mechanism, int]) -> Mechanism:
    counts = {part: count for part, count in counts.items() if count and part != IDENTITY}
    _check_relations(counts)
    for part, count in counts.items():
        _check_count(part, count)
    parts = tuple(sorted(counts.items(), key=_order))
    if not parts:
        return IDENTITY
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    return Composition(parts=parts)
