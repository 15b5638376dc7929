"""Few coins: a finite law whose masses are fractions.

Guarantee: exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, ctx

from ...numerics.balls import working_precision
from ..atoms import Atom, FiniteLaw, Lattice, ratio_ball, ratio_lattice
from ..finite.finite_pair import FinitePair
from ..finite.laws import ListedLaw
from ..pair import Pair
from .integer_pair import IntegerNoisePair
from .noise import SADDLE_MAX, IntegerNoise

# Binomial noise: heads among n tosses of a fair coin, with masses C(n, k)/2^n around n/2.
#
# L(z) = n log cosh(z/2) around the centre. Guarantee: balls contain the truth. Proof: docs/proofs/integer_noise.md.
# Reference: Dwork, Kenthapadi, McSherry, Mironov, Naor 2006, Our data, ourselves, Sec. 3 (noise of coins).


@dataclass(frozen=True)
class CoinNoise(IntegerNoise):
    """trials: n."""

    trials: int

    @property
    def twice_centre(self) -> int:
        return self.trials

    @property
    def last(self) -> int | None:
        return self.trials

    @property
    def spread(self) -> float:
        return math.sqrt(self.trials) / 2.0

    def cumulant(self, s: arb) -> arb:
        return self.trials * (s / 2).cosh().log()

    def turning(self, s: arb) -> Callable[[arb], acb]:
        slope = (s / 2).tanh()

        def turned(angle: arb) -> acb:
            sine, cosine = (angle / 2).sin_cos()
            return acb(cosine, slope * sine) ** self.trials

        return turned

    def plain_cumulant(self, s: float) -> float:
        half = math.sinh(0.25 * s)
        return self.trials * math.log1p(2.0 * half * half)

    def plain_slope(self, s: float) -> float:
        return 0.5 * self.trials * math.tanh(0.5 * s)

    def plain_saddle(self, y: float) -> float:
        share = 2.0 * y / self.trials
        return min(2.0 * math.atanh(share), SADDLE_MAX) if share < 1.0 else 2.0 * math.log(self.trials) + 40.0

    def plain_angle(self, s: float, log_fall: float) -> float:
        square = -math.expm1(-2.0 * log_fall / self.trials) * math.cosh(0.5 * s) ** 2
        return 2.0 * math.asin(math.sqrt(square)) if square < 1.0 else math.pi

    def plain_loss(self, k: float, shift: int) -> float:
        middle = k - 0.5 * (shift - 1)
        return shift * math.log(max(middle, 0.25) / max(self.trials - middle + 1.0, 0.25))

    def plain_output(self, t: float, shift: int) -> float:
        return 0.5 * (shift - 1) + (self.trials + 1.0) / (1.0 + math.exp(max(-SADDLE_MAX, -t / shift)))

    def summed_mass(self, k: int) -> arb:
        """By factorials."""
        with working_precision(ctx.prec + 2 * self.trials.bit_length() + 16):
            n, up, down = (arb(number + 1).lgamma() for number in (self.trials, k, self.trials - k))
            return (n - up - down - self.trials * arb(2).log()).exp()

    def summed_tail(self, k: int) -> arb:
        """Far out by the masses, which fall to half at every step: what is left is less than the last."""
        if 3 * k <= 2 * self.trials + 1:
            return super().summed_tail(k)
        term = self.mass(k)
        least, total = term * arb(2) ** -(ctx.prec + 8), arb(0)
        while k <= self.trials and not term < least:
            total += term
            term = term * (self.trials - k) / (k + 1)
            k += 1
        return total + arb(0).union(2 * term)

    def masses(self, first: int, last: int) -> list[arb]:
        values = [self.mass(first)]
        for k in range(first, last):
            values.append(values[-1] * (self.trials - k) / (k + 1))
        return values

    def loss(self, k: int, shift: int) -> arb:
        """log of k! (n - k)!/((k - D)! (n - k + D)!)."""
        if 2 * k - shift == self.trials:
            return arb(0)
        with working_precision(ctx.prec + 2 * self.trials.bit_length() + 16):
            ups, downs = (k, self.trials - k), (k - shift, self.trials - k + shift)
            logs = [[arb(number + 1).lgamma() for number in side] for side in (ups, downs)]
            return sum(logs[0], arb(0)) - sum(logs[1], arb(0))


COINS_LISTED = 512  # of a law that is listed: what every engine goes through in no time
LATTICE_MAX = 64  # losses among which a lattice is looked for


@dataclass(frozen=True)
class CoinLaw(ListedLaw):
    """trials: n. shift: D. Outputs from D to n have a finite loss."""

    trials: int
    sensitivity: int

    def _mass(self, k: int) -> Fraction:
        return Fraction(math.comb(self.trials, k), 2**self.trials)

    def atoms(self) -> list[Atom]:
        found = []
        for k in range(self.sensitivity, self.trials + 1):
            p, q = self._mass(k - self.sensitivity), self._mass(k)
            found.append(Atom(ratio_ball(p), ratio_ball(q), ratio_ball(p / q).log()))
        return found

    def infinite_mass(self) -> arb:
        first = max(0, self.trials - self.sensitivity + 1)
        return ratio_ball(sum((self._mass(k) for k in range(first, self.trials + 1)), Fraction(0)))

    def lost_mass(self) -> arb:
        return self.infinite_mass()

    def reversed(self) -> FiniteLaw:
        return self

    def lattice(self) -> Lattice | None:
        outputs = range(self.sensitivity, self.trials + 1)
        if len(outputs) > LATTICE_MAX:
            return None
        return ratio_lattice(self._mass(k - self.sensitivity) / self._mass(k) for k in outputs)

    def shifted(self, times: int) -> FiniteLaw | None:
        return CoinLaw(self.trials, times * self.sensitivity)


def coin_pair(trials: int, sensitivity: int) -> Pair:
    """Listed where there are few coins."""
    if trials <= COINS_LISTED:
        return FinitePair(CoinLaw(trials, sensitivity))
    return IntegerNoisePair(CoinNoise(trials), sensitivity)
