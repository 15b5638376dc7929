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

from ...errors import UnsupportedMechanism
from ...facets.cumulant import cgf_of
from ...kernels.ball import BITS_START, upper_float, working_precision
from ..edges import edges
from ..evaluation import Term
from .bound import ContourBound
from .period import period_of
from .search import search
from .ways import ContourLaw, ContourTarget


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> ContourBound:
    """An evaluator for one direction, its contour through the saddle of the question.

    The law is summed whole where that is narrow enough, else in parts; in balls where float64 loses the digits.
    Raises UnsupportedMechanism where a cgf is unknown or the integrand is not proven to fall.
    """
    cgfs = [(cgf_of(pair), count) for pair, count in terms]
    with working_precision(BITS_START):
        infinite = edges(terms).mass
        mass = upper_float(infinite)
    if epsilon is None and (delta is None or not delta > mass):
        raise UnsupportedMechanism("delta is not above its infinite mass")
    log_delta = None if delta is None else math.log(delta - mass)
    law = ContourLaw(cgfs, infinite, period_of(terms))
    return search(law, ContourTarget(epsilon, delta, log_delta, accuracy, proof))
