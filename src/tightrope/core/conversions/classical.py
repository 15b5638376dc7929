"""Basic composition: epsilons add up, and so do deltas.

Naive: (sum eps_i, sum delta_i). Adaptive: (sum eps_i, 1 - prod (1 - delta_i)).
The budget is shared evenly among all uses; each use is read off its own certified curve.
Guarantee: upper, rounded outward.
Reference: Meiser, Mohammadi 2018, Lemmas 2 and 3; Dwork, Kenthapadi, McSherry, Mironov, Naor 2006.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import ParamSpec

from flint import arb

from ..mechanisms.approximate_dp import ApproximateDP
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import compose
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import UnsupportedMechanism

# Classic formulas in balls, so that each comes out rounded away from the truth.

Arguments = ParamSpec("Arguments")


def at_or_above(formula: Callable[Arguments, arb], *values: Arguments.args, **named: Arguments.kwargs) -> float:
    """A double at or above the formula; inf where nothing is known."""
    with working_precision(BITS_START):
        return upper_float(formula(*values, **named))


def at_or_below(formula: Callable[Arguments, arb], *values: Arguments.args, **named: Arguments.kwargs) -> float:
    """A double at or below the formula."""
    with working_precision(BITS_START):
        return lower_float(formula(*values, **named))


def weighted_sum(values: Iterable[tuple[float, int]]) -> arb:
    """The sum of value times count."""
    return sum((arb(value) * count for value, count in values), arb(0))


def minimise(function: Callable[[float], float], start: float, stop: float, steps: int = 60) -> float:
    """An argument between start and stop, both above 0, where a function of one valley is small.

    It only chooses: whoever calls evaluates the bound there, and every argument gives a valid one.
    """
    low, high = math.log(start), math.log(stop)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(math.exp(left)), function(math.exp(right))
    for _ in range(steps):
        # Where both are infinite the valley lies below: large arguments overflow first.
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(math.exp(right))
    return math.exp(left if at_left <= at_right else right)


USE_WORK = 5e6  # units, of a question about one use


def use_epsilon(part: Mechanism, delta: float) -> float:
    """Upper end for one use; a run of many parts asks often."""
    compute_budget.spend(USE_WORK)
    return part.epsilon(delta).upper


def use_delta(part: Mechanism, epsilon: float) -> float:
    """Upper end for one use."""
    compute_budget.spend(USE_WORK)
    return part.delta(epsilon).upper


def uses(run: Mechanism) -> int:
    """How many mechanisms ran."""
    return sum(count for _, count in run.terms)


def naive_epsilon(run: Mechanism, delta: float) -> float:
    """Each use at delta / uses."""
    return _sum_of_epsilons(run, at_or_below(lambda: arb(delta) / uses(run)))


def naive_delta(run: Mechanism, epsilon: float) -> float:
    """Each use at epsilon / uses."""
    deltas = _deltas(run, epsilon)
    return min(at_or_above(weighted_sum, deltas), 1.0)


def adaptive_epsilon(run: Mechanism, delta: float) -> float:
    """Each use at 1 - (1 - delta)^(1 / uses)."""
    if delta >= 1.0:
        return 0.0
    return _sum_of_epsilons(run, at_or_below(lambda: -((-arb(delta)).log1p() / uses(run)).expm1()))


def adaptive_delta(run: Mechanism, epsilon: float) -> float:
    """Each use at epsilon / uses; the chance that none of the deltas strikes is a product."""
    deltas = _deltas(run, epsilon)
    if any(value >= 1.0 for value, _ in deltas):
        return 1.0
    bound = at_or_above(lambda: -sum(((-arb(value)).log1p() * count for value, count in deltas), arb(0)).expm1())
    return min(bound, 1.0)


def _sum_of_epsilons(run: Mechanism, share: float) -> float:
    parts = [(use_epsilon(part, max(share, 0.0)), count) for part, count in run.terms]
    return at_or_above(weighted_sum, parts)


def _deltas(run: Mechanism, epsilon: float) -> list[tuple[float, int]]:
    share = max(at_or_below(lambda: arb(epsilon) / uses(run)), 0.0)
    return [(use_delta(part, share), count) for part, count in run.terms]


# Advanced composition, with its constants, and as the paper prints it.
#
# Uses that are (eps_i, delta_i)-DP are together (E, s + sum delta_i)-DP for any s > 0, where
# E = sum eps_i (e^eps_i - 1) + sqrt(2 log(1/s) sum eps_i^2), and, with S^2 = sum eps_i^2, also
# E = sum eps_i tanh(eps_i/2) + S sqrt(2 log(e + S/s)), the printed form: its root is the smaller one while S + e s < 1.
# The part of delta that goes to s, and the point of each use on its curve, are tried at a few values.
# Guarantee: upper, rounded outward. Proof: docs/proofs/classic.md, section 2.
# Reference: Dwork, Rothblum, Vadhan 2010, Thm III.3; Kairouz, Oh, Viswanath 2017, Thms 3.4, 3.5; Meiser, Mohammadi
# 2018,
# Lemma 4, which hides the constants, and leaves s out of delta: without it no constant makes it true.

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


# The best that can be said from one point (eps_i, delta_i) of each use, for equal uses (KOV) and unequal ones.
#
# No (eps, delta)-DP mechanism loses more than leaky randomized response, also under composition, so the answer is that
# of
# the composition of ApproximateDP(eps_i, delta_i): exact for equal points at any count (binomial), by the lattice else.
# Minimised over the curve of the mechanism it is still a valid bound, the best of many.
# Guarantee: upper; both coordinates of a point are rounded up before they are composed.
# Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3; Murtagh, Vadhan 2016, Lemma 3.2; Meiser, Mohammadi 2018, Sec. 5.6.

OptimalPoints = list[tuple[float, float, int]]  # epsilon, delta, count

HALVINGS = 14
TINY = 1e-12


def optimal_composition(points: OptimalPoints) -> Mechanism:
    """The worst run whose uses are (epsilon, delta)-DP."""
    return compose(ApproximateDP(epsilon, delta) * count for epsilon, delta, count in points)


def one_point_epsilon(run: Mechanism, delta: float) -> float:
    """From one point of each use, at half of delta shared evenly."""
    return _optimal_epsilon(_optimal_points(run, 0.5 * delta / uses(run)), delta)


def one_point_delta(run: Mechanism, epsilon: float) -> float:
    """From the supremum of the loss of each use, or from its point at delta TINY where the loss is unbounded."""
    points = []
    for part, count in run.terms:
        pure = use_epsilon(part, 0.0)
        points.append((pure, 0.0, count) if math.isfinite(pure) else (use_epsilon(part, TINY), TINY, count))
    return _optimal_delta(points, epsilon)


def curve_epsilon(run: Mechanism, delta: float) -> float:
    """Minimised over the share of delta that the points use, and over pure points."""
    if not 0.0 < delta < 1.0:
        return _optimal_epsilon(_optimal_points(run, 0.0), delta)
    even = delta / uses(run)
    best = minimise(lambda share: _optimal_epsilon(_optimal_points(run, share), delta), even * 1e-12, even, HALVINGS)
    return min(_optimal_epsilon(_optimal_points(run, share), delta) for share in (best, 0.0, 0.5 * even))


def curve_delta(run: Mechanism, epsilon: float) -> float:
    """Minimised over the deltas of the points, and over pure points."""
    even = 1.0 / uses(run)
    best = minimise(
        lambda share: _optimal_delta(_optimal_points(run, share), epsilon), even * 1e-30, even, HALVINGS + 6
    )
    return min(
        one_point_delta(run, epsilon), *(_optimal_delta(_optimal_points(run, share), epsilon) for share in (best, 0.0))
    )


def _optimal_points(run: Mechanism, share: float) -> OptimalPoints:
    return [(use_epsilon(part, share), share, count) for part, count in run.terms]


def _optimal_epsilon(points: OptimalPoints, delta: float) -> float:
    return _upper(points, lambda worst: worst.epsilon(delta), math.inf)


def _optimal_delta(points: OptimalPoints, epsilon: float) -> float:
    return _upper(points, lambda worst: worst.delta(epsilon), 1.0)


def _upper(points: OptimalPoints, ask: Callable[[Mechanism], Bound], nothing: float) -> float:
    """What the worst run with these points answers; nothing where there is none, or no engine can tell."""
    try:
        finite = all(math.isfinite(point) for point, _, _ in points)
        return ask(optimal_composition(points)).upper if finite else nothing
    except UnsupportedMechanism:
        return nothing
