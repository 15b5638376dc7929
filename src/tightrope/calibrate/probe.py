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
from dataclasses import dataclass, field
from functools import partial

from ..account import AIM, Case, ask_again
from ..bound import Bound
from ..mechanisms.base import Mechanism
from ..question import PROBABILITIES, Question
from ..readings.ask import answered
from ..readings.law import Law
from ..readings.table import READINGS
from .gauge import equivalent, gauge_of, logarithm
from .target import Target

Prepared = Case | Law


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(ABC):
    """quantity: what is asked. gauge: a number that is nearly linear in the logs of unknowns. guess: what the quantity
    is where nothing is lost; widths are relative to what lies above. title: what messages call it."""

    quantity: str
    limit: float
    gauge: Callable[[float], float]
    title: str
    guess: float = 0.0

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
        """The relative width to ask for."""
        return wanted

    def narrow(self, bound: Bound, wanted: float) -> bool:
        """Whether it is as narrow as wanted."""
        return bound.width <= wanted * (bound.upper - self.guess)


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
class ReadingProbe(Probe):
    """Any other reading."""

    arguments: Mapping[str, float] = field(default_factory=dict)

    def prepared(self, mechanism: Mechanism, question: Question) -> Law:
        return Law(mechanism, question, below=False)

    def bound(self, prepared: Prepared, question: Question) -> Bound:
        assert isinstance(prepared, Law)
        return answered(READINGS[self.quantity], prepared.again(question), self.arguments)

    def accuracy(self, wanted: float) -> float:
        """Finer where most of the number is what guessing reaches; accuracies of guesses aim at that by themselves."""
        return wanted if self.quantity == "bayes_accuracy" else wanted * (self.limit - self.guess) / self.limit


def probes(target: Target) -> tuple[Probe, ...]:
    """What to ask for a target, the finer question first."""
    if target.name not in ("epsilon", "advantage", "total_variation"):
        return (
            ReadingProbe(
                quantity=target.quantity,
                limit=target.limit,
                gauge=gauge_of(target),
                title=target.title,
                guess=target.guess,
                arguments=target.arguments,
            ),
        )
    shared = target.name == "epsilon"
    epsilon, delta = (target.limit, target.arguments["delta"]) if shared else (0.0, target.limit)
    by_delta = PointProbe(
        quantity="delta",
        limit=delta,
        gauge=partial(equivalent, epsilon),
        title="delta" if shared else target.title,
        given=epsilon,
    )
    by_epsilon = PointProbe(quantity="epsilon", limit=epsilon, gauge=logarithm, title="epsilon", given=delta)
    return (
        (by_delta, by_epsilon) if delta > 0.0 else (by_epsilon, by_delta)
    )  # a target of 0 is met by a delta of 0 only


def shown(target: Target) -> str:
    """The quantity of the probe whose answer is that of the target."""
    return "delta" if target.name in ("advantage", "total_variation") else target.quantity
