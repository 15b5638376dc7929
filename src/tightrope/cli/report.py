"""The command that writes the document which is filed."""

from __future__ import annotations

import os
from typing import Any

import click

import tightrope as tr

from .. import InvalidParameter, Report, parse
from ..extend import documents
from ..extend.reports import PAPERS, REPORT_SECONDS, SUFFIXES, AuditReport, Filed, document_of, is_audit, questions_of
from ..extend.wording import check_folder, install_command
from .options import DIRECTION, PROOF, TIME
from .output import complain, say, spinner, stated_result

HEAD_OPTIONS = (
    click.option("--title", metavar="TEXT", help="Default: Differential privacy report."),
    click.option("--system", metavar="TEXT", help="What the run belongs to, such as a model and its version."),
    click.option("--organisation", metavar="TEXT", help="Whose report it is."),
    click.option("--author", metavar="TEXT", help="Who prepared it."),
    click.option("--date", metavar="ISO", help="A day or a time; default: now."),
)
FILE_OPTIONS = (
    click.option("--html", "page", metavar="FILE", help="Write one HTML file that needs no other."),
    click.option("--pdf", "paged", metavar="FILE", help="Write it as PDF; needs the extra [pdf]."),
    click.option("--json", "document", metavar="FILE", help="Write the certificate alone."),
    click.option("--paper", type=click.Choice(tuple(PAPERS)), default="a4", help="Of the PDF; default: a4."),
)
RISK_OPTIONS = (
    click.option("--prior", type=float, default=0.1, help="As in risk; default: 0.1."),
    click.option("--fpr", type=float, default=1e-3, help="As in risk; default: 0.001."),
    click.option("--baseline", type=float, default=1e-4, help="As in risk; default: 1e-4."),
)
SECONDS_OPTION = click.option(
    "--seconds", type=TIME, default=REPORT_SECONDS, help="For all of it; then the best so far. Default: 60."
)


def report_options(command: Any) -> Any:
    """All of them, in their order."""
    for decorate in reversed((*FILE_OPTIONS, *HEAD_OPTIONS, DIRECTION, PROOF, SECONDS_OPTION, *RISK_OPTIONS)):
        command = decorate(command)
    return command


@click.command("report", short_help="The document that a privacy officer files, as HTML and PDF.")
@click.argument("expression", metavar="EXPR")
@click.option("--delta", "deltas", type=float, multiple=True, help="In [0, 1]; may be repeated.")
@report_options
def report(
    expression: str,
    deltas: tuple[float, ...],
    page: str | None,
    paged: str | None,
    document: str | None,
    paper: str,
    **options: Any,
) -> int:
    """The document that is filed: what ran, epsilon with both ends, what it means, and the certificate.

    EXPR is a run, or a file of results or an earlier report (.json, .html, .pdf): then the same questions are asked
    again, and the answers must agree. Of an audit (tightrope audit --json) the checker proves the statements again.

    \b
    tightrope report "training(records=60000, batch=256, epochs=15, sigma=1.1)" --delta 1e-5 --html privacy.html
    tightrope report "Laplace(scale=2) * 3" --delta 1e-6 --html privacy.html --pdf privacy.pdf --system "Survey 2026"
    tightrope report privacy.html --pdf privacy.pdf
    """
    from ..extend.filing import cautions

    _check_files(page, paged, document)
    found = _found(expression, deltas, options)
    with spinner("writing the report"):
        written = _write(found, {page: "html", paged: "pdf", document: "json"}, paper)
    if isinstance(found, Report):
        answers = [*map(stated_result, found.results), *(f"  note: {caution}" for caution in cautions(found.results))]
    else:
        answers = [str(found)]
    say("\n".join([*answers, f"written: {', '.join(written)}"]))
    if page is not None and not found.drawn:
        complain(f"the report has no pictures, which need matplotlib: {install_command('plot')}")
    return 0


def _check_files(page: str | None, paged: str | None, document: str | None) -> None:
    """What is wrong with them is said before anything is computed."""
    given = [text for text in (page, paged, document) if text is not None]
    if not given:
        raise InvalidParameter("a report is written to files: give --html report.html, --pdf report.pdf or both")
    if len(set(given)) < len(given):
        raise InvalidParameter("--html, --pdf and --json need files of different names")
    for each in given:
        check_folder(each)
    if paged is not None:
        from ..extend.filing import check_pdf

        check_pdf()


def _found(expression: str, deltas: tuple[float, ...], options: dict[str, Any]) -> Filed:
    """The report of a run, of the questions of a file, or of an audit."""
    from .app import read

    with spinner("the questions of the report"):
        if not expression.endswith(SUFFIXES):
            if not deltas:
                raise InvalidParameter("a report needs --delta, such as --delta 1e-6")
            return tr.report(read(expression, parse), deltas, **options)
        if deltas or options["direction"] is not None:
            raise InvalidParameter("a file of results says delta and direction: leave out --delta and --direction")
        with open(expression, "rb") as file:
            text = document_of(documents.decoded(file.read()))
        if is_audit(text):
            return AuditReport.of(text, options, options["date"])
        asked = questions_of(text)
        found = tr.report(
            parse(asked.expression, os.path.dirname(expression) or os.curdir),
            asked.deltas,
            **{**options, "direction": asked.direction},
        )
    asked.check(found.results)
    return found


def _write(filed: Filed, files: dict[str | None, str], paper: str) -> list[str]:
    """Those that were asked for."""
    written = []
    for path, kind in files.items():
        if path is not None:
            content = filed.pdf(paper) if kind == "pdf" else filed.text(kind).encode("utf-8")
            with open(path, "wb") as file:
                file.write(content)
            written.append(path)
    return written
