"""The report of an audit: from its document alone, which is checked again before anything is repeated from it.

Guarantee: every sentence and number is one of the document; one that the checker refutes, or that was changed after it
was written, is refused. What was seen, and how membership was decided, nobody can check in a document: the page says
so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .. import documents
from ..digits import rounded, short
from ..errors import DataError
from ..verification import Verification, verify
from .filing import Filing
from .markup import Markup, element, facts, joined, listing, table
from .proof import listed, signatures
from .summary import about
from .value import Filed

if TYPE_CHECKING:
    from .page import Page

AUDIT = "audit"
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
ANSWERS = ("epsilon_lower", "p_upper", "claim_refuted", "refuted_from")
NEVER = (
    "An audit can refute a claim and never proves one: an attack that finds nothing may be a weak attack.",
    (
        "The counts are those that the auditor gave. Whether they come from the scores, and whether membership was "
        "decided as is written here, cannot be seen in a document."
    ),
)
CHECKED_SAID = (
    "All of it is in this file. The checker proves the p-values again from the counts, by formulas of its own and "
    "without a solver: tightrope verify with the name of this file."
)
BETS = "Bets on single rounds leave no counts behind, so that a document of them cannot be checked."


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
    verification: Verification

    @staticmethod
    def of(text: str, given: Mapping[str, Any], date: documents.Date) -> AuditReport:
        """DataError where the checker refutes a statement, or what is needed is not there."""
        content = documents.read(text, "an audit")
        found = verify(text)
        if found.count("refuted"):
            raise DataError(
                "the checker refutes this audit: tightrope verify says what of it; it is not to be believed"
            )
        filing = Filing.of({**given, "title": given.get("title") or TITLE_AUDIT}, date)
        report = AuditReport(filing, text.strip(), content, found)
        try:
            if _answered(content) != {name: content[name] for name in ANSWERS}:
                raise DataError("the answers of this audit are not those of its statements: it is not to be believed")
            report._page()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
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
        subject = ("Audit of", content["claim"] or f"epsilon at delta {short(content['delta'])}")
        if content["design"] == "members":
            subject = ("Audit of", DESIGNED["members"])
        sections = [
            ("summary", "Verdict", _verdict(content)),
            ("audited", "What was audited", _audited(content)),
            ("seen", "What the attack saw", _seen(content)),
            ("assumed", "What is assumed", listing(_sentences(content["assumptions"]))),
            ("not-covered", "What an audit does not say", listing(NEVER)),
            ("certificate", "How to check it", _checked(self)),
            ("signatures", "Filed", signatures()),
            ("document", "Appendix: the document", listed(self.told)),
        ]
        return Page.of(self.filing, about(self.filing, subject), sections, self.told)


def _answered(content: Mapping[str, Any]) -> dict[str, Any]:
    """The answers, as the statements have them that the checker looked at."""
    by_name = {each["about"]: each for each in content["statements"]}
    epsilon, claim, family = (by_name.get(name) for name in ("epsilon", "claim", "parameter"))
    return {
        "epsilon_lower": None if epsilon is None else epsilon["epsilon"] if epsilon["refuted"] else 0.0,
        "p_upper": None if claim is None else claim["p_upper"],
        "claim_refuted": None if claim is None else claim["refuted"],
        "refuted_from": family["value"] if family is not None and family["refuted"] else None,
    }


def _verdict(content: Mapping[str, Any]) -> Markup:
    cards = [element("div", *(element("div", *each, class_="card") for each in _cards(content)), class_="cards")]
    parts = cards if any(card.inside for card in cards) else []
    parts.append(element("p", "In the words of the audit:"))
    parts += [element("p", str(each)) for each in content["sentences"]]
    if content["warnings"]:
        title = element("h3", "Before you quote this")
        parts.append(element("div", title, listing(_sentences(content["warnings"])), class_="caution"))
    return joined(parts)


def _cards(content: Mapping[str, Any]) -> list[tuple[Markup, Markup]]:
    """The largest numbers of the page: epsilon that is refuted, and p of the claim."""
    found = []
    if content["epsilon_lower"] is not None:
        least = float(content["epsilon_lower"])
        said = f"ε ≥ {rounded(least, DIGITS, up=False)}" if least > 0.0 else "no ε refuted"
        found.append((said, f"at δ = {short(content['delta'])}, {_confidence(content)} confidence"))
    if content["claim_refuted"] is not None:
        said = "refuted" if content["claim_refuted"] else "not refuted"
        found.append((said, f"the claim {content['claim']}: p ≤ {rounded(float(content['p_upper']), 2, up=True)}"))
    if content["parameter"] is not None:
        start = content["refuted_from"]
        said = "none refuted" if start is None else f"{content['parameter']} < {rounded(float(start), DIGITS, up=True)}"
        found.append((said, f"of {content['claim']}, {_confidence(content)} confidence"))
    return [(element("p", said, class_="number"), element("p", at, class_="at")) for said, at in found]


def _audited(content: Mapping[str, Any]) -> Markup:
    settings = content["settings"]
    rows = [
        ("Design", DESIGNED[content["design"]]),
        ("Claim", content["claim"] or ""),
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
    """Counts of each test, by kind: what their places and counts are has other names in each."""
    found = []
    for method in dict.fromkeys(test["method"] for test in content["tests"]):
        place, count = SEEN.get(method, ("place", "count"))
        rows = [
            (
                short(each["rank"]),
                f"{each['count']} of {each['trials']}",
                rounded(float(each["weight"]), 3, up=False),
                _p(each["p"]),
            )
            for each in content["tests"]
            if each["method"] == method
        ]
        headings = (_upper(place), _upper(count), "Share of the error", "p at most, before its share")
        found.append(table(f"Tests by {method}, all of them fixed before the data", headings, rows, class_="numbers"))
    return joined(found)


def _checked(report: AuditReport) -> Markup:
    proved, total = report.verification.count("proved"), sum(len(each.verdicts) for each in report.verification.answers)
    if not total:
        return element("p", "Nothing is claimed that could be checked.")
    said = f"When this report was made, the checker proved {proved} of {total} ends and refuted none."
    return joined([element("p", each) for each in (said, CHECKED_SAID if proved else BETS)])


def _p(value: float) -> str:
    return rounded(float(value), 3, up=True)


def _confidence(content: Mapping[str, Any]) -> str:
    return f"{round(100.0 * content['level'], 10):g} %"


def _sentences(notes: list[str]) -> list[str]:
    return [f"{_upper(each)}{'' if each.endswith('.') else '.'}" for each in notes]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
