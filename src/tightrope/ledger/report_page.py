"""The report of a budget as a page: its sections, in the frame of all reports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .. import Relation
from ..extend.filing import (
    RECORDS,
    Content,
    Markup,
    Page,
    Picture,
    about,
    document_listed,
    element,
    expression_shown,
    facts,
    joined,
    listing,
    made_picture,
    pictured,
    signatures,
    table,
)
from ..extend.wording import shortened
from .report import BudgetReport
from .report_words import assumed, not_covered, theorems
from .table import (
    ENDLESS,
    axes_notes,
    axes_rows,
    number,
    odometer_words,
    percent,
    promised,
    state_words,
    telling,
    used_share,
    used_words,
)
from .units import amount
from .values import moment

if TYPE_CHECKING:
    from ..extend.plots import Figure

JOBS_SHOWN_MAX = 2_000  # the document has all
PRICES_SHOWN_MAX = 100
EXPRESSION_SHOWN, EVIDENCE_SHOWN = 300, 1_500  # letters
HISTORY_SIZE = (7.0, 3.6)
SHOWS = "Steps that rise over time: the share of the promise that was used. Its numbers are in the tables of this page."


def budget_page(report: BudgetReport) -> Page:
    """All of it."""
    sections = [
        ("summary", "Summary", _summary(report)),
        ("promise", "The promise, and to whom", _promise(report)),
        ("used", "What is spent, held and left", _used(report)),
        ("time", "Over time", _over_time(report)),
        ("parts", "Parts of the budget", _parts(report)),
        ("jobs", "Jobs that were charged", _jobs(report)),
        ("prices", "What the jobs cost, and why", _prices(report)),
        ("assumed", "What is assumed", listing(assumed(report.status))),
        ("not-covered", "What is not covered", listing(not_covered(report.status))),
        ("chain", "The chain, and how to check it", _chain(report)),
        ("signatures", "Filed", signatures()),
        ("document", "Appendix: the document", document_listed(report.document())),
    ]
    subject = ("Budget", report.status["name"])
    return Page.of(report.filing, about(report.filing, subject), sections, report.document())


def _summary(report: BudgetReport) -> Markup:
    status = report.status
    parts = [_broken(report)] if report.findings else []
    cards = [_card(*each) for each in _numbers(status)]
    told = "Whatever is asked of this budget, by whomever and in whatever order, all answers together are"
    sentence = f"{told} {promised(status)}."
    if status["kind"] == ENDLESS:
        sentence = f"The budget has {promised(status)}."
    counts = state_words({**status["jobs"], "refused": report.refused})
    parts += [
        element("div", *cards, class_="cards"),
        element("p", sentence),
        element("p", f"Used: {used_words(status)}; what is held counts as used. Odometer: {odometer_words(status)}."),
        element("p", f"Jobs: {counts}. As of line {report.chain['seq']:,} of the chain."),
    ]
    return joined(parts)


def _broken(report: BudgetReport) -> Markup:
    title = element("h3", "This ledger does not hold together")
    return element("div", title, listing(report.findings[:20]), class_="caution")


def _numbers(status: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What stands large: the promise, what is gone of it, and the odometer."""
    promise, found = status["promise"], []
    if "rho" in promise:
        found.append((f"ρ ≤ {number(promise['rho'])}", "promised (zCDP)"))
    elif status["kind"] != ENDLESS:
        found.append((f"ε ≤ {number(promise['ceiling'])}", f"promised, at δ = {number(promise['delta'])}"))
    axes = [] if status["kind"] == ENDLESS else telling(status)
    if axes:
        most = max(axes, key=used_share) if axes[0]["need"] == "all" else axes[0]
        found.append((percent(used_share(most)), f"of {most['name']} used, held included"))
    if "epsilon" in status["odometer"]:
        at = f"used so far, at δ = {number(status['odometer']['delta'])}, whenever one stops"
        found.append((f"ε ≤ {number(status['odometer']['epsilon'])}", at))
    return found


def _card(said: str, at: str) -> Markup:
    return element("div", element("p", said, class_="number"), element("p", at, class_="at"), class_="card")


def _promise(report: BudgetReport) -> Markup:
    status = report.status
    rows = [
        ("Budget", status["name"]),
        ("A part of", status["parent"] or ""),
        ("Promise", promised(status)),
        ("Whose privacy", status["unit"]),
        ("Neighbours", RECORDS[Relation(status["relation"])].format(one="one record")),
        ("Kind", f"{status['kind']}, a block of partitions" if status["parallel"] else status["kind"]),
        ("Why it holds", theorems(status)),
        ("Made", moment(status["made"])),
        ("Renewed", ", ".join(map(moment, report.renewed))),
        ("State", status["state"]),
    ]
    return facts("The promise", [(name, said) for name, said in rows if said])


def _used(report: BudgetReport) -> Markup:
    heading, *rows = axes_rows(report.status)
    names = ["" if not text else text[:1].upper() + text[1:] for text in heading]
    caption = "Counters; what there is and what is left are rounded down, what is held and spent up"
    odometer = f"Odometer: {odometer_words(report.status)}."
    found = [table(caption, names, rows, class_="numbers"), listing(axes_notes(report.status)), element("p", odometer)]
    return joined(found)


