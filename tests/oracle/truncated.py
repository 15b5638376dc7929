"""Noise that is truncated: conditioned to an interval that moves, clamped to one that stays, or seen through a window.

The density ratio of the noise rises with the output, and what the ends hide comes before or after all of it: the
outputs that are chosen are the last ones in that order (remove) or the first ones (add). Rounded up to whole numbers,
the same laws are finite ones, every cell measured by the distribution function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import NamedTuple

from flint import arb

from .continuous import ALL, NONE, swapped
from .finite import FiniteLaw, Output
from .precision import Number, Real, ball
from .truth import Choice, Law, Masses, Ratio

ONE, NOTHING = Fraction(1), Fraction(0)
Edge = Fraction | None  # None where there is no end


class Noise(ABC):
    """A symmetric law with a rising density ratio under shifts; frozen and hashable."""

    @abstractmethod
    def below(self, x: arb) -> arb:
        """Its distribution function."""

    @abstractmethod
    def ratio(self, x: Fraction, shift: Fraction) -> Ratio:
        """The density at x - shift over that at x."""

    @abstractmethod
    def place(self, log_ratio: arb, shift: Fraction) -> arb:
        """Where the ratio is this, between its ends."""

    @abstractmethod
    def reach(self, shift: Fraction) -> Fraction | None:
        """The greatest log ratio, if there is one; the least is its negative."""

    def cell(self, start: Edge, stop: Edge, shift: Fraction) -> Ratio:
        """P over Q of what lies between two places."""
        return Ratio(Real(lambda: self.mass(start, stop, shift) / self.mass(start, stop)))

    def mass(self, start: Edge | arb, stop: Edge | arb, shift: Fraction = Fraction(0)) -> arb:
        """Of the noise around shift between two places; None is infinitely far."""
        by = ball(shift)
        first = arb(0) if start is None else self.below(ball(start) - by)
        return (arb(1) if stop is None else self.below(ball(stop) - by)) - first


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """N(0, sigma^2)."""

    sigma: Number

    def below(self, x: arb) -> arb:
        return (-x / (arb(2).sqrt() * ball(Fraction(self.sigma)))).erfc() / 2

    def ratio(self, x: Fraction, shift: Fraction) -> Ratio:
        return Ratio(ONE, shift * (2 * x - shift) / (2 * Fraction(self.sigma) ** 2))

    def place(self, log_ratio: arb, shift: Fraction) -> arb:
        return ball(shift) / 2 + ball(Fraction(self.sigma) ** 2 / shift) * log_ratio

    def reach(self, shift: Fraction) -> None:
        return None


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Laplace(0, scale)."""

    scale: Number

    def below(self, x: arb) -> arb:
        share = x / ball(Fraction(self.scale))
        return share.exp() / 2 if share <= 0 else 1 - (-share).exp() / 2

    def ratio(self, x: Fraction, shift: Fraction) -> Ratio:
        return Ratio(ONE, (abs(x) - abs(x - shift)) / Fraction(self.scale))

    def place(self, log_ratio: arb, shift: Fraction) -> arb:
        return ball(shift) / 2 + ball(Fraction(self.scale) / 2) * log_ratio

    def reach(self, shift: Fraction) -> Fraction:
        return shift / Fraction(self.scale)

    def cell(self, start: Edge, stop: Edge, shift: Fraction) -> Ratio:
        if stop is not None and stop <= 0:
            return Ratio(ONE, -self.reach(shift))
        if start is not None and start >= shift:
            return Ratio(ONE, self.reach(shift))
        if start is not None and stop is not None and start >= 0 and stop <= shift:
            return Ratio(ONE, (start + stop - shift) / Fraction(self.scale))
        return super().cell(start, stop, shift)


class Shared(NamedTuple):
    """The interval that both laws have, with the ratios of what comes before it and after it; None for nothing."""

    low: Edge
    high: Edge
    before: Ratio | None
    after: Ratio | None


