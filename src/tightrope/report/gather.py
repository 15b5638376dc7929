"""The questions of a report, in one time for all: epsilons first, then what they mean, pictures and epochs last.

Guarantee: every number is that of its own question. A part that cannot be answered is left out, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from .. import (
    Bound,
    Curve,
    Direction,
    Epochs,
    Mechanism,
    Risk,
    Tradeoffs,
    UnsupportedMechanism,
    WorkExhausted,
    training,
)
from ..extend import work
from ..extend.documents import Date
from ..extend.metrics import risk_notes, risk_of
from ..extend.plots import rates
from ..extend.questions import Question, ReportOptions, parsed
from ..extend.result import Result
from .filing import Filing
from .request import REPORT_SECONDS
from .value import Report

EPSILON_SHARE, REPORT_CURVE_SHARE, RISK_SHARE, TRADEOFF_SHARE = 0.5, 0.3, 0.5, 0.6  # of the time that is left
CURVE_BEYOND = 1.3  # a curve ends at so many times the largest epsilon, or a little later
CURVE_POINTS = 41
STOP_UNKNOWN = 4.0
PRIOR_USUAL, FPR_USUAL, BASELINE_USUAL = 0.1, 1e-3, 1e-4  # as those of risk
STOPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)  # round numbers, in units of a power of ten
TABLED_RATES = (1e-3, 1e-2, 0.05, 0.1, 0.25, 0.5)

Answer = TypeVar("Answer")


def gather(run: Mechanism, deltas: list[float], date: Date, options: ReportOptions) -> Report:
    """All answers of a report."""
    filing, seconds = Filing.of(options, date), options.get("seconds", REPORT_SECONDS)
    asking = Asking(run, deltas, options, {"proof": options.get("proof", False), "seconds": seconds})
    with work.sharing(), work.allowance(seconds):
        with work.part(EPSILON_SHARE, clock=True):
            results = asking.epsilons()
        with work.part(REPORT_CURVE_SHARE, clock=True):
            curve = asking.tried("curve", lambda: asking.curve(results))
        results = asking.agreeing(results)  # with the curve
        with work.part(RISK_SHARE, clock=True):
            sentences = asking.tried("risk", lambda: asking.risk(results[0]))
        with work.part(TRADEOFF_SHARE, clock=True):
            tradeoffs = asking.tried("trade-off", lambda: asking.tradeoffs(sentences))
        epochs = asking.tried("epochs", asking.epochs)
    assumed, not_covered = risk_notes(run, asking.fpr)
    return Report(run, filing, results, sentences, curve, tradeoffs, epochs, assumed, not_covered, asking.left_out)


@dataclass(slots=True)
class Asking:
    """The run and how it is asked; left_out is what could not be answered, by its name, and why."""

    run: Mechanism
    deltas: list[float]
    options: ReportOptions
    manner: Any  # proof and seconds
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def fpr(self) -> float:
        """The rate of wrong accusations that sentences and pictures speak of."""
        return self.options.get("fpr", FPR_USUAL)

    @property
    def direction(self) -> Direction | None:
        return parsed(self.options.get("direction"))

    def tried(self, name: str, ask: Callable[[], Answer]) -> Answer | None:
        """An answer, or nothing and the reason."""
        try:
            return ask()
        except (UnsupportedMechanism, WorkExhausted) as refused:
            self.left_out[name] = str(refused)
            return None

    def epsilons(self) -> tuple[Result, ...]:
        bounds = self.run.epsilon(self.deltas, direction=self.direction, **self.manner)
        written = repr(self.run)
        return tuple(
            Result(written, "epsilon", {"delta": delta}, bound, direction=self.direction)
            for delta, bound in zip(self.deltas, bounds, strict=True)
        )

    def agreeing(self, results: Sequence[Result]) -> tuple[Result, ...]:
        """The same epsilons, no wider than what other answers have shown since."""
        question = Question("epsilon", direction=self.direction, proof=self.manner["proof"])
        bounds = work.carried(self.run.nameless, question, self.deltas, tuple(result.bound for result in results))
        return tuple(replace(result, bound=bound) for result, bound in zip(results, bounds, strict=True))

    def risk(self, first: Result) -> Risk:
        """Its odds are those of the first epsilon, unless that is of one direction only."""
        given = {"prior": PRIOR_USUAL, "baseline": BASELINE_USUAL, "delta": self.deltas[0], "fpr": self.fpr}
        given |= {name: value for name, value in self.options.items() if name in given}  # type: ignore[misc]
        return risk_of(self.run, given, self.manner, first.bound if first.direction is None else None)

    def curve(self, results: Sequence[Result]) -> Curve:
        stop = last_epsilon([result.bound for result in results])
        return self.run.curve(0.0, stop, CURVE_POINTS, direction=self.direction, **self.manner)

    def tradeoffs(self, of: Risk | None) -> Tradeoffs | None:
        """Of the same direction as the sentences."""
        if of is None:
            return None
        places = sorted({*rates(self.fpr), *TABLED_RATES})
        return self.run.tradeoff_curve(fprs=places, direction=of.rows[0].direction, **self.manner)

    def epochs(self) -> Epochs | None:
        if not isinstance(self.run, training):
            return None
        return self.run.by_epoch(self.deltas[0], direction=self.direction, **self.manner)


def last_epsilon(bounds: list[Bound]) -> float:
    """Where a curve ends: a round number beyond the largest epsilon that is known."""
    ends = [end for bound in bounds for end in (bound.lower, bound.upper) if end < math.inf]
    most = CURVE_BEYOND * max(ends, default=0.0)
    if not 0.0 < most < math.inf:
        return STOP_UNKNOWN
    unit = 10.0 ** math.floor(math.log10(most))
    return next((stop * unit for stop in STOPS if stop * unit >= most), most)
