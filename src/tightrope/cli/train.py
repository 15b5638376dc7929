"""The command for a training run: what it costs, what it may be, and what each loader makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from .. import InvalidParameter, TightropeError
from ..extend.questions import SECONDS
from ..extend.training import LOADERS
from ..extend.wording import check_folder
from .at_most import AT_MOST, UNDECIDED, exit_code
from .options import PROOF, TIME, json_options
from .output import complain, say
from .train_order import ALL, TrainOrder, read_order
from .train_text import as_options

LIST_MAX = 20

RUN_OPTIONS = (
    click.option("--records", type=int, metavar="N", help="Records (or users) of the training data."),
    click.option("--batch", metavar="N|?", help="Records of a batch, on average."),
    click.option("--epochs", metavar="N|?", help="Passes over the records; steps = ceil(epochs records/batch)."),
    click.option("--steps", metavar="N|?", help="Optimiser steps, instead of epochs."),
    click.option("--sigma", metavar="X|?", help="Noise multiplier: deviation of the noise over the clipping norm."),
    click.option("--delta", type=float, help="What epsilon may leave out; commonly at most 1/(10 records)."),
    click.option("--epsilon", type=float, help="The target where one of these numbers is '?'."),
    click.option(
        "--sampling",
        type=click.Choice([*LOADERS, ALL]),
        help="How the loader makes batches. poisson (default): as Opacus does; shuffled: DataLoader(shuffle=True); "
        "all: one row each, which says what it is.",
    ),
    click.option(
        "--matrix",
        metavar="WORD|FILE",
        help="Noise that steps share, C^-1 Z, Z of deviation sigma: banded:K (K bands of the square root of running "
        "sums), sqrt (all of them), bisr:K, tree, identity (default: none is shared), or a .csv or .json file with "
        "the coefficients of a lower triangular Toeplitz C.",
    ),
    click.option("--bins", type=int, metavar="N", help="Each record draws one of N batches, once; instead of --batch."),
    click.option("--separation", type=int, metavar="N", help="Epochs in any order, uses at least N steps apart."),
    click.option("--cap", type=int, metavar="N", help="With --sampling truncated: the most records of a batch."),
    click.option("--group", type=int, default=1, metavar="N", help="Records that one user may have; default: 1."),
    click.option(
        "--schedule",
        multiple=True,
        metavar="FILE|STEPS,SIGMA,BATCH",
        help="Phases, instead of batch, epochs and sigma: .csv or .json with these names, or in words; repeated.",
    ),
)
ANSWER_OPTIONS = (
    click.option("--table", "tabled", is_flag=True, help="Epsilon by epoch as well."),
    click.option("--compare", "compared", is_flag=True, help="What Opacus, TF-Privacy and Google's dp-accounting say."),
    click.option("--points", type=click.IntRange(2, LIST_MAX), help="Values of a second '?'; default: 7."),
    click.option("--plot", "picture", metavar="FILE", help="Draw it (by epoch, or the table) as .png, .pdf or .svg."),
    click.option("--csv", "sheet", metavar="FILE", help="Write it (by epoch, or the table); - for standard output."),
    click.option("--seconds", type=TIME, default=SECONDS, help="For all of it; then the best so far. Default: 10."),
    click.option("--accuracy", type=float, help="Width wanted, relative to the upper end; else exit code 3."),
    AT_MOST,
    PROOF,
    json_options(", with certificates"),
)


def train_options(command: Any) -> Any:
    """All of them, in their order."""
    for decorate in reversed((*RUN_OPTIONS, *ANSWER_OPTIONS)):
        command = decorate(command)
    return command


@click.command("train", short_help="What a DP-SGD training run costs.")
@train_options
def train(points: int | None, **given: Any) -> int:
    """What a DP-SGD training run costs: epsilon, with both ends, and by which assumption about the loader.

    \b
    tightrope train --records 60000 --batch 256 --epochs 15 --sigma 1.1 --delta 1e-5
      ... --table --plot epochs.png     epsilon by epoch
      ... --sampling all                one row per loader, each with its theorem
      ... --compare                     what other libraries report, and how far off
      ... --matrix banded:16 --bins 64  noise that steps share, over batches that records draw

    '?' marks a number to find for --epsilon: the least sigma, the most epochs or steps, the largest batch, each with
    the next value, which is shown to miss. Two of them give a table, and so does a list of values.
    (Quote it: a plain ? is a pattern to some shells.)

    \b
    tightrope train --records 60000 --batch 256 --epochs 15 --epsilon 3 --delta 1e-5 --sigma '?'
    tightrope train --records 60000 --batch 256 --epsilon 3 --delta 1e-5 --sigma '?' --epochs '?'
    tightrope train --records 60000 --epsilon 3 --delta 1e-5 --sigma '?' --epochs 5,20 --batch 256,1024
    tightrope train --records 60000 --schedule 1000,1.3,256 --schedule 2000,1.0,512 --delta 1e-5

    All other commands take the run as an expression: tightrope risk "training(records=60000, batch=256, ...)".
    """
    from ..extend.plots import check_path
    from .train_answer import answered

    if given["picture"] is not None:
        check_path(given["picture"])
    if given["sheet"] is not None:
        check_folder(given["sheet"])
    with _options_in_messages():
        order = read_order(given, points)
        _check_flags(order, given)
        answer = answered(order, given)
    failed: OSError | None = None
    try:
        answer.write_files(given["sheet"], given["picture"])
    except OSError as error:  # the answer itself is worth reading
        failed = error
    say(answer.document() if given["as_document"] else answer.sheet() if given["sheet"] == "-" else answer.text())
    if failed is not None:
        raise failed
    if answer.missed is not None:
        complain(answer.missed)
    result = answer.result
    code = 0 if result is None else exit_code(given["at_most"], [(f"epsilon at delta {order.delta!r}", result.bound)])
    return code or (0 if answer.missed is None else UNDECIDED)


def _check_flags(order: TrainOrder, given: dict[str, Any]) -> None:
    """Flags that say nothing here are refused, with what they are for."""
    one = order.plan.get("sampling") != ALL and not order.lists
    if given["compared"] and not one:
        raise InvalidParameter("--compare is about one run: give every number and one --sampling, or one '?'")
    if given["accuracy"] is not None and order.unknown is not None:
        raise InvalidParameter("--accuracy is for epsilon; what is found for '?' is proven anyway: leave it out")
    if given["at_most"] is not None and order.unknown is not None:
        raise InvalidParameter(
            "--at-most is for the epsilon of a run; where a number is to be found, --epsilon is the limit"
        )
    if given["at_most"] is not None and not one:
        raise InvalidParameter("--at-most is about one run: give every number and one --sampling")


@contextmanager
def _options_in_messages() -> Iterator[None]:
    """Messages that name keywords of Python name options instead."""
    try:
        yield
    except TightropeError as error:
        message = as_options(str(error))
        if message == str(error):
            raise
        raise InvalidParameter(message) from None
