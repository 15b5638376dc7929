"""The cases of a seed, one after the other, as long as there is time."""

from __future__ import annotations

import time
from collections.abc import Callable

from .. import InvalidParameter
from ..extend.parameters import nonnegative, whole
from .cases import drawn
from .judges import judged
from .report import Selftest

MINUTES = 1.0
FIRST_SEED = 1


def selftest(
    minutes: float = MINUTES,
    *,
    seed: int = FIRST_SEED,
    case: int | None = None,
    told: Callable[[Selftest], None] = lambda found: None,
) -> Selftest:
    """Cases 0, 1, ... of a seed for so many minutes, at least one; or one case alone. told hears of each."""
    seed = whole("seed", seed, least=0)
    began, limit = time.perf_counter(), 60.0 * nonnegative("minutes", minutes)
    if limit > 60.0 * 60.0 * 24.0 * 365.0:
        raise InvalidParameter(f"minutes must be at most a year of them, not {minutes!r}")
    number = 0 if case is None else whole("case", case, least=0)
    found = Selftest(seed)
    while not found.judged or (case is None and time.perf_counter() - began < limit):
        found = found.with_case(judged(drawn(seed, number)), time.perf_counter() - began)
        told(found)
        number += 1
    return found
