"""A composition tree as it was written (definition 3), from left to right.

    leaf x2 squared x4 x (other squared)
is: a leaf composed with itself, squared, composed with itself twice over, composed with the squaring of another leaf.
Composition is not associative, so the order is part of the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .tuning import TREE_TEXT_MAX


@dataclass(frozen=True, slots=True)
class Written:
    """A tree as text; doublings counts the compositions with itself that come last."""

    text: str = "leaf"
    doublings: int = 0
    bare: bool = True  # a leaf, which needs no brackets

    def __str__(self) -> str:
        return f"{self.text} x{2**self.doublings}" if self.doublings else self.text

    def composed(self, other: Written, same: bool) -> Written:
        """T x T' of two lists, or T x T of one and the same."""
        if same:
            return replace(self, doublings=self.doublings + 1, bare=False)
        return _made(f"{self} x {other}" if other.bare else f"{self} x ({other})")

    def squared(self) -> Written:
        """The squaring node."""
        return _made(f"{self} squared")


def _made(text: str) -> Written:
    half = TREE_TEXT_MAX // 2
    return Written(text if len(text) <= TREE_TEXT_MAX else f"{text[:half]} ... {text[-half:]}", bare=False)
