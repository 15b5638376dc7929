"""The truth of finite laws, by counting: every outcome of all uses, in exact fractions.

delta(eps) = sum over outcomes of max(P - e^eps Q, 0), where only e^eps is no fraction: it lies between two of them.
Guarantee: lower <= delta <= upper. Nothing here is shared with the rest of the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

ENUMERATED_BITS = 400  # after the point, of e^eps
REDUCED = 8  # e^eps is a power 2^8 and more of a number next to 1

Masses = tuple[Fraction, ...]


@dataclass(frozen=True)
class EnumeratedUse:
    """So many uses of two laws over the same outcomes: with the record, and without it."""

    with_record: Masses
    without: Masses
    count: int

    @property
    def size(self) -> int:
        """How many outcomes all uses have together, order left aside."""
        return math.comb(self.count + len(self.without) - 1, self.count)

    def outcomes(self) -> Iterator[tuple[Fraction, Fraction]]:
        """The masses of each, with the record and without: how often each output came, by the multinomial."""
        for counts in _counts(self.count, len(self.without)):
            ways = math.factorial(self.count)
            for count in counts:
                ways //= math.factorial(count)
            powers = (
                math.prod(mass**value for mass, value in zip(law, counts, strict=True))
                for law in (self.with_record, self.without)
            )
            first, second = (ways * Fraction(power) for power in powers)
            yield first, second


def outcomes(uses: Sequence[EnumeratedUse]) -> list[tuple[Fraction, Fraction]]:
    """The masses of every outcome of all uses together."""
    found = [(Fraction(1), Fraction(1))]
    for use in uses:
        found = [(p * with_it, q * without) for with_it, without in use.outcomes() for p, q in found]
    return found


def delta(law: Sequence[tuple[Fraction, Fraction]], epsilon: float) -> tuple[Fraction, Fraction]:
    """Both ends of the larger of the two directions at this epsilon."""
    if math.isinf(epsilon):
        exact = max(sum((p for p, q in pairs if not q), Fraction(0)) for pairs in (law, [(q, p) for p, q in law]))
        return exact, exact
    least, most = exponential(epsilon)
    ends = []
    for factor in (most, least):  # the larger it is, the smaller is delta
        removed = sum((max(p - factor * q, Fraction(0)) for p, q in law), Fraction(0))
        added = sum((max(q - factor * p, Fraction(0)) for p, q in law), Fraction(0))
        ends.append(max(removed, added))
    return ends[0], ends[1]


def contradiction_of_delta(law: Sequence[tuple[Fraction, Fraction]], epsilon: float, ends: tuple[float, float]) -> str:
    """Why delta at epsilon does not lie between the ends; empty where it may."""
    low, high = delta(law, epsilon)
    if Fraction(ends[0]) > high:
        return f"delta is at most {float(high)!r}"
    return f"delta is at least {float(low)!r}" if Fraction(ends[1]) < low else ""


def contradiction_of_epsilon(law: Sequence[tuple[Fraction, Fraction]], level: float, ends: tuple[float, float]) -> str:
    """Why the least epsilon >= 0 with delta <= level does not lie between the ends; empty where it may.

    Below a lower end above 0 no epsilon has delta <= level, so that delta is at least the level there; an infinite one
    says that the mass of infinite losses is above it.
    """
    lower, upper = ends
    if upper < math.inf and (fraction := delta(law, upper)[0]) > Fraction(level):
        return f"delta at the upper end is at least {float(fraction)!r}"
    if lower > 0.0:
        fraction = delta(law, lower)[1]
        wrong = fraction <= Fraction(level) if lower == math.inf else fraction < Fraction(level)
        return f"delta at the lower end is at most {float(fraction)!r}" if wrong else ""
    return ""


def exponential(exponent: float) -> tuple[Fraction, Fraction]:
    """Two fractions around e^exponent: Taylor's sum next to 0 with its remainder, squared again and again."""
    size = abs(Fraction(exponent))
    halvings = REDUCED + math.ceil(size).bit_length()
    small = size / 2**halvings
    low = term = Fraction(1)
    order = 0
    while term > Fraction(1, 2**ENUMERATED_BITS):
        order += 1
        term = term * small / order
        low += term
    low, high = _down(low), _up(low + 2 * term)  # the remainder is less than what was added last, as small < 1/2
    for _ in range(halvings):
        low, high = _down(low * low), _up(high * high)
    return (low, high) if exponent >= 0 else (1 / high, 1 / low)


def _counts(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a total as a sum of so many numbers."""
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _counts(total - first, places - 1):
            yield first, *rest


def _down(value: Fraction) -> Fraction:
    return Fraction(math.floor(value * 2**ENUMERATED_BITS), 2**ENUMERATED_BITS)


def _up(value: Fraction) -> Fraction:
    return Fraction(math.ceil(value * 2**ENUMERATED_BITS), 2**ENUMERATED_BITS)
