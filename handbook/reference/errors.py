"""Every error with a real one of its kind, what it means and what to do: made by doing what raises it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import tightrope as tr
from handbook.blocks import PageFault
from tightrope import ledger
from tightrope.core.values import errors
from tightrope.ledger.errors import LedgerError

from .words import documented, shown


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do, and what raises such an error: code as a user writes it, where one line shows it."""

    words: str
    code: str = ""


REMEDIES: Mapping[str, Remedy] = MappingProxyType(
    {
        "TightropeError": Remedy(
            "Catch this one to catch all of them. A keyword that a call does not have is a `TypeError`, as "
            "everywhere in Python; any other kind of exception is a defect.",
        ),
        "InvalidParameter": Remedy(
            "Change the number that is named to one that is allowed; the message names both. It is a `ValueError`.",
            "tr.Gaussian(sigma=-1)",
        ),
        "UnsupportedMechanism": Remedy(
            "Nothing can be proven for this question, and nothing is guessed. `hint` says what would help: "
            "other options, a mechanism that says more about itself, or a reading that can be proven. `kind` "
            "tells a missing theorem from too much work.",
            "tr.TruncatedGaussian(sigma=2, bounds=(-9, 9)).poisson(rate=0.5).cgf(1j)",
        ),
        "ExpressionError": Remedy(
            "Look at `column` of `text`; a name that is nearly right is suggested. `tightrope mechanisms` "
            "lists all names.",
            "tr.parse('Gausian(sigma=1) * 3')",
        ),
        "AccuracyNotReached": Remedy(
            "The bound is right, only wider than you asked: use `bound` as it is, allow more `seconds`, or "
            "ask for less. [Time, memory, and what stays wide](../limits.md) says which runs stay wide.",
            "(tr.NoisyMax(scale=1) * 10).epsilon(delta=1e-6, accuracy=1e-9)",
        ),
        "WorkExhausted": Remedy(
            "Allow more `seconds`, or ask for less at once. It is seldom seen: whoever has any answer gives "
            "that instead.",
        ),
        "InternalContradiction": Remedy(
            "A fault of Tightrope: two proven bounds exclude each other, so that no number is given. Please "
            "report the message, which names the question and both bounds.",
        ),
        "DataError": Remedy(
            "Mend the file or the array at the place that is named: `path`, `line`.",
            "tr.load('{\"schema\": 99}')",
        ),
        "BracketNotFound": Remedy(
            "No value of `parameter` meets the target within `least` and `most`: widen them, or change the target.",
            "tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma), epsilon=1, delta=1e-5, most=0.5)",
        ),
        "LedgerError": Remedy(
            "Catch this one to catch whatever a ledger refuses.",
        ),
        "BudgetExhausted": Remedy(
            "The job is not to run: it does not fit what is left. Ask `quote` what does, with more noise or "
            "fewer uses. The refusal stands under its key; another try needs another key.",
        ),
        "Conflict": Remedy(
            "What was asked does not fit what stands: look at it with `status` or `jobs`, then decide.",
        ),
        "WrongState": Remedy(
            "Look at the reservation's state: it was committed, given back or never begun.",
        ),
        "Claimed": Remedy(
            "Another process runs this job, or ran it. Do not run it again: the noise would be drawn twice.",
        ),
        "Frozen": Remedy(
            "An administrator looks why (`tightrope ledger verify`), and unfreezes it.",
        ),
        "Cancelled": Remedy(
            "Reserve again with a new key.",
        ),
        "KeyReused": Remedy(
            "Use a key for one request only; the same key with the same request is answered once more.",
        ),
        "WentBack": Remedy(
            "A backup was restored: follow [what to do after a restore](../ledger.md). Start nothing before.",
        ),
        "NotFound": Remedy(
            "Check the name; a token that may not see a budget gets the same answer.",
        ),
        "Denied": Remedy(
            "Ask the administrator for a token with the right role.",
        ),
        "NotAdditive": Remedy(
            "This job is charged as a whole: commit it whole, or cancel it before it begins.",
        ),
        "RelationMismatch": Remedy(
            "Charge it to a budget about the neighbours of the job. Change the job only if what runs is covered under "
            "the budget's neighbours too: how batches are drawn is a fact, and not a choice of words.",
        ),
        "Unavailable": Remedy(
            "Ask again with the same key: nothing is charged twice.",
        ),
        "VerificationFailed": Remedy(
            "Trust nothing that this ledger says until `findings` are explained; keep the file.",
        ),
    }
)


def page() -> str:
    kinds = list(known())
    missing = {kind.__name__ for kind in kinds} ^ set(REMEDIES)
    if missing:
        raise PageFault(f"errors without words, or words without an error: {sorted(missing)}")
    parts = [
        "# Errors, and what to do\n",
        "Everything that is raised on purpose. Messages are one line: what was given, what is allowed, what to try.",
        "On the command line the same line is printed after `tightrope:`, with an [exit code](command_line.md).",
        "The messages below were raised when this page was made.\n",
    ]
    for kind in kinds:
        parts += told(kind)
    return "\n".join(parts)


def known() -> Iterator[type[errors.TightropeError]]:
    """The package's own, then those of a ledger."""
    found = (value for module in (errors, ledger) for value in vars(module).values() if inspect.isclass(value))
    yield from dict.fromkeys(kind for kind in found if issubclass(kind, errors.TightropeError))


def told(kind: type[errors.TightropeError]) -> Iterator[str]:
    remedy = REMEDIES[kind.__name__]
    yield f"## {kind.__name__}\n"
    yield documented(kind) + "\n"
    if issubclass(kind, LedgerError):
        yield f"Exit code {kind.exit}; HTTP {kind.code}, `urn:tightrope:{kind.urn}`.\n"
    yield remedy.words + "\n"
    if remedy.code:
        yield shown(f">>> {remedy.code}\n{kind.__name__}: {raised(kind, remedy.code)}", "pycon")


def raised(kind: type[Exception], code: str) -> str:
    """The message; the page is not made where this raises something else, or nothing."""
    ask: Callable[[], object] = eval(f"lambda: {code}", {"tr": tr})
    try:
        ask()
    except kind as error:
        return str(error)
    raise PageFault(f"{code} raises no {kind.__name__}")
