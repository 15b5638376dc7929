"""Answers that carry their proof: every end of a document, given to the checker.

The checker (checker/) shares no code with what found the answer. Here the documents are read: one result, several, a
calibration with the value that misses, or a report that holds one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import documents
from .calls import quoted
from .errors import DataError, InvalidParameter
from .report.from_file import document_of

if TYPE_CHECKING:
    from .checker.judge import EndVerdict

SECONDS_TO_VERIFY = 120.0
PROVED, REFUTED = "proved", "refuted"  # as the checker says it
VERDICTS = (PROVED, REFUTED, "not checkable")


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """What was asked, as a line, and what the checker says of each end; of a calibration also of its target."""

    expression: str
    asked: str
    verdicts: tuple[EndVerdict, ...]

    def __str__(self) -> str:
        lines = [self.expression, f"  {self.asked}"]
        for each in self.verdicts:
            found = "" if each.found is None else f"; delta there in [{each.found[0]!r}, {each.found[1]!r}]"
            lines.append(f"  {each.end} {each.value!r}: {each.verdict}{f' ({each.why})' if each.why else ''}{found}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Verification:
    """What the checker says of a document. unchanged: whether its digest agrees, None where it has none."""

    answers: tuple[VerifiedAnswer, ...]
    unchanged: bool | None

    def count(self, verdict: str) -> int:
        """How many ends have this verdict: "proved", "refuted" or "not checkable"."""
        return sum(each.verdict == verdict for answer in self.answers for each in answer.verdicts)

    @property
    def proved(self) -> bool:
        """Whether every end is proved, which does not depend on the digest."""
        return all(each.verdict == PROVED for answer in self.answers for each in answer.verdicts)

    def __str__(self) -> str:
        digest = {
            None: "no digest: written before there were any",
            True: "the digest agrees",
            False: "the digest does not agree: changed after it was written",
        }[self.unchanged]
        counts = ", ".join(f"{self.count(each)} {each}" for each in VERDICTS)
        return "\n".join([*map(str, self.answers), f"{counts}; {digest}"])

    def document(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "quantity": "verification",
            "unchanged": self.unchanged,
            **{each.replace(" ", "_"): self.count(each) for each in VERDICTS},
            "answers": [
                {
                    "expression": answer.expression,
                    "asked": answer.asked,
                    "verdicts": [
                        {
                            "end": each.end,
                            "value": documents.plain(each.value),
                            "verdict": each.verdict,
                            "why": each.why,
                            "delta": documents.plain(each.found),
                        }
                        for each in answer.verdicts
                    ],
                }
                for answer in self.answers
            ],
        }


def verify(
    text: str,
    *,
    seconds: float = SECONDS_TO_VERIFY,
    told: Callable[[int, int], None] | None = None,
) -> Verification:
    """Every end of the answers in a document, proved or refuted in balls by code of its own, or not checkable.

    text: a result, results, a comparison or a calibration as JSON, or a report with one; seconds: for each answer.
    told: called with the number of answers done and of all. Guarantee: "proved" is a theorem about the expression that
    the document names, whatever else was edited; "refuted" shows that the end is false.
    """
    if not seconds > 0.0:
        raise InvalidParameter(f"seconds must be positive, not {seconds!r:.40}")
    document = documents.read(document_of(text), "an answer", changed=True)
    answers = list(_answers(document))
    found = []
    for done, (answer, target) in enumerate(answers):
        if told is not None:
            told(done, len(answers))
        found.append(_verified(answer, target, seconds))
    return Verification(tuple(found), documents.digest_agrees(document))


def _verified(answer: Mapping[str, Any], target: float | None, seconds: float) -> VerifiedAnswer:
    from .checker.judge import judged
    from .checker.law import NotCheckable

    quantity, expression = str(answer.get("quantity")), str(answer.get("expression"))
    given = {"epsilon": "delta", "delta": "epsilon"}.get(quantity)
    asked = f"{quantity} at {given} {answer.get(given)!r:.40}" if given else quoted(quantity)
    try:
        lower, upper = judged(answer, seconds)
    except NotCheckable as error:
        raise DataError(str(error)) from None
    against = () if target is None else (_against(target, lower, upper, missed="missed" in answer),)
    return VerifiedAnswer(expression, asked, (lower, upper, *against))


def _against(target: float, lower: EndVerdict, upper: EndVerdict, missed: bool) -> EndVerdict:
    """Whether a calibration meets its target, or its neighbour misses it, as the end that shows it is proved or not."""
    from .checker.judge import EndVerdict

    word, end, holds = ("misses", lower, lower.value > target) if missed else ("meets", upper, upper.value <= target)
    verdict = end.verdict if holds else REFUTED
    return EndVerdict(word, target, verdict, "" if holds else f"the {end.end} end says the opposite")


def _answers(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float | None]]:
    """Each answer, and the target that it is about, where it is one of a calibration."""
    found = document.get("results", [document])
    if not isinstance(found, list) or not all(isinstance(each, Mapping) for each in found):
        raise DataError('"results" holds a list of answers')
    for each in found:
        if each.get("quantity") != "calibration":
            yield each, None
            continue
        yield from _calibrated(each)


def _calibrated(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float | None]]:
    """The value and the one that misses; a target of two numbers is epsilon at delta, others the checker refuses."""
    about: dict[str, Any] = {"quantity": "a target that is not an epsilon at a delta", "only": document.get("only")}
    target = None
    if "epsilon" in document and "delta" in document:
        about |= {"quantity": "epsilon", "delta": document["delta"]}
        target = float(document["epsilon"])
    parts: Sequence[tuple[str, Any]] = [("bound", document.get("bound")), ("missed", document.get("missed"))]
    for name, part in parts:
        if isinstance(part, Mapping):
            expression = part.get("expression") if name == "missed" else document.get("expression")
            mark = {"missed": True} if name == "missed" else {}
            yield {**about, **part, "expression": str(expression or ""), **mark}, target
