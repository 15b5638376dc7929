"""The command that proves an answer again, by code that shares nothing with what found it."""

from __future__ import annotations

from pathlib import Path

import click

from .. import DataError
from ..extend import documents
from .options import given_date, json_options
from .output import say, spinner

FALSE, OPEN = 1, 3
SWEPT = (".csv", ".jsonl", ".parquet")


@click.command("verify", short_help="Prove the ends of an answer again, by a small checker.")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--seconds", type=float, default=120.0, help="At most so long for each answer; default: 120.")
@json_options("")
def verify(file: Path, seconds: float, as_document: bool) -> int:
    """Proves or refutes each end of the answers in FILE, in balls, by a checker that shares no code with the engines.

    FILE is what --json wrote, of epsilon, delta, curve, calibrate, compare, train, risk or convert; or a report as
    HTML or PDF. - reads standard input.
    Nothing in it is trusted but the question: the expression, the direction, and delta or epsilon.

    \b
    proved          a theorem: the exact value is on the right side of this end
    refuted         the end is false; delta there is shown
    not checkable   the checker does not know the law or the quantity, or the time was not enough

    Exit code 0 where every end is proved, 1 where one is refuted or the digest does not agree, 2 where FILE is no
    answer, else 3.

    \b
    tightrope epsilon "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --delta 1e-6 --json > answer
    tightrope verify answer
    """
    from .. import verify as verified

    if file.suffix in SWEPT:
        raise DataError("rows of a sweep do not say what ran: ask for one again with --json, and verify that")
    with click.open_file(str(file), "rb") as source:
        text = documents.decoded(source.read())
    with spinner("verify") as told:
        verification = verified(text, seconds=seconds, told=lambda done, total: told(f"verify: {done} of {total}"))
    say(documents.write_dated(verification.document(), given_date()) if as_document else str(verification))
    if verification.count("refuted") or verification.unchanged is False:
        return FALSE
    return 0 if verification.proved else OPEN
