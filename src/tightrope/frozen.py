"""A mapping that cannot be changed, and can be hashed, copied and pickled as the values around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value", covariant=True)


class FrozenMapping(Mapping[str, Value]):
    """The items of another mapping as they were, lists as tuples; equal to every mapping with the same items."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Value]) -> None:
        self._items: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in items.items()
        }

    def __getitem__(self, key: str) -> Value:
        value: Value = self._items[key]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)
