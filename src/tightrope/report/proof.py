"""The sections on what proves the numbers: where their width is from, the certificate, the commands that check it."""

from __future__ import annotations

import json
from shlex import quote

from .. import TightropeError, parse
from ..extend.result import Result
from ..extend.wording import rounded, short, shortened
from .from_file import RESULT_ID
from .markup import Markup, element, facts, joined, scrolled, table
from .value import Report
from .words import budget_rows

LETTERS_LISTED_MAX = 12_000  # characters of the document that are listed
COMMAND_MAX = 400
ARITHMETIC = {
    "ball": "ball arithmetic: every number is an interval around the true one, so that no rounding can be missed",
    "float64": "floating-point numbers, with a proven bound on every rounding",
}
NONE_LEFT = "Nothing was lost to approximation or rounding: both ends are the same."


def errors(report: Report) -> Markup:
    """The error budget of each result in words."""
    found = [
        element(
            "p",
            "Epsilon is proven by two statements about delta: at the upper end delta is no more than what is allowed, "
            "at the lower end it is no less. Each source of error was bounded, and its bound was added above and taken "
            "off below. These are the bounds, in units of delta:",
        )
    ]
    for result in report.results:
        told = result.bound.certificate
        rows = [] if told is None else budget_rows(told.budget)
        caption = f"Bounds of all errors at delta {short(result.arguments['delta'])}"
        if rows:
            found.append(table(caption, ("Source", "What it is", "Above", "Below"), rows, class_="budget"))
        elif told is not None:
            found.append(element("p", f"At delta {short(result.arguments['delta'])}: {_no_errors(result)}"))
    return joined(found)


def _no_errors(result: Result) -> str:
    bound = result.bound
    if bound.lower == bound.upper:
        return NONE_LEFT
    return f"no error is listed; the ends differ by {rounded(bound.width, 2, up=True)}."


def certificate(report: Report) -> Markup:
    """Who computed what and why it holds, and how anybody can check it without trusting this page."""
    found = []
    for result in report.results:
        told = result.bound.certificate
        if told is None:
            continue
        rows = [
            ("Engine", told.engine),
            ("Reason", told.reason),
            ("Arithmetic", ARITHMETIC.get(told.arithmetic, told.arithmetic)),
            *([("Ended early", f"{told.exhausted} ran out")] if told.exhausted is not None else []),
        ]
        found.append(facts(f"Epsilon at delta {short(result.arguments['delta'])}", rows))
    document = json.loads(report.document())
    rows = [("Written by", f"Tightrope {document['version']}"), ("Date", document["date"])]
    found.append(facts("The document", [*rows, ("Digest", document["digest"])]))
    return joined([*found, *_checks(report)])


def _checks(report: Report) -> list[Markup]:
    """Commands for whoever doubts."""
    run, asked = repr(report.mechanism), report.results
    if not _readable(run):
        return [
            element(
                "p",
                "The run was built from functions in Python, which no text holds: to check it, build it again and ask "
                "again.",
            )
        ]
    deltas = " ".join(f"--delta {short(result.arguments['delta'])}" for result in asked)
    only = "" if asked[0].direction is None else f" --direction {asked[0].direction.value}"
    again = f"tightrope epsilon {_shell(run)} {deltas}{only} --proof"
    why = _not_checkable(run)
    told = (
        "It proves or refutes both ends, by a checker that shares no code with what found them."
        if not why
        else f"It says whether the certificate was changed; its checker does not know this run: {why}."
    )
    more = " The other command asks the same question again, in ball arithmetic:" if len(again) <= COMMAND_MAX else ""
    return [
        element("h3", "How to check it"),
        element(
            "p",
            "The page holds the certificate as data (the element ",
            element("code", RESULT_ID),
            f"), and a PDF has it attached (result.json); tightrope verify reads both. {told}{more}",
        ),
        element("pre", element("code", "\n".join(["tightrope verify report.html", *([again] if more else [])]))),
    ]


def _not_checkable(run: str) -> str:
    """Why the checker cannot read a run; nothing where it can."""
    from ..extend.checking import NotCheckable, checkable_terms

    try:
        checkable_terms(run)
    except NotCheckable as error:
        return str(error)
    return ""


def _shell(text: str) -> str:
    """As one word of a shell, in double quotes where these do."""
    return quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def _readable(text: str) -> bool:
    try:
        parse(text)
    except TightropeError:
        return False
    return True


def listed(document: str) -> Markup:
    """The document, so that it is on paper too."""
    lines = json.dumps(json.loads(document), indent=1, ensure_ascii=False)
    return element("pre", element("code", shortened(lines, LETTERS_LISTED_MAX)), class_="document")


def signatures() -> Markup:
    """Lines to sign on."""
    lines = [element("tr", *(element("td", "") for _ in range(4))) for _ in range(2)]
    head = element("tr", *(element("th", each, scope="col") for each in ("Name", "Role", "Date", "Signature")))
    inside = (element("thead", head), element("tbody", *lines))
    return element("div", scrolled("Signatures", element("table", *inside, class_="signatures")), class_="signing")
