"""The engines as data, in the order in which they are asked: adding one touches its package and one row here."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Literal

from flint import arb

from ..losses.pair import Pair
from ..numerics import fp_environment
from ..numerics.balls import BITS_START, enclose, lower_float, refine, upper_float, working_precision
from ..numerics.search import Compared, Inverse, compare, invert
from ..values.bound import ErrorBreakdown, error_lines
from ..values.errors import Refusal, UnsupportedMechanism, agreed
from ..values.question import AUTO
from .tuning import BALL_TOLERANCE, FALLBACK_TOLERANCE

# What an engine gives back: a way to bound delta at any epsilon.

EXCESS_BITS = 160  # absolute accuracy of delta / level - 1: decides next to a delta of 1 too

Term = tuple[Pair, int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """lower <= delta(epsilon) <= upper, and what the interval allows for."""

    lower: float
    upper: float
    budget: ErrorBreakdown

    @property
    def middle(self) -> float:
        """A point inside, for searches."""
        return self.lower + (self.upper - self.lower) / 2.0


class Evaluator(ABC):
    """delta as a function of epsilon, for one direction of one composition."""

    @property
    @abstractmethod
    def arithmetic(self) -> str:
        """float64 or ball."""

    @property
    def reason(self) -> str | None:
        """Why it may answer, where its engine has several ways; None for what the ladder says."""
        return None

    @property
    @abstractmethod
    def parameters(self) -> Mapping[str, object]:
        """What the certificate tells about how it was computed."""

    @abstractmethod
    def delta(self, epsilon: float) -> Evaluation:
        """Bounds delta at a finite epsilon >= 0."""

    def tail(self, t: float) -> Evaluation | None:
        """P[l > t] at a t >= 0, where it is known without secants of delta; None where it is not."""
        return None

    def quickly(self, epsilon: float) -> Evaluation:
        """The same, without what takes long and helps where delta is small only: for secants, which are many."""
        return self.delta(epsilon)

    def secant(self, x: float, y: float, second: bool) -> Evaluation:
        """Bounds a number between P[l >= y] and P[l > x], or the same of the second law.

        S(x, y) = (H(e^x) - e^(x-y) H(e^y)) / (1 - e^(x-y)), or (H(e^x) - H(e^y)) / (e^y - e^x) where second.
        Proof: docs/proofs/loss.md, section 1.
        """
        near, far = self.quickly(x), self.quickly(y)
        with working_precision(BITS_START):
            gap = arb(y) - arb(x)
            share, width = (arb(1), arb(x).exp() * gap.expm1()) if second else ((-gap).exp(), -(-gap).expm1())
            low = (arb(near.lower) - share * arb(far.upper)) / width
            high = (arb(near.upper) - share * arb(far.lower)) / width

            def scaled(one: Mapping[str, float], other: Mapping[str, float]) -> Mapping[str, float]:
                return error_lines(**{name: upper_float((one[name] + share * other[name]) / width) for name in one})

            budget = ErrorBreakdown(
                scaled(near.budget.upper, far.budget.lower), scaled(near.budget.lower, far.budget.upper)
            )
            lower, upper = max(lower_float(low), 0.0), min(upper_float(high), 1.0)
            return Evaluation(*agreed(lower, upper, "a secant", "the same secant"), budget)


class SelfInverse(Evaluator):
    """An evaluator that knows a better way to epsilon than a search."""

    @abstractmethod
    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        """An interval around the smallest epsilon with delta(epsilon) <= delta, which is at most ceiling."""


class BallFormula(SelfInverse):
    """delta as a formula in balls, at whatever precision is current: it can be compared with a level beyond doubles."""

    arithmetic = "ball"

    @abstractmethod
    def ball(self, epsilon: arb) -> arb:
        """delta at epsilon, at the working precision."""

    def delta(self, epsilon: float) -> Evaluation:
        low, high = enclose(lambda: self.ball(arb(epsilon)))
        low, high = max(low, 0.0), min(high, 1.0)
        lines = error_lines(rounding=high - low)
        return Evaluation(*agreed(low, high, "a formula", "the same formula"), ErrorBreakdown(lines, lines))

    def inverse(self, delta: float, ceiling: float, accuracy: float) -> Inverse[Evaluation]:
        found = invert(lambda point: self.against(point, delta), ceiling, min(BALL_TOLERANCE, accuracy / 8.0))
        ends = (None if end is None else self.delta(end) for end in (found.at_lower, found.at_upper))
        return Inverse(found.lower, found.upper, *ends)

    def against(self, epsilon: float, level: float) -> Compared[float]:
        """delta(epsilon) / level - 1, whose sign is decided before anything is rounded to a double."""

        def excess() -> arb:
            return (self.ball(arb(epsilon)) - arb(level)) / arb(level)

        value = refine(excess, EXCESS_BITS)
        middle = float(value.mid()) if value.is_finite() else math.nan
        log = math.log1p(middle) if middle > -1.0 else -math.inf
        return Compared(bool(value > 0), bool(value <= 0), log, float(value.rad()), epsilon)


def inverse(
    evaluator: Evaluator, delta: float, ceiling: float, tolerance: float, start: float = 1.0
) -> Inverse[Evaluation]:
    """The smallest epsilon with delta(epsilon) <= delta, by search from start; delta(ceiling) <= delta is known."""

    def against(epsilon: float) -> Compared[Evaluation]:
        value = evaluator.delta(epsilon)
        return compare(value.lower, value.upper, delta, value)

    return invert(against, ceiling, tolerance, start)


Arithmetic = Literal["float64", "ball"]
ARITHMETICS: tuple[Arithmetic, ...] = ("float64", "ball")
# What a search on a cheap engine aims at in any case; the interval ends where its rounding does.
FLOAT_TOLERANCE = 1e-12


class Serves(Enum):
    """The terms for which an engine is asked without being named."""

    EVERY = "every term"
    TAILS = "terms that know their tails"
    BRACKETS = "terms of which a part is known between two finite laws only"
    NONE = "none: it answers when asked by name"


class Promise(Enum):
    """What an engine promises of its answers, by which the selection decides whom to ask next."""

    LAST_WORD = "in balls no engine is narrower"
    OWN_BALLS = "it goes to balls by itself where that helps"
    MOMENTS = "it rests on cgfs, so that moments are known as well"
    SECANTS = "where tails are asked it takes `second`, and sums secants by themselves"
    SECOND_AIM = "it may miss where epsilon lies, and finds it when asked once more"
    FLOAT_GRID = "balls take their grid from float64, and without proof are wider still"


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine, and when it is the one to ask; its package in this folder has its name.

    reason, ball_reason: why it may answer, in float64 and in balls; None where it has no balls.
    takes: a keyword that it has in float64 alone. beat: a relative width that is known already; it refuses work that
    cannot halve it. quick: only what takes little work, before an engine that mostly takes more; what it refuses is
    asked again in full. finest: the relative width that a search on it aims at in any case.
    """

    name: str
    reason: str
    ball_reason: str | None
    serves: Serves = Serves.TAILS
    promised: frozenset[Promise] = frozenset()
    takes: Literal["beat", "quick"] | None = None
    finest: float = FLOAT_TOLERANCE

    def promises(self, promise: Promise) -> bool:
        """Whether its answers keep this."""
        return promise in self.promised

    def prepare(self, terms: Sequence[Term], **question: object) -> Evaluator:
        """Prepares for one question: epsilon or delta, accuracy, proof, beat, and the settings that were insisted on.

        Refuses with UnsupportedMechanism.

        The package is imported when it is first asked: exact answers need no other engine.
        """
        made: Evaluator = import_module(f".{self.name}.engine", __package__).prepare(terms, **question)
        return made


