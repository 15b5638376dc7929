"""Advanced composition, with its constants, and as the paper prints it.

Uses that are (eps_i, delta_i)-DP are together (E, s + sum delta_i)-DP for any s > 0, where
E = sum eps_i (e^eps_i - 1) + sqrt(2 log(1/s) sum eps_i^2), and, with S^2 = sum eps_i^2, also
E = sum eps_i tanh(eps_i/2) + S sqrt(2 log(e + S/s)), the printed form: its root is the smaller one while S + e s < 1.
The part of delta that goes to s, and the point of each use on its curve, are tried at a few values.
Guarantee: upper, rounded outward. Proof: docs/proofs/classic.md, section 2.
Reference: Dwork, Rothblum, Vadhan 2010, Thm III.3; Kairouz, Oh, Viswanath 2017, Thms 3.4, 3.5; Meiser, Mohammadi 2018,
Lemma 4, which hides the constants, and leaves s out of delta: without it no constant makes it true.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from flint import arb

from ..mechanisms.base import Mechanism
from .basic import use_epsilon, uses
from .outward import at_or_above, at_or_below

SLACKS = (1.0, 0.999, 0.9, 0.75, 0.5, 0.25)
EXPONENTS = range(41)

Points = list[tuple[float, int]]


def _epsilon(run: Mechanism, delta: float, form: Callable[[Points, arb], arb]) -> float:
    """The best of SLACKS; at 1 every use must be pure."""
    if delta >= 1.0:
        return 0.0
    best = math.inf
    for slack in SLACKS if delta > 0.0 else ():
        share = max(at_or_below(_share, slack, delta, uses(run)), 0.0)
        points = _points(run, share)
        if all(math.isfinite(point) for point, _ in points):
            best = min(best, at_or_above(_at_slack, form, points, slack, delta))
    return best


def _delta(run: Mechanism, epsilon: float, form: Callable[[Points, float], arb]) -> float:
    """The best of several points on the curves of the uses."""
    best = 1.0
    for share in (0.0, *(10.0**-exponent / uses(run) for exponent in EXPONENTS)):
        points = _points(run, share)
        if all(math.isfinite(point) for point, _ in points):
            best = min(best, at_or_above(_with_leaks, form, points, share * uses(run) * (1.0 + 1e-15), epsilon))
    return best


def _at_slack(form: Callable[[Points, arb], arb], points: Points, slack: float, delta: float) -> arb:
    return form(points, arb(slack) * arb(delta))


def _with_leaks(form: Callable[[Points, float], arb], points: Points, leaked: float, epsilon: float) -> arb:
    return leaked + form(points, epsilon)


def _share(slack: float, delta: float, count: int) -> arb:
    return (1 - arb(slack)) * arb(delta) / count


def _sharp_epsilon(points: Points, s: arb) -> arb:
    return _sum(points, lambda e: e * e.expm1()) + (-2 * s.log() * _spread(points)).sqrt()


def _sharp_delta(points: Points, epsilon: float) -> arb:
    beyond, spread = epsilon - _sum(points, lambda e: e * e.expm1()), _spread(points)
    if not beyond > 0:
        return arb(1)
    return (-(beyond**2) / (2 * spread)).exp() if spread > 0 else arb(0)


def _printed_epsilon(points: Points, s: arb) -> arb:
    spread = _spread(points)
    return _sum(points, _mean) + (2 * spread * (arb(1).exp() + spread.sqrt() / s).log()).sqrt()


def _printed_delta(points: Points, epsilon: float) -> arb:
    """S / (e^(x^2/2) - e), x = (epsilon - drift)/S, which solves the printed form for s."""
    beyond, spread = epsilon - _sum(points, _mean), _spread(points)
    if not beyond > 0:
        return arb(1)
    if not spread > 0:
        return arb(0)
    odds = (beyond**2 / (2 * spread)).exp() - arb(1).exp()
    return spread.sqrt() / odds if odds > 0 else arb(1)


def _points(run: Mechanism, share: float) -> Points:
    return [(use_epsilon(part, share), count) for part, count in run.terms]


def _sum(points: Points, term: Callable[[arb], arb]) -> arb:
    return sum((term(arb(point)) * count for point, count in points), arb(0))


def _spread(points: Points) -> arb:
    """sum eps^2."""
    return _sum(points, lambda e: e**2)


def _mean(epsilon: arb) -> arb:
    """The largest mean of a loss that is epsilon-DP: that of randomized response."""
    return epsilon * (epsilon / 2).tanh()


# Each takes the run, and the delta or epsilon that is given.
advanced_epsilon = partial(_epsilon, form=_sharp_epsilon)
advanced_delta = partial(_delta, form=_sharp_delta)
printed_epsilon = partial(_epsilon, form=_printed_epsilon)
printed_delta = partial(_delta, form=_printed_delta)
