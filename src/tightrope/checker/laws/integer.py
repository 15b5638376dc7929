"""Whole noise with symmetric log-concave masses: Skellam noise, and heads among fair coins.

Q is the noise X, P is X + D for a whole D. The loss never falls with the output, so {l > t} is a half-line of outputs.
Proof: docs/proofs/integer_noise.md, sections 1, 2 and 3; docs/proofs/checker_laws.md, "Whole noise".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from math import isqrt

from flint import arb, ctx

from ..law import CheckedLaw, exact

OUTPUTS_LISTED_MAX = 50_000


@dataclass(frozen=True)
class WholeNoiseLaw(CheckedLaw):
    """Masses at the outputs first, first + 1, ..., as many from its centre on either side."""

    shift: int
    kept: dict[int, tuple[list[arb], list[arb], arb, list[arb]]] = field(
        default_factory=dict, compare=False, repr=False, kw_only=True
    )

    def masses(self) -> tuple[list[arb], arb] | None:
        """All but a rest on either side; and at least that rest. None where they are too many."""
        raise NotImplementedError

    def reversed(self) -> WholeNoiseLaw:
        return self

    def shifted(self, size: int) -> WholeNoiseLaw:
        return replace(self, shift=self.shift * size)

    def _table(self) -> tuple[list[arb], list[arb], arb, list[arb]] | None:
        """Masses, sums from each on, the rest, and the losses of the outputs that both laws have in the list."""
        if ctx.prec not in self.kept:
            found = self.masses()
            if found is None:
                return None
            masses, rest = found
            sums = list(accumulate(reversed(masses), initial=arb(0)))[::-1]
            losses = [(masses[k - self.shift] / masses[k]).log() for k in range(self.shift, len(masses))]
            self.kept[ctx.prec] = masses, sums, rest, losses
        return self.kept[ctx.prec]

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        """The hull over all outputs at which {l > x} may begin; the lists need not be whole."""
        table = self._table()
        if table is None:
            return None
        _, sums, rest, losses = table
        first = self._first(losses, lambda loss: not loss <= x)  # all before are at most x
        last = self._first(losses, lambda loss: bool(loss > x))  # all from here on are above it
        more = rest.union(arb(0))
        p, q = (
            (sums[min(first + by, len(sums) - 1)] + more).union(sums[min(last + by, len(sums) - 1)] + more)
            for by in (0, self.shift)
        )
        if rest.is_zero():
            return p - self.infinite(), q
        if last == len(losses):  # it may begin beyond the list
            p, q = p.union(arb(0)), q.union(arb(0))
        if first == 0:  # or before it
            p, q = p.union(arb(1)), q.union(arb(1))
        return p, q

    @staticmethod
    def _first(losses: list[arb], holds: Callable[[arb], bool]) -> int:
        """The first place where it holds, from which on it does for ever; by halving."""
        low, high = 0, len(losses)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(losses[middle]) else (middle + 1, high)
        return low


@dataclass(frozen=True)
class SkellamLaw(WholeNoiseLaw):
    """The difference of two Poisson numbers; masses e^-v I_k(v), v the variance."""

    variance: Fraction

    def masses(self) -> tuple[list[arb], arb] | None:
        """Downwards: I_{k-1} = I_{k+1} + (2k/v) I_k, all positive. Masses fall at a rate that falls."""
        v = exact(self.variance)
        last = self._last(v)
        if last is None:
            return None
        beyond, here = (v.bessel_i(arb(k), scaled=True) for k in (last + 1, last))
        ratio = beyond / here
        if not ratio < 1:
            return None
        half = [beyond, here]
        for k in range(last, 0, -1):
            half.append(half[-2] + 2 * k / v * half[-1])
        half = half[1:]
        return [*half, *reversed(half[:-1])], (beyond / (1 - ratio)).upper()

    def _last(self, v: arb) -> int | None:
        """Beyond it lies very little, by Chernoff's bound at one place: a choice."""
        wanted = arb.const_log2() * (2 * ctx.prec + 40)
        k = self.shift + isqrt(int(self.variance)) + 2
        while k < OUTPUTS_LISTED_MAX:
            s = (k / v).asinh()
            if (k * s - v * (s.cosh() - 1) > wanted) and k > 4 * self.shift:
                return k
            k += k // 4 + 1
        return None


@dataclass(frozen=True)
class CoinsLaw(WholeNoiseLaw):
    """Heads among so many tosses of a fair coin."""

    trials: int

    def masses(self) -> tuple[list[arb], arb] | None:
        if self.trials > OUTPUTS_LISTED_MAX:
            return None
        found = [arb(2) ** -self.trials]
        for k in range(self.trials):
            found.append(found[-1] * (self.trials - k) / (k + 1))
        return found, arb(0)

    def infinite(self) -> arb:
        """Outputs that only the higher law has."""
        table = self._table()
        return arb(0) if table is None else table[1][max(self.trials + 1 - self.shift, 0)]
