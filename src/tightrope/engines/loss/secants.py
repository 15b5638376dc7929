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
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flint import arb

from ...bound import Budget, budget_lines
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..evaluation import BallFormula, Evaluation
from . import tuning
from .cell import Cell

Profile = Callable[[float], Evaluation]


@dataclass(frozen=True, slots=True)
class Secant:
    """Bounds of S(x, y), and the lines of the budgets of H in its units."""

    lower: float
    upper: float
    lines: Mapping[str, float]

    @property
    def noise(self) -> float:
        """How much of the width is that of H."""
        return self.upper - self.lower


def secant(profile: Profile, x: float, y: float, second: bool) -> Secant:
    """S(x, y), or S'(x, y) of the second law."""
    near, far = profile(x), profile(y)
    with working_precision(BITS_START):
        gap = arb(y) - arb(x)
        share, width = (arb(1), arb(x).exp() * gap.expm1()) if second else ((-gap).exp(), -(-gap).expm1())
        low = (arb(near.lower) - share * arb(far.upper)) / width
        high = (arb(near.upper) - share * arb(far.lower)) / width
        lines = {
            name: upper_float((arb(_line(near, name)) + share * arb(_line(far, name))) / width)
            for name in near.budget.upper
        }
        return Secant(max(lower_float(low), 0.0), min(upper_float(high), 1.0), lines)


def _line(value: Evaluation, name: str) -> float:
    return value.budget.upper[name] + value.budget.lower[name]


def between(profile: Profile, t: float, reach: float, accuracy: float, second: bool) -> Evaluation:
    """The tail at t, between secants on both sides of it, no further to the left than reach."""
    right, left = _best(profile, t, math.inf, accuracy, second), _best(profile, t, -reach, accuracy, second)
    # A secant that ends far away is H itself, which is at most the tail of the first law.
    lower, upper = max(right.lower, 0.0 if second else profile(t).lower), left.upper
    lines = _with_rest({name: max(line, left.lines[name]) for name, line in right.lines.items()}, upper - lower)
    return Evaluation(min(lower, upper), upper, Budget(lines, lines))


def inside(profile: Profile, cell: Cell, second: bool) -> Evaluation:
    """The tail in a cell without a loss, 0 <= a < b: there secants are tangents."""
    a, b = cell
    steps = [step for step in (b - a, 1.0, 0.1, 0.01) if step <= b - a]
    found = [secant(profile, a, min(a + step, b), second) for step in steps]
    best = min(found, key=lambda each: each.noise)
    lower, upper = max(each.lower for each in found), min(each.upper for each in found)
    lines = _with_rest(best.lines, upper - lower)
    return Evaluation(min(lower, upper), upper, Budget(lines, lines))


def _best(profile: Profile, t: float, reach: float, accuracy: float, second: bool) -> Secant:
    """The secant from t on whose end is best, to the right for reach > 0, else to the left and no further than that."""
    at = profile(t)
    noise = (at.upper - at.lower) / at.upper if at.upper > 0.0 else 1.0
    least = max(tuning.STEP_LEAST * abs(t), 1e-300)
    step = min(max(math.sqrt(max(noise, 1e-16)), least), tuning.STEP_MOST)
    best: Secant | None = None
    for _ in range(tuning.TRIES):
        step = min(max(step, least), abs(reach), tuning.STEP_MOST)
        x, y = (t, t + step) if reach > 0.0 else (t - step, t)
        if not x < y:
            break
        found = secant(profile, x, y, second)
        if best is None or (found.lower > best.lower if reach > 0.0 else found.upper < best.upper):
            best = found
        centre, slope = found.lower + found.noise / 2.0, _curvature(profile, x, y, second, found)
        if found.noise + slope <= 0.1 * accuracy * centre:
            break
        if not (found.noise > 0.0 and slope > 0.0):
            step /= 8.0
            continue
        step *= min(max(math.sqrt(found.noise / slope), 1.0 / 64.0), 64.0)
    return Secant(0.0, 1.0, budget_lines()) if best is None else best


def _curvature(profile: Profile, x: float, y: float, second: bool, found: Secant) -> float:
    """About how much the slope changes from x to y: what the half nearer to x tells less of."""
    half = x + (y - x) / 2.0
    if not x < half < y:
        return 0.0
    nearer = secant(profile, x, half, second)
    return 2.0 * abs((nearer.lower + nearer.upper - found.lower - found.upper) / 2.0)


def _with_rest(lines: Mapping[str, float], width: float) -> Mapping[str, float]:
    """The lines of H, and what the distance of the secants adds to them."""
    rest = max(width - sum(lines.values()), 0.0)
    return budget_lines(**{**lines, "discretisation": lines["discretisation"] + rest})


def in_balls(formula: BallFormula, t: float, cell: Cell | None, below: bool) -> Evaluation:
    """P[l > t], or P[l <= t], from a formula for H in balls, at any real t: as sharp as precision makes it."""
    bits = tuning.BITS_FIRST
    while True:
        with working_precision(bits):
            found = _hull(formula, arb(t), None if cell is None else (arb(cell[0]), arb(cell[1])), bits)
            found = 1 - found if below else found
            if bits >= tuning.BITS_LAST or (found.is_finite() and found.rel_accuracy_bits() >= tuning.BITS_TOLD):
                low, high = max(lower_float(found), 0.0), min(upper_float(found), 1.0)
                lines = budget_lines(rounding=high - low)
                return Evaluation(min(low, high), high, Budget(lines, lines))
        bits *= 2


def _hull(formula: BallFormula, t: arb, cell: tuple[arb, arb] | None, bits: int) -> arb:
    """A ball around P[l > t]; outside of a cell around P[l >= t] too."""
    if cell is not None:
        return _secant_ball(formula, cell[0], cell[1])
    step = arb(2) ** -(bits // 4)
    return _secant_ball(formula, t, t + step).union(_secant_ball(formula, t - step, t))


def _secant_ball(formula: BallFormula, x: arb, y: arb) -> arb:
    return (formula.ball(x) - (x - y).exp() * formula.ball(y)) / -(x - y).expm1()
