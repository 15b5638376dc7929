"""Tails from secants of the profile, which is convex.

G(u) = u H(1/u) = E_Q[(u e^l - 1)_+] + u P[l = inf] is convex, with the slopes P[l > t] on the left of u = e^-t and
P[l >= t] on its right. So for x < y
    P[l >= y] <= S(x, y) <= P[l > x],   S(x, y) = (H(e^x) - e^(x - y) H(e^y)) / (1 - e^(x - y)),
and likewise for the second law, H itself being convex in alpha:
    Q[l >= y] <= S'(x, y) <= Q[l > x],  S'(x, y) = (H(e^x) - H(e^y)) / (e^y - e^x).
P[l > t] and P[l >= t] both lie between S(t, t + h) and S(t - h, t): where t has mass of its own, that is their hull.
Guarantee: lower and upper, whatever bounds H and however far h is. Proof: docs/proofs/loss.md, section 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress

from flint import arb

from ...bound import ErrorBreakdown, error_lines
from ...errors import WorkExhausted, agreed
from ...kernels.ball import lower_float, upper_float, working_precision
from ..evaluation import BallFormula, Evaluation, Evaluator
from . import tuning
from .cell import Cell

NOTHING = Evaluation(0.0, 1.0, ErrorBreakdown())


def between(evaluator: Evaluator, t: float, reach: float, accuracy: float, second: bool) -> Evaluation:
    """The tail at t, between secants on both sides of it, no further to the left than reach."""
    right, left = _best(evaluator, t, math.inf, accuracy, second), _best(evaluator, t, -reach, accuracy, second)
    # A secant that ends far away is H itself, which is at most the tail of the first law.
    lower, upper = right.lower, left.upper
    if not second and lower < tuning.POOR * upper:
        lower = max(lower, evaluator.delta(t).lower)
    above, below = (_with_rest(lines, upper - lower) for lines in (left.budget.upper, right.budget.lower))
    return Evaluation(
        *agreed(lower, upper, "secants to the right", "secants to the left"), ErrorBreakdown(above, below)
    )


def inside(evaluator: Evaluator, cell: Cell, second: bool) -> Evaluation:
    """The tail in a cell without a loss, 0 <= a < b: there secants are tangents."""
    a, b = cell
    ends = [b, *(a + step for step in tuning.CELL_STEPS if a < a + step < b)]
    found = [evaluator.secant(a, end, second) for end in ends]
    best = min(found, key=_width)
    lower, upper = max(evaluation.lower for evaluation in found), min(evaluation.upper for evaluation in found)
    return Evaluation(*agreed(lower, upper, "one secant", "another secant"), best.budget)


def _best(evaluator: Evaluator, t: float, reach: float, accuracy: float, second: bool) -> Evaluation:
    """The secant from t on whose end is best, to the right for reach > 0, else to the left and no further than that."""
    best, least = NOTHING, max(tuning.STEP_MIN * abs(t), tuning.DISTANCE_MIN)
    with suppress(WorkExhausted):  # what was found holds
        at = evaluator.quickly(t)
        noise = (at.upper - at.lower) / at.upper if at.upper > 0.0 else 1.0
        step = math.sqrt(max(noise, tuning.NOISE_MIN))
        for _ in range(tuning.TRIES):
            step = _power_of_two(min(max(step, least), abs(reach), tuning.STEP_MAX))
            x, y = (t, t + step) if reach > 0.0 else (t - step, t)
            if not x < y:
                break
            evaluation = evaluator.secant(x, y, second)
            if evaluation.lower > best.lower if reach > 0.0 else evaluation.upper < best.upper:
                best = evaluation
            noise, slope = _width(evaluation), _curvature(evaluator, x, y, second, evaluation)
            if noise + slope <= tuning.NARROW * accuracy * (evaluation.lower + noise / 2.0):
                break
            step *= min(max(math.sqrt(noise / slope), 1.0 / 64.0), 64.0) if noise > 0.0 < slope else 0.125
    return best


def _power_of_two(step: float) -> float:
    """At or below the step: so t - step and t + step are doubles, mostly."""
    return math.ldexp(1.0, math.frexp(step)[1] - 1)


def _curvature(evaluator: Evaluator, x: float, y: float, second: bool, evaluation: Evaluation) -> float:
    """About how much the slope changes from x to y: what the half nearer to x tells less of."""
    half = x + (y - x) / 2.0
    if not x < half < y:
        return 0.0
    nearer = evaluator.secant(x, half, second)
    return 2.0 * abs(nearer.middle - evaluation.middle)


def _width(value: Evaluation) -> float:
    return value.upper - value.lower


def _with_rest(lines: Mapping[str, float], width: float) -> Mapping[str, float]:
    """The lines of H, and what the distance of the secants adds to them."""
    rest = max(width - sum(lines.values()), 0.0)
    return error_lines(**{**lines, "discretisation": lines["discretisation"] + rest})


def in_balls(formula: BallFormula, t: float, cell: Cell | None, below: bool) -> Evaluation:
    """P[l > t], or P[l <= t], from a formula for H in balls, at any real t: as sharp as precision makes it."""
    bits = tuning.BITS_FIRST
    while True:
        with working_precision(bits):
            value = _hull(formula, arb(t), None if cell is None else (arb(cell[0]), arb(cell[1])), bits)
            value = 1 - value if below else value
            if bits >= tuning.BITS_LAST or (value.is_finite() and value.rel_accuracy_bits() >= tuning.BITS_TOLD):
                low, high = max(lower_float(value), 0.0), min(upper_float(value), 1.0)
                lines = error_lines(rounding=high - low)
                return Evaluation(*agreed(low, high, "a tail", "the same tail"), ErrorBreakdown(lines, lines))
        bits *= 2


def _hull(formula: BallFormula, t: arb, cell: tuple[arb, arb] | None, bits: int) -> arb:
    """A ball around P[l > t]; outside of a cell around P[l >= t] too."""
    if cell is not None:
        return _secant_ball(formula, cell[0], cell[1])
    step = arb(2) ** -(bits // 4)
    return _secant_ball(formula, t, t + step).union(_secant_ball(formula, t - step, t))


def _secant_ball(formula: BallFormula, x: arb, y: arb) -> arb:
    return (formula.ball(x) - (x - y).exp() * formula.ball(y)) / -(x - y).expm1()
