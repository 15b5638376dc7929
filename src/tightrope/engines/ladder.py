"""The engines in the order in which they are asked, and what each can do: data, so that adding one touches one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from ..kernels import conditions
from . import closed_form, outline
from .evaluation import Evaluator, Term

# What a search on a cheap engine aims at in any case; the interval ends where its rounding does.
FLOAT_TOLERANCE = 1e-12


# An engine's way to prepare for one question: (terms, *, epsilon, delta, accuracy) -> Evaluator, with `beat` where it
# weighs its work; it refuses with UnsupportedMechanism.
Prepare = Callable[..., Evaluator]


@dataclass(frozen=True, slots=True)
class Rung:
    """One engine in one arithmetic, and when it is the one to ask.

    settles: it goes to balls by itself. weighs: it takes `beat`, a relative width that is known already, and refuses
    work that cannot halve it. aims: it may miss where epsilon lies, and finds it at a second aim. chooses:
    its balls take their grid from float64, and without proof they are wider still. finest: the relative width that a
    search on it aims at in any case.
    """

    engine: str
    prepare: Prepare
    ball: bool
    reason: str
    settles: bool = False
    weighs: bool = False
    aims: bool = False
    chooses: bool = False
    finest: float = FLOAT_TOLERANCE

    def arithmetic(self) -> AbstractContextManager[None]:
        """float64 where it can be trusted; some balls take choices from it, others do without."""
        if not self.ball:
            return conditions.float64()
        return conditions.quiet() if self.chooses else nullcontext()


HITS, CONTOUR, LATTICE, JOINT, BUCKETS = "hits", "contour", "lattice", "joint", "buckets"


def _late(engine: str, **options: bool) -> Prepare:
    """The engine's prepare, imported when it is first asked: exact answers need no other engine."""

    def prepare(*terms: Sequence[Term], **question: float | None) -> Evaluator:
        made: Evaluator = import_module(f".{engine}", __package__).prepare(*terms, **question, **options)
        return made

    return prepare


# From the cheapest on.
LADDER = (
    Rung(closed_form.NAME, closed_form.prepare, False, "an exact formula covers every term"),
    Rung(closed_form.NAME, partial(closed_form.prepare, proof=True), True, "an exact formula covers every term"),
    Rung(HITS, _late(HITS), False, "few hits decide, or every hit is seen"),
    Rung(HITS, _late(HITS, proof=True), True, "every hit is seen"),
    Rung(CONTOUR, _late(CONTOUR), False, "every term has a cgf, and the integral is proven to converge", settles=True),
    Rung(CONTOUR, _late(CONTOUR, proof=True), True, "every term has a cgf, and the integral converges", settles=True),
    Rung(LATTICE, _late(LATTICE), False, "any pair can be put on a grid", weighs=True, aims=True),
    Rung(LATTICE, _late(LATTICE, proof=True), True, "any pair can be put on a grid", aims=True, chooses=True),
    Rung(JOINT, _late(JOINT), False, "one sample serves several mechanisms"),
    Rung(JOINT, _late(JOINT, proof=True), True, "one sample serves several mechanisms", chooses=True),
)
# The historical reference answers when asked by name.
ON_REQUEST = (Rung(BUCKETS, _late(BUCKETS), False, "privacy buckets as published"),)
ENGINES = ("auto", *dict.fromkeys(rung.engine for rung in LADDER + ON_REQUEST))

# What is given where no engine came to an end in time.
OUTLINE = Rung(outline.NAME, outline.prepare, False, "moments above, single events below", finest=outline.TOLERANCE)
