"""Saddle, step, reach and number of nodes for a question; the same for both arithmetics.

The tolerance starts well below the accuracy asked, since a digit costs a few nodes; where the integrand falls too
slowly for that, what was asked has to do; where even that needs too many nodes, the contour refuses.
Where it may stop: cutting the sum after t_J costs at most scale rho atan2(c, t_J)/(pi c), rho = sup over t > t_J of
prod |phi_i(t)|^{k_i}. Where that is known up to a horizon only, what was there before bounds what returns beyond.
Guarantee: `log_bounds` are upper bounds, all else is a choice. Proof: docs/proofs/contour.md, sections 3 and 16.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from ...losses.atoms import SumLattice, ratio_ball, sum_lattice
from ...losses.cgf import LOG_TOLERANCE, CfDecay, Cgf, LatticeCgf, Split, Terms
from ...numerics.balls import BITS_START, upper_float, working_precision
from ...numerics.contour_sum import geometric, relative
from ...numerics.rounding import log_expm1, softplus
from ...values.errors import Refusal, UnsupportedMechanism
from .. import tuning
from ..decided import cut_decided
from ..saddle import (
    NodeStep,
    Parts,
    Saddle,
    Shape,
    choose_step,
    find_saddle,
    log_one_hit,
    one_hit,
    partitionable,
    with_hits,
    without_rare,
)
from ..selection import Term
from ..tuning import SAMPLE, TILT_MAX

if TYPE_CHECKING:
    from ...numerics.contour_sum import Kernel


# Compositions whose losses lie on one lattice: one period of the transform is all of it.
#
# Losses are base + n h. With l the first of them at or above eps and x = l - eps in [0, h], N nodes of one period give
#     (1/N) sum over n of M(z_n) e^{-z_n l} k(z_n),   z_n = c + 2 pi i n/(N h),
#     k(z) = 1/(1 - e^{-zh}) - e^{-x}/(1 - e^{-(z+1)h}) = (a + b e^{-zh}) / ((1 - e^{-zh}) (1 - e^{-(z+1)h})),
# a = 1 - e^{-x} and b = e^{-x} - e^{-h}, both >= 0: the aliases of the contour with period N h, and nothing else.
# Guarantee: exact. Proof: docs/proofs/contour.md, section 12.
# Reference: Trefethen, Weideman 2014, Sec. 3 (periodic trapezoid rule).


class First(NamedTuple):
    """The first loss at or above eps, how far it is beyond, and by how much eps may have been moved to reach it."""

    point: arb
    beyond: arb
    moved: arb


class Period(SumLattice):
    """The lattice of a composition, one period of whose transform is summed."""

    @property
    def width(self) -> float:
        """The step, approximately."""
        with working_precision(BITS_START):
            return float(self.step.ball().mid())

    @property
    def tilt_most(self) -> float:
        """Beyond this tilt the first loss above eps is all that counts."""
        return tuning.TILT_STEPS / self.width + 2.0

    def first(self, epsilon: float) -> First:
        """Exact where all is rational; next to a logarithm the digits decide, and what they cannot is `moved`."""
        if not self.factors and not self.step.logarithm:
            place = (Fraction(epsilon) - self.shift) / self.step.number
            loss = self.shift + math.ceil(place) * self.step.number
            with working_precision(BITS_START):
                return First(ratio_ball(loss), ratio_ball(loss - Fraction(epsilon)), arb(0))
        bits = BITS_START
        while True:
            with working_precision(bits):
                step, base = self.step.ball(), self.base()
                steps = (arb(epsilon) - base) / step
                following, nearest = steps.ceil().unique_fmpz(), (steps + arb(0.5)).floor().unique_fmpz()
                if following is not None:
                    point = base + step * following
                    beyond = point - arb(epsilon)
                    if beyond > 0 and (beyond.rel_accuracy_bits() >= tuning.BITS_BEYOND or bits >= tuning.BITS_DECIDED):
                        return First(point, beyond, arb(0))
                if bits >= tuning.BITS_DECIDED and nearest is not None:
                    point = base + step * nearest
                    return First(point, arb(0), arb(0).union(abs(point - arb(epsilon))))
            bits *= 2

    def kernel(self, plan: ContourPlan, beyond: arb) -> Kernel:
        """The kernel at the nodes, in float64, for an epsilon so far below the first loss from there on."""

        with working_precision(BITS_START):
            step = self.step.ball()
            exponents = [-(arb(plan.saddle.tilt) + more) * step for more in (0, 1)]
            falls, gaps = [relative(x.exp()) for x in exponents], [relative(-x.expm1()) for x in exponents]
            parts = [relative(part) for part in numerator(step, beyond)]
            made = (falls, gaps, parts, relative((-beyond).exp()))
        return geometric(plan.cycle, plan.nodes, plan.step.step, *made)


def numerator(step: arb, beyond: arb) -> tuple[arb, arb]:
    """1 - e^{-x} and e^{-x} - e^{-h}, without cancellation."""
    return -(-beyond).expm1(), -(-beyond).exp() * (beyond - step).expm1().min(arb(0))


def period_of(terms: Sequence[Term]) -> Period | None:
    """The lattice of a composition, where it has one with more than one point."""
    step = sum_lattice([(pair.lattice(), count) for pair, count in terms])
    return None if step is None else Period(*step)


REFUSAL = "its transform does not fall fast enough for a contour; try engine='lattice'"


class Falling(NamedTuple):
    """How one term falls: bounds of |phi|, its count, and for hits a bound of log B(c)/A(c)."""

    decay: CfDecay
    uses: int
    log_ratio: float | None = None


class Fallen(NamedTuple):
    """A bound of log |phi| beyond a height, the count, and for hits the bound of log B(c)/A(c)."""

    log_bound: float
    uses: int
    log_ratio: float | None = None


LogBounds = tuple[Fallen, ...]


@dataclass(frozen=True, slots=True)
class ContourPlan:
    """Where the contour runs and how far; log_bounds are proven bounds of log |phi_i(t)| beyond the last node."""

    saddle: Saddle
    step: NodeStep
    nodes: int
    log_bounds: LogBounds
    work: float  # nodes times inner points
    period: Period | None = None  # of a lattice; then `cycle` nodes are all there are
    cycle: int = 0
    horizon: float = math.inf  # up to when log_bounds hold

    @property
    def height(self) -> float:
        """The last node, exactly."""
        return self.step.step * (self.nodes - 1)


def plan_contour(
    parts: Parts,
    falling: Sequence[Falling],
    saddle: Saddle,
    tolerances: Sequence[float],
    work_most: float,
    period: Period | None = None,
) -> ContourPlan:
    """The first tolerance (relative, on delta) that needs little enough work."""
    log_scale = parts.body.cumulants(saddle.tilt).value if parts.splits else saddle.cumulants.value
    cgfs = [*parts.terms, *((split.hit, 1) for split in parts.splits if split is not None)]
    refusal, horizon = Refusal.NOT_KNOWN, min(cgf.horizon() for cgf, _ in parts.terms)
    if parts.splits and horizon < math.inf:
        raise UnsupportedMechanism(REFUSAL)
    height = 0.0
    for tolerance in tolerances:
        log_tolerance = -math.log(tolerance)
        step = choose_step(parts, saddle, log_tolerance)
        if not (0.0 < step.step < math.inf and step.alias_tilt > saddle.tilt > 0.0):
            continue
        cycle = 0
        if period is not None:
            cycle = 2 * math.floor(math.pi / (step.step * period.width)) + 3
            step = NodeStep(2.0 * math.pi / (cycle * period.width), step.alias_tilt)
        most = min(step.step * (tuning.NODES_MAX - 1), horizon / 2.0)
        found = find_reach(falling, saddle, log_scale, log_tolerance, most, tuning.EASIER * height)
        if found is not None:
            height, log_bounds = found
            nodes = math.ceil(height / step.step) + 1
        elif 0 < cycle < 2 * tuning.NODES_MAX:
            nodes, log_bounds = cycle, ()
        else:
            continue
        if period is not None:
            whole = (cycle + 1) // 2
            nodes = whole if whole <= tuning.WHOLE_MIN else min(nodes, whole)
        last = step.step * (nodes - 1)
        points = sum(cgf.points(saddle.tilt, last, LOG_TOLERANCE + math.log(count)) for cgf, count in cgfs)
        if nodes * points <= work_most:
            return ContourPlan(saddle, step, nodes, log_bounds, float(nodes * points), period, cycle, horizon)
        refusal = Refusal.TOO_MUCH_WORK
    raise UnsupportedMechanism(REFUSAL, refusal)


def falling_of(parts: Parts, tilt: float, balls: bool, period: Period | None) -> list[Falling]:
    """How every term falls under the tilt; where terms are split, how their hits fall."""
    splits = parts.splits or (None,) * len(parts.terms)
    return [
        Falling(_decay(cgf, tilt, balls, period), count)
        if split is None
        else Falling(_decay(split.hit, tilt, balls, period), count, _log_ratio(split, tilt, balls))
        for (cgf, count), split in zip(parts.terms, splits, strict=True)
    ]


def _decay(cgf: Cgf, tilt: float, balls: bool, period: Period | None) -> CfDecay:
    if period is not None:
        assert isinstance(cgf, LatticeCgf)
        return cgf.period_cf_decay(tilt, period.step)
    return cgf.ball_cf_decay(tilt) if balls else cgf.cf_decay(tilt)


def _log_ratio(split: Split, tilt: float, balls: bool) -> float:
    """At or above log B(c)/A(c)."""
    if not balls:
        return float(split.log_ratio(tilt).upper)
    with working_precision(BITS_START):
        return upper_float(split.ball_log_ratio(tilt))


def log_product(bounds: Sequence[Fallen]) -> float:
    """log of a bound of prod |phi|^k, or with hits of |prod (A + B)^k - prod A^k| / prod A(c)^k.

    The latter is at most prod |phi|^k of the other terms times expm1(sum k log1p(|B|/A(c))).
    """
    whole = math.fsum(count * bound for bound, count, ratio in bounds if ratio is None)
    if all(ratio is None for _, _, ratio in bounds):
        return whole
    hits = sum(count * softplus(r + bound) for bound, count, r in bounds if r is not None)
    return whole + log_expm1(hits)


def find_reach(
    falling: Sequence[Falling], saddle: Saddle, log_scale: float, log_tolerance: float, most: float, start: float = 0.0
) -> tuple[float, LogBounds] | None:
    """A height whose truncation error is below delta e^-log_tolerance, with its bounds; None beyond `most`.

    start: where to begin, if that is known to be about right.
    """
    c = saddle.tilt
    allowed = saddle.log_delta - log_tolerance - (log_scale - c * saddle.epsilon)
    first = min(most, tuning.FIRST_GUESS * math.sqrt(2.0 * log_tolerance / saddle.curvature))
    height = max(first, min(most, start))
    # Some of many terms stand for all of them until the end.
    stride = max(1, len(falling) // SAMPLE)

    def fallen(height: float) -> tuple[LogBounds, float, float]:
        """The bounds at a height, what is wanted of them, and what they reach."""
        bounds = tuple(Fallen(decay.log_bound(height), count, ratio) for decay, count, ratio in falling[::stride])
        reached = log_product(bounds)
        reached *= len(falling) / len(bounds) if reached < 0.0 else 1.0
        return bounds, allowed - math.log(math.atan2(c, height) / (math.pi * c)), reached

    below: tuple[float, float] | None = None  # the height before, and what was reached there
    for step in range(60):
        bounds, wanted, reached = fallen(height)
        if step == 0 and height > first and reached <= wanted:  # too far for so little: where it falls slowly
            height = first
            continue
        if step == tuning.STEPS_BEFORE_MAX and reached > wanted and height < most:
            _, wanted_there, reached_there = fallen(most)  # what is out of reach altogether is seen there at once
            if reached_there > wanted_there:
                return None
        if reached <= wanted and stride > 1:
            stride = 1
            continue
        if reached <= wanted:
            return height, bounds
        if height >= most:
            return None
        log_growth = math.inf
        if wanted < 0.0 and reached < 0.0:
            log_growth = math.log(1.03) + (math.log(-wanted) - math.log(-reached)) / _order(below, height, reached)
        below = height, reached
        log_growth = max(math.log(tuning.GROWTH_MIN), min(math.log(tuning.GROWTH_MAX), log_growth))
        height = min(most, height * math.exp(log_growth))
    return None


def _order(below: tuple[float, float] | None, height: float, reached: float) -> float:
    """With which power of the height |phi| falls: like a bell first, and slower where the last two heights say so."""
    if below is None or not below[1] < 0.0:
        return 2.0
    slope = (math.log(-reached) - math.log(-below[1])) / math.log(height / below[0])
    return max(tuning.ORDER_MIN, min(2.0, slope))


# The ways to a contour: which part of the law to sum, and where its saddle lies.
#
# Whole, without what is rare, what has at least one hit (engines/saddle.py), or without what decides alone
# (engines/decided.py). Everything here is a choice: what a way leaves out, the bound adds.


@dataclass(frozen=True, slots=True)
class ContourLaw:
    """The law of a composition: its cgfs, its infinite mass, and its lattice where all losses lie on one."""

    cgfs: Terms
    mass: arb
    period: Period | None = None


@dataclass(frozen=True, slots=True)
class ContourTarget:
    """What is asked: delta at epsilon, or the epsilon of delta; log_delta is without the infinite mass.

    second: None, or whether a tail at epsilon is asked of the second law, or of the first.
    """

    epsilon: float | None
    delta: float | None
    log_delta: float | None
    accuracy: float
    proof: bool = False
    second: bool | None = None

    def gap(self, saddle: Saddle) -> float:
        """How far a secant may reach for a tail as sharp as asked."""
        return self.accuracy / (tuning.RAMP_SHARE * (1.0 + saddle.tilt))

    def sensitivity(self, saddle: Saddle) -> float:
        """How much wider a relative error of delta may be than the relative error asked of the answer, at most 1."""
        if self.epsilon is not None:
            return 1.0
        return max(tuning.SENSITIVITY_MIN, min(1.0, saddle.tilt * saddle.epsilon))


class Estimate(NamedTuple):
    """What a try found, for the next one: epsilon, log delta there, and the epsilon that its saddle was made for."""

    epsilon: float
    log_delta: float
    aimed: float


@dataclass(frozen=True, slots=True)
class Way:
    """A part of the law, how it is chosen, and what that may cost.

    work_share: of the work that its arithmetic may take. split_widths: of a split, to a loss of epsilon.
    loosened: times the accuracy. balls: whatever was asked. Where float64 loses its digits, balls follow with the share
    retry_share of their own work: at once or after all other ways, or never where it is 0.
    """

    name: str
    choose: Choose
    work_share: float = 1.0
    split_widths: float = tuning.SPLIT_WIDTHS
    loosened: float = 1.0
    balls: bool = False
    retry_share: float = 1.0
    retry_at_once: bool = False

    def in_balls(self) -> Way:
        """The same where no digits are lost."""
        return replace(self, name=f"{self.name}, in balls", balls=True, work_share=self.retry_share)


@dataclass(frozen=True, slots=True)
class Approach:
    """One way to one answer."""

    law: ContourLaw
    target: ContourTarget
    way: Way

    @property
    def balls(self) -> bool:
        """Whether it sums in balls."""
        return self.target.proof or self.way.balls

    @property
    def accuracy(self) -> float:
        """What the way aims at."""
        wanted = self.target.accuracy
        return wanted if self.way.loosened == 1.0 else min(self.way.loosened * wanted, tuning.TOLERANCE_MAX)

    @property
    def work_most(self) -> float:
        """Nodes times inner points that it may take."""
        return self.way.work_share * (tuning.BALL_WORK_MAX if self.balls else tuning.FLOAT_WORK_MAX)

    def saddle(self, shape: Shape, before: Estimate | None = None, start: float = 1.0) -> Saddle:
        """The saddle of the question, or of what was found before; looked for from a tilt on."""
        tilt_most = TILT_MAX if self.law.period is None else min(TILT_MAX, self.law.period.tilt_most)
        if before is None:
            return find_saddle(shape, self.target.epsilon, self.target.log_delta, tilt_most, start)
        return replace(find_saddle(shape, before.epsilon, None, tilt_most, start), log_delta=before.log_delta)

    def log_left_out(self, saddle: Saddle, log_delta: float) -> float:
        """log of what may be left out of delta."""
        share = min(tuning.LEFT_OUT * self.accuracy, tuning.TOLERANCE_MAX)
        return log_delta + math.log(share * self.target.sensitivity(saddle))


Choose = Callable[[Approach, Estimate | None], tuple[Parts, Saddle]]


def whole(approach: Approach, before: Estimate | None) -> tuple[Parts, Saddle]:
    """Everything."""
    parts = Parts(approach.law.cgfs)
    return parts, approach.saddle(parts, before)


def cut(approach: Approach, before: Estimate | None) -> tuple[Parts, Saddle]:
    """Everything but what is rare."""
    cgfs, given = approach.law.cgfs, approach.target.log_delta
    saddle = _first_saddle(approach)
    log_delta = (before or saddle).log_delta if given is None else given
    for _ in range(tuning.CORRECTIONS_MAX):
        left_out = approach.log_left_out(saddle, log_delta)
        parts, saddle = without_rare(
            cgfs, left_out, lambda shape, start: approach.saddle(shape, before, start), saddle.tilt
        )
        estimate = max(saddle.log_delta, log_one_hit(cgfs, saddle.epsilon))
        if given is not None or estimate >= log_delta - 1.0:
            break
        log_delta = estimate
    return parts, saddle


def _first_saddle(approach: Approach) -> Saddle:
    """The saddle of the whole law; where it has none, of what is left without outputs far rarer than delta."""
    cgfs, given = approach.law.cgfs, approach.target.log_delta
    with suppress(UnsupportedMechanism):
        return approach.saddle(Parts(cgfs))
    log_rare = (tuning.LOG_TINIEST if given is None else given) + math.log(tuning.LEFT_OUT * approach.accuracy)
    return without_rare(cgfs, log_rare, lambda shape, start: approach.saddle(shape, None, start))[1]


def hits(approach: Approach, before: Estimate | None) -> tuple[Parts, Saddle]:
    """What has at least one hit; a smaller tilt allows a softer cut than that of the whole."""
    cgfs, target, widths = approach.law.cgfs, approach.target, approach.way.split_widths
    kept, saddle = cut(approach, before)
    epsilon, log_delta = target.epsilon, target.log_delta
    if log_delta is None:
        log_delta = before.log_delta if before else log_one_hit(cgfs, saddle.epsilon)
    if epsilon is None:
        epsilon = max(before.epsilon, before.aimed / tuning.CORRECTION_MAX) if before else one_hit(cgfs, log_delta)
    left_out = approach.log_left_out(saddle, log_delta)
    first = with_hits(kept, epsilon, left_out, widths)
    if target.epsilon is None and before is None:
        near = find_saddle(first, None, log_delta, start=saddle.tilt)
        epsilon = max(epsilon, near.epsilon)  # more than one hit, it may be
    tilt = find_saddle(first, epsilon, None, start=saddle.tilt).tilt
    kept, _ = without_rare(cgfs, left_out, lambda *_: replace(saddle, tilt=tilt))
    parts = with_hits(kept, epsilon, left_out, widths)
    # The estimate is poor where hits of any size are hardly likelier than delta, so epsilon leads.
    return parts, replace(find_saddle(parts, epsilon, None, start=tilt), log_delta=log_delta)


def decided(approach: Approach, before: Estimate | None) -> tuple[Parts, Saddle]:
    """Everything but the uses that decide alone, which are known without a sum."""
    parts, epsilon, log_delta, _ = _undecided(approach, before)
    return parts, replace(find_saddle(parts, epsilon, None), log_delta=log_delta)


def decided_hits(approach: Approach, before: Estimate | None) -> tuple[Parts, Saddle]:
    """Of that what has at least one hit."""
    cut_parts, epsilon, log_delta, left_out = _undecided(approach, before)
    parts = with_hits(cut_parts, epsilon, left_out, approach.way.split_widths)
    return parts, replace(find_saddle(parts, epsilon, None), log_delta=log_delta)


def _undecided(approach: Approach, before: Estimate | None) -> tuple[Parts, float, float, float]:
    """The law without uses that decide alone, epsilon and log delta, about, and the log of what may be left out."""
    cgfs, target = approach.law.cgfs, approach.target
    if target.second is not None or len(partitionable(cgfs)) < len(cgfs):
        raise UnsupportedMechanism("its uses do not decide alone")
    epsilon, log_delta = target.epsilon, target.log_delta
    if epsilon is None:
        assert log_delta is not None
        epsilon = before.epsilon if before else one_hit(cgfs, log_delta)
    if not epsilon > 0.0:
        raise UnsupportedMechanism("at epsilon 0 every use decides")
    if log_delta is None:
        log_delta = before.log_delta if before else log_one_hit(cgfs, epsilon)
    left_out = approach.log_left_out(_first_saddle(approach), log_delta)
    parts = cut_decided(cgfs, epsilon, left_out)
    if parts is None:
        raise UnsupportedMechanism("no use decides alone")
    return parts, epsilon, log_delta, left_out


WHOLE = Way("whole", whole, retry_share=tuning.MODERATE, retry_at_once=True)
CUT = Way("without what is rare", cut)
HITS = Way("at least one hit", hits)
DECIDED = Way("without what decides alone", decided)
DECIDED_HITS = Way("at least one hit, without what decides alone", decided_hits, split_widths=tuning.SPLIT_MIDDLE)
# Before an engine that takes longer: one product of matrices, short sums, few hits; none in balls.
QUICK = (
    replace(WHOLE, name="whole, as one product", work_share=tuning.QUICK, retry_share=0.0),
    replace(CUT, name="without what is rare, quickly", work_share=tuning.CHEAP, retry_share=0.0),
    replace(
        HITS,
        name="at least one hit, quickly",
        work_share=tuning.CHEAP,
        retry_share=0.0,
        split_widths=tuning.SPLIT_MIDDLE,
    ),
    replace(DECIDED, work_share=tuning.MODERATE, retry_share=0.0),
    replace(DECIDED_HITS, work_share=tuning.CHEAP, retry_share=0.0),
)
# From the cheapest on: a cut is cheap where it helps, and where it does not, hits are.
WAYS = (
    replace(WHOLE, name="whole, with little work", work_share=tuning.MODERATE),
    replace(CUT, name="without what is rare, with little work", work_share=tuning.CHEAP),
    HITS,
    replace(HITS, name="at least one hit, sharply split", split_widths=tuning.SPLIT_SHARP),
    WHOLE,
    CUT,
    replace(HITS, name="at least one hit, loosely", loosened=tuning.LOOSENED),
    replace(DECIDED, work_share=tuning.MODERATE),
    DECIDED_HITS,
)


def ways_of(law: ContourLaw, quick: bool = False) -> tuple[Way, ...]:
    """The ways to a law, in the order in which they are tried; what has no marks has nothing that is rare."""
    many = len(law.cgfs) > tuning.HIT_TERMS_MAX
    if not partitionable(law.cgfs):
        return QUICK[:1] if quick else (WHOLE,)
    if many:  # to cut each of them takes longer than a long sum
        whole = QUICK[0] if quick else WHOLE
        return (replace(whole, work_share=tuning.MANY_KINDS), *(() if quick else (CUT,)))
    return QUICK if quick else WAYS
