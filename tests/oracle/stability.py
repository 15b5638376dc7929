"""Answers that are released by a noisy distance, and noisy counts above a threshold: the laws as they are.

Neighbours have one of several pairs of laws, and the truth is the law of the largest of their profiles. Of finite ones
it is found by going round the hull of (Q(A), P(A)) over all events of all pairs; of noise against a leak, by asking at
each ratio which of the two profiles is the larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from .continuous import ALL, NONE, Laplace
from .finite import FiniteLaw, Output
from .laplace_fold import LaplaceFold
from .precision import Number, Real, ball, precision, refined
from .truth import Choice, Law, Masses, Ratio

FURTHER = 4  # distances beyond the threshold
BITS = 400
Event = tuple[int, bool]  # release at distance d + 1 against d, or silence at d against d + 1; d = -1: answers differ


def above(value: arb, epsilon: arb) -> tuple[arb, arb]:
    """P[value + Lap(1/epsilon) > 0], and the rest."""
    tail = (-abs(epsilon * value)).exp() / 2
    return (tail, 1 - tail) if value < 0 else (1 - tail, tail)


@dataclass(frozen=True)
class Unstable(FiniteLaw):
    """All whole distances from 0 on, and answers that differ at the distance 0."""

    epsilon: Number
    delta: Number

    def released(self, distance: int) -> tuple[arb, arb]:
        """The probability at this distance, and the rest."""
        epsilon, delta = ball(Fraction(self.epsilon)), ball(Fraction(self.delta))
        return above(distance + delta.log() / epsilon, epsilon)

    def pairs(self) -> Iterator[tuple[tuple[arb, arb], ...]]:
        """(P, Q) of the outputs of every pair of neighbours, up to the order of the two."""
        leak, rest = self.released(0)
        yield (leak, arb(0)), (rest, rest), (arb(0), leak)
        for d in range(self._last):
            yield tuple(zip(self.released(d + 1), self.released(d), strict=True))

    @property
    def _last(self) -> int:
        with precision(BITS):
            epsilon, delta = ball(Fraction(self.epsilon)), ball(Fraction(self.delta))
            return int((-delta.log() / epsilon).mid().floor().fmpz()) + FURTHER

    def _point(self, event: Event) -> tuple[arb, arb]:
        """(Q(A), P(A)): of the outputs that are told, or with all that is not told the other way."""
        d, silent = event
        if d < 0:
            leak, rest = self.released(0)
            return (rest, arb(1)) if silent else (arb(0), leak)
        (more, less), (still, gone) = zip(self.released(d + 1), self.released(d), strict=True)
        return (still, gone) if silent else (less, more)

    @cached_property
    def _hull(self) -> tuple[Event, ...]:
        """From the answer that only P has to that which only Q has, each time along the steepest line."""
        with precision(BITS):
            points = {(d, silent): self._point((d, silent)) for d in range(-1, self._last) for silent in (False, True)}
            walk: list[Event] = [(-1, False)]
            while walk[-1] != (-1, True):
                x, y = points[walk[-1]]
                slopes = {event: (v - y) / (u - x) for event, (u, v) in points.items() if u > x}
                best = max(slopes, key=lambda event: slopes[event].mid())
                assert all(slope < slopes[best] for event, slope in slopes.items() if event != best), "a tie"
                walk.append(best)
        return tuple(walk)

    def outputs(self) -> tuple[Output, ...]:
        leak = self.released(0)[0]
        found = [Output(leak, arb(0), Ratio(None))]
        for one, two in zip(self._hull, self._hull[1:], strict=False):
            (x, y), (u, v) = self._point(one), self._point(two)
            even = one[0] == two[0]  # a line between mirror images
            found.append(Output(v - y, u - x, Ratio(Fraction(1)) if even else Ratio(Real(self._slope(one, two)))))
        return (*found, Output(arb(0), leak, Ratio(Fraction(0))))

    def _slope(self, one: Event, two: Event):  # type: ignore[no-untyped-def]
        def slope() -> arb:
            (x, y), (u, v) = self._point(one), self._point(two)
            return (v - y) / (u - x)

        return slope

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.delta) / 2, Fraction(self.delta) / 2


def _lone(epsilon: Number, threshold: Number) -> tuple[arb, arb]:
    """A count of 1 is released, or not."""
    return above(ball(1 - Fraction(threshold)), ball(Fraction(epsilon)))


@dataclass(frozen=True)
class Lone(FiniteLaw):
    """A key that one user alone has, against no such key."""

    epsilon: Number
    threshold: Number

    def outputs(self) -> tuple[Output, ...]:
        leak, rest = _lone(self.epsilon, self.threshold)
        kept = Real(lambda: _lone(self.epsilon, self.threshold)[1])
        return Output(leak, arb(0), Ratio(None)), Output(rest, arb(1), Ratio(kept))

    def alone(self) -> tuple[Real, Fraction]:
        return Real(lambda: _lone(self.epsilon, self.threshold)[0]), Fraction(0)


@dataclass(frozen=True)
class Thresholded(Law):
    """Laplace noise on a count far above the threshold, or a lone key: at each ratio what has the larger profile.

    For thresholds at which the lone key does not tell more throughout.
    """

    epsilon: Number
    threshold: Number

    def masses(self, choice: Choice) -> Masses:
        leak, rest = _lone(self.epsilon, self.threshold)
        if choice.takes_none():
            return NONE
        if choice.takes_all():
            return ALL
        ratio, noise = choice.crossing(), Laplace(1 / Fraction(self.epsilon)).masses(choice)
        above = noise if choice.remove else Masses(noise.p_rest, noise.q_rest, noise.p, noise.q)
        more = above.p - ratio * above.q - leak - (rest - ratio).max(arb(0))
        if choice.takes(self.ratio_range()[1]) == choice.remove:
            assert not more < 0, "the lone key has the larger profile"
            return noise
        assert not more > 0, "the noise has the larger profile"
        # The outputs of a lone key whose ratio is larger: the leak, and silence where that is.
        told = Masses(leak, arb(0), rest, arb(1)) if ratio > rest else ALL
        return told if choice.remove else Masses(told.p_rest, told.q_rest, told.p, told.q)

    def alone(self) -> tuple[Real, Fraction]:
        return Lone(self.epsilon, self.threshold).alone()

    def ratio_range(self) -> tuple[Ratio, Ratio]:
        """The noise's least, and the ratio e^t at which 1 - e^((t - epsilon)/2) falls to the leak."""
        rest = Real(lambda: _lone(self.epsilon, self.threshold)[1])
        return Ratio(Fraction(1), -Fraction(self.epsilon)), Ratio(rest * rest, Fraction(self.epsilon))


@dataclass(frozen=True)
class ThresholdedFold:
    """Many uses of that law, by what it is made of: with probability w a leak, else noise of a smaller shift.

    The shift is no fraction; delta rises with it and falls with epsilon, so that fractions on both sides enclose it.
    """

    law: Thresholded
    count: int
    remove: bool

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        def ends(number: arb) -> tuple[Fraction, Fraction]:
            return tuple(Fraction(int(end.p), int(end.q)) for end in (number.lower().fmpq(), number.upper().fmpq()))  # type: ignore[return-value]

        with precision(BITS):
            kept = refined(lambda: _lone(self.law.epsilon, self.law.threshold)[1], 300)
            low, high = ends(ball(Fraction(self.law.epsilon)) + kept.log())
            first, last = ends(ball(Fraction(epsilon)) - (self.count if self.remove else -self.count) * kept.log())
            least, most = (
                LaplaceFold(((1, shift, self.count),)).delta(at, 200) for shift, at in ((low, last), (high, first))
            )
            inner = least.union(most)
            return 1 - kept**self.count + kept**self.count * inner if self.remove else inner
