"""The ways to a contour for one question: which part of the law to sum, and where its saddle lies.

Whole, without what is rare, or what has at least one hit (parts.py); each way is tried, and tried again from what it
found. Everything here is a choice: what a way leaves out, its evaluator bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from flint import arb

from ... import work
from ...errors import UnsupportedMechanism, WorkExhausted
from ...facets.cgf import Cgf, LatticeCgf, Terms
from ...facets.marks import Split
from ...kernels.ball import BITS_START, upper_float, working_precision
from ..parts import Parts, log_one_hit, markable, one_hit, with_hits, without_rare
from ..saddle import TILT_MOST, Saddle, Shape, find_saddle
from .bound import ContourBound, Nodes
from .period import Period
from .plan import BALL_UNITS, BALL_WORK_MOST, FLOAT_UNITS, ContourPlan, plan_contour, sensitivity
from .reach import Falling

FLOAT_AIM, BALL_AIM = 1e-10, 1e-13  # relative errors that cost little enough to aim at in any case
CORRECTIONS_MOST = 3
CORRECTION_LEAST, CORRECTION_SHARE = 1.0, 0.1  # in units of log delta, and of epsilon
CORRECTION_MOST = 6.0  # epsilon may have been lost where its hits were left out
NEAR_ZERO, ZERO_WIDTH = 1e-3, 1e-12  # below this epsilon so much is narrow enough
LOOSENED, TOLERANCE_MOST = 1e3, 0.1
CHEAP, MODERATE = 0.02, 0.1
HIT_TERMS_MOST = 8  # a split is searched, term by term
SPLIT_WIDTHS, SHARP = 8.0, 32.0  # of the split, to a loss of epsilon
LOG_TINIEST = -745.0  # no double is a smaller delta
LOOSE = 5e-3  # accuracies from here on decide between values, and serve one question
LEFT_OUT = 0.03  # of the accuracy: for what is rare, and for the body


@dataclass(frozen=True)
class Trial:
    """An evaluator, the epsilon and log delta that it found, how wide it is there, and the epsilon of its saddle."""

    evaluator: ContourBound
    epsilon: float
    log_delta: float
    width: float
    aimed: float
    far: bool
    lost_digits: bool  # its own rounding is what makes it wide


def narrower(one: Trial | None, other: Trial) -> Trial:
    """The one that leaves less open."""
    return other if one is None or other.width < one.width else one


@dataclass(frozen=True)
class ContourSearch:
    """One question, and the ways to a contour for it."""

    cgfs: Terms
    infinite: arb
    mass: tuple[float, float]
    epsilon: float | None
    delta: float | None
    log_delta: float | None
    accuracy: float
    proof: bool
    work: float
    period: Period | None = None  # of losses that all lie on one lattice
    split_widths: float = SPLIT_WIDTHS
    loose: bool = False  # nothing sharper than what was asked is worth a node

    def ways(self) -> Iterator[tuple[ContourSearch, Choose]]:
        """The law whole; where rare outputs would rule it, without them; where hits are few, what has at least one."""
        if not markable(self.cgfs):
            yield self, ContourSearch.whole
            return
        if len(self.cgfs) > HIT_TERMS_MOST:
            yield self, ContourSearch.whole
            yield self, ContourSearch.cut
            return
        # From the cheapest on: a cut is cheap where it helps, and where it does not, hits are.
        yield replace(self, work=MODERATE * self.work), ContourSearch.whole
        yield replace(self, work=CHEAP * self.work), ContourSearch.cut
        yield self, ContourSearch.hits
        yield replace(self, split_widths=SHARP), ContourSearch.hits
        yield self, ContourSearch.whole
        yield self, ContourSearch.cut
        # Where small hits join large ones, leaving out more is the only way.
        yield replace(self, accuracy=min(LOOSENED * self.accuracy, TOLERANCE_MOST)), ContourSearch.hits

    def settle(self, choose: Choose) -> Trial:
        """Tries again from what was found, where that is wide and far from what the saddle promised.

        The saddle-point estimate fails where rare large losses and many small ones meet.
        """
        best = found = self.through(*choose(self, None))
        with suppress(UnsupportedMechanism, WorkExhausted):
            for _ in range(CORRECTIONS_MOST):
                if found.width <= self.accuracy or not found.far:
                    break
                found, last = self.through(*choose(self, found)), found
                best = narrower(best, found)
                if found.width > 0.5 * last.width:
                    break
        return best

    def in_balls(self, share: float = 1.0) -> ContourSearch:
        """The same in balls, where no digits are lost, with this share of the work that they may take."""
        return replace(self, proof=True, work=share * BALL_WORK_MOST)

    def saddle(self, shape: Shape, before: Trial | None = None) -> Saddle:
        """The saddle of the question, or of what was found before."""
        tilt_most = TILT_MOST if self.period is None else min(TILT_MOST, self.period.tilt_most)
        if before is None:
            return find_saddle(shape, self.epsilon, self.log_delta, tilt_most)
        return replace(find_saddle(shape, before.epsilon, None, tilt_most), log_delta=before.log_delta)

    def log_left_out(self, saddle: Saddle, log_delta: float) -> float:
        """log of what may be left out of delta."""
        share = min(LEFT_OUT * self.accuracy, TOLERANCE_MOST)
        return log_delta + math.log(share * sensitivity(saddle, self.epsilon is not None))

    def whole(self, before: Trial | None) -> tuple[Parts, Saddle]:
        """Everything."""
        parts = Parts(self.cgfs)
        return parts, self.saddle(parts, before)

    def cut(self, before: Trial | None) -> tuple[Parts, Saddle]:
        """Everything but what is rare."""
        saddle = self._first()
        log_delta = (before or saddle).log_delta if self.log_delta is None else self.log_delta
        for _ in range(CORRECTIONS_MOST):
            left_out = self.log_left_out(saddle, log_delta)
            parts, saddle = without_rare(self.cgfs, left_out, lambda shape: self.saddle(shape, before))
            estimate = max(saddle.log_delta, log_one_hit(self.cgfs, saddle.epsilon))
            if self.log_delta is not None or estimate >= log_delta - 1.0:
                break
            log_delta = estimate
        return parts, saddle

    def _first(self) -> Saddle:
        """The saddle of the whole law; where it has none, of what is left without outputs far rarer than delta."""
        with suppress(UnsupportedMechanism):
            return self.saddle(Parts(self.cgfs))
        log_delta = LOG_TINIEST if self.log_delta is None else self.log_delta
        _, saddle = without_rare(self.cgfs, log_delta + math.log(LEFT_OUT * self.accuracy), self.saddle)
        return saddle

    def hits(self, before: Trial | None) -> tuple[Parts, Saddle]:
        """What has at least one hit; a smaller tilt allows a softer cut than that of the whole."""
        cut, saddle = self.cut(before)
        epsilon, log_delta = self.epsilon, self.log_delta
        if log_delta is None:
            log_delta = before.log_delta if before else log_one_hit(self.cgfs, saddle.epsilon)
        if epsilon is None:
            epsilon = max(before.epsilon, before.aimed / CORRECTION_MOST) if before else one_hit(self.cgfs, log_delta)
        left_out = self.log_left_out(saddle, log_delta)
        first = with_hits(cut, epsilon, left_out, self.split_widths)
        if self.epsilon is None and before is None:
            epsilon = max(epsilon, find_saddle(first, None, log_delta).epsilon)  # more than one hit, it may be
        tilt = find_saddle(first, epsilon, None).tilt
        cut, _ = without_rare(self.cgfs, left_out, lambda _: replace(saddle, tilt=tilt))
        parts = with_hits(cut, epsilon, left_out, self.split_widths)
        # The estimate is poor where hits of any size are hardly likelier than delta, so epsilon leads.
        return parts, replace(find_saddle(parts, epsilon, None), log_delta=log_delta)

    def through(self, parts: Parts, saddle: Saddle) -> Trial:
        """The evaluator whose contour runs through this saddle, and what it finds."""
        share = sensitivity(saddle, self.epsilon is not None)
        aim = math.inf if self.loose else BALL_AIM if self.proof else FLOAT_AIM
        tolerances = [min(self.accuracy, aim) * share / 16.0]
        # The estimate of delta is off by a few, and two tilts bound aliases: some room costs few nodes.
        tolerances += [min(self.accuracy * share / room, TOLERANCE_MOST) for room in (16.0, 4.0)]
        units = BALL_UNITS if self.proof else FLOAT_UNITS
        most = min(self.work, work.left() / units)
        falling = self.falling(parts, saddle.tilt)
        plan = plan_contour(parts, falling, saddle, tolerances, most, self.period)
        work.spend(units * plan.work)
        nodes = nodes_of(parts, plan, self.proof)
        with working_precision(nodes.bits):
            rare = parts.rare_mass()
        return self.found(ContourBound(nodes, self.infinite, rare, parts.body_tilt), saddle)

    def falling(self, parts: Parts, tilt: float) -> list[Falling]:
        """How every term falls; with hits, how these fall."""
        splits = parts.splits or (None,) * len(parts.terms)
        return [self._falls(cgf, count, split, tilt) for (cgf, count), split in zip(parts.terms, splits, strict=True)]

    def _falls(self, cgf: Cgf, count: int, split: Split | None, tilt: float) -> Falling:
        part = cgf if split is None else split.hit
        if self.period is not None:
            assert isinstance(part, LatticeCgf)
            return Falling(part.period_decay(tilt, self.period.step), count)
        decay = part.ball_decay(tilt) if self.proof else part.decay(tilt)
        if split is None:
            return Falling(decay, count)
        if self.proof:
            with working_precision(BITS_START):
                return Falling(decay, count, upper_float(split.ball_log_ratio(tilt)))
        return Falling(decay, count, float(split.log_ratio(tilt).upper))

    def found(self, evaluator: ContourBound, saddle: Saddle) -> Trial:
        """What the evaluator says at the question, in plain floats."""
        at_saddle = self.epsilon is not None or self.delta is None
        found = evaluator.at(saddle.epsilon) if at_saddle else evaluator.solution(self.delta or 0.0)
        at, log_delta, rate, value = found
        log_delta = min(log_delta, 0.0) if math.isfinite(log_delta) else saddle.log_delta - 10.0
        width = (value.upper - value.lower) / value.upper if value.upper > 0.0 else math.inf
        if self.epsilon is None:
            width = width / max(-rate * at, 1e-300) if width < 0.5 else math.inf
            if at < NEAR_ZERO and width * at <= ZERO_WIDTH:
                width = 0.0
            if at == 0.0 and self.delta is not None and value.upper <= self.delta:
                width = 0.0  # the answer is 0
        off = abs(at - saddle.epsilon)
        missed = saddle.tilt * off + abs(log_delta - saddle.log_delta)
        far = missed > CORRECTION_LEAST or off > CORRECTION_SHARE * saddle.epsilon
        lines = value.budget.upper
        lost_digits = not self.proof and not lines["rounding"] < max(
            lines[name] for name in lines if name != "rounding"
        )
        return Trial(evaluator, at, log_delta, width, saddle.epsilon, far, lost_digits)


def nodes_of(parts: Parts, plan: ContourPlan, proof: bool) -> Nodes:
    """The law on the nodes of the plan, in balls for a proof."""
    if proof:
        from .ball_sum import ball_nodes

        return ball_nodes(parts, plan)
    from .float_sum import float_nodes

    return float_nodes(parts, plan)


Choose = Callable[[ContourSearch, Trial | None], tuple[Parts, Saddle]]
