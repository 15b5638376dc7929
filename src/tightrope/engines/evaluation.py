"""What an engine gives back: a way to bound delta at any epsilon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..bound import Budget
from ..pair import Pair

Term = tuple[Pair, int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """lower <= delta(epsilon) <= upper, and what the interval allows for."""

    lower: float
    upper: float
    budget: Budget

    @property
    def middle(self) -> float:
        """A point inside, for searches."""
        return self.lower + (self.upper - self.lower) / 2.0


class Evaluator(ABC):
    """delta as a function of epsilon, for one direction of one composition."""

    @property
    @abstractmethod
    def arithmetic(self) -> str:
        """float64 or ball."""

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """What the certificate tells about how it was computed."""

    @abstractmethod
    def delta(self, epsilon: float) -> Evaluation:
        """Bounds delta at a finite epsilon >= 0."""


def named(terms: Sequence[Term]) -> str:
    """The terms for an error message."""
    return " + ".join(f"{type(pair).__name__} * {count}" for pair, count in terms)
