"""Moments of integer noise by how its log masses bend, at any variance: b_k = log p_k^2/(p_{k-1} p_{k+1}).

Where b falls from the centre on, R = D^2 b_0/2, and Phi(c) = (e^K - 1)/(c (c + 1)), which is convex:
    c D whole   K(c) <= c (c + 1) R; at least the same with an outer b in place of b_0, but for the mass beyond it
    order 1     Phi(0) = D_1 likewise
    any c > 0   K and Phi lie below their chords, and Phi above the line through the next two whole c D
    zCDP        rho <= R (1 + 1/D), and R (1 + R/D^2) where R <= 1/2
Guarantee: lower and upper. Proof: docs/proofs/integer_noise.md, section 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from flint import arb

from .noise import IntegerNoise

BENDS_TO = 40.0  # deviations: masses further out take long
BEYOND_DEPTH = 50.0  # -log of the mass beyond the outer bend, without what the variance adds


class Bend(NamedTuple):
    """shift: D. most: R."""

    noise: IntegerNoise
    shift: int
    most: arb

    @staticmethod
    def of(noise: IntegerNoise, shift: int) -> Bend | None:
        """None where the bend does not fall from the centre on."""
        top = noise.bend(noise.twice_centre // 2)
        return None if top is None else Bend(noise, shift, top * shift**2 / 2)

    def rho(self) -> arb:
        """zCDP: K(c) <= c (c + 1) rho for every c > 0."""
        shift, most = self.shift, self.most
        return most + most * most / shift**2 if 2 * most <= 1 else most + most / shift

    def lines(self) -> tuple[tuple[arb, arb], ...]:
        """(s, rho) with K(c) <= c s + c (c + 1) rho for every c > 0, rho ever smaller."""
        return (self.most / self.shift, self.most), *self.noise.lines(self.shift, self.most)

    def log_moment(self, c: arb) -> arb | None:
        """A ball around K(c), c >= -1/2; None where nothing is known."""
        steps = (c * self.shift).floor()
        if not steps.is_exact():
            return None
        if c < 0:
            return self._mirrored(c)
        n, part, y = int(steps.fmpq().p), c * self.shift - steps, c * (c + 1)
        first, second = self._power_above(n), self._power_above(n + 1)
        high = y * self.most + part * (1 - part) * self.most / self.shift**2
        for value in (
            (y * (first + part * (second - first))).log1p(),
            *(c * s + y * rho for s, rho in self.lines()),
        ):
            high = high.min(value) if value.is_finite() else high
        low = arb(0)
        for value in self._below(c, n, part):
            low = low.max(value) if value.is_finite() else low
        return low.union(high)

    def _mirrored(self, c: arb) -> arb | None:
        """-1/2 <= c < 0: Phi is its own mirror image around -1/2, and convex."""
        here, following = self._power_below(0), self._power_above(1)
        lower = here + c * self.shift * (following - here)
        value = (c * (c + 1) * lower.max(arb(0)).union(self.most)).log1p()
        return value if value.is_finite() else None

    def _below(self, c: arb, n: int, part: arb) -> Iterator[arb]:
        """At or below K(c), n + part = c D."""
        y, near = c * (c + 1), min(n, math.ceil(BENDS_TO * self.noise.spread))
        if near > 0:  # D_o never falls
            yield self._log_moment_below(near) * c * self.shift / near
        if near < n:
            return
        if part.is_zero():
            yield (y * self._power_below(n)).log1p()
        else:
            following = self._power_below(n + 1)
            yield (y * (following - (1 - part) * (self._power_above(n + 2) - following))).log1p()

    def _weight(self, steps: int) -> arb:
        """c (c + 1) at c = steps/D."""
        c = arb(steps) / self.shift
        return c * (c + 1)

    def _log_moment_below(self, steps: int) -> arb:
        """At or below K at c = steps/D."""
        outer, kept = self._outer(steps)
        return self._weight(steps) * outer + kept.log()

    def _power_below(self, steps: int) -> arb:
        """At or below Phi at c = steps/D."""
        if steps == 0:
            outer, kept = self._outer(0)
            return outer * kept
        return self._log_moment_below(steps).expm1() / self._weight(steps)

    def _power_above(self, steps: int) -> arb:
        """At or above Phi at c = steps/D."""
        y = self._weight(steps)
        return (y * self.most).expm1() / y if steps else self.most

    def _outer(self, steps: int) -> tuple[arb, arb]:
        """D^2 b/2 at or below that of every output in question, and at or below the mass of the outputs that count.

        Nothing where these are too far out.
        """
        noise = self.noise
        if self.shift + steps > 2 * math.ceil(BENDS_TO * noise.spread):
            return arb(0), arb(1) / 2
        far = noise.reach(BEYOND_DEPTH + 4.0 * math.log(2.0 + noise.spread))
        bend = noise.bend(far + self.shift + steps)
        assert bend is not None
        return bend * self.shift**2 / 2, 1 - 2 * noise.chernoff(far + 1)
