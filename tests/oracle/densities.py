"""Smooth densities by Arb's own integrator: moments and profiles of a law given by two log densities on an interval.

Outside of the interval P has infinite loss. The functions take (x, analytic) as acb.integral wants them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from flint import acb, arb

from .precision import precision

Function = Callable[[acb, bool], acb]
BITS = 110
PANELS = 48
ABSOLUTE = arb(2) ** -100  # error of an integral: comparisons leave 1e-25


@dataclass(frozen=True)
class SmoothTruth:
    """log_p against log_q on [low, high]."""

    log_p: Function
    log_q: Function
    low: float
    high: float

    def reversed(self) -> SmoothTruth:
        return SmoothTruth(self.log_q, self.log_p, self.low, self.high)

    def sampled(self, rate: float, direction: str) -> SmoothTruth:
        """The mixture against Q for remove, P against the mixture for add; self is the pair of that direction."""
        base, other = (self.log_q, self.log_p) if direction == "remove" else (self.log_p, self.log_q)

        def mixed(x: acb, analytic: bool) -> acb:
            ratio = (other(x, analytic) - base(x, analytic)).exp()
            return base(x, analytic) + (1 - acb(rate) + acb(rate) * ratio).log(analytic=analytic)

        log_p, log_q = (mixed, self.log_q) if direction == "remove" else (self.log_p, mixed)
        return SmoothTruth(log_p, log_q, self.low, self.high)

    def moment(self, z: complex) -> acb:
        """E_P[e^{z l}] over the interval."""
        with precision(BITS):
            point = acb(z.real, z.imag) if isinstance(z, complex) else acb(z)

            def integrand(x: acb, analytic: bool) -> acb:
                return ((1 + point) * self.log_p(x, analytic) - point * self.log_q(x, analytic)).exp()

            return self._integral(integrand, self._panels())

    def outside(self) -> arb:
        """P outside of the interval."""
        return _outside(self)

    def delta(self, epsilon: float) -> arb:
        """The integral of (p - e^epsilon q)_+, and P outside."""
        with precision(BITS):
            return self.outside() + self.inside(epsilon)

    def inside(self, epsilon: float) -> arb:
        """The integral alone."""
        with precision(BITS):
            level = arb(epsilon)

            def integrand(x: acb, analytic: bool) -> acb:
                return self.log_p(x, analytic).exp() - (level + self.log_q(x, analytic)).exp()

            places = self._panels()
            losses = [self.loss(x) - level for x in places]
            total = arb(0)
            for low, high, before, after in zip(places, places[1:], losses, losses[1:], strict=False):
                if before > 0 and after > 0:
                    total += self._integral(integrand, [low, high]).real
                elif before > 0 or after > 0:
                    root = self._crossing(low, high, level, bool(after > 0))
                    ends = [root, high] if after > 0 else [low, root]
                    total += self._integral(integrand, ends).real
            return total

    def density(self, x: arb) -> arb:
        return self.log_p(acb(x), False).real.exp()

    def loss(self, x: arb) -> arb:
        return (self.log_p(acb(x), False) - self.log_q(acb(x), False)).real

    def _crossing(self, low: arb, high: arb, level: arb, rises: bool) -> arb:
        for _ in range(BITS):
            middle = ((low + high) / 2).mid()
            low, high = (low, middle) if bool(self.loss(middle) > level) == rises else (middle, high)
        return low

    def _panels(self) -> list[arb]:
        """Dense around the middle, so that each holds one crossing at most."""
        centre, half = (arb(self.low) + arb(self.high)) / 2, (arb(self.high) - arb(self.low)) / 2
        return [(centre + half * (arb(i) / PANELS) ** 3).mid() for i in range(-PANELS, PANELS + 1)]

    @staticmethod
    def _integral(integrand: Function, places: list[arb]) -> acb:
        parts = (acb.integral(integrand, acb(low), acb(high), abs_tol=ABSOLUTE) for low, high in pairwise(places))
        return sum(parts, acb(0))


@cache
def _outside(law: SmoothTruth) -> arb:
    with precision(BITS):
        return 1 - law.moment(0.0).real
