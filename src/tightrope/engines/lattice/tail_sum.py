"""delta from composed laws: a weighted sum above, the best suffix below.

Above: delta <= w + sum over l_j > eps of e^(log_scale - slope j) (1 - e^(eps - l_j)) (T_j + radius) + e^(log_scale -
theta eps) (lost + outside),
because (1 - e^-x)_+ <= e^(theta x). Below: for every cut c the event {label >= c} gives delta >= w + P - e^eps Q;
aliases are taken off P
at the largest weight, everything lost or outside is added to Q likewise.
Guarantee: upper and lower, rounding included. Proof: docs/proofs/lattice.md, lemmas 2, 4 and 8.
Reference: Meiser, Mohammadi 2018, Thm 1; Zhu, Dong, Wang 2021, Lemma 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ... import compute_budget
from ...kernels.directed import THOUSANDS, TINIEST, next_down, next_up, round_down, round_up
from ...kernels.enclosure import FloatArray
from ...kernels.fft import upper_sum
from ...kernels.ulps import UNIT
from .compose import Total
from .tuning import SUM_UNITS


class UpperSum(NamedTuple):
    """The sum as computed and what is added to it."""

    value: float
    rounding: float
    lost: float
    outside: float

    @property
    def upper(self) -> float:
        """At or above the mass that it stands for."""
        return round_up(max(self.value, 0.0) + self.rounding + self.lost + self.outside, 8.0)


class LowerSum(NamedTuple):
    """P minus e^eps Q of the best suffix as computed, and what is taken off."""

    value: float
    rounding: float
    lost: float
    outside: float

    @property
    def lower(self) -> float:
        """At or below the mass that it stands for; the empty event is always there."""
        slack = round_up(self.rounding + self.lost + self.outside, 8.0)
        low = self.value - slack
        return max(low - 4.0 * UNIT * (abs(self.value) + slack), 0.0) if math.isfinite(low) else 0.0


def ends(infinite: tuple[float, float], low: LowerSum, high: UpperSum) -> tuple[float, float]:
    """Doubles around delta, from its finite part and the mass of infinite loss; 1 where nothing is known."""
    total = infinite[1] + high.upper
    lower = max(next_down(infinite[0] + low.lower), 0.0) if infinite[0] else low.lower
    return float(lower), float(next_up(total)) if total < 1.0 else 1.0


def upper_sum_at(total: Total, epsilon: float, unit: float) -> UpperSum:
    """Bounds the finite part of delta from above."""
    compute_budget.spend(SUM_UNITS * len(total.masses))
    asked = Fraction(epsilon) / Fraction(unit)
    first = max(math.floor((asked - total.start) / total.step) + 1, 0)
    base = exp_above(total.log_scale - Fraction(total.slope) * (asked - total.start) / total.step)
    if first >= len(total.masses):
        return UpperSum(0.0, 0.0, weighted(base, total.lost), weighted(base, total.outside))
    masses = total.masses[first:]
    beyond = float((total.start + first * total.step - asked) * Fraction(unit))
    gains = -np.expm1(-(beyond + np.arange(len(masses)) * (total.step * unit)))
    weights, units = weights_from(total, first, Fraction(0))
    value, rounding = dot(weights * gains, masses, units + 16.0, total.radius)
    return UpperSum(value, rounding, weighted(base, total.lost), weighted(base, total.outside))


def lower_sum_at(p: Total, q: Total, epsilon: float, first: int = 0) -> LowerSum:
    """Bounds the finite part of delta from below by the suffix that is best as far as can be seen, from first on."""
    compute_budget.spend(2.0 * SUM_UNITS * (len(p.masses) - first))
    p_weights, p_units = weights_from(p, first, Fraction(0))
    q_weights, q_units = weights_from(q, first, Fraction(epsilon))
    p_masses, q_masses = p.masses[first:], q.masses[first:]
    with np.errstate(all="ignore"):
        gains = p_weights * (p_masses - p.radius) - q_weights * (q_masses + q.radius)
        suffix = np.cumsum(gains[::-1])[::-1]
    cut = int(np.argmax(np.where(np.isfinite(suffix), suffix, -np.inf)))
    p_value, p_rounding = dot(p_weights[cut:], p_masses[cut:], p_units[cut:], p.radius)
    q_value, q_rounding = dot(q_weights[cut:], q_masses[cut:], q_units[cut:], q.radius)
    units = float(p_units[cut] + q_units[cut])
    outside = weighted(float(p_weights[cut]), p.outside) + weighted(float(q_weights[cut]), q.outside)
    return LowerSum(
        value=p_value - q_value,
        rounding=p_rounding + q_rounding,
        lost=round_up(weighted(float(q_weights[cut]), q.lost), units),
        outside=round_up(outside, units),
    )


def infinite_mass(masses: Sequence[tuple[float, int]], upward: bool) -> float:
    """1 - prod (1 - w_i)^k_i, rounded to its side."""
    if any(mass >= 1.0 for mass, count in masses if count):
        return 1.0
    exponent = math.fsum(count * math.log1p(-mass) for mass, count in masses)
    mass = -math.expm1(exponent)
    return min(round_up(mass, 32.0) + (TINIEST if mass else 0.0), 1.0) if upward else round_down(mass, 32.0)


def weights_from(total: Total, first: int, shift: Fraction) -> tuple[FloatArray, FloatArray]:
    """e^(log_scale + shift - slope j) from j = first on, and their relative error in UNITs."""
    top = float(total.log_scale + shift - Fraction(total.slope) * first)
    falls: FloatArray = total.slope * np.arange(len(total.masses) - first, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(top - falls), 16.0 + 2.0 * abs(top) + 4.0 * falls


def dot(weights: FloatArray, masses: FloatArray, units: FloatArray, radius: float) -> tuple[float, float]:
    """sum w m, and how far it can be from the exact sum over exact weights and masses within their radius."""
    with np.errstate(all="ignore"):
        terms = weights * masses
        sizes = np.abs(terms)
        value = _signed_sum(terms)
        relative = (units + 2100.0 + len(terms) / 1024.0) * UNIT
        rounding = upper_sum(sizes * relative) + radius * upper_sum(round_up(weights, units)) + 1e-300
    return (
        (value, round_up(rounding, THOUSANDS)) if math.isfinite(value) and math.isfinite(rounding) else (0.0, math.inf)
    )


def _signed_sum(terms: FloatArray) -> float:
    """Rows of 1024 first, as in upper_sum."""
    rows = terms[: len(terms) // 1024 * 1024].reshape(-1, 1024).sum(axis=1)
    return float(rows.sum() + terms[len(rows) * 1024 :].sum())


def weighted(weight: float, mass: float) -> float:
    """Nothing stays nothing, also where the weight overflows."""
    return weight * mass if mass else 0.0


def exp_above(exponent: Fraction) -> float:
    """e^x rounded up; inf where it overflows."""
    value = float(exponent) if abs(exponent) < 10**6 else math.copysign(10**6, exponent)
    if value > 709.0:
        return math.inf
    return round_up(math.exp(value), 8.0 + 2.0 * abs(value)) + TINIEST
