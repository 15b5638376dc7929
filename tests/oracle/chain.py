"""Chains of neighbours in exact fractions, by the definition: the best power at a size, one step after another.

g(x) = max of P(T) over tests T with Q(T) = x, which takes outcomes by falling ratio. H(a) of a chain is the maximum of
g(g(... g(x))) - a x over x, and a concave polygon has it at a corner, whose sizes are found by going back through the
steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Outcomes = Sequence[tuple[Fraction, Fraction]]


def _falling(outcomes: Outcomes) -> list[tuple[Fraction, Fraction]]:
    certain = [row for row in outcomes if row[1] == 0]
    return certain + sorted((row for row in outcomes if row[1]), key=lambda row: row[0] / row[1], reverse=True)


def power(outcomes: Outcomes, size: Fraction) -> Fraction:
    """g(size)."""
    total, left = Fraction(0), size
    for p, q in _falling(outcomes):
        share = Fraction(1) if q <= left else left / q
        total, left = total + share * p, left - share * q
    return total


def size_of(outcomes: Outcomes, wanted: Fraction) -> Fraction:
    """The least size at which the power is as wanted; 0 where it is already at 0."""
    total, size = Fraction(0), Fraction(0)
    for p, q in _falling(outcomes):
        if total >= wanted:
            break
        share = min(Fraction(1), (wanted - total) / p) if p else Fraction(0)
        total, size = total + share * p, size + share * q
    return size


def chain_power(steps: Sequence[Outcomes], size: Fraction) -> Fraction:
    """The first step is outermost."""
    for step in reversed(steps):
        size = power(step, size)
    return size


def chain_delta(steps: Sequence[Outcomes], alpha: Fraction) -> Fraction:
    """H(alpha)."""
    sizes = {Fraction(0), Fraction(1)}
    for place, step in enumerate(steps):
        level = Fraction(0)
        for _, q in _falling(step):
            level += q
            corner = level
            for inner in steps[place + 1 :]:
                corner = size_of(inner, corner)
            sizes.add(corner)
    return max(chain_power(steps, size) - alpha * size for size in sizes)
