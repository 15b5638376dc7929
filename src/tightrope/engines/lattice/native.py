"""Pairs whose losses already lie on one lattice: composed without any discretisation error.

All losses are (offset + i) step with the same step, a rational number or the logarithm of one: discrete Gaussian
(step D / sigma^2), discrete
Laplace (1 / scale), PureDP, ApproximateDP (epsilon), randomized response (log of its odds). Then delta is a sum over
the k-fold law,
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
from flint import arb, fmpq

from ... import work
from ...bound import Budget, budget_lines
from ...facets.lattice import LatticeStep
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ...kernels.enclosure import Enclosure, FloatArray
from ...kernels.ulps import UNIT
from ...pairs.discrete_gaussian.pair import DiscreteGaussianPair
from ...pairs.finite.discrete_laplace import DiscreteLaplaceLaw
from ...pairs.finite.pair import FinitePair, RationalLaw, ResponseLaw
from ..evaluation import Evaluation, Evaluator, Term
from .aim import narrowed
from .atoms import atoms, listable
from .compose import Total, compose
from .law import Side, tilted
from .sketch import sketch_of_atoms
from .tail_sum import dot, infinite_mass, weighted


class Positions(NamedTuple):
    """One use: P-masses at the losses (offset + place) step."""

    places: npt.NDArray[np.int64]
    masses: Enclosure
    offset: Fraction
    infinite: tuple[float, float]


def prepare(
    terms: Sequence[Term], epsilon: float | None, delta: float | None, accuracy: float
) -> NativeEvaluator | None:
    """An evaluator for terms on one lattice, None for others."""
    steps = {_step(pair) for pair, _ in terms}
    if len(steps) != 1 or None in steps:
        return None
    step = steps.pop()
    assert step is not None
    uses = [(_positions(term, step), count) for term, count in terms]
    with working_precision(BITS_START):
        width = float(step.ball())
    sketches = [
        (sketch_of_atoms(np.asarray((float(each.offset) + each.places) * width), each.masses.value), count)
        for each, count in uses
    ]
    target = narrowed(sketches, epsilon, delta, accuracy)
    totals = []
    for side in (Side.UP, Side.DOWN):
        parts = []
        for each, count in uses:
            length = int(each.places[-1] - each.places[0]) + 1
            work.hold(8.0 * length)
            masses = np.zeros(length)
            masses[each.places - each.places[0]] = np.maximum(
                each.masses.upper if side is Side.UP else each.masses.lower, 0.0
            )
            law = tilted(masses, int(each.places[0]), 1, target.theta * width, side)
            parts.append((law, count))
        totals.append(compose(parts, target.tolerance))
    infinite = (
        infinite_mass([(each.infinite[0], count) for each, count in uses], upward=False),
        infinite_mass([(each.infinite[1], count) for each, count in uses], upward=True),
    )
    offset = sum((count * each.offset for each, count in uses), Fraction(0))
    return NativeEvaluator(totals[0], totals[1], step, offset, infinite, target.theta, target.point.epsilon)


def _step(pair: object) -> LatticeStep | None:
    """The step of the pair's lattice."""
    if isinstance(pair, DiscreteGaussianPair):
        return LatticeStep(pair.sensitivity / Fraction(pair.sigma) ** 2, False) if listable(pair) else None
    if isinstance(pair, FinitePair):
        law = pair.law
        if isinstance(law, ResponseLaw) and law.epsilon > 0.0 and law.delta < 1.0:
            return LatticeStep(Fraction(law.epsilon), False)
        if isinstance(law, DiscreteLaplaceLaw):
            return LatticeStep(1 / Fraction(law.scale), False)
        if isinstance(law, RationalLaw):
            ratios = {p / q for p, q in zip(law.p, law.q, strict=True) if p and q}
            base = max(ratios, default=Fraction(1))
            if base > 1 and ratios <= {base, 1 / base, Fraction(1)}:
                return LatticeStep(base, True)
    return None


