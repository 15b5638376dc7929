"""What zCDP says of a composition: two formulas in balls, which hold without any engine.

With K(c) <= c (c + 1) rho for all parts together (Moments.zcdp_rho) and w their infinite mass,
delta(epsilon) <= w + e^(K(c) - c epsilon), at the best c at most w + e^(-(epsilon - rho)^2/(4 rho)) for epsilon > rho;
so epsilon(delta) <= rho + 2 sqrt(rho log(1/(delta - w))) for delta > w.
Guarantee: upper. Reference: Bun, Steinke 2016, Prop. 1.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from flint import arb

from ..errors import UnsupportedMechanism
from ..kernels.ball import BITS_START, upper_float, working_precision
from .answer import Point
from .evaluation import Term


def above_by_rho(terms: Sequence[Term], point: Point, mass: float) -> float:
    """At or above delta or epsilon at a point; mass is at or above the infinite mass; inf where nothing is known."""
    with suppress(UnsupportedMechanism, OverflowError), working_precision(BITS_START):
        rho = arb(0)
        for pair, count in terms:
            one = pair.moments().zcdp_rho()
            if one is None:
                return math.inf
            rho += count * one
        value = _delta(rho, arb(point.given), mass) if point.quantity == "delta" else _epsilon(rho, point.given, mass)
        return math.inf if value.is_nan() else max(upper_float(value), 0.0)
    return math.inf


def _delta(rho: arb, epsilon: arb, mass: float) -> arb:
    gap = epsilon - rho
    return mass + (-gap * gap / (4 * rho)).exp() if gap > 0 and rho > 0 else arb.pos_inf()


def _epsilon(rho: arb, delta: float, mass: float) -> arb:
    left = arb(delta) - arb(mass)
    return rho + 2 * (rho * -left.log()).sqrt() if left > 0 and rho >= 0 else arb.pos_inf()
