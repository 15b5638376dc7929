"""Adaptive composition: the only place that makes counts.

Claim: if (P1, Q1) dominates M1 and (P2, Q2) dominates M2 for every output of M1, the product pair dominates both
together. Equal parts are grouped and sorted, so a + b == b + a and a * 2 + a == a * 3. Parts of different names are
not equal, and a composition that has a name stays one part; questions see through both (`nameless`).
Reference: Zhu, Dong, Wang 2021, Thm 10.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from ..losses.operators.group_privacy import group_privacy_pair
from ..losses.operators.product import Factor, merged, product_pair
from ..losses.operators.registered import shifted_pair
from ..losses.pair import Pair
from ..values.bound import FrozenMapping
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .approximate_dp import PureDP
from .base import Mechanism
from .parameters import WHOLE_MAX, whole
from .renyi import ZCDP
from .theorems import COMPOSITION, COMPOSITION_REPLACED, Theorem

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

        return product_pair(terms_of(self.nameless, direction))

    def replaced_pair(self, size: int) -> Pair:

        return replaced_pair(self, size)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """The same group at every use."""
        from .groups import Group

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


# What transformations of one mechanism share: each is written as a call on it, and counts as one use.

OWN = Theorem("a transformation of your own", "its pair, as its author states it", "its author", "its author's")


class Called(Mechanism):
    """A mechanism that is written as one call; names stand behind it, and inside."""

    __slots__ = ()
    call: ClassVar[str]  # the name of the method or function that makes it

    def __repr__(self) -> str:
        return self._written(repr)

    def __str__(self) -> str:
        return self._written(str)

    def _written(self, inner: Callable[[Mechanism], str]) -> str:
        return self._called(inner) + ("" if self.name is None else f".named({self.name!r})")

    @abstractmethod
    def _called(self, inner: Callable[[Mechanism], str]) -> str:
        """The call, with what is inside written by inner."""

    @property
    def label(self) -> str:
        return self._called(attrgetter("label")) if self.name is None else self.name


@dataclass(frozen=True, slots=True, repr=False)
class Transformation(Called):
    """A mechanism made from one other; its fields besides the base are the keywords of the call.

    tight as the base, unless the transformation says otherwise.
    """

    example: ClassVar[str]  # of its use, for the listing
    # For docs/transformations.md: the pair or profile, its reference and proof, what attains it, which neighbours.
    formula: ClassVar[str]
    theorem: ClassVar[str]
    tightness: ClassVar[str]
    relations: ClassVar[str]
    base: Mechanism

    @classmethod
    def of(cls, base: Mechanism, **given: Any) -> Mechanism:
        """What the method makes of the base."""
        return cls(base=base, **given)

    def _called(self, inner: Callable[[Mechanism], str]) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"{bracketed(self.base, inner)}.{self.call}({given})"

    @property
    def arguments(self) -> dict[str, object]:
        """Its keywords, those at their default left out."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("base", "name")}
        usual = {field.name: field.default for field in fields(self)}
        return {key: value for key, value in found.items() if value != usual[key]}

    @property
    def parameters(self) -> Mapping[str, object]:
        """Those of the base, and its own; one that the base has too is called base:rate there."""
        found = self.arguments
        for key, value in self.base.parameters.items():
            while key in found:
                key = f"base:{key}"
            found[key] = value
        return FrozenMapping(found)

    @property
    def _key(self) -> str:
        return self.base._key if self.name is None else self.name

    @property
    def nameless(self) -> Mechanism:
        base = self.base.nameless
        return self if self.name is None and base is self.base else self._with(name=None, base=base)

    @property
    def tight(self) -> bool:
        return self.rests_on is not OWN and self.base.tight

    def needs_others(self, batch: int | None) -> bool:
        return self.base.needs_others(batch)

    # What nobody has proven of a transformation is not a fact of it: one of your own has none until it states them.

    @property
    def rests_on(self) -> Theorem:
        """The theorem that gives its pair."""
        return OWN

    @property
    def beside_others(self) -> bool:
        return self.base.beside_others

    @property
    def everywhere(self) -> bool:
        return False

    @property
    def known_in_groups(self) -> bool:
        return self.everywhere

    def largest_loss(self) -> arb | None:
        return None if self.rests_on is OWN else Mechanism.largest_loss(self)

    @property
    def sizes(self) -> frozenset[int]:
        return self.base.sizes

    @property
    def gaussian_noise(self) -> bool:
        return False


def bracketed(mechanism: Mechanism, written: Callable[[Mechanism], str]) -> str:
    """What a method may be called on: a sum or a multiple in brackets."""
    whole = mechanism.name is not None or mechanism.parts[0][0] is mechanism
    return written(mechanism) if whole else f"({written(mechanism)})"


# The pairs of a run: what dominates its parts, and what lower ends speak of.
#
# Under replacing a record there is no direction: a part that leaves the relation open may meet either order of its two
# laws, anew at each use, so what dominates it is the maximum of both profiles.
# Guarantee: the terms dominate the run; each choice of one floor per use is at or below it.
# Reference: Zhu, Dong, Wang 2021, Thm 10 (composition); proof of the maximum: docs/proofs/points.md.

