"""Mixtures of normal laws by their definition: masses, roots by bisection and normal tails, in mpmath."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

from mpmath import mp, mpf


def binomial(size: int, rate: float) -> list[Fraction]:
    """P[so many of `size` are in a Poisson sample]."""
    share = Fraction(rate)
    return [comb(size, j) * share**j * (1 - share) ** (size - j) for j in range(size + 1)]


def hypergeometric(records: int, size: int, batch: int) -> list[Fraction]:
    """P[so many of `size` among `records` are in a batch]."""
    ways = [comb(size, j) * comb(records - size, batch - j) for j in range(min(size, batch) + 1)]
    return [Fraction(each, comb(records, batch)) for each in ways]


@dataclass(frozen=True)
class NormalMixtures:
    """Two mixtures of N(shift, 1), each a list of (weight, shift); the ratio of the first to the second rises."""

    first: tuple[tuple[Fraction, Fraction], ...]
    second: tuple[tuple[Fraction, Fraction], ...]

    def tails(self, t: float) -> tuple[mpf, mpf, mpf, mpf]:
        """P[l > t], Q[l > t], P[l <= t], Q[l <= t] with as many digits as mp has."""
        place = self._place(mpf(t))
        found = [_tail(law, place, above) for above in (True, False) for law in (self.first, self.second)]
        return found[0], found[1], found[2], found[3]

    def profile(self, epsilon: float) -> mpf:
        """H(e^epsilon)."""
        p_above, q_above, _, _ = self.tails(epsilon)
        return p_above - mp.exp(mpf(epsilon)) * q_above

    def loss(self, x: mpf) -> mpf:
        """log of the ratio."""
        top = max(abs(s) for law in (self.first, self.second) for _, s in _numbers(law, mp.dps)) * abs(x)
        one, other = (_ratio(law, x, top) for law in (self.first, self.second))
        return mp.log(one) - mp.log(other)

    def _place(self, t: mpf) -> mpf:
        low, high = mpf(-1), mpf(1)
        while self.loss(low) > t:
            low *= 2
            if low < -(2**20):
                return -mp.inf
        while self.loss(high) <= t:
            high *= 2
            if high > 2**20:
                return mp.inf
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (middle, high) if self.loss(middle) <= t else (low, middle)
        before, at = self.loss(low) - t, self.loss(high) - t
        while at != before and abs(high - low) > mpf(10) ** (4 - mp.dps):
            low, high, before = high, high - at * (high - low) / (at - before), at
            at = self.loss(high) - t
        small = mpf(10) ** (12 - mp.dps) * (1 + abs(high))
        assert self.loss(high - small) <= t <= self.loss(high + small)
        return high


@cache
def _numbers(law: tuple[tuple[Fraction, Fraction], ...], digits: int) -> tuple[tuple[mpf, mpf], ...]:
    with mp.workdps(digits):
        return tuple((_number(w), _number(s)) for w, s in law)


def _number(value: Fraction) -> mpf:
    return mpf(value.numerator) / value.denominator


def _ratio(law: tuple[tuple[Fraction, Fraction], ...], x: mpf, top: mpf) -> mpf:
    return mp.fsum(w * mp.exp(s * x - s**2 / 2 - top) for w, s in _numbers(law, mp.dps))


def _tail(law: tuple[tuple[Fraction, Fraction], ...], place: mpf, above: bool) -> mpf:
    """By the complementary error function, which keeps its digits."""
    if mp.isinf(place):
        return mpf(int((place < 0) == above))
    sign = 1 if above else -1
    return mp.fsum(w * mp.erfc(sign * (place - s) / mp.sqrt(2)) / 2 for w, s in _numbers(law, mp.dps))


def group(weights: list[Fraction], mu: Fraction, direction: str) -> NormalMixtures:
    """(mixture, normal), or the mirror image of (normal, mixture), whose ratio rises too."""
    if direction == "remove":
        return NormalMixtures(tuple((w, j * mu) for j, w in enumerate(weights)), ((Fraction(1), Fraction(0)),))
    return NormalMixtures(((Fraction(1), Fraction(0)),), tuple((w, -j * mu) for j, w in enumerate(weights)))
