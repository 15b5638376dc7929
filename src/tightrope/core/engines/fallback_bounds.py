"""The outline of an answer, for when nothing better is at hand: two bounds that take milliseconds.

Above, the moment bound delta <= w + kappa(s) e^{K(s) - s eps} where a cgf is known (saddle.py), else 1;
below, single events (events.py), at least the infinite mass. Both hold at every epsilon, so a search brackets epsilon.
Guarantee: lower <= delta <= upper; with proof the upper bound is 1, since moments are summed in float64.
Proof: docs/proofs/events.md; docs/proofs/contour.md, sections 1 and 7.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from flint import arb

from ..losses.operators.registered import is_opaque
from ..losses.pair import Pair
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..values.bound import ErrorBreakdown, error_lines
from ..values.errors import agreed
from .loss_extremes import loss_extremes
from .selection import Evaluation, Evaluator, Term
from .tuning import BITS_MORE, BITS_WANTED, NARROWINGS, TERMS_MAX, TOP

# Lower bounds from single events: one number per use decides, so nothing is composed and nothing cancels.
#
# For every event A of the outputs delta(eps) >= P(A) - e^eps Q(A). With p_i = P_i[l > t_i] and q_i alike, three are
# told
# by the tails of one use: "some use lies above its threshold", P(A) = 1 - prod (1 - p_i)^k_i; "every use does",
# P(A) = prod p_i^k_i; and one use alone, whose best event has the value of its profile.
# The thresholds are searched for in balls of few digits: any of them is valid, a bad one costs width only.
# Guarantee: lower, in balls; no float64 inside. Proof: docs/proofs/events.md.
# Reference: Meiser, Mohammadi 2018, Thm 1 (lower bounds from events).

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

Gain = Callable[[float], arb]


def lower_by_events(terms: Sequence[Term], epsilon: float) -> float:
    """At or below delta(epsilon) of the composition, by the best event found; 0 where none says anything."""
    used = [(pair, count) for pair, count in terms if count]
    if not used:
        return 0.0
    with working_precision(BITS_START):
        tops = [_top(pair) for pair, _ in used]
    subsets = [used, *([term] for term in used)] if len(used) > 1 else [used]
    best = [_best(partial(_some, subset, epsilon), _thresholds(epsilon, 1)) for subset in subsets]
    uses = sum(count for _, count in used)
    best.append(_best(partial(_every, used, tops, epsilon), _thresholds(epsilon, uses)))
    best += [_certified(partial(pair.ball_hockey_stick, arb(epsilon))) for pair, _ in used]  # of one use alone
    return max(best)


def _some(terms: Sequence[Term], epsilon: float, threshold: float) -> arb:
    """P - e^eps Q of "some use lies above the threshold"."""
    missed_p, missed_q = arb(0), arb(0)
    for pair, count in terms:
        tails = pair.ball_tails(arb(threshold))
        missed_p += count * _log_below(tails.p_above, tails.p_below)
        missed_q += count * _log_below(tails.q_above, tails.q_below)
    return arb(epsilon).exp() * missed_q.expm1() - missed_p.expm1()


def _every(terms: Sequence[Term], tops: Sequence[float], epsilon: float, threshold: float) -> arb:
    """P - e^eps Q of "every use lies above the threshold", or just below its supremum where that is lower."""
    p, q = arb(1), arb(epsilon).exp()
    for (pair, count), top in zip(terms, tops, strict=True):
        tails = pair.ball_tails(arb(min(threshold, top)))
        p *= tails.p_above**count
        q *= tails.q_above**count
    return p - q


def _log_below(above: arb, below: arb) -> arb:
    """log(1 - above), from the smaller side."""
    return (-above).log1p() if above < 0.5 else below.log()


def _top(pair: Pair) -> float:
    """Just below the supremum of a bounded loss."""
    ends = pair.loss_range()
    lowest, highest = float(ends.lowest.mid()), float(ends.highest.mid())
    if not (math.isfinite(lowest) and math.isfinite(highest)):
        return math.inf
    return highest - TOP * max(highest - lowest, abs(highest))


def _thresholds(epsilon: float, uses: int) -> list[float]:
    """Where to look first: around epsilon, around its share for each use, and at every scale."""
    shares = (epsilon * 2.0 ** (power / 4.0) / value for power in range(-8, 9) for value in {1, uses})
    return sorted({2.0**power for power in range(-40, 12, 2)} | set(shares))


def _best(gain: Gain, thresholds: Sequence[float]) -> float:
    """The largest gain found: the best of the thresholds, then golden sections between its neighbours."""
    with working_precision(BITS_START):
        values = [_rough(gain(threshold)) for threshold in thresholds]
        place = max(range(len(values)), key=values.__getitem__)
        best, threshold = values[place], thresholds[place]
        if best == -math.inf:
            return 0.0
        low, high = thresholds[max(place - 1, 0)], thresholds[min(place + 1, len(thresholds) - 1)]
        inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
        found = [_rough(gain(value)) for value in inner]
        for _ in range(NARROWINGS):
            worse = 0 if found[0] < found[1] else 1
            best, threshold = max((best, threshold), (found[1 - worse], inner[1 - worse]))
            low, high = (inner[0], high) if worse == 0 else (low, inner[1])
            inner[worse] = inner[1 - worse]
            found[worse] = found[1 - worse]
            fresh = 1 - worse
            inner[fresh] = low + GOLDEN * (high - low) if fresh else high - GOLDEN * (high - low)
            found[fresh] = _rough(gain(inner[fresh]))
    return _certified(lambda: gain(threshold))


def _rough(ball: arb) -> float:
    """log of the gain for comparisons; -inf where it is not known to be above 0."""
    return float(ball.lower().log().mid()) if ball > 0 else -math.inf


def _certified(formula: Callable[[], arb]) -> float:
    """The lower end of a formula, with more bits where few of them are left."""
    with working_precision(BITS_START):
        ball = formula()
    if not (ball.is_finite() and ball.rel_accuracy_bits() >= BITS_WANTED):
        with working_precision(BITS_MORE):
            ball = formula()
    return max(lower_float(ball), 0.0)


@dataclass(frozen=True)
class FallbackBounds(Evaluator):
    """delta between single events and moments."""

    terms: tuple[Term, ...]
    mass: tuple[float, float]
    proof: bool

    @property
    def arithmetic(self) -> str:
        return "ball" if self.proof else "float64"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {}

    def delta(self, epsilon: float) -> Evaluation:
        upper = 1.0
        if not self.proof:
            from .saddle import delta_above

            upper = min(delta_above(self.terms, epsilon, self.mass[1]), 1.0)
        lower = self.mass[0]
        if len(self.terms) <= TERMS_MAX and not any(is_opaque(pair) for pair, _ in self.terms):
            lower = max(lower, lower_by_events(self.terms, epsilon))
        lines = error_lines(truncation=upper - lower)
        return Evaluation(*agreed(lower, upper, "single events", "moments"), ErrorBreakdown(lines, lines))


def prepare(terms: Sequence[Term], *, proof: bool = False) -> FallbackBounds:
    """The outline of a composition; it is the same for every question."""
    with working_precision(BITS_START):
        mass = loss_extremes(terms).mass
        return FallbackBounds(tuple(terms), (max(lower_float(mass), 0.0), min(upper_float(mass), 1.0)), proof)
