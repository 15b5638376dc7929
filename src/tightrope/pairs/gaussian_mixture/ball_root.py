"""Where the likelihood ratio of a mixture of shifts takes a value, in balls.

With G and T as in numbers, G(x) - T = (x - root) s for some slope s between mu and D mu: whatever x is tried, the root
lies in x - (G(x) - T) [1/(D mu), 1/mu].
Guarantee: the ball contains the root. Proof: docs/proofs/gaussian_mixture.md, section 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb, ctx

if TYPE_CHECKING:
    from ...facets.hits import HitLaw

GUESS_STEPS = 60
FIRST_BITS = 40  # that steps in doubles find


def ball_root(mu: arb, hits: HitLaw, t: arb) -> arb | None:
    """x with log g(x) = t, -inf where t is below log w_0; None where that cannot be told."""
    target = _log_excess(hits, t)
    if target is None or not target.is_finite():
        return target
    weights = hits.weights()[1:]
    logs = [weight.log() - mu * mu * ((index + 1) ** 2) / 2 for index, weight in enumerate(weights)]
    x = arb(_guess(float(mu.mid()), [float(log.mid()) for log in logs], float(target.mid())))
    middle, bits = target.mid(), FIRST_BITS
    while bits < ctx.prec:
        value, slope = _value_and_slope(mu, logs, x)
        x = (x - (value - middle) / slope).mid()
        bits *= 2
    rest = _value_and_slope(mu, logs, x)[0] - target
    return x - (rest / mu).union(rest / (mu * len(logs)))


def _log_excess(hits: HitLaw, t: arb) -> arb | None:
    """T = log(e^t - w_0) = t + log(1 - e^(log w_0 - t))."""
    above = t - hits.log_none()
    if above > 0:
        return t + (-(-above).expm1()).log()
    return arb.neg_inf() if above < 0 else None


def _value_and_slope(mu: arb, logs: list[arb], x: arb) -> tuple[arb, arb]:
    """G(x), and about its slope."""
    exponents = [log + mu * x * (index + 1) for index, log in enumerate(logs)]
    top = max(exponents, key=lambda exponent: float(exponent.mid())).mid()
    terms = [(exponent - top).exp() for exponent in exponents]
    total = sum(terms, arb(0))
    slope = sum((term.mid() * (index + 1) for index, term in enumerate(terms)), arb(0)) * mu.mid() / total.mid()
    return top + total.log(), slope.mid()


def _guess(mu: float, logs: list[float], target: float) -> float:
    """The root in plain floats, by steps that fall to it."""
    x = min((target - log) / ((index + 1) * mu) for index, log in enumerate(logs))
    for _ in range(GUESS_STEPS):
        exponents = [log - target + mu * x * (index + 1) for index, log in enumerate(logs)]
        terms = [math.exp(min(exponent, 700.0)) for exponent in exponents]
        total = math.fsum(terms)
        step = math.log(total) * total / (mu * math.fsum(term * (index + 1) for index, term in enumerate(terms)))
        x -= step
        if abs(step) <= 2.0**-FIRST_BITS * (1.0 + abs(x)):
            break
    return x
