"""The rates of a trade-off curve: one's own, or some that show the whole curve and small rates as well."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice, pairwise

from ..errors import InvalidParameter
from ..mechanisms.parameters import probability, whole

RATES = 50
RATES_MAX = 10_000
EVEN_FROM = 0.1  # rates below are spaced by their logarithm
FIRST_RATE = 1e-6  # the first one after 0


def rates(start: float | None, stop: float | None, points: int | None, fprs: object) -> tuple[float, ...]:
    """Rates that rise, both ends included: by their logarithm below 0.1, where a rate of 0 comes before, else even."""
    if fprs is None:
        first = probability("start", 0.0 if start is None else start)
        last = probability("stop", 1.0 if stop is None else stop)
        count = whole("points", RATES if points is None else points, least=2)
        if count > RATES_MAX:
            raise InvalidParameter(f"points must be at most {RATES_MAX:,}, not {points!r:.40}")
        if not first < last:
            raise InvalidParameter(f"start must lie below stop, not {first!r} and {last!r}")
        return _rising(_spread(first, last, count))
    if start is not None or stop is not None or points is not None:
        raise InvalidParameter("a trade-off curve takes either fprs, or start, stop and points")
    if isinstance(fprs, (str, bytes)) or not isinstance(fprs, Iterable):
        raise InvalidParameter(f"fprs must be a list of rates, not {fprs!r:.60}")
    values = tuple(probability("fpr", each) for each in islice(fprs, RATES_MAX + 1))
    if len(values) > RATES_MAX:
        raise InvalidParameter(f"fprs must be at most {RATES_MAX:,} rates")
    return _rising(values)


def _rising(values: tuple[float, ...]) -> tuple[float, ...]:
    if not values or any(first >= second for first, second in pairwise(values)):
        raise InvalidParameter("fprs must be one or more rates that rise; sort them, or ask for fewer points")
    return values


def _spread(first: float, last: float, count: int) -> tuple[float, ...]:
    """Equal steps of the rate from EVEN_FROM on, and of its logarithm below, which go on as large as they were."""
    if first == 0.0 and count > 2:
        return 0.0, *_spread(min(FIRST_RATE, EVEN_FROM * last), last, count - 1)
    if first == 0.0:
        return 0.0, last
    low, high = (rate if rate > EVEN_FROM else EVEN_FROM * (1.0 + math.log(rate / EVEN_FROM)) for rate in (first, last))
    steps = (low + (high - low) * index / (count - 1) for index in range(1, count - 1))
    inner = (step if step > EVEN_FROM else EVEN_FROM * math.exp(step / EVEN_FROM - 1.0) for step in steps)
    return first, *inner, last
