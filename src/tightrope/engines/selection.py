"""The engines as data, in the order in which they are asked: adding one touches its package and one row here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Literal

from ..errors import Refusal, UnsupportedMechanism
from ..kernels import fp_environment
from ..question import AUTO
from .evaluation import Evaluator, Term
from .tuning import FALLBACK_TOLERANCE

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
