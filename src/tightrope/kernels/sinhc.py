"""sinhc(x) = sinh(x)/x, and what it is the transform of: a density that grows like e^{s x} on [-e, e].

With A = s e and T = t e its phi(t) is sinhc(A + iT)/sinhc(A), and for every T >= S
|phi(t)|^2 <= (1 + sin^2(min(S, pi/2))/sinh^2 A)/(1 + (S/A)^2), which is |phi(S/e)|^2 up to S = pi/2.
Guarantee: exact and upper. Proof: docs/proofs/contour.md, section 9.
"""

from __future__ import annotations

import math

from flint import acb, arb

SERIES_BELOW = 0.05


def sinhc(x: acb) -> acb:
    """sinh(x)/x at any x."""
    return (acb(0, 1) * x).sinc()


def log_fall(reach: arb, turn: arb) -> arb:
    """At or above log |phi(t)| for every t from turn/e on, reach = A > 0."""
    ripple, slope = turn.min(arb.pi() / 2).sin() / reach.sinh(), turn / reach
    return ((ripple * ripple).log1p() - (slope * slope).log1p()) / 2


def log_sinhc(x: float) -> tuple[float, float, float]:
    """log sinhc(x) and its first two derivatives, approximately, for x > 0."""
    square = x * x
    if x < SERIES_BELOW:
        return square * (1 / 6 - square / 180), x * (1 / 3 - square / 45), 1 / 3 - square / 15
    small = math.exp(-2.0 * x)
    rest = -math.expm1(-2.0 * x)
    return x + math.log(0.5 * rest / x), (1.0 + small) / rest - 1.0 / x, 1.0 / square - 4.0 * small / (rest * rest)
