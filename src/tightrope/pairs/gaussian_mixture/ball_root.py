"""Where the likelihood ratio of a mixture of shifts takes a value, in balls.

With G and T as in numbers, G(x) - T = (x - root) s for some slope s between the least shift, a mu, and the largest,
D mu: whatever x is tried, the root lies in x - (G(x) - T) [1/(D mu), 1/(a mu)].
Guarantee: the ball contains the root. Proof: docs/proofs/gaussian_mixture.md, section 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb, ctx

from ...facets.participation_law import quotient

if TYPE_CHECKING:
    from ...facets.participation_law import ParticipationLaw

GUESS_STEPS = 60
FIRST_BITS = 40  # that steps in doubles find


def ball_root(mu: arb, hits: ParticipationLaw, t: arb) -> arb | None:
    """x with log g(x) = t, -inf where t is below log w_0; None where that cannot be told."""
    target = _log_excess(hits, t)
    if target is None or not target.is_finite():
        return target
    shifts = [mu * quotient(count) for count in hits.counts()[1:]]
    logs = [weight.log() - shift * shift / 2 for weight, shift in zip(hits.weights()[1:], shifts, strict=True)]
    plain = [(float(log.mid()), float(shift.mid())) for log, shift in zip(logs, shifts, strict=True)]
    x = arb(_guess(plain, float(target.mid())))
    middle, bits = target.mid(), FIRST_BITS
    while bits < ctx.prec:
        value, slope = _value_and_slope(shifts, logs, x)
        x = (x - (value - middle) / slope).mid()
        bits *= 2
    rest = _value_and_slope(shifts, logs, x)[0] - target
    return x - (rest / shifts[0]).union(rest / shifts[-1])


def _log_excess(hits: ParticipationLaw, t: arb) -> arb | None:
    """T = log(e^t - w_0) = t + log(1 - e^(log w_0 - t))."""
    if hits.sure:
        return t
    above = t - hits.log_none()
    if above > 0:
        return t + (-(-above).expm1()).log()
    return arb.neg_inf() if above < 0 else None


def _value_and_slope(shifts: list[arb], logs: list[arb], x: arb) -> tuple[arb, arb]:
    """G(x), and about its slope."""
    exponents = [log + shift * x for log, shift in zip(logs, shifts, strict=True)]
    top = max(exponents, key=lambda exponent: float(exponent.mid())).mid()
    terms = [(exponent - top).exp() for exponent in exponents]
    total = sum(terms, arb(0))
    slope = sum((term.mid() * shift.mid() for term, shift in zip(terms, shifts, strict=True)), arb(0)) / total.mid()
    return top + total.log(), slope.mid()


def _guess(known: list[tuple[float, float]], target: float) -> float:
    """The root in plain floats, by steps that fall to it; known: the log of each term at 0, and its shift."""
    x = min((target - log) / shift for log, shift in known)
    for _ in range(GUESS_STEPS):
        exponents = [log - target + shift * x for log, shift in known]
        top = max(exponents)  # far from 0 where doubles cannot tell T from its neighbours
        terms = [(math.exp(exponent - top), shift) for exponent, (_, shift) in zip(exponents, known, strict=True)]
        total = math.fsum(term for term, _ in terms)
        step = (top + math.log(total)) * total / math.fsum(term * shift for term, shift in terms)
        x -= step
        if abs(step) <= 2.0**-FIRST_BITS * (1.0 + abs(x)):
            break
    return x
