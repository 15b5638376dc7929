"""Commands, options and exit codes: 0 answered, 2 bad input, 3 accuracy not reached, 70 bounds that contradict; a
ledger has its own (4 to 6)."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, Unpack

import click

from .. import AccuracyNotReached, Bound, InternalContradiction, Mechanism, TightropeError, __version__, parse
from ..extend import result, work
from ..extend.expressions import LENGTH_MAX
from ..extend.questions import ARGUMENTS, Options, parsed, stated
from ..extend.result import Result, why_wide
from ..extend.wording import check_folder
from ..ledger import LedgerError
from . import at_most as budget
from .at_most import AT_MOST
from .audit import audit
from .calibrate import calibrate
from .compare import compare
from .convert import convert
from .explore import explore
from .ledger import ledger
from .mechanisms import listing
from .options import DIRECTION, EXPRESSION, WITH_JSON, given_date, question_options
from .output import INTERRUPTED, as_option, as_text, assured, complain, say, spinner
from .report import report
from .risk import risk
from .selftest import selftest
from .sweep import sweep
from .tradeoff import tradeoff
from .train import train
from .verify import verify

BAD_INPUT = 2
NOT_REACHED = 3
FAULT = 70  # of this package: what sysexits.h calls an internal error
CURVE_POINTS_MAX = 100_000

Parsed = TypeVar("Parsed")


class CurveOptions(Options, total=False):
    """The options of a curve that go on as they are."""

    start: float | None
    stop: float | None
    points: int | None


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code; what is wrong with it takes one line on standard error."""
    try:
        plain = False if os.environ.get("NO_COLOR") else None  # None: colours where there is a terminal
        code = app.main(args=list(arguments), prog_name="tightrope", standalone_mode=False, color=plain)
    except click.exceptions.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        complain(error.format_message())
        return BAD_INPUT
    except InternalContradiction as error:
        complain(str(error))
        return FAULT
    except TightropeError as error:
        complain(str(error))
        return error.exit if isinstance(error, LedgerError) else BAD_INPUT
    except OSError as error:
        complain(": ".join(str(each) for each in (error.filename, error.strerror or error) if each))
        return BAD_INPUT
    return code if isinstance(code, int) else 0


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tightrope")
@click.pass_context
def app(context: click.Context) -> None:
    """Certified differential-privacy accounting: intervals that contain the truth, rounding included.

    \b
    A DP-SGD run in one command, from records, batch, epochs and noise multiplier:
      tightrope train --records 60000 --batch 256 --epochs 15 --sigma 1.1 --delta 1e-5
    \b
    EXPR describes what ran; - reads it from standard input:
      Gaussian(sigma=2) * 10
      Gaussian(sigma=1).poisson(rate=0.01) + Laplace(scale=10)
      RandomizedResponse(p=0.51) * 512
    \b
    One sample on which all parts run, and a new sample for each part:
      (Gaussian(sigma=3) * 10).poisson(rate=0.01)
      Gaussian(sigma=3).poisson(rate=0.01) * 10

    Exit codes: 0 answered, 1 above --at-most, or verify or selftest found something false, 2 bad input, 3 accuracy not
    reached (the bound is printed), or --at-most or verify not decided; those of a ledger: tightrope ledger --help.
    """
    if context.invoked_subcommand is None:
        say(context.get_help())


@app.command()
@EXPRESSION
@click.option("--delta", "deltas", type=float, multiple=True, required=True, help="In [0, 1]; may be repeated.")
@AT_MOST
@question_options
def epsilon(
    expression: str, deltas: tuple[float, ...], at_most: float | None, as_document: bool, **settings: Unpack[Options]
) -> int:
    """Epsilon at a given delta.

    \b
    tightrope epsilon "Gaussian(sigma=5) * 3 + PureDP(epsilon=0.1)" --delta 1e-6
    tightrope epsilon "RandomizedResponse(p=0.51) * 512" --delta 1e-4 --delta 1e-8 --json
    echo "Gaussian(sigma=2)" | tightrope epsilon - --delta 1e-6 --proof
    tightrope epsilon "Gaussian(sigma=2)" --delta 1e-6 --at-most 3 || echo "over the budget"
    """
    return answer(read(expression, parse), "epsilon", deltas, as_document, settings, at_most)


