"""Does the checker see through faults? Each of tests/mutations is applied, and what is said wrongly then is checked.

Under a fault the questions below are asked, and those of the test that notices it. An answer is wrong where the true
value, enclosed without the fault, lies outside of it. Its document goes to the checker, in a process without the fault:
the end that is wrong must not be proved, and should be refuted.
Usage: python -m benchmarks.faults_refuted [WORD ...]: faults whose name has a word; all without. Exits with 1 where a
wrong end is proved. Columns: fault, what became of its wrong answers.
"""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

import tightrope as tr
from tightrope import result
from tightrope.core import accountant as account
from tightrope.core.values.question import ARGUMENTS, Question, parsed

SECONDS = 60.0  # for the questions of one fault
WRONG_MAX = 3  # wrong answers of one fault that are checked: the first of each quantity and end
ASK_SECONDS = 5.0
CHECK_SECONDS = 20.0

# Small questions about laws that the checker knows, for every engine that answers them.
Asked = tuple[str, str, float, dict[str, Any]]
QUESTIONS: tuple[Asked, ...] = (
    ("Gaussian(sigma=2) * 3", "delta", 1.0, {}),
    ("Gaussian(sigma=2) * 3", "delta", 1.0, {"engine": "lattice"}),
    ("Gaussian(sigma=2) * 3", "delta", 1.0, {"engine": "contour"}),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "epsilon", 1e-6, {}),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "epsilon", 1e-6, {"proof": True}),
    ("Gaussian(sigma=0.8).poisson(rate=0.2) * 4", "delta", 1.0, {"direction": "add"}),
    ("Gaussian(sigma=0.8).poisson(rate=0.2) * 4", "delta", 1.0, {"engine": "lattice"}),
    ("Gaussian(sigma=0.8).poisson(rate=0.2) * 4", "delta", 1.0, {"engine": "buckets"}),
    ("Gaussian(sigma=0.5).poisson(rate=1e-4) * 50", "delta", 0.5, {}),
    ("Laplace(scale=2) * 5", "delta", 1.0, {}),
    ("Laplace(scale=2) * 5", "epsilon", 1e-3, {"engine": "lattice"}),
    ("Laplace(scale=2).poisson(rate=0.3) * 2", "delta", 0.3, {}),
    ("RandomizedResponse(p=0.7) * 6", "delta", 1.0, {}),
    ("RandomizedResponse(p=0.7) * 6", "epsilon", 0.05, {"engine": "lattice"}),
    ("DiscreteLaplace(scale=2) * 4", "delta", 1.0, {}),
    ("DiscreteGaussian(sigma=2) * 4", "delta", 1.0, {}),
    ("DiscreteGaussian(sigma=2).poisson(rate=0.1) * 4", "epsilon", 1e-4, {}),
)

RANKS = ("proved", "refuted", "not checkable", "no verdict in time")


@dataclass(frozen=True)
class Answer:
    """A question, and what was said: repr of the mechanism, quantity, argument, direction; ends; the document."""

    question: tuple[str, str, float, str | None]
    lower: float
    upper: float
    document: str


def forked(work: Callable[[], Any], seconds: float) -> Any:
    """What the work gives, in a process that forgets it; None where it takes longer or fails."""
    context = multiprocessing.get_context("fork")
    near, far = context.Pipe(duplex=False)

    def run() -> None:
        warnings.simplefilter("ignore")
        far.send(work())

    process = context.Process(target=run)
    process.start()
    far.close()
    found = None
    with suppress(EOFError):
        found = near.recv() if near.poll(seconds) else None
    process.kill()
    process.join()
    return found