def _over_time(report: BudgetReport) -> Markup:
    from .picture import draw_history

    until = datetime.fromisoformat(report.filing.date)
    now = round(1000 * (until if until.tzinfo is not None else until.replace(tzinfo=UTC)).timestamp())

    def draw() -> Figure:
        figure = draw_history(report.status, {"moments": report.moments}, now=now)
        figure.supxlabel("times in UTC")
        return figure

    def make() -> list[Picture]:
        return [made_picture(draw, HISTORY_SIZE, SHOWS)]

    if not report.drawn:
        return element("p", "There is no picture: that needs matplotlib. The tables hold the numbers.")
    return joined(pictured(True, make, "What was spent and held, as a share of the promise"))


def _parts(report: BudgetReport) -> Markup:
    if not report.tree:
        return Markup()
    rows = [
        ("\N{EM SPACE}" * (each["depth"] - 1) + each["name"], promised(each), used_words(each)) for each in report.tree
    ]
    return table("What is charged to a part is charged to all above it", ("Part", "Promise", "Used"), rows)


def _jobs(report: BudgetReport) -> Markup:
    told = f"{state_words({**report.status['jobs'], 'refused': report.refused})}."
    said = element(
        "p", f"{told[:1].upper()}{told[1:]} A job that did not fit was refused, did not run, and costs nothing."
    )
    if not report.jobs:
        return joined([said])
    axis = (telling(report.status) or report.status["axes"])[0]
    rows = [_job(at, job, report.status["name"], axis) for at, job in enumerate(report.jobs[:JOBS_SHOWN_MAX], 1)]
    headings = ("No.", "Reserved, ended", "By", "Job", "State", axis["name"][:1].upper() + axis["name"][1:])
    caption = "All jobs that were charged, with times in UTC; costs rounded up"
    found = [said, table(caption, headings, rows, class_="jobs")]
    if len(report.jobs) > JOBS_SHOWN_MAX:
        more = len(report.jobs) - JOBS_SHOWN_MAX
        found.append(element("p", f"{more:,} more jobs are in the document that this page holds as data."))
    return joined(found)


def _job(at: int, job: Mapping[str, Any], budget: str, axis: Mapping[str, Any]) -> tuple[Content, ...]:
    """A row; who else paid for the job, or for which part it was, stands beside it."""
    paid = [text if name == budget else f"{text} ({name})" for name, text in job["jobs"].items()]
    said = [shortened(", ".join(paid), EXPRESSION_SHOWN)]
    said += [
        f"{name}: {job[key]}"
        for name, key in (("Note", "note"), ("Part", "part"), ("Attested", "attest"))
        if job.get(key)
    ]
    units = job["units"].get(axis["name"])
    cost = "no finite amount" if units is None else amount(units, axis["unit"], up=True)
    return (
        str(at),
        _lines([_minute(job["made"]), *([_minute(job["ended"])] if "ended" in job else [])]),
        job["principal"],
        _lines(said),
        _lines([job["state"], *(["time was over"] if job.get("by_expiry") else [])]),
        "given back" if job["state"] == "cancelled" else cost,
    )


def _lines(texts: Iterable[str]) -> Markup:
    return joined(element("div", text) for text in texts)


def _minute(milliseconds: int) -> str:
    return moment(milliseconds)[:16].replace("T", " ")


def _prices(report: BudgetReport) -> Markup:
    """Each price once, with what it was worked out from before the job ran."""
    found = []
    for price in report.prices[:PRICES_SHOWN_MAX]:
        if price["evidence"]:
            found.append(element("h3", f"Price {price['price']}"))
            found += [expression_shown(text) for text in dict.fromkeys(price["jobs"].values())]
            words = json.dumps(price["evidence"], ensure_ascii=False)
            found.append(element("pre", element("code", shortened(words, EVIDENCE_SHOWN)), class_="document"))
    if len(report.prices) > PRICES_SHOWN_MAX:
        more = len(report.prices) - PRICES_SHOWN_MAX
        found.append(element("p", f"{more:,} more are in the document that this page holds as data."))
    return joined(found)


def _chain(report: BudgetReport) -> Markup:
    chain = report.chain
    rows = [
        ("Root", chain["root"]),
        ("Lines", f"{chain['lines']:,}"),
        ("Last line", f"{chain['seq']:,}, of {moment(chain['at'])}"),
        ("Its hash", chain["hash"]),
        ("Verified", "no: it does not hold together, as the summary says" if report.findings else _counted(report)),
    ]
    said = (
        "Every number of this page was rebuilt from the lines of this chain, each of which holds the hash of the one "
        "before. Whoever keeps this page can tell later that the ledger still has its last line: a receipt names it."
    )
    receipt = f"{chain['root']}:{chain['seq']}:{chain['hash']}"
    commands = f"tightrope ledger verify --receipt {receipt}\ntightrope ledger audit {chain['root']}"
    return joined([facts("The head of the chain", rows), element("p", said), element("pre", element("code", commands))])


def _counted(report: BudgetReport) -> str:
    counted = report.verified
    return f"yes: {counted['lines']:,} lines and {counted['reservations']:,} reservations of {counted['roots']:,} roots"
