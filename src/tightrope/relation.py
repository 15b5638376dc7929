"""Which datasets are neighbours, and which of the two is the first of a pair."""

from __future__ import annotations

from enum import Enum
from typing import Never

from .errors import InvalidParameter


class Direction(Enum):
    """REMOVE is the pair (with the record, without it); ADD is (without, with)."""

    REMOVE = "remove"
    ADD = "add"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        raise InvalidParameter(f"direction must be 'add' or 'remove', not {value!r:.40}")

    @property
    def opposite(self) -> Direction:
        """The other direction."""
        return Direction.ADD if self is Direction.REMOVE else Direction.REMOVE


class Relation(Enum):
    """What a transformation means by neighbours; leaf mechanisms leave it open."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"


def relation_named(name: object) -> Relation:
    """The relation of this name."""
    known = {relation.value: relation for relation in Relation}
    if not isinstance(name, str) or name not in known:
        raise InvalidParameter(f"neighbours must be 'add_remove' or 'replace', not {name!r:.40}")
    return known[name]


def neighbours(relation: Relation | None) -> str:
    """The relation in words."""
    if relation is None:
        return "whatever each mechanism calls so: nothing is sampled"
    return {"add_remove": "one record is added or removed", "replace": "one record is replaced"}[relation.value]


def asked_directions(relation: Relation | None, direction: Direction | None) -> tuple[Direction, ...]:
    """The directions that a question looks at; under replacing both orders are one, and to ask for one is an error."""
    if relation is not Relation.REPLACE:
        return (Direction.REMOVE, Direction.ADD) if direction is None else (direction,)
    if direction is not None:
        raise InvalidParameter(
            f"direction must be left out, not {direction.value!r}: the run is about replacing a record, which has no "
            "direction, and one order of the two laws alone does not bound a composition"
        )
    return (Direction.REMOVE,)