def under(fault: Any, questions: Sequence[Asked] = QUESTIONS, own: bool = True) -> list[Answer]:
    """The answers that are given under the fault: to these questions, and to those of the test that notices it."""
    found: list[Answer] = []
    plain = account.ask

    def recorded(mechanism: tr.Mechanism, question: Question, given: Any, *rest: Any) -> Any:
        bounds = plain(mechanism, question, given, *rest)
        with suppress(Exception):
            keep(found, mechanism, question, given, bounds)
        return bounds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(account, "ask", recorded)
        fault.apply(patch)
        for expression, quantity, given, options in questions:
            with suppress(Exception):
                getattr(tr.parse(expression), quantity)(given, seconds=ASK_SECONDS, **options)
        with suppress(BaseException):
            if own:
                fault.killed_by(patch)
    return found


def keep(found: list[Answer], mechanism: tr.Mechanism, question: Question, given: Any, bounds: Any) -> None:
    """One answer, or one for each value of a sequence, as documents."""
    several = isinstance(bounds, tuple)
    only = parsed(question.direction)
    name = ARGUMENTS[question.quantity][0]
    for value, bound in zip(tuple(given) if several else (given,), bounds if several else (bounds,), strict=True):
        answer = result.Result(repr(mechanism), question.quantity, {name: float(value)}, bound, 0.0, only)
        asked = (repr(mechanism), question.quantity, float(value), only.value if only else None)
        found.append(Answer(asked, bound.lower, bound.upper, result.write([answer], several=False)))


def truth(question: tuple[str, str, float, str | None]) -> tuple[float, float] | None:
    """The interval that is found without any fault, in balls."""
    expression, quantity, given, only = question
    try:
        bound = getattr(tr.parse(expression), quantity)(given, proof=True, direction=only, seconds=ASK_SECONDS)
    except tr.TightropeError:
        return None
    return bound.lower, bound.upper


def wrong(answer: Answer, true: tuple[float, float] | None) -> str | None:
    """The end beyond which the truth lies; None where it may lie within."""
    if true is None:
        return None
    return "upper" if answer.upper < true[0] else "lower" if answer.lower > true[1] else None


def checked(document: str, end: str) -> str:
    """What the checker says of this end."""
    verify = importlib.import_module("tightrope.verification").verify
    verdicts = verify(document, seconds=CHECK_SECONDS).answers[0].verdicts
    return next(f"{each.verdict}: {each.why}" if each.why else each.verdict for each in verdicts if each.end == end)


def false_ends(fault: Any, truths: dict[Any, Any]) -> list[tuple[Answer, str]] | None:
    """Answers given under the fault, each with its end beyond the truth; None where there was no answer in time."""
    answers: list[Answer] | None = forked(lambda: under(fault), SECONDS)
    if answers is None:
        return None
    asked = [question for question in dict.fromkeys(each.question for each in answers) if question not in truths]
    truths.update(forked(lambda: {question: truth(question) for question in asked}, SECONDS) or {})
    return [(each, end) for each in answers if (end := wrong(each, truths.get(each.question)))]


def judged(ends: list[tuple[Answer, str]] | None, truths: dict[Any, Any]) -> tuple[str, str]:
    """What became of a fault in one word, and the answer that shows it."""
    if not ends:
        return ("no answer in time", "") if ends is None else ("never wrong", "")
    said = {}
    for answer, end in ends[:WRONG_MAX]:
        found = forked(partial(checked, answer.document, end), 2 * CHECK_SECONDS)
        said[answer, end] = str(found or "no verdict in time")
    worst = min(said, key=lambda each: RANKS.index(said[each].partition(":")[0]))
    answer, end = worst
    expression, quantity, given, _ = answer.question
    shown = f"{quantity} of {expression} at {given:g}: {end} {getattr(answer, end)!r}"
    return said[worst], f"{shown}, the truth is in {list(truths[answer.question])}"


def main(words: list[str]) -> int:
    faults = importlib.import_module("tests.mutations.test_faults").FAULTS
    truths: dict[Any, Any] = {}
    counts: Counter[str] = Counter()
    for fault in faults:
        if not words or any(word in fault.name for word in words):
            word, shown = judged(false_ends(fault, truths), truths)
            counts[word.partition(":")[0]] += 1
            print(f"{fault.name}\t{word}\t{shown}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in counts.most_common()))
    return int(counts["proved"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