def _positions(pair: object, step: LatticeStep) -> Positions:
    """Where on the lattice the pair's atoms lie; atoms come by rising loss."""
    if isinstance(pair, DiscreteGaussianPair):
        listed = atoms(pair)
        if listed is not None:
            outputs = np.rint(np.asarray(listed.loss.value) / float(step.number) + pair.sensitivity / 2.0).astype(
                np.int64
            )
            return Positions(outputs, listed.p, Fraction(-pair.sensitivity, 2), (0.0, listed.infinite))
    assert isinstance(pair, FinitePair)
    floats = pair.floats
    with working_precision(BITS_START):
        width = float(step.ball())
        mass = pair.infinite_mass()
        infinite = (max(lower_float(mass), 0.0), upper_float(mass))
    return Positions(np.rint(floats.loss.value / width).astype(np.int64), floats.p, Fraction(0), infinite)


@dataclass(frozen=True)
class NativeEvaluator(Evaluator):
    """The k-fold law rounded up and rounded down."""

    upper: Total
    lower: Total
    step: LatticeStep
    offset: Fraction
    infinite: tuple[float, float]
    theta: float
    near: float = 1.0  # the epsilon that the tilt is for

    @property
    def arithmetic(self) -> str:
        return "float64"

    @property
    def parameters(self) -> Mapping[str, object]:
        with working_precision(BITS_START):
            step = float(self.step.ball())
        return {
            "native": True,
            "theta": self.theta,
            "step": step,
            "grids": [len(self.upper.masses)],
            "length": len(self.upper.masses),
        }

    def delta(self, epsilon: float) -> Evaluation:
        with working_precision(BITS_START):
            step = self.step.ball()
            place = arb(epsilon) / step - arb(fmpq(self.offset.numerator, self.offset.denominator))
            ends = lower_float(place), upper_float(place)
            widths = lower_float(step), upper_float(step)
            first = math.floor(ends[0]) + 1, math.floor(ends[1]) + 1
            beyond = upper_float((first[0] - place) * step), max(lower_float((first[1] - place) * step), 0.0)
        high, high_rounding = _sum(self.upper, first[0], beyond[0], widths[1])
        lost = _weight(self.upper, ends[0])
        low, low_rounding = _sum(self.lower, first[1], beyond[1], widths[0])
        aliases = weighted(_weight(self.lower, float(max(first[1], self.lower.start))), self.lower.outside)
        truncation = weighted(lost, self.upper.lost) + self.infinite[1] - self.infinite[0]
        wrap = weighted(lost, self.upper.outside)
        added = max(high, 0.0) + high_rounding + weighted(lost, self.upper.lost) + wrap
        top = self.infinite[1] + added * (1.0 + 16.0 * UNIT)
        taken = (low_rounding + aliases) * (1.0 + 16.0 * UNIT)
        bottom = self.infinite[0] + max(low * (1.0 - 16.0 * UNIT) - taken, 0.0)
        upper = math.nextafter(top, math.inf) if top < 1.0 else 1.0  # also where nothing is known
        lower = max(math.nextafter(bottom, 0.0), 0.0) if math.isfinite(bottom) else 0.0
        return Evaluation(
            float(lower),
            float(upper),
            Budget(
                budget_lines(truncation=truncation, wrap_around=wrap, rounding=high_rounding),
                budget_lines(wrap_around=aliases, rounding=low_rounding),
            ),
        )


def _sum(total: Total, first: int, beyond: float, step: float) -> tuple[float, float]:
    """Sum of e^(log_scale - slope j) (1 - e^-x_j) T_j from the place first on, x_j = beyond + (j - first) step."""
    skipped = max(first - total.start, 0)
    masses = total.masses[skipped:]
    if not len(masses):
        return 0.0, 0.0
    ahead = np.arange(len(masses), dtype=np.float64) + float(total.start + skipped - first)
    gains: FloatArray = -np.expm1(-(beyond + ahead * step))
    top = float(total.log_scale - Fraction(total.slope) * skipped)
    falls: FloatArray = total.slope * np.arange(len(masses), dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(top - falls) * gains
    return dot(weights, masses, 32.0 + 2.0 * abs(top) + 4.0 * falls, total.radius)


def _weight(total: Total, place: float) -> float:
    """e^(log_scale - slope (place - start)), rounded up."""
    exponent = float(total.log_scale - Fraction(total.slope) * (Fraction(place) - total.start))
    if exponent > 709.0:
        return math.inf
    return math.exp(exponent) * (1.0 + (16.0 + 4.0 * abs(exponent)) * UNIT) + 5e-324
