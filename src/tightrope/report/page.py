"""What a filed document consists of, before it is written as HTML or PDF; and the sections of a report, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .filing import Filing
from .markup import Content, Markup, element, listing
from .meaning import by_epoch, pictures, what_it_means
from .proof import certificate, errors, listed, signatures
from .ran import neighbours, what_ran
from .summary import epsilons, head, summary
from .value import Report
from .words import leaves_out, rests_on


@dataclass(frozen=True, slots=True)
class Page:
    """Whose it is, its head and sections, and the document that it holds as data."""

    filing: Filing
    header: Markup
    sections: tuple[Markup, ...]
    document: str

    @property
    def title(self) -> str:
        """Of the file: with the system that it is about."""
        return " - ".join(filter(None, (self.filing.title, self.filing.system)))

    @staticmethod
    def of(filing: Filing, about: Markup, sections: Iterable[tuple[str, str, Content]], document: str) -> Page:
        """From what it is about and its sections (name, title, inside); those with nothing inside are left out."""
        names = ", ".join(filter(None, (filing.system, filing.organisation)))
        subtitle = [element("p", names, class_="subtitle")] if names else []
        header = element("header", element("h1", filing.title), *subtitle, about)
        return Page(filing, header, tuple(_section(*section) for section in sections if section[2]), document)


def page(report: Report) -> Page:
    """A report."""
    sections = [
        ("summary", "Summary", summary(report)),
        ("ran", "What ran", what_ran(report.mechanism)),
        ("neighbours", "Who counts as a neighbour", neighbours(report.mechanism)),
        ("epsilon", "Epsilon, with both ends", epsilons(report)),
        ("meaning", "What this means for one person", what_it_means(report)),
        ("pictures", "The whole curve", pictures(report)),
        ("epochs", "Epsilon by epoch", by_epoch(report)),
        ("assumed", "What is assumed", listing(rests_on(report.mechanism, report.assumed))),
        ("not-covered", "What is not covered", listing(leaves_out(report.mechanism, report.not_covered))),
        ("errors", "How sure the digits are", errors(report)),
        ("certificate", "The certificate, and how to check it", certificate(report)),
        ("signatures", "Filed", signatures()),
        ("document", "Appendix: the document", listed(report.document())),
    ]
    return Page.of(report.filing, head(report), sections, report.document())


def _section(name: str, title: str, inside: Content) -> Markup:
    """A part of the page, which others can point to."""
    return element("section", element("h2", title, id=f"{name}-title"), inside, id=name)
