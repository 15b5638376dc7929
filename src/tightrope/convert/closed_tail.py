"""What the part of a profile beyond a last loss adds to a moment, where the loss has an end or a moment is bounded.

With a = e^t, c = order - 1 and H(a) <= kappa(c') e^(K(c') - c' t), c' > c, which holds without infinite losses,
    integral from a on of f'' H <= A e^(-(c' - c) t),   A = f0 kappa(c') e^K(c') / (c' - c),
f'' = f0 a^(order - 2), f0 = order (order - 1), or 1 where the order is 1. Beyond the supremum of the loss it is 0.
Guarantee: upper. Proof: docs/proofs/renyi.md, section 3.
Reference: Canonne, Kamath, Steinke 2020, Prop. 12 (kappa).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from ..facets.cumulant import cumulant_above
from ..kernels.ball import upper_float
from ..pair import Pair

GAP, GAPS_MAX = 4.0, 24  # c' - c are its powers, up and down: losses from 1e-14 to 1e14 have one that suits
LOG_ROOM = -30.0  # of what lies beyond, where the best c' is looked for


@dataclass(frozen=True)
class Closing:
    """log A at one c'."""

    higher: float
    log_size: arb

    def log_mass(self, c: float, room: float) -> float:
        """A mass whose part beyond is about e^room."""
        return (room - c / self.higher * upper_float(self.log_size)) * self.higher / (self.higher - c)


@dataclass(frozen=True)
class Tail:
    """order >= 1. highest: the supremum of the loss, inf where it has none, or none that is known."""

    order: float
    highest: arb
    closings: Sequence[Closing]

    @staticmethod
    def of(pair: Pair, order: float) -> Tail:
        """At the working precision, for a pair without infinite losses."""
        highest = pair.loss_range().highest
        if highest.is_finite():
            return Tail(order, highest.max(arb(0)).upper(), ())
        c, found = order - 1.0, list[Closing]()
        for factor in (GAP, 1.0 / GAP):  # up from 1 while it helps, then down
            best = max((each.log_mass(c, LOG_ROOM) for each in found), default=-math.inf)
            gap = 1.0 if factor > 1.0 else factor
            for _ in range(GAPS_MAX):
                closing = _closing(pair, order, c + gap)
                if closing is None or (found and closing.log_mass(c, LOG_ROOM) <= best):
                    break
                found.append(closing)
                best, gap = closing.log_mass(c, LOG_ROOM), gap * factor
        return Tail(order, arb.pos_inf(), tuple(found))

    @property
    def known(self) -> bool:
        """Whether the divergence is finite for certain."""
        return bool(self.highest.is_finite()) or bool(self.closings)

    def beyond(self, last: arb, mass: arb) -> arb:
        """What a profile that is flat at `mass` from e^last on, and the rest of the true one, add at most.

        At any t >= max(last, 0): order mass e^(c t), or mass (1 + t) for order 1, and the integral from e^t on.
        """
        if mass.is_zero():
            return arb(0)
        last = last.max(arb(0)).upper()
        if self.highest.is_finite():
            return self._flat(self.highest.max(last), mass)
        best = arb.pos_inf()
        for closing in self.closings:
            t = last.max(((closing.log_size - mass.log()) / closing.higher).mid())
            rest = (closing.log_size - (arb(closing.higher) - (arb(self.order) - 1)) * t).exp()
            best = best.min(self._flat(t, mass) + rest)
        return best

    def _flat(self, t: arb, mass: arb) -> arb:
        c = arb(self.order) - 1
        return mass * (1 + t) if self.order == 1.0 else arb(self.order) * mass * (c * t).exp()

    def log_mass(self, room: float) -> float:
        """The log of a mass whose part beyond is about e^room; any would do, a larger one costs width."""
        c, room = self.order - 1.0, room - math.log(self.order)
        if self.highest.is_finite():
            return room - c * upper_float(self.highest)
        return max((closing.log_mass(c, room) for closing in self.closings), default=room)


def _closing(pair: Pair, order: float, higher: float) -> Closing | None:
    """None where no moment is known there."""
    if not order - 1.0 < higher < math.inf:
        return None
    above, gap = cumulant_above(pair, higher), arb(higher) - (arb(order) - 1)
    front = (arb(order) * (arb(order) - 1)).log() if order > 1.0 else arb(0)
    return Closing(higher, arb(above) + _log_kappa(higher) - gap.log() + front) if math.isfinite(above) else None


def _log_kappa(c: float) -> arb:
    """kappa = c^c / (1 + c)^(1 + c), the maximum of e^(-c x) (1 - e^-x)."""
    at = arb(c)
    return at * at.log() - (1 + at) * (1 + at).log()
