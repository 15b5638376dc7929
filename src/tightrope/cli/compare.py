"""The command that answers why two accountants differ."""

from __future__ import annotations

from typing import TypedDict, Unpack

import click

import tightrope as tr

from .. import InvalidParameter, parse
from ..extend import result
from ..extend.questions import SECONDS
from .options import TIME, given_date, json_options
from .output import as_option, say, spinner

COUNTS_MAX = 60


class Asked(TypedDict):
    """The options that go on as they are."""

    delta: float | None
    epsilon: float | None
    seconds: float


@click.command("compare", short_help="Why accountants differ: every known method on one run.")
@click.argument("expression", metavar="EXPR")
@click.option("--delta", type=float, help="Compare epsilons at this delta.")
@click.option("--epsilon", type=float, help="Compare deltas at this epsilon.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the answers as .png, .pdf or .svg.")
@click.option("--over", "counts", metavar="COUNTS", help="Growth with the count: 1,10,100 times EXPR.")
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Only methods with this in their name; repeated."
)
@click.option("--seconds", type=TIME, default=SECONDS, help="For the whole comparison; default: 10.")
@json_options("")
def compare(
    expression: str,
    methods: tuple[str, ...],
    picture: str | None,
    counts: str | None,
    as_document: bool,
    **asked: Unpack[Asked],
) -> int:
    """Every known method on one run: what each says, what kind of statement it is, how far off, and why.

    \b
    tightrope compare "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --delta 1e-6
    tightrope compare "Laplace(scale=10) * 10" --delta 1e-6 --method renyi --method zcdp
    tightrope compare "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --delta 1e-6 --method opacus --method google
    tightrope compare "Laplace(scale=200)" --delta 1e-4 --over 1,8,64,512 --plot growth.png
    """
    from ..extend.comparing import comparison_text, draw_growth, growth
    from ..extend.plots import check_path
    from .app import read

    if picture is not None:
        check_path(picture)
    times = None if counts is None else _counts(counts)
    run = read(expression, parse)
    names = methods or None
    with spinner("every method in turn"):
        comparisons = (
            growth(run, times, methods=names, **asked) if times else (tr.compare(run, methods=names, **asked),)
        )
    if picture is not None:
        if times is None:
            comparisons[0].plot(picture)
        else:
            draw_growth(comparisons, times, run.label, picture)
    if as_document:
        say(result.comparisons(comparisons, several=times is not None, date=given_date()))
    else:
        say(
            "\n\n".join(
                comparison_text(comparison, as_option, lambda why: click.style(why, dim=True))
                for comparison in comparisons
            )
        )
    return 0


def _counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        raise InvalidParameter(f"--over takes whole numbers such as 1,10,100, not {text!r:.60}") from None
    if len(counts) > COUNTS_MAX:
        raise InvalidParameter(f"--over takes at most {COUNTS_MAX} counts, not {len(counts)}")
    return counts
