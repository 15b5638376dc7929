"""What the page may ask, and who answers it: one row per kind of question.

A refusal is an answer too: {"error": one line, "column": where in the text, or null}.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from .. import ExpressionError, InvalidParameter, Mechanism, TightropeError, WorkExhausted
from ..extend import documents, work
from ..extend.expressions import has_unknown
from ..extend.mechanisms import GIVE_FILES, neighbours
from ..extend.result import Result
from . import audits, ledger_views, single, views
from .asked import RUNS_MAX, PageQuestion
from .form import form_of
from .ledger import LedgerReader
from .menu import menu
from .views import Chart

Allowing = Callable[[float], AbstractContextManager[object]]
FILES_HINT = "start the explorer with --files FOLDER to let expressions name files in it"


def answer(
    given: Mapping[str, Any],
    files: str | None = None,
    allowing: Allowing = work.allowance,
    ledger: LedgerReader | None = None,
) -> dict[str, Any]:
    """The answer to a question, or why there is none; allowing gives each call its time."""
    asked = PageQuestion(given, files, ledger)
    try:
        make = KINDS.get(asked.kind)
        if asked.kind == "document":
            return document(asked, allowing)
        if asked.kind in LEDGER_KINDS:  # a price has its own time, as when it is paid: another would make it another
            return LEDGER_KINDS[asked.kind](asked)
        if make is None:
            known = ", ".join((*KINDS, *LEDGER_KINDS))
            raise InvalidParameter(f"the page asks for document, {known}, not for {asked.kind!r:.40}")
        with allowing(asked.seconds):
            return make(asked)
    except WorkExhausted:
        return _refused("nothing could be proven in the time of a first picture", None)
    except ExpressionError as error:
        return _refused(_with_hint(error), error.column)
    except TightropeError as error:
        return _refused(_with_hint(error), None)


def read(asked: PageQuestion) -> dict[str, Any]:
    """What a text says: its form, what it is called, and which data are neighbours."""
    text = asked.text
    unknown = has_unknown(text)
    template = asked.template() if unknown else None
    run = asked.run() if template is None else None
    return {
        "form": form_of(text),
        "unknown": None if template is None else template.parameter,
        **(_described(run) if run is not None else {}),
    }


def _described(run: Mechanism) -> dict[str, Any]:
    return {"label": run.label, "neighbours": neighbours(run.relation)}


def results(asked: PageQuestion) -> list[Result]:
    """What a question of a document rests on."""
    if asked.kind not in VIEWS:
        raise InvalidParameter(f"a document holds {', '.join(VIEWS)}, not {asked.kind!r:.40}")
    return VIEWS[asked.kind](asked).results


def document(asked: PageQuestion, allowing: Allowing) -> dict[str, Any]:
    """The results of several questions as one document, which `tightrope verify` reads; each is a call of its own."""
    if len(asked.parts) != len(asked.given.get("questions") or ()) or not 0 < len(asked.parts) <= RUNS_MAX:
        raise InvalidParameter(f"a document holds the answers to 1 to {RUNS_MAX} questions")
    found = []
    for part in asked.parts:
        with allowing(part.seconds):
            found += [result.document() for result in results(part)]
    return {"json": documents.write_dated({"results": found})}


def report(asked: PageQuestion) -> dict[str, Any]:
    """The document that an officer files, as one HTML file."""
    prior, fpr, baseline, delta = (asked.number(name) for name in ("prior", "fpr", "baseline", "delta"))
    found = asked.run().report(delta, prior=prior, fpr=fpr, baseline=baseline)
    return {"html": found.html(), "json": found.document()}


def _drawn(make: Callable[[PageQuestion], Chart]) -> Callable[[PageQuestion], dict[str, Any]]:
    return lambda asked: make(asked).drawn


def _with_hint(error: TightropeError) -> str:
    """Its line, with what to do here in place of what to do in Python."""
    return str(error).replace(GIVE_FILES, FILES_HINT)


def _refused(why: str, column: int | None) -> dict[str, Any]:
    return {"error": why, "column": column}


VIEWS: Mapping[str, Callable[[PageQuestion], Chart]] = MappingProxyType(
    {
        "epsilon": single.answer,
        "delta": single.answer,
        "curve": views.curve,
        "steps": views.steps,
        "tradeoff": views.tradeoff,
        "risk": views.risk,
        "compare": views.compare,
    }
)
KINDS: Mapping[str, Callable[[PageQuestion], dict[str, Any]]] = MappingProxyType(
    {
        "menu": lambda asked: {**menu(), "ledger": None if asked.ledger is None else asked.ledger.shown},
        "read": read,
        **{name: _drawn(make) for name, make in VIEWS.items()},
        "calibrate": single.calibrate,
        "audit": audits.audited,
        "report": report,
    }
)
# What is asked of a ledger: all of it reads.
LEDGER_KINDS: Mapping[str, Callable[[PageQuestion], dict[str, Any]]] = MappingProxyType(
    {"ledger": ledger_views.overview, "ledger-past": ledger_views.past, "ledger-more": ledger_views.further}
)
