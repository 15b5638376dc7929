"""Subset selection by all of its subsets: those that hold the first of two categories, the second, both or none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from .finite import FiniteLaw, Output
from .precision import Number, ball
from .truth import Ratio


def told(categories: int, size: int) -> Counter[tuple[bool, bool]]:
    """How many subsets hold category 0, and how many hold category 1."""
    return Counter((0 in each, 1 in each) for each in combinations(range(categories), size))


@dataclass(frozen=True)
class Subsets(FiniteLaw):
    """A subset with the true category is e^epsilon times as likely as any other."""

    epsilon: Number
    categories: int
    size: int

    def outputs(self) -> tuple[Output, ...]:
        epsilon, counts = Fraction(self.epsilon), told(self.categories, self.size)
        odds = {True: ball(epsilon).exp(), False: ball(Fraction(1))}
        total = sum(number * odds[first] for (first, _), number in counts.items())
        return tuple(
            Output(
                number * odds[first] / total,
                number * odds[second] / total,
                Ratio(Fraction(1), epsilon * (first - second)),
            )
            for (first, second), number in counts.items()
        )

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)
