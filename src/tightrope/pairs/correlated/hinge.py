"""A hinge smoothed by the common factor: f(x) = E(x W - c)_+ and E(c - x W)_+ with W = exp(sqrt(s) z - s/2).

f(x) = x N(d) - c N(d - sqrt(s)), d = log(x/c)/sqrt(s) + sqrt(s)/2, f' = N(d), f'' = phi(d)/(x sqrt(s)); the other is
f(x) - x + c. Both are convex in x >= 0; f rises with slope at most 1, the other falls from c.
In balls it is known at points, and on a cell by its Taylor polynomial with the next derivative enclosed; in float64 it
is approximate, for choosing polynomials only.
Proof: docs/proofs/correlated.md, section 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb, arb_poly, arb_series
from scipy.special import erfcx

from ...kernels.ball import erfc
from ...kernels.enclosure import FloatArray

TAYLOR_TERMS = 10  # of f on a cell, the last one with an enclosed coefficient


class Value(NamedTuple):
    """The function and its slope at a point."""

    height: arb
    slope: arb


@dataclass(frozen=True)
class Hinge:
    """rising: E(x W - c)_+; else E(c - x W)_+. spread: the variance s of log W, above 0. At the working precision."""

    c: arb
    spread: arb
    rising: bool

    def at(self, x: arb) -> Value:
        """At a point x >= 0."""
        if x.is_zero():
            return Value(arb(0), arb(0)) if self.rising else Value(self.c, arb(-1))
        root = self.spread.sqrt()
        d = (x / self.c).log() / root + root / 2
        if self.rising:
            slope = _below(d)
            return Value((x * slope - self.c * _below(d - root)).max(arb(0)), slope)
        slope = -_below(-d)
        return Value((self.c * _below(root - d) + x * slope).max(arb(0)), slope)

    def on(self, middle: arb, radius: arb) -> arb_poly:
        """In t, for x = middle + t and |t| <= radius < middle: f(x) lies in the polynomial's range, Taylor's formula
        with the last coefficient enclosed over the whole cell."""
        value = self.at(middle)
        exact, around = self._second(middle), self._second(middle + arb(0, 1) * radius)
        bends = [*exact[: TAYLOR_TERMS - 3], around[TAYLOR_TERMS - 3]]
        rest = [bend / ((j + 1) * (j + 2)) for j, bend in enumerate(bends)]
        return arb_poly([value.height, value.slope, *rest])

    def _second(self, x: arb) -> list[arb]:
        """Taylor coefficients of f'' around x, enclosed over a ball."""
        root = self.spread.sqrt()
        series = arb_series([x, 1], prec=TAYLOR_TERMS - 2)
        log = series.log()
        d = (log - self.c.log()) / root + root / 2
        found = (-(d * d) / 2 - log).exp() / (root * (2 * arb.pi()).sqrt())
        return [found[j] for j in range(TAYLOR_TERMS - 2)]

    def log_roughly(self, x: float) -> float:
        """About log f(x), x > 0, however small it is."""
        spread, log_c = float(self.spread.mid()), float(self.c.log().mid())
        root = math.sqrt(spread)
        d = (math.log(x) - log_c) / root + root / 2.0
        time_value = float(_difference(np.array([d]), root)[0])
        logarithm = math.log(x) - d * d / 2.0 - math.log(2.0 * math.pi) / 2.0 + math.log(max(time_value, 1e-300))
        inside = (math.log(x) > log_c) == self.rising
        if not inside:
            return logarithm
        gap = max(math.log(x), log_c) + math.log(max(-math.expm1(-abs(math.log(x) - log_c)), 1e-300))
        return max(gap, logarithm) + math.log1p(math.exp(-abs(gap - logarithm)))

    def roughly(self, excess: FloatArray, log_unit: float) -> FloatArray:
        """About f(1 + excess) e^-log_unit, excess >= -1."""
        spread, log_c = float(self.spread.mid()), float(self.c.log().mid())
        root = math.sqrt(spread)
        with np.errstate(all="ignore"):
            logs = np.log1p(excess)
            d = (logs - log_c) / root + root / 2.0
            weight = np.exp(logs - d * d / 2.0 - math.log(2.0 * math.pi) / 2.0 - log_unit)
            time_value = np.where(weight > 0.0, weight * _difference(d, root), 0.0)
            gap = np.expm1(logs - log_c) if self.rising else -np.expm1(logs - log_c)
            inside = np.where(gap > 0.0, gap * math.exp(min(log_c - log_unit, 700.0)), 0.0)
            values = time_value + inside
        return np.asarray(
            np.where(excess <= -1.0, 0.0 if self.rising else math.exp(min(log_c - log_unit, 700.0)), values)
        )


def _difference(d: FloatArray, root: float) -> FloatArray:
    """R(t) - R(t + root) with the Mills ratio R = N(-t)/phi(t), t = -d where the hinge is ahead, else d - root."""
    first = np.where(2.0 * d < root, -d, d - root)
    scale = math.sqrt(math.pi / 2.0)
    return np.asarray(scale * (erfcx(first / math.sqrt(2.0)) - erfcx((first + root) / math.sqrt(2.0))))


def _below(z: arb) -> arb:
    """N(z)."""
    return erfc(-z / arb(2).sqrt()) / 2
