"""One use of a mechanism, Poisson-sampled or not, in either direction.

A law knows two output laws, P with the record and Q without. Sampling at rate r turns P into (1 - r) Q + r P. The first
law of the pair is that mixture for "remove" and Q for "add". delta(eps) is the largest first(A) - e^eps second(A) over
sets A of outputs, attained by the outputs where the first density exceeds e^eps times the second.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from .exponentials import sign
from .precision import INVISIBLE, Number, Real, ball, refined, refined_all


class Ratio(NamedTuple):
    """The density ratio dP/dQ of an output: factor e^exponent; factor None where dQ = 0."""

    factor: Fraction | Real | None
    exponent: Fraction = Fraction(0)


class Masses(NamedTuple):
    """P and Q of a set of outputs and of its complement."""

    p: arb
    q: arb
    p_rest: arb
    q_rest: arb


class Tails(NamedTuple):
    """First and second law of {loss > t} and of its complement."""

    p_above: arb
    q_above: arb
    p_below: arb
    q_below: arb


@dataclass(frozen=True)
class Choice:
    """The question which outputs have first density > e^t second density; ties are decided exactly."""

    rate: Fraction
    remove: bool
    t: Fraction

    def takes(self, ratio: Ratio) -> bool:
        """Whether an output with this density ratio belongs to the set."""
        if ratio.factor is None:
            return self.remove and self.rate > 0
        mixture = [(1 - self.rate, Fraction(0)), (self.rate * ratio.factor, ratio.exponent)]
        if self.remove:
            return sign([*mixture, (Fraction(-1), self.t)]) > 0
        return sign([*((-c, x) for c, x in mixture), (Fraction(1), -self.t)]) > 0

    def takes_none(self) -> bool:
        """Whether no positive ratio belongs to the set."""
        if self.remove:
            return self.rate == 0 and self.t >= 0
        return not self.takes(Ratio(Fraction(0)))

    def takes_all(self) -> bool:
        """Whether every positive ratio belongs to the set."""
        if self.remove:
            return sign([(1 - self.rate, Fraction(0)), (Fraction(-1), self.t)]) >= (1 if self.rate == 0 else 0)
        return self.rate == 0 and self.t < 0

    def crossing(self) -> arb:
        """The density ratio dP/dQ at which the set begins (remove) or ends (add); only where there is one."""
        power = ball(self.t if self.remove else -self.t)
        # e^t - (1 - rate), by whichever form cancels less
        excess = power.expm1() + ball(self.rate) if 2 * self.rate < 1 else power.exp() - ball(1 - self.rate)
        return excess / ball(self.rate)


class Law(ABC):
    """Two output laws; frozen and hashable."""

    @abstractmethod
    def masses(self, choice: Choice) -> Masses:
        """Base masses of the chosen outputs and of the others, at the precision in force."""

    @abstractmethod
    def alone(self) -> tuple[Fraction | Real, Fraction | Real]:
        """P[dQ = 0] and Q[dP = 0]."""

    @abstractmethod
    def ratio_range(self) -> tuple[Ratio | None, Ratio | None]:
        """Least and greatest dP/dQ over outputs that both laws have; None where there is no end."""


@dataclass(frozen=True)
class Truth:
    """delta, epsilon and tails of one use of a law."""

    law: Law
    rate: Number = 1
    direction: str = "remove"

    @property
    def _rate(self) -> Fraction:
        return Fraction(self.rate)

    @property
    def _remove(self) -> bool:
        return self.direction == "remove"

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        """The smallest delta at this epsilon (any real one), exactly zero where it is."""
        if epsilon == math.inf:
            return refined(lambda: ball(self.infinite_mass()))
        choice = Choice(self._rate, self._remove, Fraction(epsilon))

        def value() -> arb:
            above = self._sampled(self.law.masses(choice))
            return above.p_above - ball(Fraction(epsilon)).exp() * above.q_above

        if self.nothing_above(Fraction(epsilon)):
            return arb(0)
        return refined(value, bits, INVISIBLE)

    def tails(self, t: float, bits: int = 80) -> Tails:
        """First and second law of the loss above t and at or below t."""
        if t == math.inf:
            return Tails(arb(0), arb(0), arb(1), arb(1))
        if t == -math.inf:
            lost = self.law.alone()[1] if self._remove else self.law.alone()[0]
            gone = lost if self._rate == 1 else self._rate * lost if not self._remove else Fraction(0)
            return Tails(arb(1), refined(lambda: ball(1 - gone)), arb(0), refined(lambda: ball(gone)))
        choice = Choice(self._rate, self._remove, Fraction(t))
        return Tails(*refined_all(lambda: self._sampled(self.law.masses(choice)), bits, INVISIBLE))

    def infinite_mass(self) -> Fraction | Real:
        """First law of the outputs that the second law does not have."""
        p_alone, q_alone = self.law.alone()
        if self._remove:
            return self._rate * p_alone
        return q_alone if self._rate == 1 else Fraction(0)

    def supremum(self) -> arb | None:
        """The largest finite loss; None where losses are unbounded."""
        low, high = self.law.ratio_range()
        if self._rate == 0:
            return arb(0)
        if not self._remove and self._rate < 1 and self.law.alone()[1] > 0:
            low = Ratio(Fraction(0))
        end = high if self._remove else low
        if end is None:
            return None if self._remove or self._rate == 1 else refined(lambda: -ball(1 - self._rate).log())
        if self._rate == 1 and end.factor == 1:
            return ball(end.exponent if self._remove else -end.exponent)
        if end == Ratio(Fraction(1)):
            return arb(0)

        def value() -> arb:
            mixed = ball(1 - self._rate) + ball(self._rate) * ball(end.factor) * ball(end.exponent).exp()
            return mixed.log() if self._remove else -mixed.log()

        return refined(value)

    def epsilon(self, delta: Number, bits: int = 80) -> arb | None:
        """The smallest epsilon >= 0 with delta(epsilon) <= delta, by bisection; None for infinity."""
        wanted, mass = Fraction(delta), self.infinite_mass()
        if wanted < mass:
            return None
        if not self.delta(0) > ball(wanted):
            return arb(0)
        if wanted == mass:
            return self.supremum()
        low, high = Fraction(0), Fraction(1)
        while self.delta(high) > ball(wanted):
            low, high = high, 2 * high
        while high - low > high / 2**bits:
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > ball(wanted) else (low, middle)
        return ball(low).union(ball(high))

    def nothing_above(self, t: Fraction) -> bool:
        """Whether no output has a loss above t."""
        choice = Choice(self._rate, self._remove, t)
        if self.infinite_mass() > 0:
            return False
        low, high = self.law.ratio_range()
        if not self._remove and self.law.alone()[1] > 0:
            low = Ratio(Fraction(0))
        end = high if self._remove else low
        if self._rate == 0:
            return t >= 0
        if end is None:
            return not self._remove and not choice.takes(Ratio(Fraction(0)))
        return not choice.takes(end)

    def _sampled(self, base: Masses) -> Tails:
        mixed = ball(1 - self._rate) * base.q + ball(self._rate) * base.p
        rest = ball(1 - self._rate) * base.q_rest + ball(self._rate) * base.p_rest
        if self._remove:
            return Tails(mixed, base.q, rest, base.q_rest)
        return Tails(base.q, mixed, base.q_rest, rest)
