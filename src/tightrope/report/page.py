"""The report as one HTML file: its frame, and its sections in the order in which they are read.

Guarantee: no script runs and nothing is fetched (the policy in its head allows neither), every text that somebody typed
is escaped, and the same report at the same date is the same file.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

from ..version import __version__
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
    style = files(__package__).joinpath("page.css").read_text("utf-8")
    body = element("body", _header(report), _main(report), _footer(report))
    return f"<!DOCTYPE html>\n{element('html', _head(report, style), body, lang='en-GB')}\n"


def _head(report: Report, style: str) -> Markup:
    """The one style sheet is known by its digest, so that no other one is obeyed."""
    known = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{known}'; img-src data:; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=policy),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="generator", content=f"Tightrope {__version__}"),
        void("meta", name="author", content=report.filing.author or report.filing.organisation),
        void("meta", name="dcterms.created", content=report.filing.date),
        element("title", " - ".join(filter(None, (report.filing.title, report.filing.system)))),
        element("style", Markup(style)),
    )


def _header(report: Report) -> Markup:
    filing = report.filing
    names = ", ".join(filter(None, (filing.system, filing.organisation)))
    subtitle = [element("p", names, class_="subtitle")] if names else []
    return element("header", element("h1", filing.title), *subtitle, head(report))


def _main(report: Report) -> Markup:
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
        ("document", "Appendix: the document", listed(report)),
    ]
    told = [section(name, title, inside) for name, title, inside in sections if inside]
    return element("main", *told, Markup(embedded(report.document())))


def section(name: str, title: str, inside: str) -> Markup:
    """A part of the page, which others can point to."""
    return element("section", element("h2", title, id=f"{name}-title"), marked(inside), id=name)


def _footer(report: Report) -> Markup:
    return element(
        "footer",
        joined([f"Made with Tightrope {__version__}, certified differential-privacy accounting, on ", _time(report)]),
        ".",
    )


def _time(report: Report) -> Markup:
    return element("time", report.filing.day, datetime=report.filing.date)
