"""Where the rows of a sum over counts lie that matter, about: in plain doubles, by log-masses.

Row a has the mass Pr[a] times that of b up to t_a. Nothing here is rigorous: whoever sums bounds what is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from flint import arb

from .law import Chances, Scores


class Rows(NamedTuple):
    """First and last row; opens: nothing lies below the first one. peak: the row with most of the mass, about.

    top: the logarithm of that mass.
    """

    first: int
    last: int
    opens: bool
    peak: int
    top: float


class _Logs(NamedTuple):
    draws: int
    m: float
    not_m: float
    r: float
    not_r: float
    rise: float
    start: float

    def outer(self, a: int) -> float:
        return log_mass(self.draws, a, self.m, self.not_m)

    def inner(self, a: int) -> float:
        """log Pr[b <= t], about: 0 from the mean on."""
        left, t = self.draws - a, self.rise * a - self.start
        if t <= 0.0:
            return -math.inf
        k = min(math.ceil(t) - 1, left)
        return 0.0 if k >= left * math.exp(self.r) else log_mass(left, k, self.r, self.not_r)


def rows(draws: int, chances: Chances, scores: Scores, drop: float) -> Rows:
    """The rows without which about e^-drop of the sum is missing."""
    m, not_m, r, not_r = (_log(chance) for chance in chances)
    logs = _Logs(draws, m, not_m, r, not_r, float(scores.tau / scores.y), float(scores.gone / scores.y))
    least = _opening(draws, scores)
    if least > draws:
        return Rows(draws + 1, draws, True, draws, 0.0)
    peak = _peak(logs, least)
    top = logs.outer(peak) + logs.inner(peak)
    mean = draws * math.exp(logs.m)

    def above(a: int) -> bool:
        return a > mean and logs.outer(a) < top - drop

    def below(a: int) -> bool:
        return logs.inner(a) + min(logs.outer(a) if a < mean else 0.0, 0.0) < top - drop

    last = _reach(above, peak, draws)
    first = _reach(below, peak, least)
    return Rows(first, last, first == least, peak, top)


def _opening(draws: int, scores: Scores) -> int:
    """The first row with t > 0; one too early does no harm."""
    if scores.gone.is_zero():
        return 1
    edge = (scores.gone / scores.tau).lower().floor()
    return draws + 1 if edge > draws + 1 else max(int(edge.unique_fmpz() or 0), 0)


def _peak(logs: _Logs, least: int) -> int:
    """Where the mass is largest, by halving the way towards it: it rises, then falls."""
    low, high = least, logs.draws
    while low < high:
        middle = (low + high) // 2
        here, after = (logs.outer(a) + logs.inner(a) for a in (middle, middle + 1))
        low, high = (middle + 1, high) if after > here or here == -math.inf else (low, middle)
    return low


def _reach(over: Callable[[int], bool], start: int, end: int) -> int:
    """The nearest row, from start towards end, where it is over; else the end."""
    side, step = (1 if end > start else -1), 1
    while abs(end - start) > step and not over(start + side * step):
        step *= 2
    low, high = step // 2, min(step, abs(end - start))
    while high - low > max(low // 64, 1):
        middle = (low + high) // 2
        low, high = (low, middle) if over(start + side * middle) else (middle, high)
    return start + side * high


def log_mass(n: int, k: int, p: float, q: float) -> float:
    """Of a binomial law, by the logarithms of its chances."""
    choices = math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
    return choices + (k * p if k else 0.0) + ((n - k) * q if n > k else 0.0)


def _log(ball: arb) -> float:
    return float(ball.log().mid()) if ball > 0 else -math.inf