@dataclass(frozen=True, slots=True)
class Candidate:
    """One engine in one arithmetic."""

    engine: Engine
    arithmetic: Arithmetic

    @property
    def reason(self) -> str:
        """Why it may answer."""
        return (self.engine.ball_reason if self.arithmetic == "ball" else None) or self.engine.reason

    @property
    def sound(self) -> bool:
        """Whether its arithmetic can be rested on, on this thread as it is."""
        return self.arithmetic == "ball" or fp_environment.trusted()

    @contextmanager
    def running(self) -> Iterator[None]:
        """float64 where it can be trusted, else NEEDS_BALLS; some balls take choices from it, others do without."""
        try:
            balls = fp_environment.quiet() if self.engine.promises(Promise.FLOAT_GRID) else nullcontext()
            with balls if self.arithmetic == "ball" else fp_environment.float64():
                yield
        except FloatingPointError as broken:
            raise UnsupportedMechanism(f"{broken}; ask with proof", Refusal.NEEDS_BALLS) from broken

    def prepare(self, terms: Sequence[Term], beat: float, **question: object) -> Evaluator:
        """The engine's evaluator in this arithmetic."""
        if self.arithmetic == "ball":
            return self.engine.prepare(terms, **question, proof=True)
        match self.engine.takes:
            case "beat":
                return self.engine.prepare(terms, **question, beat=beat)
            case "quick":
                return self.engine.prepare(terms, **question, quick=True)
            case None:
                return self.engine.prepare(terms, **question)


