"""The contour engine: one integral of the cgf through its saddle point, every error term bounded.

For any c > 0 with K(c) finite, delta(eps) = w + (1/2 pi i) integral over Re z = c of e^{K(z) - z eps}/(z (z+1)) dz, and
the trapezoid rule with step h on c + i j h, j = -J..J, errs by aliases (never negative), truncation and node errors.
The cost does not depend on counts, and the precision is relative.
Guarantee: lower <= delta <= upper. Proof: docs/proofs/contour.md.
Reference: Zhu, Dong, Wang 2021, Alg. 1 (analytical Fourier accountant).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from ... import work
from ...errors import Refusal, UnsupportedMechanism, WorkExhausted
from ...facets.cumulant import cgf_of
from ...kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..edges import edges
from ..evaluation import Term
from .newton import ContourEvaluator
from .period import period_of
from .plan import BALL_WORK_MOST, FLOAT_WORK_MOST
from .search import LOOSE, MODERATE, ContourSearch, Trial, narrower


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> ContourEvaluator:
    """An evaluator for one direction, its contour through the saddle of the question.

    The law is summed whole where that is narrow enough, else in parts; in balls where float64 loses the digits.
    Raises UnsupportedMechanism where a cgf is unknown or the integrand is not proven to fall.
    """
    cgfs = [(cgf_of(pair), count) for pair, count in terms]
    with working_precision(BITS_START):
        infinite = edges(terms).mass
        mass = (max(lower_float(infinite), 0.0), upper_float(infinite))
    if epsilon is None and (delta is None or not delta > mass[1]):
        raise UnsupportedMechanism("this composition", "delta is not above its infinite mass")
    log_delta = None if delta is None else math.log(delta - mass[1])
    most = BALL_WORK_MOST if proof else FLOAT_WORK_MOST
    search = ContourSearch(cgfs, infinite, mass, epsilon, delta, log_delta, accuracy, proof, most, period_of(terms))
    search = replace(search, loose=accuracy >= LOOSE)
    best: Trial | None = None
    refusals: list[UnsupportedMechanism | WorkExhausted] = []
    ways = deque(search.ways())
    while ways:
        way, choose = ways.popleft()
        try:
            with work.part(work.WAY_SHARE):
                found = way.settle(choose)
        except (UnsupportedMechanism, WorkExhausted) as refusal:
            refusals.append(refusal)
            continue
        except OverflowError:
            refusals.append(
                UnsupportedMechanism(
                    "this composition", "its numbers leave the range of float64; try proof", Refusal.NEEDS_BALLS
                )
            )
            continue
        best = narrower(best, found)
        if best.width <= accuracy:
            break
        if found.lost_digits and choose is ContourSearch.whole:
            ways.appendleft((way.in_balls(MODERATE), choose))
        elif found.lost_digits:
            ways.append((way.in_balls(), choose))  # after all that is cheaper
    if best is None:
        raise next((each for each in refusals if isinstance(each, WorkExhausted)), refusals[0])
    return best.evaluator
