"""Moments of truncated noise: known at real orders, exactly for outputs that are not rounded and from above else.

Cells average the ratio of the two laws, so that rounding lets a moment only fall.
Guarantee: exact, or upper where outputs are whole. Proof: docs/proofs/classic.md, section 4.
"""

from __future__ import annotations

from abc import abstractmethod

from flint import acb, arb

from ...pair import Pair
from .noise import ShiftedNoise


class NoisePair(Pair):
    """Noise around a shift against the same noise around 0, truncated in some way."""

    noise: ShiftedNoise

    @abstractmethod
    def ball_moment(self, order: arb) -> arb:
        """At or above E[e^(order loss); loss finite] under the first law; equal unless outputs are rounded."""

    def log_moment(self, z: acb) -> acb | None:
        known = not self.noise.whole and z.imag.is_zero() and z.real >= -0.5
        return acb(self.ball_moment(z.real).log()) if known else None

    def log_moment_above(self, order: float) -> arb:
        return self.ball_moment(arb(order)).log()
