"""Data of a fixed size: where a transformation names how many records there are, what is around it must agree."""

from __future__ import annotations

from dataclasses import fields
from itertools import chain

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
    inside = [getattr(mechanism, each.name) for each in fields(mechanism) if each.name in ("base", "cells")]
    inside += [part for part, _ in mechanism.parts if part is not mechanism]
    listed = (each if isinstance(each, tuple) else (each,) for each in inside)
    return {size for each in chain.from_iterable(listed) for size in sizes(each)}
