"""The sections on what the numbers mean: sentences for one person, pictures with their tables, epsilon by epoch."""

from __future__ import annotations

from collections.abc import Callable

from .. import Bound, InvalidParameter
from ..extend.wording import short
from .markup import Markup, element, joined, listing, table
from .pictures import Picture, curve_picture, epochs_picture, tradeoff_pictures
from .value import Report
from .words import both_ends

CURVE_STRIDE = 4  # points of the curve between two rows of the table
RATES_SHOWN = (1e-3, 1e-2, 0.05, 0.1, 0.25, 0.5)
NO_PICTURES = "There are no pictures in this copy: matplotlib was not installed. The tables hold the numbers."


def what_it_means(report: Report) -> Markup:
    """A number and a sentence each, and how they are meant."""
    if report.risk is None:
        return _left_out(report, "risk", "There are no sentences on the risk of one person")
    rows = [(row.number, row.sentence) for row in report.risk.rows]
    body = [element("tr", element("th", number, scope="row"), element("td", said)) for number, said in rows]
    caption = element("caption", "At most, rounded towards more risk")
    found = [element("table", caption, element("tbody", *body), class_="meaning")]
    return joined([*found, element("h3", "How to read it"), listing(report.risk.meant)])


def pictures(report: Report) -> Markup:
    """delta over epsilon, and the attacker beside guessing: pictures and tables."""
    drawn = report.drawn
    parts = [] if drawn else [element("p", NO_PICTURES)]
    parts += [element("h3", "Delta over epsilon"), *_curve(report, drawn)]
    parts += [element("h3", "The best attacker beside guessing"), *_tradeoffs(report, drawn)]
    return joined(parts)


def _curve(report: Report, drawn: bool) -> list[Markup]:
    curve = report.curve
    if curve is None:
        return [_left_out(report, "curve", "There is no curve")]
    found = pictured(drawn, lambda: [curve_picture(curve, report.results)], "Delta at every epsilon")
    rows = [(short(epsilon), *both_ends(bound)) for epsilon, bound in curve[::CURVE_STRIDE]]
    headings = ("Epsilon", "Delta at least", "Delta at most")
    return [*found, table("Delta at some epsilons", headings, rows, class_="numbers")]


def _tradeoffs(report: Report, drawn: bool) -> list[Markup]:
    tradeoffs, risk = report.tradeoffs, report.risk
    if tradeoffs is None or risk is None:
        return [_left_out(report, "trade-off", "There is no trade-off")]
    said = "The best attacker at all rates of wrong accusations, and at small ones"
    found = pictured(drawn, lambda: list(tradeoff_pictures(tradeoffs, risk)), said)
    asked = {*RATES_SHOWN, risk.rows[0].arguments["fpr"]}
    rows = [
        (short(rate), _at_most(bound))
        for rate, bound in zip(tradeoffs.fprs, tradeoffs.tprs, strict=True)
        if rate in asked
    ]
    wrong, right = risk.axis_names
    caption = "Shares of people; without the release both columns are the same"
    return [*found, table(caption, (_upper(wrong), f"{_upper(right)}: at most"), rows, class_="numbers")]


def _at_most(bound: Bound) -> str:
    return f"{bound:.4g}".strip("[]").split(", ")[1]


def by_epoch(report: Report) -> Markup:
    """The table of a training run, and its picture."""
    epochs = report.epochs
    if epochs is None:
        return _left_out(report, "epochs", "There is no table by epoch")
    rows = [(short(row.epoch), f"{row.steps:,}", *both_ends(row.epsilon)) for row in epochs.rows]
    headings = ("Epoch", "Steps", "Epsilon at least", "Epsilon at most")
    caption = f"Epsilon at delta {short(epochs.delta)} after each epoch"
    drawn = report.drawn and len(epochs) > 1
    found = pictured(drawn, lambda: [epochs_picture(epochs)], caption)
    return joined([*found, table(caption, headings, rows, class_="numbers"), listing(epochs.notes)])


def pictured(drawn: bool, make: Callable[[], list[Picture]], caption: str) -> list[Markup]:
    """A figure with its caption; where there is nothing to draw, why."""
    if not drawn:
        return []
    try:
        found = make()
    except InvalidParameter as error:
        return [element("p", f"No picture: {error}.")]
    images = [element("img", src=picture.source, alt=picture.shows) for picture in found]
    told = element("figcaption", f"{caption}. {_upper(found[0].certified)}.")
    return [element("figure", element("div", *images, class_="pair") if len(images) > 1 else images[0], told)]


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _left_out(report: Report, part: str, words: str) -> Markup:
    """Why a part is not there; nothing where it was not asked."""
    why = report.left_out.get(part)
    return Markup() if why is None else element("p", f"{words}: {why}.", class_="caution")
