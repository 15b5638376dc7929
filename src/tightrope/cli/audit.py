"""The command that says what an attack refutes: an epsilon, a claim, the noise of a family of runs."""

from __future__ import annotations

from typing import Any

import click

import tightrope as tr

from .. import InvalidParameter
from ..extend.questions import AUDIT_DESIGNS, AUDIT_DESIGNS_EXPLAINED, AUDIT_SIDES, AUDIT_TAILS, SECONDS
from .options import TIME, given_date, json_options
from .output import page_width, say, spinner

PAGE_WIDTH = 110
RUNS, ONE_RUN, RANDOM_SPLIT, MEMBERS = AUDIT_DESIGNS
IN = AUDIT_SIDES[0]


@click.command("audit", short_help="From what an attack saw: a lower bound on epsilon, and a verdict on a claim.")
@click.argument("words", metavar="[FILE]", nargs=-1)
@click.option("--runs", "design", flag_value=RUNS, help="Many runs, some with one canary and the others without.")
@click.option("--one-run", "design", flag_value=ONE_RUN, help="One run; a coin decided for each canary.")
@click.option(
    "--random-split", "design", flag_value=RANDOM_SPLIT, help="The members are a uniformly random part of one pool."
)
@click.option("--members", "design", flag_value=MEMBERS, help="A list without any coin: described, and no epsilon.")
@click.option("--delta", type=float, help="delta of the lower bound on epsilon; fix it before the data.")
@click.option("--claim", metavar="EXPR | EPS DELTA", help="The claim to test; with ? in EXPR: which noise is refuted.")
@click.option("--level", type=float, default=0.95, help="The confidence of each statement; default: 0.95.")
@click.option("--table", type=int, nargs=4, metavar="TP FP FN TN", help="Counts at a threshold fixed in advance.")
@click.option(
    "--guesses", type=int, nargs=3, metavar="M R V", help="M canaries, R guesses (fixed in advance), V right."
)
@click.option(
    "--coin", "--canaries-by-coin", type=float, default=0.5, help="Probability that a canary is in; default: 0.5."
)
@click.option("--in-only", "sides", flag_value=IN, help="Guess in, never out; the default for scores.")
@click.option("--sides", type=click.Choice(AUDIT_SIDES), help="Which guesses the attack makes.")
@click.option(
    "--tail",
    type=click.Choice(AUDIT_TAILS),
    default="high",
    help="Where members score; both: not known. Default: high.",
)
@click.option("--rank", "ranks", type=int, multiple=True, help="A rank to test, in place of the grid; may be repeated.")
@click.option("--stopping", is_flag=True, help="Evidence that may be looked at after every row, in order.")
@click.option("--nan-lowest", is_flag=True, help="Take NaN for the lowest score, whoever is in.")
@click.option("--replaced", is_flag=True, help="A record was replaced, not added or left out.")
@click.option("--seed", type=int, default=0, help="Of the order of equal scores, and of pairs; default: 0.")
@click.option("--seconds", type=TIME, default=SECONDS, help="For all of it; default: 10.")
@click.option("--plot", "picture", metavar="FILE", help="Draw what was found as .png, .pdf or .svg.")
@json_options(", with all that tightrope verify needs")
def audit(
    words: tuple[str, ...],
    claim: str | None,
    picture: str | None,
    as_document: bool,
    nan_lowest: bool,
    replaced: bool,
    **settings: Any,
) -> int:
    """A certified lower bound on epsilon from what an attack saw, and a verdict on a claim: refuted, or not refuted.

    FILE is CSV or Parquet with the columns score and member (0 or 1), and run and canary where there are any; or give
    counts (--table, --guesses). Say what was decided by chance, which decides what may be concluded:

    \b
    --runs          many runs, some with one canary, the others without; one score for each run
    --one-run       one run, each of many canaries in by a coin of its own; one score for each canary
    --random-split  members and others are a random split of one pool (claims about replaced records)
    --members       no coin at all: what the attack found is described, and bounds no epsilon

    \b
    tightrope audit --one-run --guesses 1000 700 640 --delta 1e-5 --claim 1 1e-5
    tightrope audit scores.csv --one-run --delta 1e-5 --claim "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
    tightrope audit scores.csv --runs --claim "Gaussian(sigma=?)" --json
    tightrope audit --runs --table 60 10 940 990 --delta 0
    """
    from ..extend.plots import check_path

    if settings["design"] is None:
        raise InvalidParameter(_as_options(AUDIT_DESIGNS_EXPLAINED))
    if picture is not None:
        check_path(picture)
    files, numbers = [word for word in words if not _is_number(word)], [word for word in words if _is_number(word)]
    if len(files) > 1 or len(numbers) > (claim is not None and _is_number(claim)):
        raise InvalidParameter(f"one file is audited, not {', '.join(words)[:100]}")
    told: str | tuple[float, float] | None = claim
    if claim is not None and _is_number(claim):
        if not numbers:
            raise InvalidParameter("--claim takes an expression, or an epsilon and a delta, such as --claim 1 1e-5")
        told = float(claim), float(numbers[0])
    # Flags that are values by themselves (flag_value) stand for their default, too, in some versions of click.
    settings["nan"] = "lowest" if nan_lowest else "refuse"
    settings["neighbours"] = "replace" if replaced else "add_remove"
    with spinner("audit"):
        result = tr.audit(files[0] if files else None, claim=told, **settings)
    if picture is not None:
        result.plot(picture)
    say(result.to_json(given_date()) if as_document else result.page(page_width(PAGE_WIDTH)))
    return 0


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _as_options(text: str) -> str:
    """The designs by their options."""
    for name in AUDIT_DESIGNS:
        text = text.replace(f'"{name}"', f"--{name}")
    return text.replace("design says", "say")
