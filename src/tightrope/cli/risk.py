"""The command that says in plain words what a release may cost a person."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TypedDict, Unpack

import click

from .. import InvalidParameter, Risk, parse
from ..extend import result
from ..extend.engines import EngineSettings
from ..extend.questions import SECONDS, stated
from ..extend.result import why_wide
from ..extend.wording import cut
from .at_most import EXCEEDED, UNDECIDED, exit_code
from .knobs import engine_options
from .options import TIME, given_date, json_options
from .output import as_option, complain, page_width, say, spinner

PAGE_WIDTH = 110
ROWS = ("tpr", "advantage", "bayes_accuracy", "posterior", "reconstruction", "epsilon")


class RiskOptions(TypedDict):
    """What goes on as it is."""

    prior: float
    fpr: float
    baseline: float
    delta: float
    seconds: float
    proof: bool
    engine: str | EngineSettings


@click.command("risk", short_help="What a release may cost one person, in plain sentences.")
@click.argument("expression", metavar="EXPR")
@click.option("--prior", type=float, default=0.1, help="The chance that the person is in the data; default: 0.1.")
@click.option("--fpr", type=float, default=1e-3, help="The chance of a wrong accusation; default: 0.001.")
@click.option("--baseline", type=float, default=1e-4, help="To guess the record without the release; default: 1e-4.")
@click.option("--delta", type=float, default=1e-6, help="The chance that the odds leave out; default: 1e-6.")
@click.option("--plot", "picture", metavar="FILE", help="Draw attacker against guessing as .png, .pdf or .svg.")
@click.option("--seconds", type=TIME, default=SECONDS, help="For all of it; then the best so far. Default: 10.")
@click.option("--proof", is_flag=True, help="Ball arithmetic only: every rounding enclosed.")
@click.option(
    "--at-most",
    "limits",
    metavar="NAME=X",
    multiple=True,
    help=f"A limit on a row ({', '.join(ROWS)}): exit code 1 above it, 3 where it lies within the interval.",
)
@json_options(", with certificates and sentences")
@engine_options
def risk(
    expression: str,
    picture: str | None,
    limits: tuple[str, ...],
    as_document: bool,
    **asked: Unpack[RiskOptions],
) -> int:
    """What a release may cost one person: numbers with a sentence each, what they assume, and what they leave out.

    \b
    tightrope risk "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
    tightrope risk "Laplace(scale=2) * 3" --prior 0.5 --fpr 0.01 --plot risk.png
    tightrope risk "Laplace(scale=2) * 3" --at-most advantage=0.5 --at-most tpr=0.01
    """
    from ..extend.plots import check_path
    from .app import read

    if picture is not None:
        check_path(picture)
    allowed = dict(map(_limit, limits))
    if "posterior" in allowed and asked["fpr"] == 0.0:
        raise InvalidParameter("--at-most posterior needs an attacker who may be wrong: give --fpr above 0")
    run = read(expression, parse)
    began = time.perf_counter()
    with spinner("the risk of one person"):
        found = run.risk(**asked)
    seconds = time.perf_counter() - began
    if picture is not None:
        with spinner("attacker against guessing"):
            found.plot(picture)
    say(result.risk(found, seconds, given_date()) if as_document else found.page(page_width(PAGE_WIDTH)))
    wide = [line for row in found.rows if (line := why_wide(row.bound, as_option)) is not None]
    if wide:
        complain(f"wide in some rows: {next((line for line in wide if 'may narrow' in line), wide[0])}")
    return _exit_code(found, allowed)


def _limit(text: str) -> tuple[str, float]:
    """advantage=0.5 as a name and a number."""
    name, _, number = (part.strip() for part in text.partition("="))
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if name not in ROWS or math.isnan(limit):
        raise InvalidParameter(
            f"--at-most takes NAME=X, such as advantage=0.5, with one of {', '.join(ROWS)}; not {cut(text)}"
        )
    return name, limit


def _exit_code(found: Risk, allowed: Mapping[str, float]) -> int:
    """The worst of all limits: above, else not decided, else 0."""
    rows = {row.quantity: row for row in found.rows}
    codes = [
        exit_code(limit, [(name + stated(name, rows[name].arguments), rows[name].bound)])
        for name, limit in allowed.items()
    ]
    return next((code for code in (EXCEEDED, UNDECIDED) if code in codes), 0)