@dataclass(frozen=True)
class Seen(Law):
    """Noise around shift against noise around 0, seen in part."""

    noise: Noise
    shift: Number
    low: Number = -inf
    high: Number = inf

    @abstractmethod
    def shared(self) -> Shared:
        """What both laws have."""

    @abstractmethod
    def below(self, x: arb) -> tuple[arb, arb, arb, arb]:
        """P and Q up to x in the order of the ratios, and beyond, for x in the interval."""

    @property
    def by(self) -> Fraction:
        """The shift, exactly."""
        return Fraction(self.shift)

    def ends(self) -> tuple[Edge, Edge]:
        """The truncation, exactly."""
        return tuple(None if abs(end) == inf else Fraction(end) for end in (self.low, self.high))  # type: ignore[return-value]

    def masses(self, choice: Choice) -> Masses:
        place = self._place(choice)
        if isinstance(place, float):
            right = ALL if place == -inf else NONE
        else:
            p, q, p_above, q_above = self.below(ball(place))
            low, high, before, after = self.shared()
            # What only one law has is exactly nothing under the other.
            at_end = isinstance(place, Fraction)
            p = arb(0) if at_end and place == low and before == Ratio(NOTHING) else p
            q_above = arb(0) if at_end and place == high and after == Ratio(None) else q_above
            right = Masses(p_above, q_above, p, q)
        return right if choice.remove else swapped(right)

    def ratio_range(self) -> tuple[Ratio | None, Ratio | None]:
        low, high, before, after = self.shared()
        first, last = self._inside(low, -1), self._inside(high, 1)
        if low is not None and high is not None and low >= high:
            return Ratio(ONE), Ratio(ONE)
        return (
            before if before is not None and before.factor != 0 else first,
            after if after is not None and after.factor is not None else last,
        )

    def _inside(self, end: Edge, side: int) -> Ratio | None:
        """The ratio next to an end of the interval."""
        if end is not None:
            return self.noise.ratio(end, self.by)
        reach = self.noise.reach(self.by)
        return None if reach is None else Ratio(ONE, side * reach)

    def _place(self, choice: Choice) -> arb | Fraction | float:
        """Where the outputs begin that are chosen (remove), or not (add)."""

        def later(ratio: Ratio) -> bool:
            return choice.takes(ratio) == choice.remove

        low, high, before, after = self.shared()
        first, last = self._inside(low, -1), self._inside(high, 1)
        empty, full = (choice.takes_none(), choice.takes_all())
        if before is not None and later(before):
            return -inf
        if low is not None and high is not None and low >= high:
            return high if after is not None and later(after) else inf
        if later(first) if first is not None else (full if choice.remove else empty):
            return -inf if low is None else low
        if later(last) if last is not None else not (empty if choice.remove else full):
            return self.noise.place(choice.crossing().log(), self.by)
        if high is not None and after is not None and later(after):
            return high
        return inf


class Cut(Seen):
    """The noise conditioned to [low, high], then moved by the query."""

    def shared(self) -> Shared:
        low, high = self.ends()
        return Shared(
            None if low is None else low + self.by,
            high,
            None if low is None else Ratio(NOTHING),
            None if high is None else Ratio(None),
        )

    def alone(self) -> tuple[Fraction | Real, Fraction | Real]:
        low, high = self.ends()
        if low is not None and high is not None and high - low <= self.by:
            return ONE, ONE
        return (
            NOTHING
            if high is None
            else Real(lambda: self.noise.mass(high - self.by, high) / self.noise.mass(low, high)),
            NOTHING if low is None else Real(lambda: self.noise.mass(low, low + self.by) / self.noise.mass(low, high)),
        )

    def _share(self, start: Fraction, stop: Fraction) -> Real:
        low, high = self.ends()
        return Real(lambda: self.noise.mass(start, stop) / self.noise.mass(low, high))

    def below(self, x: arb) -> tuple[arb, arb, arb, arb]:
        low, high = self.ends()
        kept, by = self.noise.mass(low, high), ball(self.by)
        if low is not None and high is not None and high - low <= self.by:
            return arb(0), arb(1), arb(1), arb(0)
        return (
            self.noise.mass(low, x - by) / kept,
            self.noise.mass(low, x) / kept,
            self.noise.mass(x - by, high) / kept,
            self.noise.mass(x, high) / kept,
        )


