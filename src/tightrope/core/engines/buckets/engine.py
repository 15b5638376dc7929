"""Privacy buckets, as published or chosen by the question, with rounding inside the bounds.

The loss of one use is put into buckets -n ... n and infinity of factor f; lists are composed and squared along a
composition tree, with real and virtual error-correction terms, and delta is read off from above and from below.
    list     the list of a tree: definitions 3, 4, 7, 8       leaf   leaves: definitions 4, 6, 7
    compose  composition, squaring, r-fold: Fig. 10           read   delta, PDP, Renyi: definitions 5, 9
    choice   factor, tilt and budget from the question
    falls    what capping at -n costs: squaring by both ends
Here: the engine. Factor and n follow from the accuracy: a first list of N_START buckets tells the width, and so the n
that is needed if it falls like 1/n; docs/proofs/buckets.md says when it does. Lists get finer while there is time, and
the finest that was finished answers.
With a factor of one's own lists are as published: around a loss of 0, squared where infinity grows. Without, they lie
around the heaviest loss, and are squared also where too much would fall below -n.
Guarantee: lower <= delta(epsilon) <= upper for the dominating pair (theorem 2, corollary 1).
Reference: Meiser, Mohammadi 2018.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import numpy as np

from ...losses.pair import Pair
from ...numerics.balls import BITS_START, upper_float, working_precision
from ...numerics.double_double import double_double
from ...numerics.rounding import dyadic
from ...numerics.search import Inverse
from ...values import compute_budget
from ...values.errors import InvalidParameter, UnsupportedMechanism, WorkExhausted
from .. import tuning
from ..lattice.grid_plan import Sketches, gathered, sketch_of_atoms, sketched
from ..saddle import Saddle, find_saddle
from ..selection import Evaluation, SelfInverse, Term
from ..tuning import CENTRED_MAX, CENTRED_WORTH, FLATTER, ROUND_SHARE, SAME_TILT_BITS, STEEPEST_LIST, TILT_RARE
from .bucket_composition import REACH_MAX, compose_sequence, pair_leaf
from .bucket_list import TreeBuckets
from .read import CORRECTED, UNCORRECTED, Reading, epsilon_at, probabilistic

# Chooses factor, tilt and free_infinity_budget of a bucket list from what is asked; nothing here needs to be right.
#
# Any factor, n and tilt give true bounds. The factor is as small as one use allows: n log f is the loss beyond which
# one use has less mass than the budget, since squaring widens the list when it must. The tilt is the saddle point of
# the
# composition (engines/saddle.py), read from sketches of the laws.
# Reference: Meiser, Mohammadi 2018, Sec. 4.6 (free_infty_budget); Zhu, Dong, Wang 2021, Sec. 5 (log moments).


@dataclass(frozen=True, slots=True)
class Tilts:
    """Which tilt suits which question: the sketches of all terms, the steepest tilt that one use bears, and the centre
    of the list."""

    sketches: Sketches
    most: float
    shift: float

    @staticmethod
    def of(terms: Sequence[Term], published: bool = True) -> Tilts:
        rare = TILT_RARE / sum(count for _, count in terms)
        with working_precision(BITS_START):
            finite = [(pair, count) for pair, count in terms if pair.infinite_mass() < 1]
        nothing = sketch_of_atoms(np.zeros(1), np.ones(1))
        drawn = sketched(finite) if finite else gathered([nothing], [1])
        most = max(REACH_MAX / reach(terms, rare, published) - 1.0, 2e-3)
        return Tilts(drawn.cut(math.log(rare)), most, 0.0 if published else total_centre(terms))

    def saddle(self, epsilon: float | None, delta: float | None) -> Saddle:
        """Where the question lies: epsilon, and about the log of delta there."""
        goal = None if delta is None else math.log(max(delta, 1e-320))
        return find_saddle(self.sketches, epsilon, goal, self.most)

    def at_epsilon(self, epsilon: float) -> float:
        """The best tilt for delta at this epsilon, no steeper than the doubles bear once the list has widened."""
        plain = self.sketches.cumulants(0.0)
        spread = abs(plain.mean - self.shift) + 12.0 * math.sqrt(plain.variance) + abs(epsilon - self.shift)
        tilt = min(FLATTER * self.saddle(epsilon, None).tilt, STEEPEST_LIST / max(spread, 1e-300))
        return dyadic(tilt, SAME_TILT_BITS)


def rounder(n: int) -> int:
    """The index for the farthest loss of one use: next below n, and whole after as many halvings as that bears."""
    grain = 1 << max((n // ROUND_SHARE).bit_length() - 1, 0)
    return n // grain * grain


def centre(pair: Pair) -> float:
    """The loss that the list of one use lies around: that of its heaviest atom, or 0.

    An atom at the centre is rounded by no leaf and no squaring. What the others are rounded by is in proportion to the
    farthest of them and to their mass.
    """
    listed = pair.atoms()
    if listed is None or listed.left_out or not 0 < len(listed.p.value) <= CENTRED_MAX:
        return 0.0
    losses, masses = listed.loss.value, listed.p.value
    places = np.append(losses, 0.0)
    away = np.abs(losses - places[:, None])
    rounded = np.max(away, axis=1) * (1.0 - np.sum(np.where(away == 0.0, masses, 0.0), axis=1) / np.sum(masses))
    best = float(places[int(np.argmin(rounded))]) if np.all(np.isfinite(rounded)) else 0.0
    return best if np.min(rounded) < CENTRED_WORTH * rounded[-1] else 0.0


def total_centre(terms: Sequence[Term]) -> float:
    """The loss that the list of all uses lies around."""
    return math.fsum(count * centre(pair) for pair, count in terms)


def reach(terms: Sequence[Term], budget: float, published: bool = True) -> float:
    """How far from the centre one use is on either side with about the budget at most, the infinite loss apart."""
    return max(_reach(pair, budget, 0.0 if published else centre(pair)) for pair, _ in terms)


def _reach(pair: Pair, budget: float, shift: float) -> float:
    with working_precision(BITS_START):
        span = pair.loss_range()
        most = max(upper_float(span.highest - shift), upper_float(shift - span.lowest))
        leaked = upper_float(pair.infinite_mass())
    if most <= 0.0:
        return 1.0
    high = min(most, REACH_MAX / 2.0)
    ends = np.geomspace(high * 1e-9, high, 400)
    tails = pair.tails(double_double(np.concatenate((shift - ends, shift + ends))))
    outside = tails.p_below[: len(ends)] + np.maximum(tails.p_above[len(ends) :] - leaked, 0.0)
    enough = np.flatnonzero(outside <= budget)
    if not len(enough) or ends[enough[0]] >= 0.98 * most:
        return high  # nearly the whole range: take it all, so that the extreme losses lie on buckets
    return float(ends[enough[0]])


PUBLISHED = "privacy buckets as published"
CHOSEN = "privacy buckets, lists around the heaviest loss"


class Fixed(TypedDict, total=False):
    """What a caller fixed of the lists and of how they are read; what is left out is chosen."""

    factor: float
    n: int
    free_infinity_budget: float
    error_correction: bool


@dataclass(frozen=True, slots=True)
class BucketPlan:
    """The terms with everything that fixes their tree: initial log factor, n and free_infinity_budget."""

    terms: tuple[Term, ...]
    step: float
    n: int
    free: float
    published: bool = False  # lists around a loss of 0, squared as in Fig. 10: where infinity grows

    def build(self, tilt: float) -> TreeBuckets:
        """The list of all uses, in numbers tilted by e^(tilt loss)."""
        steepest = max(REACH_MAX / (self.n * self.step) * 0.999 - 1.0, 0.0)
        slope = min(max(tilt, 0.0) * self.step, steepest * self.step, tuning.STEEPEST_BUCKET)
        if self.published:
            leaves = [(pair_leaf(pair, self.step, self.n, slope), count) for pair, count in self.terms]
            return compose_sequence(leaves, self.free)
        shifted = [
            (pair_leaf(pair, self.step, self.n, slope, centre(pair), keep_lost=False), count)
            for pair, count in self.terms
        ]
        return compose_sequence(shifted, self.free, both_ends=True)


@dataclass
class BucketsEvaluator(SelfInverse):
    """delta from bucket lists of one tree; a list per tilt, made when an epsilon needs it; what was read is kept.

    single: one tilt for all, as for a search whose other steps need not be sharp. read: with error correction, or
    without.
    """

    arithmetic = "float64"
    plan: BucketPlan
    tilts: Tilts
    tilt: float
    single: bool
    read: Reading = CORRECTED
    _lists: dict[float, TreeBuckets] = field(default_factory=dict)
    _deltas: dict[float, Evaluation] = field(default_factory=dict)
    _epsilons: dict[float, tuple[float, float]] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        return PUBLISHED if self.plan.published else CHOSEN

    @property
    def parameters(self) -> Mapping[str, object]:
        buckets = self.buckets(self.tilt)
        return {
            "factor": math.exp(self.plan.step),
            "n": self.plan.n,
            "squarings": buckets.squarings,
            "u": buckets.u,
            "shift": float(buckets.shift),
            "infinity": buckets.infinity[1],
            "free_infinity_budget": self.plan.free,
            "error_correction": self.read is CORRECTED,
            "tilt": self.tilt,
        }

    def buckets(self, tilt: float) -> TreeBuckets:
        """The list for this tilt."""
        if tilt not in self._lists:
            self._lists[tilt] = self.plan.build(tilt)
        return self._lists[tilt]

    def delta(self, epsilon: float) -> Evaluation:
        if epsilon not in self._deltas:
            self._deltas[epsilon] = self._delta(epsilon)
        return self._deltas[epsilon]

    def _delta(self, epsilon: float) -> Evaluation:
        evaluation = self.read.delta(self.buckets(self.tilt), epsilon)
        if self.single:
            return evaluation
        rounding = evaluation.budget.upper["rounding"] + evaluation.budget.lower["rounding"]
        better = self.tilts.at_epsilon(epsilon)
        if rounding <= tuning.ROUNDING_SHARE * (evaluation.upper - evaluation.lower) or better == self.tilt:
            return evaluation
        other = self.read.delta(self.buckets(better), epsilon)
        return other if other.upper - other.lower < evaluation.upper - evaluation.lower else evaluation

    def tail(self, t: float) -> Evaluation:
        return probabilistic(self.buckets(self.tilt), t)

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        low, high = self.epsilon(delta)
        ends = (self.delta(end) if end < math.inf else None for end in (low, high))
        return Inverse(low, high, *ends)

    def epsilon(self, level: float) -> tuple[float, float]:
        """Doubles around the smallest epsilon with delta(epsilon) <= level; each end is proven by one comparison."""
        if level not in self._epsilons:
            self._epsilons[level] = epsilon_at(self.buckets(self.tilt), level, self.read)
        return self._epsilons[level]

    def width(self, epsilon: float | None, level: float) -> float:
        """The relative width of delta at epsilon, or of epsilon at a level of delta; the answer is kept."""
        if epsilon is not None:
            evaluation = self.delta(epsilon)
            return (evaluation.upper - evaluation.lower) / evaluation.upper if evaluation.upper > 0.0 else 0.0
        kept = self.inverse(level, math.inf, 0.0)
        if kept.lower == kept.upper:
            return 0.0
        return (kept.upper - kept.lower) / kept.upper if kept.upper < math.inf else 1.0


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 1e-2,
    **fixed: Unpack[Fixed],
) -> BucketsEvaluator:
    """An evaluator tuned to one question; what is not given follows from the accuracy.

    accuracy: relative width wanted, of delta at epsilon or of epsilon at delta. It is aimed at, with at most
    2 N_DEFAULT_MAX + 1 buckets; what was reached is what the intervals say.
    """
    terms, factor = tuple(terms), fixed.get("factor", math.e)
    if not 1.0 < factor < math.inf:
        raise InvalidParameter(f"factor must be a finite number above 1, not {factor!r}")
    asked = _Asked(terms, epsilon, delta, accuracy, fixed, Tilts.of(terms, "factor" in fixed))
    if "n" in fixed or "factor" in fixed:
        return asked.evaluator(fixed.get("n"))
    best, size = asked.evaluator(tuning.N_START), tuning.N_START
    with suppress(WorkExhausted), compute_budget.part(tuning.REFINING, clock=True):  # fewer buckets are an answer too
        width = best.width(epsilon, asked.level)
        while width > accuracy and size < tuning.N_DEFAULT_MAX:
            wanted = min(max(1.25 * width / accuracy, 2.0), tuning.GROWN_MAX) * size
            size = min(tuning.N_GRAIN * math.ceil(wanted / tuning.N_GRAIN), tuning.N_DEFAULT_MAX)
            finer = asked.evaluator(size)
            narrower = finer.width(epsilon, asked.level)  # its answer is made before it takes the place of the other
            if narrower <= width:
                best, width = finer, narrower
    return best


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, what its caller fixed, and the tilts to choose from."""

    terms: tuple[Term, ...]
    epsilon: float | None
    delta: float | None
    accuracy: float
    fixed: Fixed
    tilts: Tilts

    @property
    def level(self) -> float:
        """The delta to look for epsilon at."""
        return tuning.DELTA_AIM if self.delta is None else self.delta

    def evaluator(self, n: int | None) -> BucketsEvaluator:
        """Lists of 2 n + 1 buckets, or of as many as the factor needs."""
        uses = sum(count for _, count in self.terms)
        saddle = self.tilts.saddle(self.epsilon, self.level if self.epsilon is None else None)
        at = self.level if self.epsilon is None or self.delta is not None else math.exp(min(saddle.log_delta, 0.0))
        # P_B-mass counts e^epsilon times: what both laws may lose is smaller by that.
        share = min(self.accuracy, 0.1, 1.0 / (n or 1)) / (16.0 * uses) * math.exp(-min(saddle.epsilon, 30.0))
        budget = max(max(at, 1e-290) * share, 1e-305)
        factor = self.fixed.get("factor")
        edge = reach(self.terms, budget, factor is not None)
        step = edge / rounder(n) if factor is None and n is not None else math.log(factor or math.e)
        size = n if n is not None else 2 * math.ceil(edge / step / 2.0)
        _check_size(step, size, "n" in self.fixed)
        free = self.fixed.get("free_infinity_budget", budget)
        plan = BucketPlan(self.terms, step, size, free, factor is not None)
        read = CORRECTED if self.fixed.get("error_correction", True) else UNCORRECTED
        return BucketsEvaluator(plan, self.tilts, self.tilts.at_epsilon(saddle.epsilon), self.delta is not None, read)


def _check_size(step: float, n: int, given: bool) -> None:
    """Whether lists of this size can be made; they are not made to find out."""
    if step * n >= REACH_MAX:
        advice = "take a smaller factor or fewer buckets" if given else "use another engine"
        raise UnsupportedMechanism(f"buckets reach up to a loss of {REACH_MAX:g}, not {step * n:g}; {advice}")
    if n > tuning.N_GIVEN_MAX:
        raise InvalidParameter(
            f"a factor of e^{step:g} needs {n:,} buckets on either side, and {tuning.N_GIVEN_MAX:,} is the most: "
            "take a larger factor, or fix the number of buckets"
        )
