"""The contour engine: one integral of the cgf through its saddle point, every error term bounded.

For any c > 0 with K(c) finite, delta(eps) = w + (1/2 pi i) integral over Re z = c of e^{K(z) - z eps}/(z (z+1)) dz, and
the trapezoid rule with step h on c + i j h, j = -J..J, errs by aliases (never negative), truncation and node errors.
The cost does not depend on counts, and the precision is relative.
Guarantee: lower <= delta <= upper. Proof: docs/proofs/contour.md.
Reference: Zhu, Dong, Wang 2021, Alg. 1 (analytical Fourier accountant).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from .cgf_of import cgf_of
from .contour_newton import ContourEvaluator
from .contour_plan import plan_contour, saddle_of, sensitivity
from .edges import edges
from .evaluation import Term

NAME = "contour"
FLOAT_AIM, BALL_AIM = 1e-10, 1e-13  # relative errors that cost little enough to aim at in any case


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
    share = sensitivity(saddle, epsilon is not None)
    tolerances = [min(accuracy, BALL_AIM if proof else FLOAT_AIM) * share / 16.0, accuracy * share / 4.0]
    decays = [(cgf.ball_decay(saddle.tilt) if proof else cgf.decay(saddle.tilt), count) for cgf, count in cgfs]
    plan = plan_contour(cgfs, decays, saddle, tolerances)
    if proof:
        from .contour_ball import ball_contour

        return ball_contour(cgfs, plan, infinite)
    from .contour_float import float_contour

    return float_contour(cgfs, plan, mass)
