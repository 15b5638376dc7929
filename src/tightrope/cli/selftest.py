"""The command that tests this package on the machine it runs on."""

from __future__ import annotations

import click

from ..extend import documents
from ..extend.wording import timed
from .options import given_date, json_options
from .output import INTERRUPTED, say, spinner

FAILED = 1


@click.command("selftest", short_help="Random runs on this machine, judged by balls, fractions and a checker.")
@click.option("--minutes", type=float, default=1.0, help="How long; at least one case. Default: 1.")
@click.option("--seed", type=int, default=1, help="Which cases are drawn; default: 1.")
@click.option("--case", type=int, help="This case of the seed alone, with all that is said of it.")
@json_options("")
def selftest(minutes: float, seed: int, case: int | None, as_document: bool) -> int:
    """Random runs on this machine, each answered as usual and then judged, none of which may say it is wrong.

    \b
    balls         the same question in ball arithmetic: both intervals must meet
    enumeration   every outcome in exact fractions, where all laws are finite
    checker       each end proved again, as tightrope verify does; what it cannot decide is counted

    A failure is printed with the command that does it again. Exit code 1 where there is one.
    After an interrupt what was found so far is told; then it is 130.

    \b
    tightrope selftest
    tightrope selftest --minutes 10 --seed 7
    tightrope selftest --seed 7 --case 12
    """
    from ..extend.selftesting import Selftest, selftest_question
    from ..extend.selftesting import selftest as tested

    found, interrupted = Selftest(seed), False
    with spinner("selftest") as told:

        def tell(so_far: Selftest) -> None:
            nonlocal found
            found = so_far
            told(f"selftest: {so_far.title}, {timed(60.0 * minutes)} in all")

        try:
            tested(minutes, seed=seed, case=case, told=tell)
        except KeyboardInterrupt:
            if not found.judged:
                raise
            interrupted = True
    if as_document:
        say(documents.write_dated(found.document(), given_date()))
    else:
        say(str(found))
        if case is not None and not found.failures:
            (one,) = found.judged
            say(f"  {selftest_question(one)}")
            for opinion in one.opinions:
                say(f"    {opinion.judge}: {opinion.ruling.value}, {opinion.told}")
            if one.refused:
                say(f"    refused: {one.refused}")
    return INTERRUPTED if interrupted else FAILED if found.failures else 0
