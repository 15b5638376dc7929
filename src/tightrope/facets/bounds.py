"""A profile that is known between two numbers, which do not meet, at any epsilon.

Guarantee: lower(e) <= H(e^e) <= upper(e).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping


class ProfileBounds(ABC):
    """Both ends, each by itself: a search for one needs no other."""

    @abstractmethod
    def lower(self, epsilon: float) -> float:
        """At or below H(e^epsilon)."""

    @abstractmethod
    def upper(self, epsilon: float) -> float:
        """At or above H(e^epsilon)."""

    @property
    @abstractmethod
    def wide(self) -> bool:
        """Whether the two are so far apart that several uses are better composed one by one."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """What the certificate tells about how it was computed."""
