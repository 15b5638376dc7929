"""Losses that lie on one lattice already: composed without any discretisation error.

All total losses are base + n step, the step a rational number or the logarithm of one (losses/atoms.py): discrete
Gaussian, discrete Laplace, PureDP, ApproximateDP, randomized response, and their mixes where steps have a common part.
Then delta is a sum over the k-fold law,
    delta = w + sum over l_j > eps of P_j (1 - e^(eps - l_j)),
bounded above and below by two laws that differ in the direction of their roundings only.
Guarantee: upper and lower. Proof: docs/proofs/lattice.md, lemma 9.
Reference: Canonne, Kamath, Steinke 2020, Thm 7; Kairouz, Oh, Viswanath 2017, Thm 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from ...losses.atoms import Lattice, SumLattice, ratio_ball, sum_lattice
from ...losses.pair import Pair
from ...numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ...numerics.enclosures import Enclosure, FloatArray
from ...numerics.rounding import UNIT
from ...numerics.search import Inverse
from ...values import compute_budget
from ...values.bound import ErrorBreakdown, error_lines
from ...values.errors import agreed
from ..fallback_bounds import lower_by_events
from ..selection import Evaluation, Evaluator, SelfInverse, Term, inverse
from ..tuning import NATIVE_LENGTH_MAX, NEWTON_STEPS, WINDOW_MAX
from .compose import (
    LatticeLaw,
    LowerSum,
    Side,
    Total,
    UpperSum,
    compose,
    dot,
    ends,
    exp_above,
    infinite_mass,
    tilted,
    weighted,
    weights_from,
)
from .grid_plan import narrowed, sketch_of_atoms


class Placed(NamedTuple):
    """One use: P-masses at the places n of its own lattice, by rising place, and its mass of infinite loss."""

    places: npt.NDArray[np.int64]
    masses: Enclosure
    infinite: tuple[float, float]
    base: float  # about where place 0 lies

    def law(self, slope: float, side: Side) -> LatticeLaw:
        """Tilted, every mass rounded to one side."""
        length = int(self.places[-1] - self.places[0]) + 1
        compute_budget.hold(8.0 * length)
        masses = np.zeros(length)
        rounded = self.masses.upper if side is Side.UP else self.masses.lower
        masses[self.places - self.places[0]] = np.maximum(rounded, 0.0)
        return tilted(masses, int(self.places[0]), 1, slope, side)


def prepare(
    terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float
) -> NativeEvaluator | None:
    """An evaluator for terms on one lattice; None for others, and where the lattice is too fine."""
    lattices = [(pair.lattice(), count) for pair, count in terms]
    lattice = sum_lattice(lattices)
    if lattice is None:
        return None
    with working_precision(BITS_START):
        step, base = lattice.step.ball(), lattice.base()
        width = float(step)
    uses = []
    for (pair, count), (own, _) in zip(terms, lattices, strict=True):
        assert own is not None  # or there would be no lattice of all
        placed = _placed(pair, own, width)
        if placed is None:
            return None
        uses.append((placed, count))
    sketches = [
        (sketch_of_atoms(np.asarray(each.base + each.places * width), each.masses.value), count) for each, count in uses
    ]
    target = narrowed(sketches, epsilon, delta, accuracy)
    if target.window > WINDOW_MAX * width:
        return None
    totals = [
        compose([(each.law(target.theta * width, side), count) for each, count in uses], target.tolerance)
        for side in (Side.UP, Side.DOWN)
    ]
    infinite = (
        infinite_mass([(each.infinite[0], count) for each, count in uses], upward=False),
        infinite_mass([(each.infinite[1], count) for each, count in uses], upward=True),
    )
    return NativeEvaluator(totals[0], totals[1], step, base, lattice, infinite, target.theta, target.point.epsilon)


def _placed(pair: Pair, own: Lattice, width: float) -> Placed | None:
    """Where on its lattice the atoms lie: that they lie on it is known, so the only place near a loss is its own."""
    listed = pair.atoms()
    if listed is None:
        return None
    with working_precision(BITS_START):
        base = float(ratio_ball(own.shift) + ratio_ball(own.factor).log())
    loss = listed.loss.value
    near = np.rint((loss - base) / width)
    doubt = listed.loss.radius + 8.0 * UNIT * (abs(loss) + abs(base)) + abs(loss - base - near * width)
    # Doubles of this size are whole numbers and hold every sum of them.
    if not (len(loss) and np.all(doubt < 0.5 * width) and np.all(np.diff(near) > 0.0) and np.all(abs(near) < 2.0**50)):
        return None
    if near[-1] - near[0] >= NATIVE_LENGTH_MAX:
        return None
    return Placed(near.astype(np.int64), listed.p, listed.infinite_ends(), base)


@dataclass(frozen=True)
class NativeEvaluator(Evaluator):
    """The k-fold law rounded up and rounded down."""

    arithmetic = "float64"
    upper: Total
    lower: Total
    step: arb
    base: arb  # the loss of place 0
    lattice: SumLattice  # where both are exact
    infinite: tuple[float, float]
    theta: float
    near: float = 1.0  # the epsilon that the tilt is for

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "native": True,
            "theta": self.theta,
            "step": float(self.step),
            "lattice": {
                "step": str(self.lattice.step.number),
                "logarithm": self.lattice.step.logarithm,
                "shift": str(self.lattice.shift),
                "factors": [[str(factor), count] for factor, count in self.lattice.factors],
            },
            "grids": [len(self.upper.masses)],
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        with working_precision(BITS_START):
            step, place = self.step, (arb(epsilon) - self.base) / self.step
            ends_at = lower_float(place), upper_float(place)
            widths = lower_float(step), upper_float(step)
            first = math.floor(ends_at[0]) + 1, math.floor(ends_at[1]) + 1
            beyond = upper_float((first[0] - place) * step), max(lower_float((first[1] - place) * step), 0.0)
        lost = _weight(self.upper, ends_at[0])
        high = UpperSum(
            *_sum(self.upper, first[0], beyond[0], widths[1]),
            lost=weighted(lost, self.upper.lost),
            outside=weighted(lost, self.upper.outside),
        )
        aliases = weighted(_weight(self.lower, float(max(first[1], self.lower.start))), self.lower.outside)
        low = LowerSum(*_sum(self.lower, first[1], beyond[1], widths[0]), lost=0.0, outside=aliases)
        lower, upper = ends(self.infinite, low, high)
        truncation = high.lost + self.infinite[1] - self.infinite[0]
        above = error_lines(truncation=truncation, wrap_around=high.outside, rounding=high.rounding)
        return Evaluation(lower, upper, ErrorBreakdown(above, error_lines(wrap_around=aliases, rounding=low.rounding)))


def _sum(total: Total, first: int, beyond: float, step: float) -> tuple[float, float]:
    """Sum of e^(log_scale - slope j) (1 - e^-x_j) T_j from the place first on, x_j = beyond + (j - first) step."""
    skipped = max(first - total.start, 0)
    masses = total.masses[skipped:]
    if not len(masses):
        return 0.0, 0.0
    ahead = np.arange(len(masses), dtype=np.float64) + float(total.start + skipped - first)
    gains: FloatArray = -np.expm1(-(beyond + ahead * step))
    weights, units = weights_from(total, skipped, Fraction(0))
    return dot(weights * gains, masses, units + 16.0, total.radius)


def _weight(total: Total, place: float) -> float:
    """e^(log_scale - slope (place - start)), rounded up."""
    return exp_above(total.log_scale - Fraction(total.slope) * (Fraction(place) - total.start))


# The intersection of what several grids and the events say: each interval holds, so all of them do.
#
# lower = max of the lower ends, upper = min of the upper ones.
# Guarantee: upper and lower, as those of its parts. Proof: docs/proofs/lattice.md, lemma 11.


@dataclass(frozen=True)
class Narrowest(SelfInverse):
    """Evaluators of one composition; events are asked where these leave more than `wanted` of delta open."""

    evaluators: tuple[Evaluator, ...]
    terms: tuple[Term, ...]
    wanted: float
    near: float  # an epsilon close to the question
    slope: float  # about that of -log delta there
    finest: float  # relative width that a search for epsilon aims at in any case

    @property
    def arithmetic(self) -> str:
        return "float64" if any(evaluator.arithmetic == "float64" for evaluator in self.evaluators) else "ball"

    @property
    def parameters(self) -> Mapping[str, object]:
        """Those of the evaluator with the best upper end; of another one with the best lower end, under that name."""
        first, *others = self.evaluators
        lower = [{"arithmetic": evaluator.arithmetic, **evaluator.parameters} for evaluator in others[-1:]]
        return {**first.parameters, **({"lower": lower[0]} if lower else {})}

    def quickly(self, epsilon: float) -> Evaluation:
        return self._met(epsilon, math.inf)

    def delta(self, epsilon: float) -> Evaluation:
        return self._met(epsilon, self.wanted)

    def _met(self, epsilon: float, wanted: float) -> Evaluation:
        """With events where more than wanted is open."""
        found = [evaluator.delta(epsilon) for evaluator in self.evaluators]
        high, low = (
            min(found, key=lambda evaluation: evaluation.upper),
            max(found, key=lambda evaluation: evaluation.lower),
        )
        upper, lower, lower_lines = high.upper, low.lower, low.budget.lower
        if upper - lower > wanted * upper:
            event = lower_by_events(self.terms, epsilon)
            if event > lower:
                lower, lower_lines = event, error_lines()
        agreed(lower, upper, "one grid", "another grid")
        if high is low and lower == low.lower:
            return high
        # Ends of different origin: neither knows the other's errors, so the whole width is put down to the grids.
        width = error_lines(discretisation=max(upper - lower, 0.0))
        return Evaluation(lower, upper, ErrorBreakdown(_wider(high.budget.upper, width), _wider(lower_lines, width)))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        tolerance = min(self.finest, accuracy / 8.0)
        high = self._end(delta, 0.0, ceiling, tolerance, self.near, upper=True)
        low = None if high is None else self._end(delta, 0.0, high[0], tolerance, high[0], upper=False)
        if high is None or low is None:
            return inverse(self, delta, ceiling, tolerance, self.near)
        return Inverse(low[0], high[0], low[1], high[1])

    def _end(
        self, delta: float, low: float, high: float, tolerance: float, start: float, upper: bool
    ) -> tuple[float, Evaluation] | None:
        """The innermost epsilon found between low and high that proves one end, by Newton; None where none was found.

        With the upper end of delta at or below the level, epsilon is at most the point; with its lower end above the
        level, at least.
        """
        side = 1.0 if upper else -1.0
        point, slope = start, self.slope
        before: tuple[float, float] | None = None
        best: tuple[float, Evaluation] | None = None
        for _ in range(NEWTON_STEPS):
            value = self.quickly(point) if upper else self.delta(point)  # events tell nothing of upper ends
            end = value.upper if upper else value.lower
            if not (end > 0.0 and delta > 0.0):
                break
            gap = math.log(end) - math.log(delta)
            if before is not None and point != before[0]:
                secant = (before[1] - gap) / (point - before[0])
                slope = min(max(secant, slope / 16.0), slope * 16.0)
            margin = max(tolerance * point * slope / 4.0, 1e-13)  # of log delta: where to aim beyond the level
            proven = value.upper <= delta if upper else value.lower > delta
            if proven:
                best = point, value
            if proven and abs(gap) <= 2.0 * margin:
                break
            if gap > 0.0:
                low = max(low, point)
            else:
                high = min(high, point)
            before = point, gap
            point += (gap + side * margin) / slope
            if not low < point < high:
                point = low + (high - low) / 2.0 if high < math.inf else 2.0 * low
            if not low < point < high:
                break
        return best


def _wider(lines: Mapping[str, float], least: Mapping[str, float]) -> Mapping[str, float]:
    return error_lines(**{name: max(value, least[name]) for name, value in lines.items()})


def best_ends(evaluators: tuple[Evaluator, ...], epsilon: float) -> tuple[Evaluator, ...]:
    """The evaluator with the least upper end at epsilon, and the one with the largest lower end."""
    values = [(evaluator, evaluator.delta(epsilon)) for evaluator in evaluators]
    high, low = min(values, key=lambda each: each[1].upper), max(values, key=lambda each: each[1].lower)
    return (high[0],) if high[0] is low[0] else (high[0], low[0])


def relative_width(value: Evaluation) -> float:
    """(upper - lower) / upper; 0 where delta is known to be 0."""
    return (value.upper - value.lower) / value.upper if value.upper > 0.0 else 0.0


def rounding_rules(value: Evaluation) -> bool:
    """Whether rounding is the widest line of the interval: then a finer grid does not help."""
    upper, lower = value.budget.upper, value.budget.lower
    rounding = upper["rounding"] + lower["rounding"]
    return not math.isfinite(rounding) or rounding > max(upper["discretisation"], lower["discretisation"])
