"""The report of an audit: from its document alone, which is checked again before anything is repeated from it.

Guarantee: every sentence and number is one of the document; one that the checker refutes, or that was changed after it
was written, is refused. What was seen, and how membership was decided, cannot be checked in a document; the page says
so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .. import DataError
from ..extend import documents
from ..extend.checking import PROVED, REFUTED, EndVerdict, NotCheckable, judged_audit
from ..extend.wording import rounded, short, shortened
from .filing import Filing
from .markup import Markup, element, facts, joined, listing, table
from .proof import listed, signatures
from .summary import LABEL_MAX, about
from .value import Filed

if TYPE_CHECKING:
    from .page import Page

AUDIT = "audit"
P_END = "p at most"  # what the checker calls it
SECONDS_CHECKED = 120.0  # of each statement, as verify has it
TITLE_AUDIT = "Privacy audit report"
DIGITS = 6
DESIGNED = MappingProxyType(
    {
        "runs": "many runs, some with one canary and the others without",
        "one-run": "one run, each canary in it by a coin of its own",
        "random-split": "members that are a uniformly random part of one pool",
        "members": "a list of members and others, of which nothing was decided by chance",
    }
)
SEEN = MappingProxyType(  # headings of what each test has: its place, its count
    {
        "M1": ("rank of the threshold", "runs beyond it"),
        "M2": ("false accusations", "true accusations"),
        "O2": ("guesses", "right ones"),
    }
)
NEVER = (
    "An audit can refute a claim and never proves one: an attack that finds nothing may be a weak attack.",
    "The counts are those that the auditor gave. A document does not show that they come from the scores.",
    "That membership was decided as is written here cannot be seen in a document either.",
)
CHECKED_SAID = (
    "All of it is in this file. The checker proves the p-values again from the counts, by formulas of its own and "
    "without a solver: tightrope verify with the name of this file."
)
BETS = "Bets on single rounds leave no counts behind, so that a document of them cannot be checked by anybody."
UNPROVED = (
    "The checker neither proved nor refuted all p-values of this audit (tightrope verify says which): until it does, "
    "what is said here rests on the word of the auditor."
)


def is_audit(text: str) -> bool:
    """Whether a document is one of an audit."""
    found = documents.read_value(text)
    return isinstance(found, dict) and found.get("quantity") == AUDIT


@dataclass(frozen=True)
class AuditReport(Filed):
    """An audit and who files it; told is its document."""

    filing: Filing
    told: str
    content: Mapping[str, Any] = field(repr=False)
    verdicts: tuple[EndVerdict, ...]

    @property
    def unproved(self) -> int:
        """How many p-values the checker neither proves nor refutes."""
        return sum(verdict.end == P_END and verdict.verdict != PROVED for verdict in self.verdicts)

    @staticmethod
    def of(text: str, given: Mapping[str, Any], date: documents.Date) -> AuditReport:
        """DataError where the checker refutes a statement, or what is needed is not there."""
        content = documents.read(text, "an audit")
        try:
            judged = judged_audit(content, SECONDS_CHECKED)
        except NotCheckable as error:
            raise DataError(str(error)) from None
        verdicts = tuple(end for _, _, ends in judged for end in ends)
        if any(verdict.verdict == REFUTED for verdict in verdicts):
            raise DataError(
                "the checker refutes this audit (tightrope verify says which part): it is not to be believed"
            )
        filing = Filing.of({**given, "title": given.get("title") or TITLE_AUDIT}, date)
        report = AuditReport(filing, text.strip(), content, verdicts)
        try:
            report._page()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(f"this is no audit: {type(error).__name__}, {error!s:.80}") from None
        return report

    @property
    def drawn(self) -> bool:
        """There are no pictures: a document has counts and no scores, so that nothing is missing."""
        return True

    def __str__(self) -> str:
        return "\n".join(self.content["sentences"])

    def document(self) -> str:
        return self.told

    def _page(self) -> Page:
        from .page import Page

        content = self.content
        subject = ("Audit of", _claimed(content["statements"][-1]) if content["statements"] else DESIGNED["members"])
        sections = [
            ("summary", "Verdict", _verdict(self)),
            ("audited", "What was audited", _audited(content)),
            ("seen", "What the attack saw", _seen(content)),
            ("assumed", "What is assumed", listing(_sentences(content["assumptions"]))),
            ("not-covered", "What an audit does not say", listing(NEVER)),
            ("certificate", "How to check it", _checked(self)),
            ("signatures", "Filed", signatures()),
            ("document", "Appendix: the document", listed(self.told)),
        ]
        return Page.of(self.filing, about(self.filing, subject), sections, self.told)


def _verdict(report: AuditReport) -> Markup:
    content = report.content
    cards = [_card(each, content) for each in content["statements"]]
    parts = [element("div", *cards, class_="cards")] if cards else []
    if report.unproved:
        title = element("h3", "Not checked")
        why = BETS if content["settings"]["stopping"] else UNPROVED
        parts.append(element("div", title, element("p", why), class_="caution"))
    parts.append(element("p", "In the words of the audit:"))
    parts += [element("p", str(each)) for each in content["sentences"]]
    if content["warnings"]:
        title = element("h3", "Before you quote this")
        parts.append(element("div", title, listing(_sentences(content["warnings"])), class_="caution"))
    return joined(parts)


def _card(said: Mapping[str, Any], content: Mapping[str, Any]) -> Markup:
    """A statement, which the checker looked at: epsilon, or what becomes of the claim."""
    p = f"p ≤ {rounded(float(said['p_upper']), 2, up=True)}"
    if said["about"] == "epsilon":
        least = float(said["epsilon"])
        number = f"ε ≥ {rounded(least, DIGITS, up=False)}" if said["refuted"] and least > 0.0 else "no ε refuted"
        at = f"at δ = {short(said['delta'])}, {_confidence(content)} confidence"
    else:
        number = "refuted" if said["refuted"] else "not refuted"
        more = " and each with more noise" if said["about"] == "parameter" and said["refuted"] else ""
        at = f"{_claimed(said)}{more}: {p}"
    return element("div", element("p", number, class_="number"), element("p", at, class_="at"), class_="card")


def _claimed(said: Mapping[str, Any]) -> str:
    """What a statement is about, as it has it itself."""
    if said["about"] == "epsilon":
        return f"epsilon at delta {short(said['delta'])}"
    text: str = said["expression"]
    return shortened(text, LABEL_MAX) if text else f"({short(said['epsilon'])}, {short(said['delta'])})-privacy"


def _audited(content: Mapping[str, Any]) -> Markup:
    settings = content["settings"]
    rows = [
        ("Design", DESIGNED[content["design"]]),
        ("Delta", "" if content["delta"] is None else short(content["delta"])),
        ("Confidence", f"{_confidence(content)}, of each statement by itself"),
        ("Coin", short(settings["coin"]) if content["design"] == "one-run" else ""),
        ("Neighbours", "a record is replaced" if settings.get("neighbours") == "replace" else ""),
        ("Method", "" if content["method"] == "none" else f"{content['method']}, as docs/proofs/audit.md calls them"),
        ("Audited on", content["date"]),
        ("Audited by", f"Tightrope {content['version']}"),
    ]
    return facts("This audit", [(name, said) for name, said in rows if said])


def _seen(content: Mapping[str, Any]) -> Markup:
    """Counts of each test, by kind: what their places and counts are has other names in each. Their p-values are not
    here, since the checker proves that of all of them together."""
    found = []
    for method in dict.fromkeys(test["method"] for test in content["tests"]):
        place, count = SEEN.get(method, ("place", "count"))
        tests = [each for each in content["tests"] if each["method"] == method]
        rows = [(short(test["rank"]), f"{test['count']} of {test['trials']}", _share(test["weight"])) for test in tests]
        headings = (_upper(place), _upper(count), "Share of the error")
        found.append(table(f"Tests by {method}, all of them fixed before the data", headings, rows, class_="numbers"))
    return joined(found)


def _checked(report: AuditReport) -> Markup:
    proved, total = sum(verdict.verdict == PROVED for verdict in report.verdicts), len(report.verdicts)
    if not total:
        return element("p", "Nothing is claimed that could be checked.")
    said = f"When this report was made, the checker proved {proved} of {total} ends and refuted none."
    return joined([element("p", text) for text in (said, CHECKED_SAID)])


def _share(weight: float) -> str:
    return rounded(float(weight), 3, up=False)


def _confidence(content: Mapping[str, Any]) -> str:
    return f"{round(100.0 * content['level'], 10):g} %"


def _sentences(notes: list[str]) -> list[str]:
    return [f"{_upper(note)}{'' if note.endswith('.') else '.'}" for note in notes]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