@app.command()
@EXPRESSION
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, required=True, help="Of either sign; may be repeated."
)
@AT_MOST
@question_options
def delta(
    expression: str, epsilons: tuple[float, ...], at_most: float | None, as_document: bool, **settings: Unpack[Options]
) -> int:
    """Delta at a given epsilon.

    \b
    tightrope delta "Laplace(scale=2).poisson(rate=0.3)" --epsilon 0.06
    tightrope delta "Gaussian(sigma=1)" --epsilon 1 --epsilon 2 --accuracy 1e-9
    tightrope delta "Gaussian(sigma=1)" --epsilon -0.1
    """
    return answer(read(expression, parse), "delta", epsilons, as_document, settings, at_most)


@app.command(short_help="Delta at many epsilons, as CSV or as a plot.")
@EXPRESSION
@click.option("--from", "start", type=float, help="First epsilon; default: 0.")
@click.option("--to", "stop", type=float, help="Last epsilon; default: 4.")
@click.option("--points", type=click.IntRange(2, CURVE_POINTS_MAX), help="How many epsilons; default: 50.")
@click.option("--epsilon", "epsilons", type=float, multiple=True, help="These epsilons instead; repeated, rising.")
@click.option("--csv", "table", metavar="FILE", help="Write epsilon, lower, upper; - for standard output.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the curve as .png, .pdf or .svg.")
@question_options
def curve(
    expression: str,
    epsilons: tuple[float, ...],
    table: str | None,
    picture: str | None,
    as_document: bool,
    **settings: Unpack[CurveOptions],
) -> int:
    """Delta at equally spaced epsilons, or at your own; CSV on standard output unless told otherwise.

    \b
    tightrope curve "Gaussian(sigma=1)" --from 0 --to 4 --points 50 --plot curve.png
    tightrope curve "Laplace(scale=1)" --to 1 --points 11 --csv curve.csv
    tightrope curve "Laplace(scale=1)" --from -2 --to 2 --plot both_signs.png
    tightrope curve "Laplace(scale=1)" --epsilon 0.1 --epsilon 0.5 --epsilon 0.9
    """
    from ..extend.plots import check_path, verbatim

    if picture is not None:
        check_path(picture)
    if table is not None:
        check_folder(table)
    mechanism = read(expression, parse)
    began = time.perf_counter()
    with spinner("delta at many epsilons"):
        try:
            found = mechanism.curve(epsilons=epsilons or None, **settings)
        except AccuracyNotReached as missed:
            complain(str(missed))
            return NOT_REACHED
    seconds = time.perf_counter() - began
    if picture is not None:
        found.plot(picture, label=verbatim(mechanism.label))
    if table not in (None, "-"):
        with open(str(table), "w", encoding="utf-8") as file:
            file.write(found.to_csv())
    if as_document:
        share, asked = seconds / len(found), parsed(settings["direction"])
        expression = repr(mechanism)
        results = [Result(expression, "delta", {"epsilon": value}, bound, share, asked) for value, bound in found]
        say(result.write(results, several=True, date=given_date()))
    elif table == "-" or (table is None and picture is None):
        say(found.to_csv().rstrip("\n"))
    else:
        files = ", ".join(name for name in (table, picture) if name is not None)
        say("\n".join([f"{found}: {files}", *assured(found.bounds[0])]))
    lines = {line for bound in found.bounds if (line := why_wide(bound, as_option)) is not None}
    if lines:
        complain(f"wide at some points: {min(lines)}")
    return 0


@app.command()
@EXPRESSION
@click.option("--order", "orders", type=float, multiple=True, required=True, help="From 0 to inf; may be repeated.")
@DIRECTION
@WITH_JSON
def renyi(expression: str, orders: tuple[float, ...], direction: str | None, as_document: bool) -> int:
    """Renyi divergence of a given order, always in ball arithmetic.

    \b
    tightrope renyi "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --order 8
    tightrope renyi "Laplace(scale=2)" --order 1 --order 2 --order inf --json
    """
    return answer(read(expression, parse), "renyi", orders, as_document, {"direction": direction})


app.add_command(audit)
app.add_command(calibrate)
app.add_command(compare)
app.add_command(convert)
app.add_command(explore)
app.add_command(ledger)
app.add_command(listing)
app.add_command(report)
app.add_command(risk)
app.add_command(selftest)
app.add_command(sweep)
app.add_command(tradeoff)
app.add_command(train)
app.add_command(verify)


