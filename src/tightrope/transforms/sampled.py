"""What the ways of sampling share: the words for neighbours, and rates that are fractions."""

from __future__ import annotations

from fractions import Fraction

from ..derived.poisson import poisson_pair, rate_ends
from ..errors import InvalidParameter
from ..mechanisms.base import Leaf, Mechanism
from ..pair import Pair
from ..relation import Direction, Relation
from .composition import IDENTITY
from .group import Group

OTHERS = {
    Relation.REPLACE: "sample once, or take a base with neighbours='replace'",
    Relation.ADD_REMOVE: "sample once, or take a base with neighbours='add_remove'",
}


def relation_named(name: object) -> Relation:
    """The relation of this name."""
    known = {each.value: each for each in Relation}
    if not isinstance(name, str) or name not in known:
        raise InvalidParameter(f"neighbours must be 'add_remove' or 'replace', not {name!r:.40}")
    return known[name]


def demand_relation(base: Mechanism, wanted: Relation, what: str) -> None:
    """Refuses a base that is about other neighbours."""
    if base.relation in (None, wanted):
        return
    sensitivity = {
        Relation.REPLACE: "its base needs the sensitivity under replacing a record",
        Relation.ADD_REMOVE: "its base needs the sensitivity under adding or removing a record",
    }[wanted]
    given = {Relation.ADD_REMOVE: "adding or removing one", Relation.REPLACE: "replacing one"}[base.relation]
    raise InvalidParameter(f"{what}: {sensitivity}, and this base is about {given}; {OTHERS[wanted]}")


def rates(batch: int, records: int) -> tuple[float, float]:
    """Doubles at or below and at or above batch/records."""
    return rate_ends(Fraction(batch, records))


def sampled_pair(base: Pair, rate: float, direction: Direction) -> Pair:
    """The Poisson sample, at any rate from 0 to 1."""
    if rate == 0.0:
        return IDENTITY.pair(direction)
    return base if rate == 1.0 else poisson_pair(base, rate, direction)


def shifts(base: Mechanism, size: int) -> bool:
    """Whether real groups attain the chain of the base by one event for every part of the group, as in a sample.

    A leaf does whose groups attain it, and a sum of Gaussians, which is one shift. The chain of any other product, or
    of a sample, is more than what groups show. Proof: docs/proofs/group.md, section 6.
    """
    base = base.nameless
    while isinstance(base, Group):
        size, base = base.size * size, base.base
    return base.group_tight(size) and (isinstance(base, Leaf) or base.pair(Direction.REMOVE).shifted(size) is not None)
