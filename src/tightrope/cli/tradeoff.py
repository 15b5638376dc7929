"""The command that says what an attacker misses and finds, at a rate of false accusations."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Unpack

import click

from .. import AccuracyNotReached, Direction, Mechanism, Relation, Tradeoffs, draw_tradeoffs, parse
from ..extend import result, work
from ..extend.metrics import RATES_MAX
from ..extend.numbers import complement
from ..extend.plots import check_path, verbatim
from ..extend.questions import Options, parsed
from ..extend.result import Result, why_wide
from ..extend.wording import short
from .options import EXPRESSION, given_date, question_options
from .output import as_option, assured, beneath, complain, say, spinner

USUAL_RATES = (0.001, 0.01, 0.1)
CURVE_SHARE = 0.5  # of the work, where a picture of both directions follows
BOTH = "both, symmetric"

Extent = tuple[float | None, float | None, int | None]  # start, stop, points


class Span(Options, total=False):
    """The options of a curve that go on as they are."""

    start: float | None
    stop: float | None
    points: int | None


@click.command("tradeoff", short_help="What an attacker misses and finds.")
@EXPRESSION
@click.option("--fpr", "fprs", type=float, multiple=True, help="A false positive rate, in [0, 1]; may be repeated.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the whole curve as .png, .pdf or .svg.")
@click.option("--csv", "table", metavar="FILE", help="Write fpr, lower, upper of the false negatives; - for output.")
@click.option("--from", "start", type=float, help="First rate of a curve; default: 0.")
@click.option("--to", "stop", type=float, help="Last rate of a curve; default: 1.")
@click.option("--points", type=click.IntRange(2, RATES_MAX), help="How many rates of a curve; default: 50.")
@question_options
def tradeoff(
    expression: str,
    fprs: tuple[float, ...],
    picture: str | None,
    table: str | None,
    as_document: bool,
    **settings: Unpack[Span],
) -> int:
    """What an attacker misses and finds: false negatives against false positives, and the curve of both.

    Without a rate, a picture or a table: at 0.001, 0.01 and 0.1. A table has the rates asked for, or those of a curve.

    \b
    tightrope tradeoff "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --fpr 0.01 --fpr 0.001
    tightrope tradeoff "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --plot tradeoff.png
    tightrope tradeoff "Laplace(scale=1)" --from 1e-6 --to 0.01 --points 20 --csv small.csv
    tightrope tradeoff "RandomizedResponse(p=0.75)" --fpr 0.25 --direction remove --json
    """
    from .app import NOT_REACHED, ask_all, read

    if picture is not None:
        check_path(picture)
    mechanism = read(expression, parse)
    span, options = _parted(settings)
    if not fprs and table is None and picture is None and any(value is not None for value in span):
        table = "-"
    missed: AccuracyNotReached | None = None
    curve: Tradeoffs | None = None
    if picture is not None or (table is not None and not fprs):
        began = time.perf_counter()
        try:
            with spinner("the trade-off at many rates"), work.allowance(options["seconds"]):
                with work.part(CURVE_SHARE if picture is not None else 1.0):
                    curve = mechanism.tradeoff_curve(*span, **options)
                if picture is not None:
                    _draw(mechanism, curve, span, options.copy(), picture)
        except AccuracyNotReached as error:
            complain(str(error))
            return NOT_REACHED
        answers = _results(mechanism, curve, time.perf_counter() - began, options)
    if fprs or curve is None:
        answers, missed = ask_all(mechanism, [("tradeoff", {"fpr": value}) for value in fprs or USUAL_RATES], options)
    _tell(answers, None if fprs else curve, (table, picture), as_document)
    lines = {
        line for answer in answers if curve is not None and (line := why_wide(answer.bound, as_option)) is not None
    }
    if lines:
        complain(f"wide at some rates: {min(lines)}")
    if missed is not None:
        complain(str(missed))
        return NOT_REACHED
    return 0


def _tell(
    answers: Sequence[Result], curve: Tradeoffs | None, paths: tuple[str | None, str | None], as_document: bool
) -> None:
    """Where it was asked to go; a curve that went into files in one line, other answers in a sentence each."""
    table = paths[0]
    if table not in (None, "-"):
        with open(str(table), "w", encoding="utf-8") as file:
            file.write(_table(answers))
    if as_document:
        say(result.write(answers, len(answers) > 1, given_date()))
    elif table == "-":
        say(_table(answers).rstrip("\n"))
    elif curve is None:
        say("\n".join(map(_text, answers)))
    else:
        files = ", ".join(name for name in paths if name is not None)
        say("\n".join([f"{curve}: {files}", *assured(curve.bounds[0])]))


def _parted(settings: Span) -> tuple[Extent, Options]:
    """What the curve is told, and what every question is."""
    span = settings.pop("start", None), settings.pop("stop", None), settings.pop("points", None)
    return span, settings


def _results(mechanism: Mechanism, curve: Tradeoffs, seconds: float, options: Options) -> list[Result]:
    """Each rate of a curve as if it had been asked by itself."""
    expression, asked, share = repr(mechanism), parsed(options["direction"]), seconds / len(curve)
    return [Result(expression, "tradeoff", {"fpr": fpr}, bound, share, asked) for fpr, bound in curve]


def _table(answers: Sequence[Result]) -> str:
    """As CSV, by rising rates."""
    bounds = {answer.arguments["fpr"]: answer.bound for answer in answers}
    fprs = tuple(sorted(bounds))
    return Tradeoffs(fprs, tuple(bounds[fpr] for fpr in fprs), (math.inf,) * len(fprs)).to_csv()


def _draw(mechanism: Mechanism, curve: Tradeoffs, span: Extent, options: Options, picture: str) -> None:
    """The curve; and both directions beside it where they are not the same."""
    label = verbatim(mechanism.label)
    if mechanism.relation is Relation.REPLACE or options["direction"] is not None:
        curve.plot(picture, label)
        return
    sides: dict[str, Tradeoffs] = {}
    for direction in Direction:
        options["direction"] = direction
        with work.part(1.0 / (len(Direction) - len(sides))):
            sides[direction.value] = mechanism.tradeoff_curve(*span, **options)
    ends = zip(*(side.bounds for side in sides.values()), strict=True)
    if all(max(one.lower, two.lower) <= min(one.upper, two.upper) for one, two in ends):
        curve.plot(picture, label)
    else:
        draw_tradeoffs({**sides, BOTH: curve}, picture, title=label)


def _text(answer: Result) -> str:
    """One sentence with all four ends; how it came about, dimmed, beneath."""
    missed, texts = (str(bound)[1:-1].split(", ") for bound in (answer.bound, complement(answer.bound)))
    rate = short(answer.arguments["fpr"])
    words = (
        f"At a false positive rate of {rate} an attacker misses at least {missed[0]}, so finds at most {texts[1]}; "
        f"the best one misses at most {missed[1]}, so finds at least {texts[0]}."
    )
    return "\n".join([words, *beneath(answer)])
