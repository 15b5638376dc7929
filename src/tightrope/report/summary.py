"""The first page: who files what, the number that can be promised, and what to know before quoting it."""

from __future__ import annotations

import math

from .. import __version__
from ..extend.result import Result
from ..extend.wording import short, shortened
from .filing import Filing
from .markup import Markup, element, facts, joined, listing, table
from .value import Report
from .words import at_most, both_ends, chance, ends, gathered, promise

CARDS_MAX = 3
LABEL_MAX = 160  # characters


def head(report: Report) -> Markup:
    """Names and dates, with the run first."""
    return about(report.filing, ("Run", shortened(report.mechanism.label, LABEL_MAX)))


def about(filing: Filing, subject: tuple[str, str]) -> Markup:
    """What a report is of, names and dates; what was not given has no row."""
    rows = [
        subject,
        ("System", filing.system),
        ("Organisation", filing.organisation),
        ("Prepared by", filing.author),
        ("Date", filing.day),
        ("Computed by", f"Tightrope {__version__}"),
    ]
    return facts("About this report", [(name, said) for name, said in rows if said])


def summary(report: Report) -> Markup:
    """The numbers, each with its promise, then what it means and what is to be known of it."""
    results = report.results
    parts = [element("div", *map(_card, results[:CARDS_MAX]), class_="cards")]
    parts += [element("p", promise(result, report.mechanism)) for result in results]
    if report.risk is not None:
        parts.append(element("p", f"In other words: {report.risk.rows[-1].sentence}"))
    if cautions := gathered(results):
        title = element("h3", "Before you quote this number")
        parts.append(element("div", title, listing(cautions), class_="caution"))
    return joined(parts)


def _card(result: Result) -> Markup:
    delta = result.arguments["delta"]
    number = "no finite ε" if result.bound.upper == math.inf else f"ε ≤ {at_most(result.bound)}"
    only = "" if result.direction is None else f", direction {result.direction.value} only"
    at = f"at δ = {short(delta)} ({chance(delta)}){only}"
    return element("div", element("p", number, class_="number"), element("p", at, class_="at"), class_="card")


def epsilons(report: Report) -> Markup:
    """Both ends at every delta, and what they speak of."""
    rows = []
    for result in report.results:
        low, high = both_ends(result.bound)
        told = result.bound.certificate
        worse = "-" if told is None or told.direction is None else told.direction.value
        rows.append((short(result.arguments["delta"]), low, high, worse))
    headings = ("Delta", "Epsilon at least", "Epsilon at most", "Direction")
    said = dict.fromkeys(ends(result.bound) for result in report.results)
    last = (
        "Direction: the one that decides. remove compares the data with the record to those without it, add the other "
        "way round. A replaced record has none. Digits are rounded outward, so that the printed ends hold as well."
    )
    return joined(
        [
            table("Certified ends of epsilon", headings, rows, class_="numbers"),
            *(element("p", text) for text in said),
            element("p", last),
        ]
    )
