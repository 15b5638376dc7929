"""What was seen, and how likely that is at most under a claim.

Guarantee: p_upper(claim) is at or above the probability of the event, whatever mechanism satisfies the claim.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

from flint import arb

from .claims import SlopeClaim


class AuditEvent(ABC):
    """At least `count` of `trials`, at a rank that was fixed before the data."""

    method: ClassVar[str]
    narrow: ClassVar[float] = 1e-13  # relative: so close a search of the largest epsilon comes
    count: int

    @property
    @abstractmethod
    def trials(self) -> int:
        """How large the count can be."""

    @property
    @abstractmethod
    def place(self) -> int:
        """Which test it is, of those that were fixed before the data."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What else a checker needs, by name."""
        return {}

    def with_count(self, count: int) -> AuditEvent:
        """The event of another count at the same rank."""
        return replace(self, count=count)  # type: ignore[type-var]

    def used(self, claim: SlopeClaim) -> frozenset[int]:
        """The slopes of a claim that its p-value mostly rests on: the others may be left out."""
        return frozenset(range(len(claim.slopes)))

    @abstractmethod
    def p_upper(self, claim: SlopeClaim) -> float:
        """At or above the probability of the event under every mechanism that satisfies the claim."""

    def rough(self, claim: SlopeClaim) -> float:
        """About the same, to choose among events: proves nothing."""
        return self.p_upper(claim)


def certified_log(product: float) -> arb:
    """F(w) = w (1 - log w), the chance that a product of two super-uniform numbers is at most w."""
    value = arb(product)
    return value * (1 - value.log())
