"""The report as one HTML file: its frame, which other documents that are filed share, and its sections in order.

Guarantee: no script runs and nothing is fetched (the policy in its head allows neither), every text that somebody typed
is escaped, and the same report at the same date is the same file.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files

from ..version import __version__
from .filing import Filing
from .from_file import embedded
from .markup import Markup, element, joined, listing, marked, void
from .meaning import by_epoch, pictures, what_it_means
from .proof import certificate, errors, listed, signatures
from .ran import neighbours, what_ran
from .summary import epsilons, head, summary
from .value import Report
from .words import leaves_out, rests_on


def page(report: Report) -> str:
    """The whole file."""
    return framed(report.filing, head(report), _sections(report), report.document())


def framed(filing: Filing, about: Markup, sections: Iterable[tuple[str, str, str]], document: str) -> str:
    """A whole file: what it is about, its sections (name, title, inside; those with nothing inside are left out), and
    the document that it holds as data."""
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    told = [section(name, title, inside) for name, title, inside in sections if inside]
    main = element("main", *told, Markup(embedded(document)))
    body = element("body", _header(filing, about), main, _footer(filing))
    return f"<!DOCTYPE html>\n{element('html', _head(filing, style), body, lang='en-GB')}\n"


def _head(filing: Filing, style: str) -> Markup:
    """The one style sheet is known by its digest, so that no other one is obeyed."""
    known = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{known}'; img-src data:; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=policy),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="generator", content=f"Tightrope {__version__}"),
        void("meta", name="author", content=filing.author or filing.organisation),
        void("meta", name="dcterms.created", content=filing.date),
        element("title", " - ".join(filter(None, (filing.title, filing.system)))),
        element("style", Markup(style)),
    )


def _header(filing: Filing, about: Markup) -> Markup:
    names = ", ".join(filter(None, (filing.system, filing.organisation)))
    subtitle = [element("p", names, class_="subtitle")] if names else []
    return element("header", element("h1", filing.title), *subtitle, about)


def _sections(report: Report) -> list[tuple[str, str, str]]:
    return [
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


def section(name: str, title: str, inside: str) -> Markup:
    """A part of the page, which others can point to."""
    return element("section", element("h2", title, id=f"{name}-title"), marked(inside), id=name)


def _footer(filing: Filing) -> Markup:
    return element(
        "footer",
        joined([f"Made with Tightrope {__version__}, certified differential-privacy accounting, on ", _time(filing)]),
        ".",
    )


def _time(filing: Filing) -> Markup:
    return element("time", filing.day, datetime=filing.date)
