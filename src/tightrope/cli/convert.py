"""The command that writes one guarantee in every form that people ask for."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import NamedTuple, TypedDict, Unpack

import click

from .. import Direction, Mechanism, UnsupportedMechanism, WorkExhausted, parse
from ..extend import result, work
from ..extend.questions import SECONDS, parsed, stated
from ..extend.result import Result, why_wide
from .options import TIME, given_date, json_options
from .output import as_option, assured, say, spinner

DELTAS = (1e-5, 1e-6, 1e-9)
ORDERS = (2.0, 4.0, 8.0, 16.0, 32.0)
REASONS = ("gdp", "zcdp")  # rows that say why, since they hold at all points or at none
CHEAP = (
    "advantage",
    "epsilon",
    "renyi",
    "mean_loss",
)  # one delta, a few, or a formula: they are asked before what may take all the time
EVERYWHERE = {"gdp": {"delta_least": 0.0}, "zcdp": {"order_most": math.inf}}
ARGUMENT = re.compile(r"\b(delta_least|order_most)\b(?:=([\d.e+-]*\d)?)?")  # in a reason
MEANINGS = {
    "epsilon": "(epsilon, delta)-DP",
    "gdp": "mu of Gaussian DP",
    "zcdp": "rho of zCDP",
    "renyi": "Renyi divergence",
    "mean_loss": "mean privacy loss, Kullback-Leibler divergence",
    "advantage": "largest true positive minus false positive rate",
}


class ConvertOptions(TypedDict):
    """What goes on as it is."""

    direction: str | None
    proof: bool
    seconds: float


class RefusedRow(NamedTuple):
    """A row without an answer, and why."""

    quantity: str
    arguments: dict[str, float]
    error: UnsupportedMechanism | WorkExhausted

    @property
    def why(self) -> str:
        """The run is named in the title."""
        return self.error.hint if isinstance(self.error, UnsupportedMechanism) else str(self.error)


@click.command("convert", short_help="One guarantee in every form: epsilon, mu, rho, Renyi.")
@click.argument("expression", metavar="EXPR")
@click.option("--delta", "deltas", type=float, multiple=True, help="Epsilon at this delta; repeated. Default: 1e-5 ...")
@click.option("--order", "orders", type=float, multiple=True, help="Renyi order; repeated. Default: 2, 4, ... 32.")
@click.option("--delta-least", type=float, default=1e-6, help="A mu for deltas from here on too. Default: 1e-6.")
@click.option("--order-most", type=float, default=8.0, help="A rho for orders up to this one too. Default: 8.")
@click.option("--seconds", type=TIME, default=SECONDS, help="For all rows; then the narrowest so far. Default: 10.")
@click.option("--proof", is_flag=True, help="Ball arithmetic only: every rounding enclosed.")
@click.option(
    "--direction", type=click.Choice([direction.value for direction in Direction]), help="Default: the worse."
)
@json_options(", with certificates and error budgets")
def convert(
    expression: str,
    deltas: tuple[float, ...],
    orders: tuple[float, ...],
    delta_least: float,
    order_most: float,
    as_document: bool,
    **settings: Unpack[ConvertOptions],
) -> int:
    """One guarantee in every form: epsilon at usual deltas, mu, rho, Renyi divergences, mean loss, advantage.

    \b
    tightrope convert "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
    tightrope convert "Laplace(scale=2) * 3" --delta 1e-4 --order 1.5 --order 3
    tightrope convert "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --delta-least 1e-9 --order-most 4
    """
    from .app import read

    questions: list[tuple[str, dict[str, float]]] = [
        *(("epsilon", {"delta": value}) for value in deltas or DELTAS),
        *(("gdp", {"delta_least": value}) for value in (0.0, delta_least)),
        *(("zcdp", {"order_most": value}) for value in (math.inf, order_most)),
        *(("renyi", {"order": value}) for value in orders or ORDERS),
        ("mean_loss", {}),
        ("advantage", {}),
    ]
    run = read(expression, parse)
    rows = _rows(run, questions, settings)
    answers = [row for row in rows if isinstance(row, Result)]
    refused = [row for row in rows if isinstance(row, RefusedRow)]
    if not answers:
        raise refused[0].error
    if as_document:
        left_out = [(row.quantity, row.arguments, row.why) for row in refused]
        say(result.conversion(answers, left_out, given_date()))
    else:
        say("\n".join([f"{run.label}, in every form", "", *_lines(rows), *_notes(answers), *assured(answers[0].bound)]))
    return 0


def _rows(
    run: Mechanism, questions: Sequence[tuple[str, dict[str, float]]], settings: ConvertOptions
) -> list[Result | RefusedRow]:
    """Each in a share of the time that is left, what needs little of it first; what is refused is a row too."""
    rows: dict[int, Result | RefusedRow] = {}
    expression, only = repr(run), parsed(settings["direction"])
    with work.allowance(settings["seconds"]):
        for done, place in enumerate(sorted(range(len(questions)), key=lambda value: questions[value][0] not in CHEAP)):
            quantity, arguments = questions[place]
            began, share = time.perf_counter(), max(1.0 / (len(questions) - done), work.POINT_SHARE)
            with spinner(quantity + stated(quantity, arguments)), work.part(share, clock=True):
                try:
                    bound = getattr(run, quantity)(**arguments, **settings)
                except (UnsupportedMechanism, WorkExhausted) as error:
                    rows[place] = RefusedRow(quantity, arguments, error)
                    continue
            rows[place] = Result(expression, quantity, arguments, bound, time.perf_counter() - began, only)
    return [rows[place] for place in sorted(rows)]


def _lines(rows: Sequence[Result | RefusedRow]) -> list[str]:
    """What is asked, the interval or none, what it is; beneath, why, where that is not plain."""
    cells = [(_asked(row), _found(row), MEANINGS[row.quantity]) for row in rows]
    first, second = (max(len(cell[place]) for cell in cells) for place in (0, 1))
    lines: list[str] = []
    before: list[str] = []
    for row, (asked, text, meaning) in zip(rows, cells, strict=True):
        lines.append(f"  {asked:<{first}}  {text:<{second}}  {meaning}")
        why = _why(row)
        lines += [click.style(f"    {each}", dim=True) for each in why if each not in before]
        before = why
    return lines


def _notes(answers: Sequence[Result]) -> list[str]:
    """What holds of several rows."""
    only, told = answers[0].direction, [answer.bound.certificate for answer in answers]
    notes = [] if only is None else [f"direction {only.value} only; the other one may cost more"]
    lower = dict.fromkeys(each.lower_end for each in told if each is not None and not each.tight)
    return [f"  note: {note}" for note in (*notes, *(f"a lower end is {each}" for each in lower))]


def _asked(row: Result | RefusedRow) -> str:
    """A limit that leaves nothing out is not told."""
    everything = row.arguments == EVERYWHERE.get(row.quantity)
    return row.quantity + ("" if everything else stated(row.quantity, row.arguments))


def _found(row: Result | RefusedRow) -> str:
    if isinstance(row, RefusedRow):
        return "refused"
    return "none" if row.bound.lower == math.inf else str(row.bound)


def _why(row: Result | RefusedRow) -> list[str]:
    if isinstance(row, RefusedRow):
        return [row.why]
    certificate, wide = row.bound.certificate, why_wide(row.bound, as_option)
    told = certificate is not None and (row.quantity in REASONS or row.bound.lower == math.inf)
    reason = [] if certificate is None or not told else [ARGUMENT.sub(_as_written, certificate.reason)]
    return reason + ([] if wide is None else [f"wide: {wide}"])


def _as_written(match: re.Match[str]) -> str:
    """An argument of Python as an option."""
    return f"--{match[1].replace('_', '-')}" + (f" {match[2]}" if match[2] else "")
