"""What transformations of one mechanism share: each is written as a call on it, and counts as one use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

from ..mechanisms.base import Mechanism


@dataclass(frozen=True, slots=True, repr=False)
class Transformation(Mechanism):
    """A mechanism made from one other; its fields besides the base are the keywords of the call.

    tight as the base, unless the transformation says otherwise.
    """

    call: ClassVar[str]  # the name of the method that makes it
    example: ClassVar[str]  # of its use, for the listing
    base: Mechanism

    def __repr__(self) -> str:
        return self._written(repr)

    def __str__(self) -> str:
        return self._written(str)

    def _written(self, inner: Callable[[Mechanism], str]) -> str:
        several = len(self.base.terms) > 1 or self.base.terms[0][1] > 1
        given = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.name != "base")
        base = f"({inner(self.base)})" if several else inner(self.base)
        return f"{base}.{self.call}({given})"

    @property
    def terms(self) -> tuple[tuple[Mechanism, int], ...]:
        return ((self, 1),)

    @property
    def tight(self) -> bool:
        return self.base.tight
