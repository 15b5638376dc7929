"""Staircase noise at 0 and at 1, cell by cell, in steps of width 1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .finite import FiniteLaw, Output
from .precision import Number, ball
from .truth import Ratio


@dataclass(frozen=True)
class Staircase(FiniteLaw):
    """The density falls to e^-epsilon of itself at gamma, 1 + gamma, ...; gamma None is 1 / (1 + e^(epsilon/2))."""

    epsilon: Number
    gamma: Number | None = None

    def outputs(self) -> tuple[Output, ...]:
        epsilon, half = Fraction(self.epsilon), ball(Fraction(1, 2))
        fall = (-ball(epsilon)).exp()
        gamma = 1 / (1 + ball(epsilon / 2).exp()) if self.gamma is None else ball(Fraction(self.gamma))
        top = half * (1 - fall) / (gamma + fall * (1 - gamma))  # each side is a geometric series
        # Between 0 and 1 the cells end at gamma and 1 - gamma; the middle one lies on the same step seen from both.
        wide = self.gamma is not None and self.gamma > 0.5
        edge, level = (1 - gamma, top) if wide else (gamma, top * fall)
        same = level * (1 - 2 * edge)
        up, down = Ratio(Fraction(1), epsilon), Ratio(Fraction(1), -epsilon)
        return (
            Output(half, half * fall, up),
            Output(top * edge, top * edge * fall, up),
            Output(same, same, Ratio(Fraction(1))),
            Output(top * edge * fall, top * edge, down),
            Output(half * fall, half, down),
        )

    def alone(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)
