"""--at-most: a limit on the certified upper bound, for jobs that must fail when a run costs too much."""

from __future__ import annotations

import math
from collections.abc import Iterable

import click

from .. import Bound, InvalidParameter
from ..extend.wording import short
from .output import complain

EXCEEDED = 1
UNDECIDED = 3


def _checked(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise InvalidParameter("--at-most must be a number, not nan")
    return value


AT_MOST = click.option(
    "--at-most",
    type=float,
    metavar="X",
    callback=_checked,
    help="A limit: exit code 1 where the answer is above X, 3 where X lies within the interval.",
)


def exit_code(limit: float | None, answers: Iterable[tuple[str, Bound]]) -> int:
    """0 where every upper bound is at most the limit; else one line on standard error, and 1 or 3.

    1: an interval lies above the limit as a whole. 3: the limit lies inside, so that this answer decides nothing.
    Guarantee: 0 only where each value is proven to be at most the limit.
    """
    if limit is None:
        return 0
    above = [(what, bound) for what, bound in answers if not bound.upper <= limit]
    if not above:
        return 0
    what, bound = next(((what, bound) for what, bound in above if bound.lower > limit), above[0])
    if bound.lower > limit:
        complain(f"{what} is above --at-most {short(limit)}: the interval is {bound}")
        return EXCEEDED
    complain(
        f"{what} is not shown to be at most {short(limit)}: the interval is {bound}, and only its upper end can be "
        "promised"
    )
    return UNDECIDED
