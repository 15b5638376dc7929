"""The ways to a contour: which part of the law to sum, and where its saddle lies.

Whole, without what is rare, what has at least one hit (engines/parts.py), or without what decides alone
(engines/decided.py). Everything here is a choice: what a way leaves out, the bound adds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from flint import arb

from ...errors import UnsupportedMechanism
from ...facets.cgf import Terms
from ..decided import cut_decided
from ..parts import Parts, log_one_hit, one_hit, partitionable, with_hits, without_rare
from ..saddle import Saddle, Shape, find_saddle
from ..tuning import TILT_MAX
from . import tuning
from .period import Period


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
