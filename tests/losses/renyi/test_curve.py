"""Curves in fractions: hulls say what all the points say, and sums are sums of chords."""

from __future__ import annotations

from fractions import Fraction

from tightrope.core.losses.renyi.divergence_curve import Divergences, total


def test_points_above_the_hull_say_nothing() -> None:
    table = [(Fraction(2), Fraction(1)), (Fraction(3), Fraction(9)), (Fraction(5), Fraction(1))]
    assert Divergences.table(table) == Divergences.table([(Fraction(5), Fraction(1))])
    assert Divergences.table([(Fraction(2), Fraction(1)), (None, Fraction(1, 2))]) == Divergences.table(
        [(None, Fraction(1, 2))]
    )
    assert Divergences.table([(Fraction(1), Fraction(3)), (Fraction(2), Fraction(1))]) == Divergences.table(
        [(Fraction(2), Fraction(1))]
    )
    assert Divergences.table([(Fraction(1), Fraction(1, 3)), (Fraction(2), Fraction(1))]).first == Fraction(1, 3)
    assert Divergences.table([(Fraction(7), Fraction(0)), (Fraction(9), Fraction(1))]).nothing


def test_chords_between_and_beyond() -> None:
    curve = Divergences.table([(Fraction(2), Fraction(1)), (Fraction(4), Fraction(2)), (None, Fraction(4))])
    assert [curve.above(Fraction(c)) for c in (0, 1, 2, 3, 5)] == [0, 1, Fraction(7, 2), 6, 14]
    assert Divergences.table([(Fraction(2), Fraction(1))]).above(Fraction(2)) is None


def test_sums_at_all_orders_that_each_knows() -> None:
    one, two = (
        Divergences.table([(Fraction(2), Fraction(1)), (Fraction(4), Fraction(2))]),
        Divergences.table([(Fraction(3), Fraction(1)), (None, Fraction(3))]),
    )
    both = total([(one, 2), (two, 1)])
    assert [c for c, _ in both.knots] == [1, 2, 3]
    for c in (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3)):
        told = [one.above(c), two.above(c)]
        assert told[0] is not None
        assert told[1] is not None
        assert both.above(c) == 2 * told[0] + told[1]
    assert both.slope is None
    line = total([(Divergences.parabola(Fraction(1, 2)), 3), (Divergences.table([(None, Fraction(1))]), 2)])
    assert line.line
    assert line.divergence_one == Fraction(7, 2)
    assert not total([(Divergences.parabola(Fraction(1)), 1), (one, 1)]).line
    assert total([(Divergences.table([(Fraction(1), Fraction(1))]), 1), (one, 1)]).divergence_one == 2