class Clamped(Seen):
    """The noisy result clipped to [low, high]."""

    def shared(self) -> Shared:
        low, high = self.ends()
        return Shared(
            low,
            high,
            None if low is None else self.noise.cell(None, low, self.by),
            None if high is None else self.noise.cell(high, None, self.by),
        )

    def alone(self) -> tuple[Fraction, Fraction]:
        return NOTHING, NOTHING

    def below(self, x: arb) -> tuple[arb, arb, arb, arb]:
        here = x - ball(self.by)
        return self.noise.below(here), self.noise.below(x), self.noise.below(-here), self.noise.below(-x)


class Window(Seen):
    """Both laws seen on [low, high] only: outside of it an output of either law tells which one it is from."""

    def shared(self) -> Shared:
        low, high = self.ends()
        return Shared(low, high, Ratio(NOTHING), Ratio(None))

    def alone(self) -> tuple[Real, Real]:
        return Real(lambda: self._outside(self.by)), Real(lambda: self._outside(NOTHING))

    def below(self, x: arb) -> tuple[arb, arb, arb, arb]:
        low, high = (ball(Fraction(end)) for end in (self.low, self.high))
        by = ball(self.by)
        return (
            self.noise.mass(low - by, x - by),
            self.noise.mass(low, x) + self._outside(NOTHING),
            self.noise.mass(x - by, high - by) + self._outside(self.by),
            self.noise.mass(x, high),
        )

    def _outside(self, by: Fraction) -> arb:
        return self.noise.below(ball(Fraction(self.low) - by)) + self.noise.below(ball(by - Fraction(self.high)))


@dataclass(frozen=True)
class Rounded(FiniteLaw):
    """Outputs rounded up to whole numbers; low, high and shift are whole, and both ends are there.

    Cut noise is rounded after it was conditioned and moved, clamped noise before it is clamped.
    """

    noise: Noise
    shift: int
    low: int
    high: int
    clamped: bool = False

    def outputs(self) -> tuple[Output, ...]:
        return tuple(Output(ball(p), ball(q), ratio) for p, q, ratio in self._cells)

    def alone(self) -> tuple[Fraction | Real, Fraction | Real]:
        p_alone = q_alone = NOTHING
        for p, q, ratio in self._cells:
            p_alone = p_alone + p if ratio.factor is None else p_alone
            q_alone = q_alone + q if ratio.factor == 0 else q_alone
        return p_alone, q_alone

    @cached_property
    def _cells(self) -> list[tuple[Fraction | Real, Fraction | Real, Ratio]]:
        if self.clamped:
            # Before they are clamped the outputs below low + 1 and above high - 1 are many.
            starts: list[Edge] = [None, *map(Fraction, range(self.low, self.high))]
            stops: list[Edge] = [*map(Fraction, range(self.low, self.high)), None]
            return [self._cell(start, stop) for start, stop in zip(starts, stops, strict=True)]
        return [self._cell(Fraction(x - 1), Fraction(x)) for x in range(self.low + 1, self.high + self.shift + 1)]

    def _cell(self, start: Edge, stop: Edge) -> tuple[Fraction | Real, Fraction | Real, Ratio]:
        p, q = (self._mass(start, stop, by) for by in (self.shift, 0))
        if q == 0 or p == 0:
            return p, q, Ratio(None if q == 0 else NOTHING)
        return p, q, self.noise.cell(start, stop, Fraction(self.shift))

    def _mass(self, start: Edge, stop: Edge, by: int) -> Fraction | Real:
        start, stop = (None if end is None else end - by for end in (start, stop))
        if self.clamped:
            return Real(lambda: self.noise.mass(start, stop))
        if stop is None or start is None or stop <= self.low or start >= self.high:
            return NOTHING
        return Real(lambda: self.noise.mass(start, stop) / self.noise.mass(Fraction(self.low), Fraction(self.high)))
