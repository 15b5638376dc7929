"""Roots in balls that are taken for their middles: choices, which nothing rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import arb, arb_mat

FALSI_STEPS = 120
SYSTEM_STEPS = 12

Point = tuple[arb, arb]
System = Callable[[Sequence[arb]], list[arb]]


def falsi(function: Callable[[arb], arb], low: Point, high: Point, bits: int) -> arb:
    """An argument near a change of sign between two points, by the Illinois rule, to so many bits of the distance."""
    (a, fa), (b, fb) = low, high
    tiny = abs(b - a) * arb(2) ** -bits
    side, x = 0, b
    for _ in range(FALSI_STEPS):
        before, x = x, (a + (b - a) * (fa / (fa - fb))).mid()
        if not x.is_finite():
            return ((a + b) / 2).mid()
        fx = function(x).mid()
        if fx == 0 or abs(x - before) <= tiny or abs(b - a) <= tiny:
            break
        if (fx > 0) == (fa > 0):
            a, fa = x, fx
            fb = fb / 2 if side < 0 else fb
            side = -1
        else:
            b, fb = x, fx
            fa = fa / 2 if side > 0 else fa
            side = 1
    return x


def newton(system: System, start: Sequence[arb], bits: int) -> list[arb] | None:
    """A root of as many equations as unknowns, from quotients of differences; None where it does not come closer."""
    x, size = [value.mid() for value in start], len(start)
    nudge, before = arb(2) ** -(bits // 2), arb(1)
    for _ in range(SYSTEM_STEPS):
        at = [value.mid() for value in system(x)]
        columns = []
        for index in range(size):
            moved = [value + nudge if place == index else value for place, value in enumerate(x)]
            columns.append(
                [((value.mid() - known) / nudge).mid() for value, known in zip(system(moved), at, strict=True)]
            )
        try:
            step = arb_mat([[columns[j][i] for j in range(size)] for i in range(size)]).solve(
                arb_mat([[value] for value in at])
            )
        except ZeroDivisionError:
            return None
        moves = [step[i, 0].mid() for i in range(size)]
        length = arb(0)
        for move in moves:
            length = length.max(abs(move))
        if not length.is_finite() or not length < 2 * before:
            return None
        x = [(value - move).mid() for value, move in zip(x, moves, strict=True)]
        if length < arb(2) ** -(bits * 9 // 20):
            return x  # the next step is the square of this one
        before = length
    return None
