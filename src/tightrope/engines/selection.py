"""The engines as data, in the order in which they are asked: adding one touches its package and one row here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module

from ..errors import Refusal, UnsupportedMechanism
from ..kernels import fp_environment
from ..question import AUTO
from .evaluation import Evaluator, Term
from .tuning import FALLBACK_TOLERANCE

# What a search on a cheap engine aims at in any case; the interval ends where its rounding does.
FLOAT_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine, and when it is the one to ask; its package in this folder has its name.

    reason, ball_reason: why it may answer, in float64 and in balls; None where it has no balls. automatic: asked
    without being named. between: made for parts that are known between two finite laws, and for
    no other. exact:
    its balls are the last word. settles: it goes to balls by itself. moments: it rests on cgfs, so moments are
    known as well. weighs: in float64 it takes `beat`, a relative width that is known already, and refuses work that
    cannot halve it. ramps: it takes `second` where tails are asked, and sums secants by themselves. aims: it may
    miss where epsilon lies, and finds it at a second aim. chooses: its balls take their grid from float64, and
    without proof they are wider still. finest: the relative width that a search on it aims at in any case.
    quick: only what takes little work, before an engine that mostly takes more; what it refuses is asked again in full.
    """

    name: str
    reason: str
    ball_reason: str | None
    automatic: bool = True
    between: bool = False
    exact: bool = False
    settles: bool = False
    moments: bool = False
    weighs: bool = False
    ramps: bool = False
    aims: bool = False
    chooses: bool = False
    quick: bool = False
    finest: float = FLOAT_TOLERANCE

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
    ball: bool

    @property
    def reason(self) -> str:
        """Why it may answer."""
        return (self.engine.ball_reason if self.ball else None) or self.engine.reason

    @contextmanager
    def arithmetic(self) -> Iterator[None]:
        """float64 where it can be trusted, else NEEDS_BALLS; some balls take choices from it, others do without."""
        try:
            balls = fp_environment.quiet() if self.engine.chooses else nullcontext()
            with balls if self.ball else fp_environment.float64():
                yield
        except FloatingPointError as broken:
            raise UnsupportedMechanism(f"{broken}; ask with proof", Refusal.NEEDS_BALLS) from broken

    def prepare(self, terms: Sequence[Term], beat: float, **question: object) -> Evaluator:
        """The engine's evaluator in this arithmetic."""
        if self.ball:
            return self.engine.prepare(terms, **question, proof=True)
        own = {"beat": beat} if self.engine.weighs else {"quick": True} if self.engine.quick else {}
        return self.engine.prepare(terms, **question, **own)


FORMULA, GRID, BETWEEN = (
    "an exact formula covers every term",
    "any pair can be put on a grid",
    "a part is known between two finite laws",
)
CLOSED_FORM = Engine("closed_form", FORMULA, FORMULA, exact=True)
CONTOUR = Engine(
    "contour",
    "every term has a cgf, and the integral is proven to converge",
    "every term has a cgf, and the integral converges",
    settles=True,
    moments=True,
    ramps=True,
)
QUICK_CONTOUR = replace(CONTOUR, ball_reason=None, quick=True)
HITS = Engine("hits", "few hits decide, or every hit is seen", "every hit is seen")
# From the cheapest on; the historical reference answers when asked by name.
ENGINES = (
    CLOSED_FORM,
    HITS,
    CONTOUR,
    Engine("lattice", GRID, GRID, weighs=True, aims=True, chooses=True),
    Engine("joint", BETWEEN, BETWEEN, between=True, chooses=True),
    Engine("buckets", "privacy buckets", None, automatic=False),
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
    insisted = [engine for engine in ENGINES if engine.name == name]
    asked = insisted or [
        engine for engine in ENGINES if engine.automatic and (engine.between == between or engine.exact)
    ]
    if proof:
        return tuple(Candidate(engine, True) for engine in asked if engine.ball_reason)
    if HITS in asked and CONTOUR in asked:
        asked.insert(asked.index(HITS), QUICK_CONTOUR)
    kinds = [(engine, ball) for engine in asked for ball in (False, True)]
    return tuple(
        Candidate(engine, ball) for engine, ball in kinds if not ball or (engine.ball_reason and not engine.chooses)
    )
