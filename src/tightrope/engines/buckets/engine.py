"""Privacy buckets, exactly as published, with rounding inside the bounds.

The loss of one use is put into buckets -n ... n and infinity of factor f; lists are composed and squared along a
composition tree, with real and virtual error-correction terms, and delta is read off from above and from below.
    list     the list of a tree: definitions 3, 4, 7, 8       leaf   leaves: definitions 4, 6, 7
    compose  composition, squaring, r-fold: Fig. 10           read   delta, PDP, Renyi: definitions 5, 9
    choice   factor, tilt and budget from the question
Here: the engine. Factor and n follow from the accuracy: a first list of N_START buckets tells the width, which falls
like 1/n, and so the n that is needed.
Guarantee: lower <= delta(epsilon) <= upper for the dominating pair (theorem 2, corollary 1).
Reference: Meiser, Mohammadi 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ... import work
from ...errors import InvalidParameter, UnsupportedMechanism, WorkExhausted
from ...kernels.directed import FEW, raised
from ...kernels.search import Inverse
from ..evaluation import Evaluation, SelfInverse, Term
from . import tuning
from .bucket_list import TreeBuckets
from .choice import Tilts, reach
from .compose import compose_sequence
from .leaf import REACH_MOST, pair_leaf
from .read import delta


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """The terms with everything that fixes their tree: initial log factor, n and free_infinity_budget."""

    terms: tuple[Term, ...]
    step: float
    n: int
    free: float
    published: bool = False  # squares as Fig. 10 does: where infinity grows

    def build(self, tilt: float) -> TreeBuckets:
        """The list of all uses, in numbers tilted by e^(tilt loss)."""
        steepest = max(REACH_MOST / (self.n * self.step) * 0.999 - 1.0, 0.0)
        slope = min(max(tilt, 0.0) * self.step, steepest * self.step, tuning.STEEPEST_BUCKET)
        leaves = [(pair_leaf(pair, self.step, self.n, slope), count) for pair, count in self.terms]
        return compose_sequence(leaves, self.free, both_ends=not self.published)


@dataclass
class BucketsEvaluator(SelfInverse):
    """delta from bucket lists of one tree; a list per tilt, made when an epsilon needs it.

    single: one tilt for all, as for a search whose other steps need not be sharp.
    """

    arithmetic = "float64"
    plan: BucketPlan
    tilts: Tilts
    tilt: float
    single: bool
    _lists: dict[float, TreeBuckets] = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, object]:
        buckets = self.buckets(self.tilt)
        return {
            "factor": math.exp(self.plan.step),
            "n": self.plan.n,
            "squarings": buckets.squarings,
            "u": buckets.u,
            "infinity": buckets.infinity[1],
            "free_infinity_budget": self.plan.free,
            "tilt": self.tilt,
        }

    def buckets(self, tilt: float) -> TreeBuckets:
        """The list for this tilt."""
        if tilt not in self._lists:
            self._lists[tilt] = self.plan.build(tilt)
        return self._lists[tilt]

    def delta(self, epsilon: float) -> Evaluation:
        found = delta(self.buckets(self.tilt), epsilon)
        if self.single:
            return found
        rounding = found.budget.upper["rounding"] + found.budget.lower["rounding"]
        better = self.tilts.at_epsilon(epsilon)
        if rounding <= tuning.ROUNDING_SHARE * (found.upper - found.lower) or better == self.tilt:
            return found
        other = delta(self.buckets(better), epsilon)
        return other if other.upper - other.lower < found.upper - found.lower else found

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        low, high = self.epsilon(delta)
        return Inverse(low, high, self.delta(low), self.delta(high) if high < math.inf else None)

    def epsilon(self, level: float) -> tuple[float, float]:
        """Doubles around the smallest epsilon with delta(epsilon) <= level; each end is proven by one comparison."""
        buckets = self.buckets(self.tilt)
        highest = max(raised(buckets.top * buckets.step, FEW) + buckets.slack, 0.0)
        if delta(buckets, 0.0).upper <= level:
            return 0.0, 0.0
        upper = math.inf
        if delta(buckets, highest).upper <= level:
            upper = _halved(lambda e: delta(buckets, e).upper > level, 0.0, highest)[1]
        # Far from the question rounding may hide delta: come down from the upper end until it shows.
        end = min(upper, highest)
        for share in tuning.COMING_DOWN:
            if delta(buckets, share * end).lower > level:
                return _halved(lambda e: delta(buckets, e).lower > level, share * end, end)[0], upper
        return 0.0, upper


def _halved(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two numbers 1e-9 apart, relatively: the first is above or `low`, the second is not above or is `high`."""
    while high - low > max(1e-9 * high, 1e-300):
        middle = low + (high - low) / 2.0
        low, high = (middle, high) if above(middle) else (low, middle)
    return low, high


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 1e-2,
    factor: float | None = None,
    n: int | None = None,
    free_infinity_budget: float | None = None,
) -> BucketsEvaluator:
    """An evaluator tuned to one question; what is not given follows from the accuracy.

    accuracy: relative width wanted, of delta at epsilon or of epsilon at delta. It is aimed at, with at most
    2 N_DEFAULT_MOST + 1 buckets; what was reached is what the intervals say.
    """
    terms = tuple(terms)
    if factor is not None and not 1.0 < factor < math.inf:
        raise InvalidParameter(f"factor must be a finite number above 1, not {factor!r}")
    asked = _Asked(terms, epsilon, delta, accuracy, factor, free_infinity_budget, Tilts.of(terms))
    if n is not None or factor is not None:
        return asked.evaluator(n)
    trial = asked.evaluator(tuning.N_START)
    with suppress(WorkExhausted):  # fewer buckets are an answer too
        for _ in range(3):
            with work.part(tuning.REFINING):
                width, size = asked.width(trial), trial.plan.n
                if width <= accuracy or size >= tuning.N_DEFAULT_MOST:
                    break
                wanted = min(max(1.25 * width / accuracy, 2.0) * size, tuning.N_DEFAULT_MOST)
                trial = asked.evaluator(tuning.N_GRAIN * math.ceil(wanted / tuning.N_GRAIN))
    return trial


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, what its caller fixed of the list (None: it is chosen), and the tilts to choose from."""

    terms: tuple[Term, ...]
    epsilon: float | None
    delta: float | None
    accuracy: float
    factor: float | None
    free: float | None
    tilts: Tilts

    @property
    def level(self) -> float:
        """The delta to look for epsilon at."""
        return tuning.DELTA_AIM if self.delta is None else self.delta

    def evaluator(self, n: int | None) -> BucketsEvaluator:
        """Lists of 2 n + 1 buckets, or of as many as the factor needs."""
        uses = sum(count for _, count in self.terms)
        found = self.tilts.saddle(self.epsilon, self.level if self.epsilon is None else None)
        at = self.level if self.epsilon is None or self.delta is not None else math.exp(min(found.log_delta, 0.0))
        # P_B-mass counts e^epsilon times: what both laws may lose is smaller by that.
        share = min(self.accuracy, 0.1, 1.0 / (n or 1)) / (16.0 * uses) * math.exp(-min(found.epsilon, 30.0))
        budget = max(max(at, 1e-290) * share, 1e-305)
        edge = reach(self.terms, budget)
        step = edge / n if self.factor is None and n is not None else math.log(self.factor or math.e)
        size = n if n is not None else 2 * math.ceil(edge / step / 2.0)
        if step * size >= REACH_MOST:
            raise UnsupportedMechanism(f"buckets reach up to a loss of {REACH_MOST:g}; use another engine")
        plan = BucketPlan(self.terms, step, size, budget if self.free is None else self.free, self.factor is not None)
        return BucketsEvaluator(plan, self.tilts, self.tilts.at_epsilon(found.epsilon), self.delta is not None)

    def width(self, evaluator: BucketsEvaluator) -> float:
        """The relative width of the answer."""
        if self.epsilon is not None:
            found = evaluator.delta(self.epsilon)
            return (found.upper - found.lower) / found.upper if found.upper > 0.0 else 0.0
        low, high = evaluator.epsilon(self.level)
        if low == high:
            return 0.0
        return (high - low) / high if high < math.inf else 1.0
