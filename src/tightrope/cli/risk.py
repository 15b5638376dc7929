"""The command that says in plain words what a release may cost a person."""

from __future__ import annotations

import time
from typing import TypedDict, Unpack

import click

from .. import parse
from ..extend import result
from ..extend.engines import EngineSettings
from ..extend.questions import SECONDS
from ..extend.result import why_wide
from .knobs import engine_options
from .options import TIME, given_date, json_options
from .output import as_option, complain, page_width, say, spinner

PAGE_WIDTH = 110


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
@json_options(", with certificates and sentences")
@engine_options
def risk(expression: str, picture: str | None, as_document: bool, **asked: Unpack[RiskOptions]) -> int:
    """What a release may cost one person: numbers with a sentence each, what they assume, and what they leave out.

    \b
    tightrope risk "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
    tightrope risk "Laplace(scale=2) * 3" --prior 0.5 --fpr 0.01 --plot risk.png
    """
    from ..extend.plots import check_path
    from .app import read

    if picture is not None:
        check_path(picture)
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
    return 0
