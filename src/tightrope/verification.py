"""Answers that carry their proof: every end of a document, given to the checker.

The checker (checker/) shares no code with what found the answer. Here the documents are read: one result, several, a
calibration with the value that misses, a training run, an audit, or a report that holds one of these.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import documents
from .core.values.calls import cut, shortened
from .core.values.errors import DataError, InvalidParameter
from .core.values.question import ARGUMENTS
from .report.from_file import document_of

if TYPE_CHECKING:
    from .checker.judge import EndVerdict

SECONDS_TO_VERIFY = 120.0
PROVED, REFUTED, UNCLEAR = VERDICTS = ("proved", "refuted", "not checkable")  # as the checker says it
LIMITS: Mapping[str, tuple[str, Mapping[str, float]]] = {  # of calibrations, where they are not the reading's name
    "mu": ("gdp", {"delta_least": 0.0}),
    "rho": ("zcdp", {"order_most": math.inf}),
}
RUN_SHOWN = 400  # characters of an expression; JSON has it whole


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """What was asked, as a line, and what the checker says of each end; of a calibration also of its target."""

    expression: str
    asked: str
    verdicts: tuple[EndVerdict, ...]

    def __str__(self) -> str:
        run = self.expression if self.expression.isprintable() else repr(self.expression)
        lines = [shortened(run, RUN_SHOWN) or "(no expression)", f"  {self.asked}"]
        for verdict in self.verdicts:
            text = (
                "" if verdict.found is None else f"; {verdict.of} there in [{verdict.found[0]!r}, {verdict.found[1]!r}]"
            )
            lines.append(
                f"  {verdict.end} {verdict.value!r}: "
                f"{verdict.verdict}{f' ({verdict.why})' if verdict.why else ''}{text}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Verification:
    """What the checker says of a document. unchanged: whether its digest agrees, None where it has none."""

    answers: tuple[VerifiedAnswer, ...]
    unchanged: bool | None

    def count(self, verdict: str) -> int:
        """How many ends have this verdict: "proved", "refuted" or "not checkable"."""
        return sum(end_verdict.verdict == verdict for answer in self.answers for end_verdict in answer.verdicts)

    @property
    def proved(self) -> bool:
        """Whether every end is proved, which does not depend on the digest."""
        return all(verdict.verdict == PROVED for answer in self.answers for verdict in answer.verdicts)

    def __str__(self) -> str:
        digest = {
            None: "no digest: written before there were any",
            True: "the digest agrees",
            False: "the digest does not agree: changed after it was written",
        }[self.unchanged]
        counts = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in VERDICTS)
        return "\n".join([*map(str, self.answers), f"{counts}; {digest}"])

    def document(self) -> dict[str, Any]:
        """As JSON holds it; schema/verification.json describes it."""
        return {
            "quantity": "verification",
            "unchanged": self.unchanged,
            **{verdict.replace(" ", "_"): self.count(verdict) for verdict in VERDICTS},
            "answers": [
                {
                    "expression": answer.expression,
                    "asked": answer.asked,
                    "verdicts": [
                        {
                            "end": verdict.end,
                            "value": documents.plain(verdict.value),
                            "verdict": verdict.verdict,
                            "why": verdict.why,
                            "delta": documents.plain(verdict.found),
                        }
                        for verdict in answer.verdicts
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

    text: a result, results, a comparison, a calibration, an audit or a training run as JSON, or a report with one.
    seconds: for each answer. told: called with the number of answers done and of all.
    Guarantee: "proved" is a theorem about the expression that the document names, whatever else was edited; "refuted"
    shows that the end is false.
    """
    if not seconds > 0.0:
        raise InvalidParameter(f"seconds must be positive, not {seconds!r:.40}")
    if not isinstance(text, str):
        raise InvalidParameter(f"verify takes the text of a document, such as Path(name).read_text(), not {cut(text)}")
    document = documents.read(document_of(text), "an answer", changed=True)
    answers = [(_checked(answer), target) for answer, target in _answers(document)]
    if not answers:
        raise DataError("this document holds no answer: one has a quantity, an expression, a lower and an upper end")
    found = []
    for done, (answer, target) in enumerate(answers):
        if told is not None:
            told(done, len(answers))
        found += _audited(answer, seconds) if answer["quantity"] == "audit" else [_verified(answer, target, seconds)]
    return Verification(tuple(found), documents.digest_agrees(document))


def _verified(answer: Mapping[str, Any], target: float | None, seconds: float) -> VerifiedAnswer:
    from .checker.judge import judged
    from .checker.law import NotCheckable

    quantity = answer["quantity"]
    given = ", ".join(f"{name} {answer.get(name)!r:.40}" for name in ARGUMENTS.get(quantity, ()))
    try:
        lower, upper = judged(answer, seconds)
    except NotCheckable as error:
        raise DataError(str(error)) from None
    against = () if target is None else (_against(target, lower, upper, missed=answer.get("missed") is True),)
    return VerifiedAnswer(
        answer["expression"], f"{quantity} at {given}" if given else quantity, (lower, upper, *against)
    )


