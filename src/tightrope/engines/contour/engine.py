"""The contour engine: one integral of the cgf through its saddle point, every error term bounded.

For any c > 0 with K(c) finite, delta(eps) = w + (1/2 pi i) integral over Re z = c of e^{K(z) - z eps}/(z (z+1)) dz, and
the trapezoid rule with step h on c + i j h, j = -J..J, errs by aliases (never negative), truncation and node errors.
The cost does not depend on counts, and the precision is relative.
Guarantee: lower <= delta <= upper. Proof: docs/proofs/contour.md.
Reference: Zhu, Dong, Wang 2021, Alg. 1 (analytical Fourier accountant).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from flint import arb

from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..edges import edges
from ..evaluation import Term
from .cgf import Terms
from .cgf_of import cgf_of
from .newton import ContourEvaluator
from .plan import BALL_WORK_MOST, FLOAT_WORK_MOST, plan_contour, saddle_of, sensitivity
from .saddle import Saddle, find_saddle

NAME = "contour"
FLOAT_AIM, BALL_AIM = 1e-10, 1e-13  # relative errors that cost little enough to aim at in any case
CORRECTIONS_MOST = 3
CORRECTION_LEAST = 2.5  # in units of log delta


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> ContourEvaluator:
    """An evaluator for one direction, its contour through the saddle of the question.

    Raises UnsupportedMechanism where a cgf is unknown or the integrand is not proven to fall.
    """
    cgfs = [(cgf_of(pair), count) for pair, count in terms]
    with working_precision(BITS_START):
        infinite = edges(terms).mass
        mass = (max(lower_float(infinite), 0.0), upper_float(infinite))
    saddle = saddle_of(cgfs, epsilon, delta, mass[1])
    evaluator = _through(cgfs, infinite, mass, saddle, accuracy, epsilon is not None, proof)
    for _ in range(CORRECTIONS_MOST):
        better = _corrected(cgfs, evaluator, saddle, delta if epsilon is None else None, accuracy)
        if better is None:
            break
        saddle = better
        evaluator = _through(cgfs, infinite, mass, saddle, accuracy, epsilon is not None, proof)
    return evaluator


def _through(
    cgfs: Terms, infinite: arb, mass: tuple[float, float], saddle: Saddle, accuracy: float, for_delta: bool, proof: bool
) -> ContourEvaluator:
    """The evaluator whose contour runs through this saddle."""
    share = sensitivity(saddle, for_delta)
    tolerances = [min(accuracy, BALL_AIM if proof else FLOAT_AIM) * share / 16.0, accuracy * share / 4.0]
    decays = [(cgf.ball_decay(saddle.tilt) if proof else cgf.decay(saddle.tilt), count) for cgf, count in cgfs]
    plan = plan_contour(cgfs, decays, saddle, tolerances, BALL_WORK_MOST if proof else FLOAT_WORK_MOST)
    if proof:
        from .ball import ball_contour

        return ball_contour(cgfs, plan, infinite)
    from .float import float_contour

    return float_contour(cgfs, plan, mass)


def _corrected(
    cgfs: Terms, evaluator: ContourEvaluator, saddle: Saddle, delta: float | None, accuracy: float
) -> Saddle | None:
    """A saddle for what was found, where that is wide and far from what the saddle promised; None where it is not.

    The saddle-point estimate fails where rare large losses and many small ones meet.
    """
    at = saddle.epsilon if delta is None else evaluator.solve(delta)[0]
    log_delta = evaluator.slope(at)[0]
    log_delta = log_delta if math.isfinite(log_delta) else saddle.log_delta - 10.0
    missed = saddle.tilt * abs(at - saddle.epsilon) + abs(log_delta - saddle.log_delta)
    if missed < CORRECTION_LEAST:
        return None
    found = evaluator.delta(at) if delta is None else evaluator.epsilon(delta)
    if found.upper - found.lower <= accuracy * found.upper:
        return None
    return replace(find_saddle(cgfs, at, None), log_delta=log_delta)
