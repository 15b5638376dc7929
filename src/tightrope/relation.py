"""Which datasets are neighbours, and which of the two is the first of a pair."""

from __future__ import annotations

from enum import Enum


class Direction(Enum):
    """REMOVE is the pair (with the record, without it); ADD is (without, with)."""

    REMOVE = "remove"
    ADD = "add"


class Relation(Enum):
    """What a transformation means by neighbours; leaf mechanisms leave it open."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"