def _audited(answer: Mapping[str, Any], seconds: float) -> list[VerifiedAnswer]:
    """Each statement of an audit."""
    from .checker.audit import judged_audit
    from .checker.law import NotCheckable

    try:
        return [VerifiedAnswer(text, asked, tuple(each)) for text, asked, each in judged_audit(answer, seconds)]
    except NotCheckable as error:
        raise DataError(str(error)) from None


def _against(target: float, lower: EndVerdict, upper: EndVerdict, missed: bool) -> EndVerdict:
    """Whether a calibration meets its target, or its neighbour misses it: by one end, and its opposite by the other."""
    from .checker.judge import EndVerdict

    word, shows, denies = ("misses", lower, upper) if missed else ("meets", upper, lower)
    if (shows.value > target) is missed and shows.verdict == PROVED:
        return EndVerdict(word, target, PROVED)
    if (denies.value > target) is not missed and denies.verdict == PROVED:
        return EndVerdict(word, target, REFUTED, f"its {denies.end} end shows the opposite")
    return EndVerdict(word, target, UNCLEAR, f"its {shows.end} end does not show it, or is not proved")


def _answers(value: object, depth: int = 0) -> Iterator[tuple[Mapping[str, Any], float | None]]:
    """Each answer, wherever it stands, and the target that it is about, where it is one of a calibration."""
    if depth > documents.DEPTH_MAX:
        raise DataError(f"nested more than {documents.DEPTH_MAX} deep")
    if isinstance(value, list):
        for each in value:
            yield from _answers(each, depth + 1)
    elif isinstance(value, Mapping) and value.get("quantity") == "calibration":
        yield from _calibrated(value)
    elif isinstance(value, Mapping) and ("lower" in value or "upper" in value or value.get("quantity") == "audit"):
        yield value, None
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _answers(each, depth + 1)


def _calibrated(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float | None]]:
    """The value and the one that misses; the target is the first reading that the document names."""
    limit = next((name for name in (*ARGUMENTS, *LIMITS) if name in document), "target")
    quantity, defaults = LIMITS.get(limit, (limit, {}))
    given = {name: document.get(name, defaults.get(name)) for name in ARGUMENTS.get(quantity, ())}
    about = {"quantity": quantity, "only": document.get("only"), "expression": document.get("expression"), **given}
    target = _number(document, limit) if quantity in ARGUMENTS else None
    bound, missed = document.get("bound"), document.get("missed")
    if not isinstance(bound, Mapping):
        raise DataError('this is no calibration: "bound" holds the ends of its answer')
    yield {**bound, **about, "missed": False}, target  # a part does not say what was asked
    if isinstance(missed, Mapping):
        about["expression"] = missed.get("expression") or _before(document, missed)
        yield {**missed, **about, "missed": True}, target


def _before(document: Mapping[str, Any], missed: Mapping[str, Any]) -> str:
    """What earlier versions did not write: the expression of the value that misses, where only one number differs."""
    name, value, text = (str(document.get(each)) for each in ("parameter", "value", "expression"))
    found, count = re.subn(
        rf"\b{re.escape(f'{name}={value}')}(?![\w.])", lambda _: f"{name}={missed.get('value')}", text
    )
    return found if count == 1 else ""


def _checked(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same, with what the checker reads of it in the shape that it needs; DataError says what is not."""
    if answer.get("quantity") == "audit":
        return answer
    found = {"quantity": "row_without_expression", "expression": "", **answer}  # as tables of earlier versions have
    quantity = found["quantity"]
    if not (isinstance(quantity, str) and quantity.isidentifier() and isinstance(found["expression"], str)):
        raise DataError('this is no answer: "quantity" and "expression" are needed, as texts')
    if found.get("only") not in (None, "add", "remove"):
        raise DataError(f'this is no answer: "only" is "add", "remove" or null, not {cut(found["only"])}')
    needed = ("lower", "upper", *(ARGUMENTS[quantity] if quantity in ("epsilon", "delta") else ()))
    ends = {name: _number(found, name) for name in needed}
    certificate = found.get("certificate")
    return {**found, **ends, "certificate": certificate if isinstance(certificate, Mapping) else None}


def _number(answer: Mapping[str, Any], name: str) -> float:
    value = answer.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            if (found := float(value)) == value:
                return found
        except OverflowError:
            pass
    if value in ("inf", "-inf"):
        return float(value)
    raise DataError(f'this is no answer: "{name}" must be a number, not {cut(value)}')
