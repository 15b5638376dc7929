"""The Laplace transform of the ratio of both laws: psi(s) = E_Q e^{-s (Y - 1)}, Y = dP/dQ, for Re s > 0.

|psi(s)| <= psi(Re s), and psi^t is the transform of a sum of t independent ratios, which is what one of t steps shows
(derived/allocated). Only smooth laws offer it: their psi falls along vertical lines.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from flint import acb, arb


class RatioDecay(NamedTuple):
    """|psi(c + i v)| is at most e^log_bound for every v >= u, and at most slope/v."""

    log_bound: arb
    slope: arb


class RatioTransform(Protocol):
    """psi at the working precision."""

    def values(self, real: arb, step: arb, nodes: int, log_error: float) -> list[acb]:
        """psi(real + i n step), n < nodes, each with a radius of about e^log_error besides rounding."""
        ...

    def value_work(self, real: float, log_error: float) -> float:
        """Units of work of one value, about."""
        ...

    def fall(self, real: arb, least: arb) -> RatioDecay:
        """Of psi beyond an imaginary part."""
        ...

    def log_rough(self, real: float) -> float:
        """log psi at a real number, about."""
        ...

    def spread(self) -> float:
        """The standard deviation of Y under Q, about."""
        ...
