"""What formulas of the checker start from: infinite losses of a composition, and powers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest
from flint import arb

from tests.oracle.precision import precision
from tightrope.checker.law import exact, infinite, power


@dataclass(frozen=True)
class Leaky:
    """Loses infinitely much with this chance."""

    chance: Fraction

    def infinite(self) -> arb:
        return exact(self.chance)


@pytest.mark.parametrize("counts", [(1, 1), (3, 2), (0, 4), (50, 7)])
def test_some_use_has_an_infinite_loss(counts: tuple[int, int]) -> None:
    chances = Fraction(1, 7), Fraction(2, 5)
    truth = 1 - (1 - chances[0]) ** counts[0] * (1 - chances[1]) ** counts[1]
    with precision(200):
        found = infinite([(Leaky(chance), count) for chance, count in zip(chances, counts, strict=True)])  # type: ignore[misc]
        assert found.overlaps(exact(truth))
        assert found.rad() < 1e-50
        assert infinite([]) == 0
        assert infinite([(Leaky(Fraction(0)), 5)]) == 0  # type: ignore[list-item]
        assert infinite([(Leaky(Fraction(1)), 3)]).overlaps(arb(1))  # type: ignore[list-item]


@pytest.mark.parametrize("count", [1, 2, 9])
def test_powers_of_balls(count: int) -> None:
    """Every point of a ball is raised, also of one that may be 0."""
    with precision(100):
        for low, high in ((0.25, 0.25), (0.25, 0.5), (0.0, 0.5), (0.0, 0.0), (1.0, 1.0), (0.9, 1.0)):
            found = power(arb(low).union(arb(high)), count)
            for share in (0.0, 0.3, 1.0):
                point = Fraction(low) + Fraction(share) * (Fraction(high) - Fraction(low))
                assert found.overlaps(exact(point**count))
            if low == high:
                assert found.rad() < 1e-20
    assert abs(power(arb(0), count)) == 0
