"""What transformations of one mechanism share: each is written as a call on it, and counts as one use."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from ..bound import FrozenMapping
from ..mechanisms.base import Mechanism
from ..mechanisms.facts import Theorem

if TYPE_CHECKING:
    from flint import arb


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
