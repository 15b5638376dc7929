"""Data of a fixed size: where a transformation names how many records there are, what is around it must agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism


def demand_size(base: Mechanism, batch: int | None, what: str) -> None:
    """Refuses a base that runs on data of a fixed size, unless the sample has it; batch is None for a random size."""
    for size in sorted(sizes(base) - {batch}):
        has = "is of random size" if batch is None else f"has {batch}"
        raise InvalidParameter(
            f"{what}: the base runs on data of {size} records, and the sample that it would be given {has}; "
            "sample once, or make the sizes agree"
        )


def sizes(mechanism: Mechanism) -> set[int]:
    """How many records, users or groups of them its outermost samples are drawn from."""
    from .group import Group

    if isinstance(mechanism, Group):
        return {-(-size // mechanism.size) for size in sizes(mechanism.base)}
    own = getattr(mechanism, "records", None) or getattr(mechanism, "users", None)
    if isinstance(own, int):
        return {own}
    return {size for each in _inside(mechanism) for size in sizes(each)}


def group_sizes(mechanism: Mechanism) -> set[int]:
    """In how many records neighbours differ, of each part that runs, however deep the groups stand in it."""
    from .group import Group

    own = mechanism.size if isinstance(mechanism, Group) else 1
    return {own * size for each in _inside(mechanism) for size in group_sizes(each)} or {own}


def _inside(mechanism: Mechanism) -> Iterator[Mechanism]:
    """What a mechanism is made of, one step down; nothing for one that stands by itself."""
    for each in fields(mechanism):
        if each.name == "base":
            yield getattr(mechanism, each.name)
        elif each.name == "cells":
            yield from getattr(mechanism, each.name)
    yield from (part for part, _ in mechanism.parts if part is not mechanism)
