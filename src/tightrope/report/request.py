"""What is asked for where a report is: checked here, and answered by stages that are imported only then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack, cast

from .. import InvalidParameter, Mechanism
from ..extend.documents import Date
from ..extend.questions import ReportOptions
from ..extend.wording import checked, listed
from ..extend.work import Rating
from .value import Report

REPORT_SECONDS = Rating(60.0)
DELTAS_MAX = 20


@checked
def report(
    run: Mechanism, delta: float | Iterable[float], date: Date = None, **options: Unpack[ReportOptions]
) -> Report:
    """The report of a run: epsilon at delta, or at each of several, and all that belongs to it.

    title, system, organisation and author stand at its head, date too (a day or a time; None: now). prior, fpr and
    baseline are those of `risk`; proof and direction those of `epsilon`; seconds: for all of it, 60 without.
    """
    if not isinstance(run, Mechanism):
        raise InvalidParameter(f"a report is of a mechanism, not of {run!r:.60}; tr.parse makes one of a text")
    deltas = list(delta) if listed(delta) else [cast(float, delta)]
    if not 0 < len(deltas) <= DELTAS_MAX:
        raise InvalidParameter(f"a report takes 1 to {DELTAS_MAX} deltas, not {len(deltas)}")
    from .gather import gather

    return gather(run, deltas, date, options)