@app.command(short_help="The privacy loss itself: distribution and quantiles.")
@EXPRESSION
@click.option("--at", "points", type=float, multiple=True, help="P[loss <= this]; may be repeated.")
@click.option("--quantile", "shares", type=float, multiple=True, help="The loss that so much is at or below; repeated.")
@click.option("--pdp", "epsilons", type=float, multiple=True, help="P[loss > this], probabilistic DP; repeated.")
@click.option("--bins", type=click.IntRange(1, CURVE_POINTS_MAX), default=60, help="Of the picture; default: 60.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the distribution as .png, .pdf or .svg.")
@question_options
def loss(
    expression: str,
    points: tuple[float, ...],
    shares: tuple[float, ...],
    epsilons: tuple[float, ...],
    bins: int,
    picture: str | None,
    as_document: bool,
    **settings: Unpack[Options],
) -> int:
    """The privacy loss itself: distribution, quantiles, probabilistic DP; the median and 99 % unless told otherwise.

    With --plot alone the picture is all: no quantiles are printed.

    \b
    tightrope loss "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --quantile 0.99 --pdp 1
    tightrope loss "Laplace(scale=1) * 3" --at 0.5 --direction add --json
    tightrope loss "ApproximateDP(epsilon=0.5, delta=0.05) * 3" --plot loss.png
    """
    from ..extend.plots import check_path, verbatim

    if picture is not None:
        check_path(picture)
    mechanism = read(expression, parse)
    if picture is not None:
        with spinner("the distribution of the loss"):
            law = mechanism.loss_law(bins, **settings)
        law.plot(picture, label=verbatim(mechanism.label))
        if not as_document:
            say("\n".join([f"{law}: {picture}", *assured(law.sides[0].below[0])]))
        wide = law.why_wide(as_option)
        if wide is not None:
            complain(f"wide at some bins: {wide}")
    asked = [("loss_cdf", point) for point in points]
    asked += [("loss_quantile", share) for share in shares] + [("pdp", value) for value in epsilons]
    if not asked and (picture is None or as_document):
        asked = [("loss_quantile", 0.5), ("loss_quantile", 0.99)]
    return answer_all(mechanism, asked, as_document, settings) if asked else 0


def read(expression: str, parser: Callable[[str, str | None], Parsed]) -> Parsed:
    """What an argument says, which may name files of the working folder; - is standard input, which may name none."""
    if expression != "-":
        return parser(expression, os.curdir)
    # A few bytes more than allowed are enough to be refused for length.
    return parser(sys.stdin.buffer.read(4 * LENGTH_MAX + 4).decode("utf-8", "replace"), None)


def answer(
    mechanism: Mechanism,
    quantity: str,
    values: Sequence[float],
    as_document: bool,
    settings: Options,
    limit: float | None = None,
) -> int:
    """Asks one value after the other; a bound wider than asked for is printed all the same."""
    return answer_all(mechanism, [(quantity, value) for value in values], as_document, settings, limit)


def answer_all(
    mechanism: Mechanism,
    questions: Sequence[tuple[str, float]],
    as_document: bool,
    settings: Options,
    limit: float | None = None,
) -> int:
    """The same for several quantities."""
    asked = [(quantity, {ARGUMENTS[quantity][0]: value}) for quantity, value in questions]
    answers, missed = ask_all(mechanism, asked, settings)
    several = len(answers) > 1
    say(result.write(answers, several, given_date()) if as_document else "\n".join(map(as_text, answers)))
    if missed is not None:
        complain(str(missed))
    code = budget.exit_code(
        limit, ((each.quantity + stated(each.quantity, each.arguments), each.bound) for each in answers)
    )
    return code or (0 if missed is None else NOT_REACHED)


def ask_all(
    mechanism: Mechanism, questions: Sequence[tuple[str, Mapping[str, float]]], settings: Options
) -> tuple[list[Result], AccuracyNotReached | None]:
    """Each quantity at its arguments, one after the other in the time of one call; what missed its accuracy last."""
    answers: list[Result] = []
    missed: AccuracyNotReached | None = None
    expression = repr(mechanism)
    with work.allowance(settings.get("seconds", math.inf)):
        for index, (quantity, arguments) in enumerate(questions):
            ask: Callable[..., Bound] = getattr(mechanism, quantity)
            began = time.perf_counter()
            with spinner(quantity + stated(quantity, arguments)), work.part(1.0 / (len(questions) - index)):
                try:
                    bound = ask(**arguments, **settings)
                except AccuracyNotReached as error:
                    missed, bound = error, error.bound
            seconds = time.perf_counter() - began
            answers.append(Result(expression, quantity, arguments, bound, seconds, parsed(settings["direction"])))
    return answers, missed
