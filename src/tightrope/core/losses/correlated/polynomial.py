"""A polynomial above, or below, a smoothed hinge from a least x on, with the best mean.

Chosen in floats: a linear programme in u = (x - 1)/width, rows at points divided by max(1, |u|^K), with cutting planes
where the polynomial is on the wrong side between them; the width is such that E u^K is at most about 1. What is left is
paid by adding e (1 + u^K), or subtracting it.
Proven in balls: on each cell the hinge lies below its chord and above its tangents, and within the range of its Taylor
polynomial; the difference has no Bernstein coefficient below 0, or the cell is halved. Beyond the last cell the
difference to a line has no Taylor coefficient below 0 there.
Guarantee: a polynomial that is returned is proven; None where none was found.
Proof: docs/proofs/correlated.md, section 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat, arb_poly, arb_series
from scipy.optimize import linprog
from scipy.special import erfcx

from ...numerics.balls import erfc, lower_float, working_precision
from ...numerics.enclosures import FloatArray
from ...values import compute_budget

# A hinge smoothed by the common factor: f(x) = E(x W - c)_+ and E(c - x W)_+ with W = exp(sqrt(s) z - s/2).
#
# f(x) = x N(d) - c N(d - sqrt(s)), d = log(x/c)/sqrt(s) + sqrt(s)/2, f' = N(d), f'' = phi(d)/(x sqrt(s)); the other is
# f(x) - x + c. Both are convex in x >= 0; f rises with slope at most 1, the other falls from c.
# In balls it is known at points, and on a cell by its Taylor polynomial with the next derivative enclosed; in float64
# it
# is approximate, for choosing polynomials only.
# Proof: docs/proofs/correlated.md, section 7.

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


WIDTH_DEVIATIONS = 3.0  # deviations in a unit of u
BODY = 16.0  # deviations that are looked at closely
CLOSE_POINTS, OUTER_POINTS = 97, 49  # of the first programme
DEFECT_LOOKS = 4  # times as many, where defects are looked for
DEFECT_ZOOMS, DEFECT_POINTS = 3, 17  # next to each of them
LAST_CELL_MIN = 1e6  # of x: where the last cell ends
CUT_ROUNDS = 6
DEFECT_COST = 1e-6  # of the mean: what a defect may cost without another cut
PAYMENT_MIN = 1e-9  # of the mean
PAYMENTS = (2.0, 16.0, 256.0)  # times the defect that was seen
CELL_HALVINGS = 10
PROGRAMME_UNITS, PROOF_UNITS = 6e6, 8e4  # of work
LP_TOLERANCE = 1e-10  # of the programme
PROGRAMME_VALUE_MAX = 1e15  # of a row: beyond, nothing is found
BERNSTEIN_BITS = 512


@dataclass(frozen=True)
class Polynomial:
    """sum of coefficients[j] u^j, u = (x - 1)/width, times the unit."""

    coefficients: tuple[float, ...]
    width: float
    unit: arb

    def mean(self, central: Sequence[arb]) -> arb:
        """From E (x - 1)^j."""
        width = arb(self.width)
        powers = (c / width**j for j, c in enumerate(central))
        return self.unit * sum((arb(q) * c for q, c in zip(self.coefficients, powers, strict=False)), arb(0))


def best(hinge: Hinge, rough: Sequence[float], least: arb, above: bool) -> Polynomial | None:
    """The proven polynomial with about the least mean above, or the largest below, for about these E (x - 1)^j, j from
    0 to its degree, an even one. x is never below `least`, which is in [0, 1)."""
    degree = len(rough) - 1
    if not (all(map(math.isfinite, rough)) and rough[2] > 0.0 and rough[-1] > 0.0):
        return None
    deviation = math.sqrt(rough[2])
    width = max(WIDTH_DEVIATIONS * deviation, rough[-1] ** (1.0 / degree))
    log_unit = hinge.log_roughly(1.0 + deviation)
    if not math.isfinite(log_unit):
        return None
    means = np.array([value / width**j for j, value in enumerate(rough)])
    far = LAST_CELL_MIN * max(1.0, float(hinge.c.upper()))
    if not (np.isfinite(means).all() and far < 1e60):
        return None
    start = max((lower_float(least) - 1.0) / deviation, -1.0 / deviation)
    chosen = _chosen(hinge, deviation, width, means, above, log_unit, (start, (far - 1.0) / deviation))
    if chosen is None:
        return None
    coefficients, defect = chosen
    unit = arb(log_unit).exp()
    proof = _Proof(hinge, deviation, least, far, above)
    for payment in PAYMENTS:
        paid = coefficients.copy()
        share = payment * max(defect, PAYMENT_MIN * abs(float(coefficients @ means)))
        paid[[0, -1]] += share if above else -share
        polynomial = Polynomial(tuple(paid.tolist()), width, unit)
        if np.isfinite(paid).all() and proof.holds(polynomial):
            return polynomial
    return None


def _chosen(
    hinge: Hinge,
    deviation: float,
    width: float,
    means: FloatArray,
    above: bool,
    log_unit: float,
    ends: tuple[float, float],
) -> tuple[FloatArray, float] | None:
    """Coefficients, and about the largest defect in units of 1 + u^K."""
    degree = len(means) - 1
    (left, right), sign = ends, 1.0 if above else -1.0

    def places(times: int) -> FloatArray:
        reach = min(BODY, -left)
        outer = np.geomspace(BODY, right, times * OUTER_POINTS)
        inner = -np.geomspace(BODY, -left, times * OUTER_POINTS // 4) if -left > BODY else np.array([left])
        return np.unique(np.concatenate([inner, np.linspace(-reach, BODY, times * CLOSE_POINTS), outer]))

    def rows(v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        u = v * (deviation / width)
        powers = u[:, None] ** np.arange(degree + 1)
        return powers, hinge.roughly(np.maximum(v * deviation, -1.0), log_unit), np.maximum(1.0, np.abs(u) ** degree)

    def wrong(found: FloatArray, v: FloatArray) -> FloatArray:
        """By how much it is on the wrong side, in units of max(1, |u|^K)."""
        powers, values, scale = rows(v.ravel())
        return np.asarray((-sign * (powers @ found - values) / scale).reshape(v.shape))

    points, looks = places(1), places(DEFECT_LOOKS)
    if not np.isfinite(rows(looks)[1]).all():
        return None
    coefficients, defect = None, math.inf
    for _ in range(CUT_ROUNDS):
        powers, values, scale = rows(points)
        if not np.max(abs(values / scale)) < PROGRAMME_VALUE_MAX:
            break
        compute_budget.spend(PROGRAMME_UNITS)
        found = linprog(
            sign * means,
            A_ub=-sign * powers / scale[:, None],
            b_ub=-sign * values / scale,
            bounds=(None, None),
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": LP_TOLERANCE,
                "dual_feasibility_tolerance": LP_TOLERANCE,
            },
        )
        if found.x is None:
            break
        peaks, worst = _peaks(partial(wrong, np.asarray(found.x)), looks)
        better = worst < defect
        if better:
            coefficients, defect = np.asarray(found.x), worst
        if worst * (1.0 + means[-1]) <= DEFECT_COST * abs(float(found.fun)) or not better:
            break
        points = np.unique(np.concatenate([points, peaks]))
    return None if coefficients is None else (coefficients, defect)


def _peaks(function: Callable[[FloatArray], FloatArray], looks: FloatArray) -> tuple[FloatArray, float]:
    """Where it is largest, next to each local maximum at these points, as far as above 0; and the largest value."""
    values = function(looks)
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    places = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    low, high = looks[np.maximum(places - 1, 0)], looks[np.minimum(places + 1, len(looks) - 1)]
    for _ in range(DEFECT_ZOOMS):
        grid = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, DEFECT_POINTS)
        values = function(grid)
        best = values.argmax(axis=1)
        rows = np.arange(len(places))
        peaks, tops = grid[rows, best], values[rows, best]
        low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, DEFECT_POINTS - 1)]
    return peaks[tops > 0.0], max(float(tops.max()), 0.0)


class _Proof:
    """Cells, and what is known of the hinge at their ends."""

    def __init__(self, hinge: Hinge, deviation: float, least: arb, far: float, above: bool) -> None:
        self.hinge, self.deviation, self.above = hinge, deviation, above
        self.least = least.lower().max(arb(0))
        self._values: dict[float, Value] = {}
        left = float(((self.least - 1) / deviation).upper())
        outer = np.geomspace(BODY, far / deviation, max(2, math.ceil(math.log2(far / deviation / BODY)) + 1))
        near = (float(value) for value in range(-int(BODY), int(BODY)))
        self.marks = [-math.inf, *(value for value in near if value > left), *outer.tolist()]

    def x(self, v: float) -> arb:
        """The place; -inf stands for the least one."""
        return self.least if v == -math.inf else 1 + arb(v) * arb(self.deviation)

    def holds(self, polynomial: Polynomial) -> bool:
        """Whether it is proven to be on its side everywhere."""
        slope = 1 / arb(polynomial.width)
        whole = (
            arb_poly([arb(coefficient) for coefficient in polynomial.coefficients])(arb_poly([arb(0), slope]))
            * polynomial.unit
        )
        if not self._beyond(whole):
            return False
        cells = [(one, two, 0) for one, two in zip(self.marks, self.marks[1:], strict=False)]
        while cells:
            one, two, depth = cells.pop()
            compute_budget.spend(PROOF_UNITS)
            if self._cell(whole, one, two):
                continue
            if depth == CELL_HALVINGS:
                return False
            middle = self._middle(one, two)
            cells += [(one, middle, depth + 1), (middle, two, depth + 1)]
        return True

    def _middle(self, one: float, two: float) -> float:
        if one == -math.inf:
            return (two + (float(self.least) - 1.0) / self.deviation) / 2.0
        return math.sqrt(one) * math.sqrt(two) if one >= BODY else (one + two) / 2.0

    def _cell(self, whole: arb_poly, one: float, two: float) -> bool:
        x0, x1 = self.x(one), self.x(two)
        f0, f1 = self._at(one), self._at(two)
        width = x1 - x0
        inside = whole(arb_poly([x0 - 1, width]))
        if self.above:
            if _never_below(inside - arb_poly([f0.height, f1.height - f0.height]), arb(0)):
                return True
        else:
            for line in (
                arb_poly([f0.height, f0.slope * width]),
                arb_poly([f1.height - f1.slope * width, f1.slope * width]),
                arb_poly([arb(0)]),
            ):
                if _never_below(line - inside, arb(0)):
                    return True
        if x0.is_zero() or width > x0:
            return False
        radius = width / 2
        taylor = self.hinge.on(x0 + radius, radius)
        last = taylor.degree()
        lead = taylor[last]
        unsure = lead.rad() * radius**last
        taylor[last] = lead.mid()
        local = taylor(arb_poly([-radius, width]))
        difference = inside - local if self.above else local - inside
        return _never_below(difference, unsure)

    def _at(self, v: float) -> Value:
        if v not in self._values:
            self._values[v] = self.hinge.at(self.x(v))
        return self._values[v]

    def _beyond(self, whole: arb_poly) -> bool:
        """From the last mark on: the hinge lies below its value and the largest slope, and above its tangent and 0."""
        x, value = self.x(self.marks[-1]), self._at(self.marks[-1])
        shifted = whole(arb_poly([x - 1, arb(1)]))
        if self.above:
            lines = [arb_poly([value.height, arb(1 if self.hinge.rising else 0)])]
            return any(_coefficients_above(shifted - line) for line in lines)
        lines = [arb_poly([value.height, value.slope]), arb_poly([arb(0)])]
        return any(_coefficients_above(line - shifted) for line in lines)


def _coefficients_above(polynomial: arb_poly) -> bool:
    return all(coeff >= 0 for coeff in polynomial.coeffs())


def _never_below(polynomial: arb_poly, least: arb) -> bool:
    """Whether it is at least this on [0, 1], by its Bernstein coefficients."""
    coefficients = polynomial.coeffs()
    if not coefficients:
        return bool(arb(0) >= least)
    column = arb_mat([[coefficient] for coefficient in coefficients])
    found = compute_budget.kept(_bernstein, len(coefficients) - 1) * column
    return all(found[i, 0] >= least for i in range(len(coefficients)))


def _bernstein(degree: int) -> arb_mat:
    """b_i = sum_{j <= i} C(i, j)/C(n, j) a_j."""
    with working_precision(BERNSTEIN_BITS):
        return arb_mat(
            [
                [arb(math.comb(i, j)) / math.comb(degree, j) if j <= i else arb(0) for j in range(degree + 1)]
                for i in range(degree + 1)
            ]
        )
