"""Bounds on a profile by the moments of the ratio given a statistic.

q_n = Q[T = n], M_m = E_Q[L^m; T = n]; M_0 = q_n and M_1 = P[T = n]. Every inequality that follows holds for each L in
[0, U], so its mean holds for whatever law L has given T = n. For y = L - a (and y = a - L with the signs of odd powers
of y changed), any d > 0 and any e:
    y_+ <= (y + d)^2/(4 d),     y_+ <= K (L - e)^4 where e < a,     y_+ <= y + K (L - e)^4 where e > a,
    K = 27/(256 |a - e|^3),     (L - a)_+ <= L (1 - a/U)_+,     (a - L)_+ <= a,     (L - a)_+ <= L.
d and e are chosen per value of T, from the moments themselves; no bound rests on the choice.
Below, the sum over all n of (M_1 - a M_0)_+ is what the statistic alone shows.
Guarantee: above is upper, events are real. Proof: docs/proofs/allocation.md, section 10.
Reference: Scarf 1958 (the square); ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ... import compute_budget
from ...kernels.directed import round_down, round_up
from ...kernels.enclosure import Enclosure, FloatArray
from ...kernels.fft import upper_sum
from ...kernels.ulps import UNIT
from ...relation import Direction
from .statistic import Values

QUARTIC = 27.0 / 256.0
COEFFICIENT_UNITS = 64.0  # roundings of a coefficient, of its product with a moment, and of the sum of five of these
CELL_POINT_UNITS = 40.0  # of work: one value of T at one point
LEAST_SPREAD = 1e-9  # relative: a law that looks narrower is treated as this wide
EVENT_UNITS = 2.0**20  # roundings of a sum over all values of T
EVENTS_MAX = 4000
COMMON_SHARE = 1e-4  # of both laws: what is not common


class _Cells:
    """The values of T that count, and at most what the others have; bounds of what they add to a mean."""

    def __init__(self, values: Values, kept: NDArray[np.intp], rest: float) -> None:
        self.rest = rest
        self.moments = {order: enclosure[kept] for order, enclosure in values.moments.items()}
        self.log_most = values.log_most[kept]
        with np.errstate(all="ignore"):
            self.upper = {order: _above(moment) for order, moment in self.moments.items()}
            middle = {order: moment.value for order, moment in self.moments.items()}
            # A radius, and what coefficients and sums may round.
            self.spread = {
                order: moment.radius + COEFFICIENT_UNITS * UNIT * (abs(moment.value) + moment.radius)
                for order, moment in self.moments.items()
            }
            # About the mean and the variance of L given T; what is no number is left alone.
            self.mean = middle[1] / middle[0]
            self.variance = middle[2] / middle[0] - self.mean**2 if 2 in middle else np.full_like(self.mean, np.nan)

    def calls(self, a: float) -> float:
        """At or above E_Q(L - a)_+."""
        p = self.upper[1]
        compute_budget.spend(CELL_POINT_UNITS * p.size)
        with np.errstate(all="ignore"):
            share = round_down(a * np.exp(-self.log_most), 64.0 + 2.0 * abs(self.log_most))
            values = np.fmin(p, round_up(p * np.maximum(1.0 - share, 0.0), 8.0))
            for bound in self._polynomials(a, calls=True):
                values = np.fmin(values, bound)
        return round_up(upper_sum(np.maximum(values, 0.0)) + self.rest, 8.0)

    def puts(self, a: float) -> float:
        """At or above E_Q(a - L)_+."""
        q = self.upper[0]
        compute_budget.spend(CELL_POINT_UNITS * q.size)
        with np.errstate(all="ignore"):
            values = round_up(a * q, 4.0)
            for bound in self._polynomials(a, calls=False):
                values = np.fmin(values, bound)
        return round_up(upper_sum(np.maximum(values, 0.0)) + round_up(a * self.rest, 4.0), 8.0)

    def _polynomials(self, a: float, calls: bool) -> list[FloatArray]:
        """Means of what is above, each a polynomial of L; nan where it says nothing."""
        if 2 not in self.upper:
            return []
        gap = self.mean - a
        d = np.sqrt(gap * gap + np.maximum(self.variance, (LEAST_SPREAD * a) ** 2))
        # (y + d)^2 / (4 d), y = +-(L - a): the square of L - (a -+ d).
        centre = a - d if calls else a + d
        scale = 0.25 / d
        found = [self._mean([scale * centre * centre, -2.0 * scale * centre, scale])]
        if 4 in self.upper:
            e = self.mean
            square = e * e
            k = QUARTIC / (abs(gap) * gap * gap)
            power = [k * square * square, -4.0 * k * square * e, 6.0 * k * square, -4.0 * k * e, k]
            beyond = gap > 0.0 if calls else gap < 0.0  # where y itself is added
            side = np.where(beyond, 1.0 if calls else -1.0, 0.0)
            found.append(self._mean(power, constant=-side * a, slope=side))
        return found

    def _mean(
        self, coefficients: list[FloatArray], constant: FloatArray | float = 0.0, slope: FloatArray | float = 0.0
    ) -> FloatArray:
        """At or above the sum of coefficients times moments; those of y are added to the first two as they are.

        Moments are >= 0, so that a coefficient which is off by a share moves the sum by that share of its own term.
        """
        total, size = np.zeros_like(self.mean), np.zeros_like(self.mean)
        for order, extra in enumerate((np.asarray(constant), np.asarray(slope))):
            total = total + extra * self.moments[order].value
            size = size + abs(extra) * self.spread[order]
        for order, coefficient in enumerate(coefficients):
            total = total + coefficient * self.moments[order].value
            size = size + abs(coefficient) * self.spread[order]
        made = total + round_up(size, 64.0)
        return np.where(np.isfinite(made), made, np.nan)


class Conditional:
    """The bounds that values of a statistic give at any a > 0; tail: what may be counted with what is outside."""

    def __init__(self, values: Values, tail: float) -> None:
        self.q, self.p = values.moments[0], values.moments[1]
        self._by_p = _counting(values, self.p, values.p_outside, tail)
        self._by_q = _counting(values, self.q, values.q_outside, tail)

    def hockey_stick(self, a: float, direction: Direction) -> float:
        """At or above H(a) of (P', Q') for REMOVE, of (Q', P') for ADD."""
        if direction is Direction.ADD:  # E(1 - a L)_+ = a E(1/a - L)_+ = 1 - a + a E(L - 1/a)_+
            if a >= 1.0:
                value = a * self._by_q.puts(1.0 / a * (1.0 + 4.0 * UNIT))
            else:
                value = (1.0 - a) + a * self._by_p.calls(1.0 / a * (1.0 - 4.0 * UNIT))
        elif a >= 1.0:  # E(L - a)_+ = 1 - a + E(a - L)_+
            value = self._by_p.calls(a)
        else:
            value = (1.0 - a) + self._by_q.puts(a)
        return min(round_up(value, 8.0), 1.0)

    def losses(self, direction: Direction) -> tuple[float, float, float, float]:
        """About where the losses of nearly all outcomes lie, and, between, those of the common ones."""
        cells = self._by_p if direction is Direction.REMOVE else self._by_q
        with np.errstate(all="ignore"):
            sure = (cells.moments[0].lower > 0.0) & (cells.moments[1].lower > 0.0)
            losses = np.log(cells.mean[sure])
        if not losses.size:
            return -1.0, -0.5, 0.5, 1.0
        losses = losses if direction is Direction.REMOVE else -losses
        order = np.argsort(losses)
        both = (cells.moments[0].value + cells.moments[1].value)[sure][order]
        share = np.cumsum(both) / both.sum()
        common, rare = (
            losses[order][int(np.searchsorted(share, value))] for value in (COMMON_SHARE, 1.0 - COMMON_SHARE)
        )
        return float(losses.min()), float(common), float(rare), float(losses.max())

    def events(self, direction: Direction) -> list[tuple[float, float]]:
        """(probability of the first law, of the second one) of the sets of values where the ratio is largest.

        At least the one, at most the other; the largest masses come first in neither.
        """
        with np.errstate(all="ignore"):
            p = (np.maximum(-_above(-self.p), 0.0), _above(self.p))
            q = (np.maximum(-_above(-self.q), 0.0), _above(self.q))
            first, second = (p[0], q[1]) if direction is Direction.REMOVE else (q[0], p[1])
            kept = np.flatnonzero((first > 0.0) & np.isfinite(second))
            order = kept[np.argsort(-first[kept] / second[kept], kind="stable")]
        ones = round_down(np.cumsum(first[order]), EVENT_UNITS)
        others = round_up(np.cumsum(second[order]), EVENT_UNITS)
        places = _spread(ones, others)
        return [(float(ones[i]), float(others[i])) for i in places]


def _counting(values: Values, mass: Enclosure, outside: float, tail: float) -> _Cells:
    """The values that have more of a mass than the tail, all others together."""
    most = _above(mass)
    order = np.argsort(most, kind="stable")
    with np.errstate(all="ignore"):
        few = int(np.searchsorted(np.cumsum(most[order]), tail))
    return _Cells(values, np.sort(order[few:]), round_up(upper_sum(most[order[:few]]) + outside, 8.0))


def _spread(ones: FloatArray, others: FloatArray) -> list[int]:
    """Places of events that tell: where either law has grown by a share, and evenly between."""
    if len(ones) <= EVENTS_MAX:
        return list(range(len(ones)))
    with np.errstate(all="ignore"):
        length = np.log(ones / ones[0]) + np.cumsum(np.diff(ones, prepend=0.0)) * 20.0
        length = length + np.log(others / others[0]) + others * 20.0
    wanted = np.linspace(length[0], length[-1], EVENTS_MAX)
    return sorted({int(i) for i in np.searchsorted(length, wanted).clip(0, len(ones) - 1)})


def _above(moment: Enclosure) -> FloatArray:
    """At or above, as far as it is known."""
    return np.where(np.isfinite(moment.radius), moment.upper, np.inf)


def point_row(losses: Sequence[tuple[float, float, float, float]], near: Sequence[float], count: int) -> list[float]:
    """Rising ratios where a profile is asked: over all losses, more where outcomes are common, most next to some.

    losses: of each statistic the least and the largest, and between them those between which outcomes are common.
    """
    low, common, rare, high = (
        side(each) for side, each in zip((min, min, max, max), zip(*losses, strict=True), strict=True)
    )
    third = count // 3
    rows = [np.linspace(low, high, third), np.linspace(common, max(rare, *near), third)]
    for value in near:
        reach = 0.25 * max(abs(value), math.log(2.0))
        rows.append(value + np.linspace(-1.0, 1.0, third // len(near)) ** 3 * reach)
    values: list[float] = np.exp(np.unique(np.concatenate(rows))).tolist()
    return values
