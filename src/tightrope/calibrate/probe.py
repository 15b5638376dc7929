"""One question that is asked of every value, and the most that may be answered.

A target of epsilon at delta has two: delta at its epsilon costs less and tells values apart more finely, epsilon at its
delta tells those apart whose delta is 0 or 1. Advantage and total variation are delta at epsilon 0, and at most A where
the run is (0, A)-DP: the same two. Every other reading is one question.
All speak of the dominating pairs at both ends, so that lower ends are sharp.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from ..account import AIM, Case, ask_again
from ..bound import Bound
from ..mechanisms.base import Mechanism
from ..metrics.ask import answered
from ..metrics.law import Law
from ..metrics.table import READINGS
from ..question import PROBABILITIES, Question
from .gauge import equivalent, gauge_of, logarithm
from .target import Target

Prepared = Case | Law
DISTANCES = ("advantage", "total_variation")
FAR, NEAR = 0, 1  # rungs of a ladder: where to start for a value far from the target, and near it
SHARP = 1e-6  # what is aimed at where no accuracy is asked for
LADDER = (0.05, 1e-3, 1e-5, SHARP)
FINEST_SHARE = 0.05  # of the tolerance
ACCURACY_MIN = 1e-15  # nothing is sharper
GAUGE_STEP = 1e-3  # of the way to guessing, or to certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(ABC):
    """What is asked, how sharply, and the most that may be answered.

    gauge: a number that is nearly linear in the logs of unknowns. ladder: widths to ask for, one after the other, until
    a value is decided; at_ease is the rung to start from near the target, while there is time. title: what messages
    call it.
    """

    quantity: str
    limit: float
    gauge: Callable[[float], float]
    ladder: tuple[float, ...]
    title: str
    at_ease: ClassVar[int] = NEAR

    @abstractmethod
    def prepared(self, mechanism: Mechanism, question: Question) -> Prepared:
        """What serves every question about a mechanism, of all probes of a target."""

    @abstractmethod
    def bound(self, prepared: Prepared, question: Question) -> Bound:
        """The answer; AccuracyNotReached where it is too wide."""

    @property
    def unknown(self) -> Bound:
        """What holds of every mechanism."""
        return Bound(0.0, 1.0 if self.quantity in PROBABILITIES else math.inf)

    def accuracy(self, wanted: float) -> float:
        """The width to ask for, relative to the answer."""
        return wanted

    def narrow(self, bound: Bound, wanted: float) -> bool:
        """Whether it is as narrow as wanted."""
        return bound.width <= self.accuracy(wanted) * bound.upper


@dataclass(frozen=True, slots=True, kw_only=True)
class PointProbe(Probe):
    """Epsilon at a delta, or delta at an epsilon."""

    given: float

    def prepared(self, mechanism: Mechanism, question: Question) -> Case:
        return Case.of(mechanism, question, False, AIM, below=False)

    def bound(self, prepared: Prepared, question: Question) -> Bound:
        assert isinstance(prepared, Case)
        return ask_again(prepared, question, self.given)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProbe(Probe):
    """Any other reading."""

    arguments: Mapping[str, float]
    steepness: float  # of the log of the answer in the gauge, at the limit
    at_ease: ClassVar[int] = NEAR + 1  # answers are as wide as they are asked for, and sharp ones cost little more

    def prepared(self, mechanism: Mechanism, question: Question) -> Law:
        return Law(mechanism, question, below=False)

    def bound(self, prepared: Prepared, question: Question) -> Bound:
        assert isinstance(prepared, Law)
        return answered(READINGS[self.quantity], prepared.again(question), self.arguments)

    def accuracy(self, wanted: float) -> float:
        """Finer where most of the number is what guessing reaches."""
        return max(wanted * min(self.steepness, 1.0), ACCURACY_MIN)


def probes(target: Target, tolerance: float) -> tuple[Probe, ...]:
    """What to ask for a target, the finer question first, so that values so far apart are told from each other."""
    if target.name not in DISTANCES and target.name != "epsilon":
        gauge = gauge_of(target)
        return (
            MetricProbe(
                quantity=target.quantity,
                limit=target.limit,
                gauge=gauge,
                ladder=(*LADDER[:-1], FINEST_SHARE * tolerance),
                title=target.title,
                arguments=target.arguments,
                steepness=_steepness(target, gauge),
            ),
        )
    epsilon, delta = (0.0, target.limit) if target.name in DISTANCES else (target.limit, target.arguments["delta"])
    title = target.title if target.name in DISTANCES else "delta"
    by_epsilon = PointProbe(
        quantity="epsilon", limit=epsilon, gauge=logarithm, ladder=LADDER, title="epsilon", given=delta
    )
    gauge = partial(equivalent, epsilon)
    by_delta = PointProbe(quantity="delta", limit=delta, gauge=gauge, ladder=LADDER, title=title, given=epsilon)
    return (by_delta, by_epsilon) if delta > 0.0 else (by_epsilon, by_delta)  # where 0 is needed delta tells nothing


def shown(target: Target) -> str:
    """The quantity of the probe whose answer is that of the target."""
    return "delta" if target.name in DISTANCES else target.quantity


def _steepness(target: Target, gauge: Callable[[float], float]) -> float:
    """How much of itself the reading changes with its gauge, at the limit: without one, what lies above guessing."""
    above = target.limit - target.guess
    step = GAUGE_STEP * (min(above, 1.0 - target.limit) if target.quantity in PROBABILITIES else above)
    rise = gauge(target.limit + step) - gauge(target.limit - step)
    return (2.0 * step / rise if rise > 0.0 else above) / target.limit
