"""Answers as JSON documents, whoever asks: the command line, a server, another program.

schema/result.json, schema/calibration.json and schema/comparison.json describe them. Each says what it rests on, which
version wrote it and when, and has a digest; files of earlier versions have neither, and are read as well.
Guarantee: read(write(results)) has the same bounds and certificates, and writes the same document at the same date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import documents
from .core.text.assumptions import assumptions
from .core.values.bound import Bound, Certificate, ErrorBreakdown, FrozenMapping, error_lines
from .core.values.errors import DataError, InvalidParameter
from .core.values.question import ARGUMENTS, PROBABILITIES, SIGNED, Direction, Relation, parsed
from .documents import Date, plain

if TYPE_CHECKING:
    from .core.answers.epochs import Epochs
    from .core.answers.risk import Risk
    from .core.planning.calibration import Calibration
    from .core.planning.comparison import Comparison

# What a certificate says, as it is written: in its own object, and beside it.
INSIDE = ("engine", "arithmetic", "reason", "relation", "parameters", "exhausted", "advice")
BESIDE = ("tight", "attained", "confidence")
INFINITIES = ("inf", "-inf")  # as they are written
ANY_SIGN = ("epsilon", "t")  # what is given, and may be negative


@dataclass(frozen=True, slots=True)
class Result:
    """A question and its bound: the quantity, named as the method that asks for it, and the arguments of that method.

    expression parses to the mechanism that was asked; seconds is wall time; direction is the one asked for, None for
    the worse of both.
    """

    expression: str
    quantity: str
    arguments: Mapping[str, float]
    bound: Bound
    seconds: float = field(default=0.0, compare=False)
    direction: Direction | None = None

    def __post_init__(self) -> None:
        if set(self.arguments) != set(ARGUMENTS[self.quantity]):
            raise InvalidParameter(
                f"{self.quantity} is asked with {', '.join(ARGUMENTS[self.quantity]) or 'nothing'}, "
                f"not with {', '.join(self.arguments) or 'nothing'}"
            )
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))

    def document(self) -> dict[str, Any]:
        """The result as JSON holds it."""
        certificate = self.bound.certificate
        if certificate is None:
            raise InvalidParameter("a bound without a certificate has no document")
        return {
            "quantity": self.quantity,
            **_ends(self.bound),
            **{name: plain(value) for name, value in self.arguments.items()},
            "expression": self.expression,
            "relation": plain(certificate.relation),
            "direction": plain(certificate.direction),
            "only": plain(self.direction),
            **{name: getattr(certificate, name) for name in BESIDE},
            "seconds": self.seconds,
            "assumptions": assumptions(self.expression, self.quantity, self.bound, self.direction),
            "certificate": _certificate(certificate),
        }

    @staticmethod
    def of(document: Mapping[str, Any]) -> Result:
        """The result of a document; DataError where it is none."""
        try:
            quantity = document["quantity"]
            arguments = {name: _number(document[name]) for name in ARGUMENTS[quantity]}
            for name, value in arguments.items():
                if value < 0.0 and name not in ANY_SIGN:
                    raise ValueError(f"{name} cannot be {value!r}")
            return Result(
                expression=_text(document["expression"]),
                quantity=quantity,
                arguments=arguments,
                bound=_bound(document),
                seconds=_number(document["seconds"]),
                direction=parsed(document["only"]),
            )
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"this is not a result: {type(error).__name__}, {error!s:.100}") from None


def write(results: Sequence[Result], several: bool, date: Date = None) -> str:
    """One object for one question; a list of results for several. date: now, unless given."""
    found = [result.document() for result in results]
    return documents.write_dated({"results": found} if several else found[0], date)


def read(text: str) -> tuple[Result, ...]:
    """What `write` wrote; DataError for anything else, and for what was changed since."""
    document = documents.read(text, "a result")
    found = document.get("results", [document])
    if not isinstance(found, list):
        raise DataError('"results" holds a list of results')
    return tuple(map(Result.of, found))


def calibration(found: Calibration, seconds: float, date: Date = None) -> str:
    """A calibration as one object."""
    return documents.write_dated(calibration_record(found, seconds), date)


def calibration_record(found: Calibration, seconds: float) -> dict[str, Any]:
    """The same as a part of another document, its target by the arguments that make it.

    The expression with the value and that with the one that misses come with the bounds that say so, each certified.
    """
    missed, certificate, expression = found.missed, found.bound.certificate, repr(found.mechanism)
    return {
        "quantity": "calibration",
        "parameter": found.parameter,
        "value": plain(found.value),
        **{name: plain(value) for name, value in found.target.given.items()},
        "bound": _certified_ends(found.bound),
        "missed": None
        if missed is None
        else {
            "value": plain(missed.value),
            "expression": repr(missed.mechanism),
            **_certified_ends(missed.bound),
        },
        "attained": certificate is not None and certificate.attained,
        "confidence": None if certificate is None else certificate.confidence,
        "ended": found.ended,
        "expression": expression,
        "relation": None if certificate is None else plain(certificate.relation),
        "only": plain(found.direction),
        "seconds": seconds,
        "assumptions": assumptions(expression, found.target.quantity, found.bound, found.direction),
    }


def conversion(
    results: Sequence[Result], refused: Sequence[tuple[str, Mapping[str, float], str]], date: Date = None
) -> str:
    """Results of one run, and what was refused: the quantity, its arguments and why."""
    left_out = [{"quantity": quantity, **plain(arguments), "why": why} for quantity, arguments, why in refused]
    found = [result.document() for result in results]
    return documents.write_dated({"results": found, **({"refused": left_out} if left_out else {})}, date)


def risk(found: Risk, seconds: float, date: Date = None) -> str:
    """The rows of a risk as results, with their sentences in the same order and what they rest on."""
    expression, share = repr(found.mechanism), seconds / len(found.rows)
    results = [
        Result(expression, row.quantity, row.arguments, row.bound, share, row.direction).document()
        for row in found.rows
    ]
    told = {"meant": found.meant, "assumed": found.assumed, "not_covered": found.not_covered}
    sentences = [row.sentence for row in found.rows]
    return documents.write_dated(
        {"results": results, "sentences": sentences, **{name: list(texts) for name, texts in told.items()}}, date
    )


def epochs(found: Epochs, seconds: float, date: Date = None) -> str:
    """The rows of a run by epoch as results, each of the run up to there, with epochs and steps in the same order."""
    arguments, share = {"delta": found.delta}, seconds / max(len(found), 1)
    results = [
        Result(repr(part), "epsilon", arguments, bound, share).document()
        for part, bound in zip(found.runs, found.bounds, strict=True)
    ]
    content = {"results": results, "epochs": list(found.epochs), "steps": list(found.steps)}
    return documents.write_dated(content, date)


def comparisons(found: Sequence[Comparison], several: bool, date: Date = None) -> str:
    """One object for one comparison; a list of results for several."""
    records = [comparison_record(comparison) for comparison in found]
    return documents.write_dated({"results": records} if several else records[0], date)


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """A comparison as a part of another document."""
    shown = ("method", "value", "kind", "distance", "why", "seconds")
    certificate = comparison.truth.certificate
    return {
        "quantity": comparison.quantity,
        ARGUMENTS[comparison.quantity][0]: comparison.given,
        "expression": comparison.expression,
        "relation": None if certificate is None else plain(certificate.relation),
        **_certified_ends(comparison.truth),
        "why": comparison.why,
        "seconds": comparison.seconds,
        "assumptions": assumptions(comparison.expression, comparison.quantity, comparison.truth),
        "methods": [{name: plain(getattr(row, name)) for name in shown} for row in comparison.rows],
    }


def _ends(bound: Bound) -> dict[str, Any]:
    return {"lower": plain(bound.lower), "upper": plain(bound.upper)}


def _certified_ends(bound: Bound) -> dict[str, Any]:
    """The ends of a value of a calibration, and how they came about."""
    certificate = bound.certificate
    return {
        **_ends(bound),
        "direction": None if certificate is None else plain(certificate.direction),
        "tight": certificate is not None and certificate.tight,
        "attained": certificate is not None and certificate.attained,
        "confidence": None if certificate is None else certificate.confidence,
        "certificate": None if certificate is None else _certificate(certificate),
    }


def _certificate(certificate: Certificate) -> dict[str, Any]:
    budget = certificate.budget
    return {
        **{name: plain(getattr(certificate, name)) for name in INSIDE},
        **({"label": certificate.label} if certificate.label else {}),
        "budget": {"upper": plain(budget.upper), "lower": plain(budget.lower)},
        "widest": budget.widest or None,
    }


def _bound(document: Mapping[str, Any]) -> Bound:
    """The interval; one that no answer can be is refused."""
    bound = Bound(_number(document["lower"]), _number(document["upper"]), _certified(document))
    quantity = document["quantity"]
    if (bound.lower < 0.0 and quantity not in SIGNED) or (quantity in PROBABILITIES and bound.upper > 1.0):
        raise ValueError(f"{quantity} cannot lie in [{bound.lower!r}, {bound.upper!r}]")
    return bound


def _certified(document: Mapping[str, Any]) -> Certificate:
    """The certificate of a result, some of which is written beside it."""
    inner = {name: document["certificate"][name] for name in INSIDE}
    budget = document["certificate"]["budget"]
    lines = ({name: _number(line) for name, line in budget[side].items()} for side in ("upper", "lower"))
    inner["parameters"] = {key: float(each) if each == "inf" else each for key, each in inner["parameters"].items()}
    attained = document.get("attained", document["tight"])  # not in documents from before
    if not isinstance(document["tight"], bool) or not isinstance(attained, bool):
        raise TypeError("tight and attained are true or false")
    if not isinstance(document["confidence"], float | None):
        raise TypeError("confidence is a number or null")
    if document.get("relation", inner["relation"]) != inner["relation"]:
        raise ValueError("relation is not that of the certificate")
    inner["relation"] = None if inner["relation"] is None else Relation(inner["relation"])
    return Certificate(
        **{**inner, **{name: _text(inner[name]) for name in INSIDE[:3]}},
        tight=document["tight"],
        attained=attained,
        confidence=document["confidence"],
        direction=parsed(document["direction"]),
        label=_text(document["certificate"].get("label", "")),
        budget=ErrorBreakdown(*(error_lines(**side) for side in lines)),
    )


def _number(value: object) -> float:
    """A double; infinity is written as text."""
    if value in INFINITIES or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        found = float(value)
        if found == value or value in INFINITIES:  # a whole number that no double holds would be moved
            return found
    raise TypeError(f"{value!r:.40} is no number")


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(f"{value!r:.40} is no text")