FORMULA, GRID, BETWEEN = (
    "an exact formula covers every term",
    "any pair can be put on a grid",
    "a part is known between two finite laws",
)
CLOSED_FORM = Engine("closed_form", FORMULA, FORMULA, Serves.EVERY, frozenset({Promise.LAST_WORD}))
CONTOUR = Engine(
    "contour",
    "every term has a cgf, and the integral is proven to converge",
    "every term has a cgf, and the integral converges",
    promised=frozenset({Promise.OWN_BALLS, Promise.MOMENTS, Promise.SECANTS}),
)
QUICK_CONTOUR = replace(CONTOUR, ball_reason=None, takes="quick")
HITS = Engine("hits", "few hits decide, or every hit is seen", "every hit is seen")
# From the cheapest on; the historical reference answers when asked by name.
ENGINES = (
    CLOSED_FORM,
    HITS,
    CONTOUR,
    Engine("lattice", GRID, GRID, promised=frozenset({Promise.SECOND_AIM, Promise.FLOAT_GRID}), takes="beat"),
    Engine("joint", BETWEEN, BETWEEN, Serves.BRACKETS, frozenset({Promise.FLOAT_GRID})),
    Engine("buckets", "privacy buckets", None, Serves.NONE),
)
ENGINE_NAMES = (AUTO, *(engine.name for engine in ENGINES))

# What is given where no engine came to an end in time.
FALLBACK = Engine("outline", "moments above, single events below", None, finest=FALLBACK_TOLERANCE)


@cache
def candidates(name: str, between: bool, proof: bool) -> tuple[Candidate, ...]:
    """The rungs of the engine insisted on, or of all that are asked: each in float64, then in balls.

    between: a part is known between two finite laws; alone, its profile may be a formula still.
    With proof in balls only. Without, the lattice ends the ladder: in exact integers it has fewer points.
    A contour of one short sum comes before the grids of few hits, which take several.
    """
    served = (Serves.EVERY, Serves.BRACKETS if between else Serves.TAILS)
    insisted = [engine for engine in ENGINES if engine.name == name]
    asked = insisted or [engine for engine in ENGINES if engine.serves in served]
    if proof:
        return tuple(Candidate(engine, "ball") for engine in asked if engine.ball_reason)
    if HITS in asked and CONTOUR in asked:
        asked.insert(asked.index(HITS), QUICK_CONTOUR)
    return tuple(
        Candidate(engine, arithmetic)
        for engine in asked
        for arithmetic in ARITHMETICS
        if arithmetic == "float64" or (engine.ball_reason and not engine.promises(Promise.FLOAT_GRID))
    )