Choice = tuple[tuple[Pair, ...], int]  # alternatives for one use, and how many uses there are


def terms_of(law: Mechanism, direction: Direction) -> tuple[Factor, ...]:
    """(pair, count) of each part of a run without names; parts that tell more together are joined."""
    if law.relation is Relation.REPLACE:
        return _replaced_terms(law)
    return merged((part.pair(direction), count) for part, count in law.parts)


def choices_of(law: Mechanism, direction: Direction, pointwise: bool = False) -> tuple[Choice, ...]:
    """The floors of each part, and its count; pointwise: of one use those that are real at each point by itself."""
    if law.relation is Relation.REPLACE:
        return _replaced_choices(law)
    if pointwise and law.parts == ((law, 1),):
        return ((law.witnesses_once(direction), 1),)
    return tuple((part.witnesses(direction), count) for part, count in law.parts)


def witnessed_by_terms(law: Mechanism) -> bool:
    """Whether it is known, before any pair is made, that real neighbours have the terms themselves; a record that is
    replaced may meet either order of each use."""
    return law.relation is not Relation.REPLACE and law._witnessed_by_pair


def concentrated(law: Mechanism) -> tuple[Mechanism, Mechanism] | None:
    """What zCDP says of a run without names: what it adds up to, which bounds the run from above, and real uses below.

    None where a part has no rho of its own, or where the pairs lose nothing: a single use, and what composes exactly.
    Reference: Bun, Steinke 2016, Lemma 2.3 (rho adds up).
    """

    known = [(part.concentrated(), count) for part, count in law.parts]
    uses = [(use, count) for use, count in known if use is not None]
    if len(uses) < len(known) or not any(use.better for use, _ in uses):
        return None
    rho = sum((count * use.rho for use, count in uses), Fraction(0))
    least = float(rho)
    above = least if Fraction(least) >= rho else math.nextafter(least, math.inf)
    return ZCDP(rho=above), compose(use.witness * count for use, count in uses)


def replaced_pair(law: Mechanism, size: int = 1) -> Pair:
    """All of a run, which leaves the relation open or replaces a record, as one pair that is its own reverse.

    size: so many records are replaced.
    """
    return product_pair(_replaced_terms(law.nameless, size))


def replacement_witnesses(law: Mechanism, size: int = 1) -> tuple[Pair, ...]:
    """What lower ends of the same speak of; of several records, what replacing one already shows where shifts do not
    tell more."""
    found = []
    for run in fixed_choices(_replaced_choices(law.nameless)):
        shifted = [(shifted_pair(pair, size) or pair, count) for pair, count in run]
        found.append(product_pair(shifted))
    return tuple(dict.fromkeys(found))


def swapped_pair(law: Mechanism) -> Pair:
    """All of a run, which leaves the relation open or adds and removes records: one record out, another in."""
    return product_pair(
        (group_privacy_pair([(part.pair(direction), 1) for direction in Direction]), count) for part, count in law.terms
    )


def _replaced_terms(law: Mechanism, size: int = 1) -> tuple[Factor, ...]:
    return merged((part.replaced_pair(size), count) for part, count in law.parts)


def _replaced_choices(law: Mechanism) -> tuple[Choice, ...]:
    found = []
    for part, count in law.parts:
        both = [floor for direction in Direction for floor in part.witnesses(direction)]
        found.append((tuple(dict.fromkeys(both)), count))
    return tuple(found)


def fixed_choices(choices: Sequence[Choice]) -> list[tuple[Factor, ...]]:
    """Runs without adaptivity: the first floor of every part, the second, ...; a part without so many has its last."""
    most = max(len(floors) for floors, _ in choices)
    return [merged((floors[min(index, len(floors) - 1)], count) for floors, count in choices) for index in range(most)]


# What people look for among the transformations and is not there: why, and what to do instead.

FILTER = (
    "a filter stops a run whose parts are chosen as it goes, and no filter on privacy-loss distributions is proven; "
    "fix the run in advance, or add up Renyi or zCDP bounds (RenyiCurve, ZCDP)"
)
FIXED = (
    "the best of a fixed number of runs is no better than all of them together: write mechanism * runs, or draw the "
    "number of runs at random, as in .best_of(law='geometric', mean=5)"
)

SAMPLE = (
    "samples are drawn by .poisson(rate=), .without_replacement(batch=, records=), .with_replacement(batch=, records=) "
    "or .truncated_poisson(rate=, cap=, records=), those of all steps of an epoch by .random_allocation(steps=)"
)
CELLS = "cells stand beside each other, as in parallel(Gaussian(sigma=1), Laplace(scale=2))"

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "filter": FILTER,
        "odometer": FILTER,
        "repeat": FIXED,
        "best": FIXED,
        "sample": SAMPLE,
        "subsample": SAMPLE,
        "parallel": CELLS,
    }
)
