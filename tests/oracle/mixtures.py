"""Mixtures of normal laws by their definition: masses, roots by bisection and normal tails, in mpmath and in balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, exp, fsum, log

from flint import arb
from mpmath import mp, mpf

from .continuous import ALL, NONE, swapped
from .precision import Number, ball
from .truth import Choice, Law, Masses, Ratio


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

    def hockey_stick(self, epsilon: float) -> mpf:
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
    return shifted(weights, [j * mu for j in range(len(weights))], direction)


def shifted(weights: Sequence[Fraction], shifts: Sequence[Fraction], direction: str) -> NormalMixtures:
    """The same of any shifts."""
    parts, normal = list(zip(weights, shifts, strict=True)), ((Fraction(1), Fraction(0)),)
    if direction == "remove":
        return NormalMixtures(tuple(parts), normal)
    return NormalMixtures(normal, tuple((w, -s) for w, s in parts))


@dataclass(frozen=True)
class ShiftMixture(Law):
    """The sum of weights[j] N(shifts[j], sigma^2) against N(0, sigma^2), shifts >= 0; weights are taken as they are."""

    sigma: Number
    shifts: tuple[Number, ...]
    weights: tuple[Number, ...]

    def masses(self, choice: Choice) -> Masses:
        least = self.ratio_range()[0]
        before = choice.takes_all() if least is None else choice.takes(least)
        if before if choice.remove else choice.takes_all():
            return ALL
        if choice.takes_none() or (not choice.remove and least is not None and not before):
            return NONE
        cut = self._cut(choice.crossing())
        moved = [(ball(Fraction(w)), ball(Fraction(s) / Fraction(self.sigma))) for w, s in self._parts()]
        above, below = (sum((w * _above(side * (cut - s)) for w, s in moved), arb(0)) for side in (1, -1))
        right = Masses(above, _above(cut), below, _above(-cut))
        return right if choice.remove else swapped(right)

    def _parts(self) -> list[tuple[Number, Number]]:
        return [(w, s) for w, s in zip(self.weights, self.shifts, strict=True) if w]

    def _cut(self, level: arb) -> arb:
        """Where the density ratio has this value: bisection, then Newton's steps with the slopes of an interval."""
        moved = [(ball(Fraction(w)), ball(Fraction(s) / Fraction(self.sigma))) for w, s in self._parts() if s]
        level -= sum((ball(Fraction(w)) for w, s in self._parts() if not s), arb(0))

        def over(x: arb) -> arb:
            return sum((w * (s * x - s * s / 2).exp() for w, s in moved), -level)

        def slope(x: arb) -> arb:
            return sum((w * s * (s * x - s * s / 2).exp() for w, s in moved), arb(0))

        near, wide = arb(self._about(float(level.log().mid()))), arb(2) ** -30
        while not (over(near - wide) < 0 and over(near + wide) > 0):
            wide *= 16
        found = arb(near, wide)
        while True:
            next_one = (found.mid() - over(found.mid()) / slope(found)).intersection(found)
            if not next_one.rad() < found.rad() / 4:
                return next_one
            found = next_one

    def _about(self, log_level: float) -> float:
        logs = [(log(w), float(s) / float(self.sigma)) for w, s in self._parts() if s]
        low, high = -1e12, 1e12
        for _ in range(90):
            middle = (low + high) / 2
            heights = [height + s * middle - s * s / 2 for height, s in logs]
            above = fsum(exp(min(each - log_level, 700.0)) for each in heights) > 1.0
            low, high = (low, middle) if above else (middle, high)
        return high

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)

    def ratio_range(self) -> tuple[Ratio | None, Ratio | None]:
        none = sum((Fraction(w) for w, s in self._parts() if s == 0), Fraction(0))
        return (Ratio(none) if none else None), None


def _above(z: arb) -> arb:
    return (z / arb(2).sqrt()).erfc() / 2
