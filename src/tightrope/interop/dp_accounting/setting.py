"""Under which neighbours the law of an event is wanted, and the refusal of one that has none.

An additive event says how far a record moves the sum: by its norm C where it comes or goes, or where it gives way to
the special record, which adds nothing; by up to 2 C where another record takes its place. A sample changes what its
event is wanted for: a Poisson sample is about records that come and go, whatever the neighbours of the data; a batch of
fixed size is about a record in the place of another. Claims (zCDP) are about the neighbours of the data, and no others.
Proof: docs/proofs/dp_accounting.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dp_accounting import NeighboringRelation, UnsupportedEventError

from ... import InvalidParameter, TightropeError
from ...extend.mechanisms import rate_ends

ADD_OR_REMOVE = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE_ONE = NeighboringRelation.REPLACE_ONE
REPLACE_SPECIAL = NeighboringRelation.REPLACE_SPECIAL


class UnsupportedEvent(TightropeError, UnsupportedEventError):  # type: ignore[misc]
    """An event, or a mechanism, that has no proven translation; .event is the part of it that has none."""

    def __init__(self, event: object, why: str) -> None:
        super().__init__(f"{type(event).__name__}: {why}")
        self.event = event
        self.why = why


@dataclass(frozen=True)
class Setting:
    """asked: the neighbours of the data. near: those whose law is wanted here. up: parameters that are no doubles are
    rounded to what dominates, else to what is dominated."""

    asked: NeighboringRelation
    near: NeighboringRelation
    up: bool = True
    sampled: bool = False

    @property
    def shift(self) -> int:
        """How far a record of norm 1 moves a sum."""
        return 2 if self.near is REPLACE_ONE else 1

    @property
    def own(self) -> bool:
        """Whether a claim about the neighbours of the data is one about those of the sample."""
        return self.near is self.asked

    def inside(self, near: NeighboringRelation) -> Setting:
        """What is wanted of the event that runs on a sample."""
        return replace(self, near=near, sampled=True)

    def rounded(self, value: Fraction, up: bool) -> float:
        """The double at or above what dominates with more (up) or with less of it."""
        try:
            below, above = rate_ends(value)
        except OverflowError:
            raise InvalidParameter("one of its numbers is too close to 0: its inverse is no double") from None
        return above if up is self.up else below

    def shares(self, share: Fraction, up: bool) -> tuple[float, float]:
        """Two masses, the first as `rounded`, divided by their sum too."""
        return self.rounded(share, up), self.rounded(1 - share, not up)


def setting(relation: object, up: bool = True) -> Setting:
    """Of the data themselves."""
    if not isinstance(relation, NeighboringRelation):
        raise InvalidParameter(
            f"neighboring_relation must be a dp_accounting.NeighboringRelation, not {relation!r:.60}"
        )
    return Setting(relation, relation, up)


def demand(event: object, within: Setting, relations: tuple[Any, ...], why: str) -> None:
    """Refuses an event under neighbours other than these."""
    if within.near not in relations:
        raise UnsupportedEvent(event, f"{why}, and {within.near.name} is wanted here")
