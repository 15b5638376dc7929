"""Concentrated differential privacy: the cgf of the loss below a parabola.

zCDP: K(c) <= c (c + 1) rho; rho = mu^2/2 for Gaussians (also clamped, rounded or discrete), L^2/2 where all losses lie
in [-L, L]; a sampled mechanism has at most the rho of its base.
Subgaussian fit: K(c) <= c m + c^2 v/2 with m the mean and v the variance proxy: exact for Gaussians, and
v = (highest - lowest)^2 / 4 for bounded losses (Hoeffding).
Both add up under composition and become delta by the best conversion of a Renyi bound.
Guarantee: upper, rounded outward; inf where no parabola is known. Proof: docs/proofs/classic.md, section 5.
Reference: Bun, Steinke 2016, Prop. 1.4, 1.6; Dwork, Rothblum 2016; Meiser, Mohammadi 2018, Sec. 5.7.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from flint import arb

from ..facets.cumulant import cumulant_above
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..mechanisms.base import Mechanism
from ..pair import Pair
from ..relation import Direction
from .outward import at_or_above, weighted_sum
from .renyi import Conversion, delta_from, epsilon_from

ORDER_NEAR_ZERO = 1e-5  # K(c)/c falls to the mean as c falls to 0


class Parabola(NamedTuple):
    """K(c) <= c mean + c^2 spread / 2 for every c > 0."""

    mean: float
    spread: float


def zcdp(pair: Pair) -> Parabola:
    """rho, as the parabola (rho, 2 rho)."""
    with working_precision(BITS_START):
        known = pair.rho()
        rho = math.inf if known is None else upper_float(known)
    return Parabola(rho, 2.0 * rho)


def fitted(pair: Pair) -> Parabola:
    """The subgaussian fit of a bounded loss, zCDP else."""
    with working_precision(BITS_START):
        if not pair.bounded():
            return zcdp(pair)
        lowest, highest = pair.loss_range()
        mean = upper_float(arb(cumulant_above(pair, ORDER_NEAR_ZERO)) / ORDER_NEAR_ZERO)
        return Parabola(mean, upper_float((highest - lowest) ** 2 / 4)) if math.isfinite(mean) else zcdp(pair)


def _moment(run: Mechanism, parabola: Callable[[Pair], Parabola]) -> Callable[[float], float]:
    """The worse of the two directions at every order."""
    sums: list[tuple[float, float]] = []
    for direction in Direction:
        parts = [(parabola(part.pair(direction)), count) for part, count in run.terms]
        if any(not math.isfinite(part.mean) or not math.isfinite(part.spread) for part, _ in parts):
            return lambda order: math.inf
        sums.append(
            (
                at_or_above(weighted_sum, [(part.mean, count) for part, count in parts]),
                at_or_above(weighted_sum, [(part.spread, count) for part, count in parts]),
            )
        )
    return lambda order: max(at_or_above(_parabola, order, mean, spread) for mean, spread in sums)


def _parabola(order: float, mean: float, spread: float) -> arb:
    return arb(order) * mean + arb(order) ** 2 * spread / 2


def _answer(run: Mechanism, given: float, parabola: Callable[[Pair], Parabola], answer: Conversion) -> float:
    return answer(_moment(run, parabola), 0.0, given, True)


# Each takes the run, and the delta or epsilon that is given.
zcdp_epsilon = partial(_answer, parabola=zcdp, answer=epsilon_from)
zcdp_delta = partial(_answer, parabola=zcdp, answer=delta_from)
fitted_epsilon = partial(_answer, parabola=fitted, answer=epsilon_from)
fitted_delta = partial(_answer, parabola=fitted, answer=delta_from)
