"""Counts of three symbols: the law that stands for shuffled reports.

N draws have the symbols 0, 1 and "other" with probabilities m, m, 1 - 2m, and d more are "same"; the densities of P and
Q are the means over all n = N + d of u = p, 1, w, 1 and v = 1, p, w, 1. With a, b the counts of the first two and
alpha = e^eps >= 1 the score a tau - b y - (w N + d)(alpha - 1) is n (dP - alpha dQ).
    clones   m = 1/(p + 1), w = 0: what dominates, d of them the same for everybody
    third    m = 1/(p + k - 1), w = (k - 2)/(p + k - 3): k-ary randomized response, the others at a third value
Guarantee: exact. Proof: docs/proofs/shuffle.md, sections 2 and 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from flint import arb, ctx

from ....values import compute_budget
from ...atoms import LatticeStep


class Scores(NamedTuple):
    """One question about the counts, at the working precision."""

    highest: arb  # p - alpha: what no score, over n, exceeds
    tau: arb
    y: arb
    gone: arb  # (w N + d)(alpha - 1)


class Chances(NamedTuple):
    """m, 1 - m, and r, 1 - r: the share of the second symbol in what is not the first."""

    m: arb
    not_m: arb
    r: arb
    not_r: arb


@dataclass(frozen=True, slots=True)
class Counts:
    """third: k, the number of categories, or None for clones."""

    epsilon: LatticeStep
    draws: int
    same: int = 0
    third: int | None = None

    @property
    def users(self) -> int:
        """n."""
        return self.draws + self.same

    def p(self) -> arb:
        """e^epsilon."""
        return self.epsilon.ball().exp()

    def w(self) -> arb:
        """What "other" weighs in both laws."""
        return arb(0) if self.third is None else (self.third - 2) / (self.p() + (self.third - 3))

    def chances(self) -> Chances:
        """Of the symbols; nothing cancels."""
        p, k = self.p(), self.third
        if k is None:
            return Chances(1 / (p + 1), p / (p + 1), 1 / p, self.epsilon.ball().expm1() / p)
        more = p + (k - 2)
        return Chances(1 / (more + 1), more / (more + 1), 1 / more, (p + (k - 3)) / more)

    def scores(self, epsilon: arb) -> Scores:
        """At an epsilon from 0 to below the largest loss."""
        edge, w = self.epsilon.ball(), self.w()
        past = epsilon.expm1()
        highest = epsilon.exp() * (edge - epsilon).expm1()
        return Scores(
            highest, highest + w * past, (edge + epsilon).expm1() - w * past, (w * self.draws + self.same) * past
        )


# Binomial masses and tails in balls: a sum where it has few terms, else Arb's beta function.
#
# From the mean on the masses fall, and their ratios with them, so what follows a term is at most a geometric series.
# Guarantee: exact, in balls.

SUMMED_MAX = 20_000  # beyond, a beta function is faster: it takes twelve milliseconds at any size
BINOMIAL_TERM = 600.0  # units of work


def mass(n: int, k: int, p: arb, q: arb) -> arb:
    """Of k, where p and q = 1 - p are the chances."""
    if not 0 <= k <= n:
        return arb(0)
    if q.is_zero():
        return arb(int(k == n))
    logs = arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma() + k * p.log() + (n - k) * q.log()
    return logs.exp()


def geometric(first: arb, ratio: arb) -> arb:
    """At or above the sum of the masses after the first, whose ratios fall from this one on; at most 1."""
    return (first * ratio / (1 - ratio)).min(arb(1)) if ratio < 1 else arb(1)


def at_least(n: int, least: int, p: arb, q: arb) -> arb:
    """Pr[k >= least]."""
    if least <= 0:
        return arb(1)
    if least > n:
        return arb(0)
    if least < n * p:
        return 1 - at_least(n, n - least + 1, q, p)
    value = _summed(n, least, p, q)
    return p.beta_lower(arb(least), arb(n - least + 1), True) if value is None else value


def at_most(n: int, most: int, p: arb, q: arb) -> arb:
    """Pr[k <= most]."""
    return at_least(n, n - most, q, p)


def _summed(n: int, least: int, p: arb, q: arb) -> arb | None:
    """Term by term; None where they are many."""
    term, odds, level = mass(n, least, p, q), p / q, arb(2) ** -ctx.prec
    total = term
    for k in range(least, min(n, least + SUMMED_MAX)):
        ratio = odds * (n - k) / (k + 1)
        if not (k - least) % 64:
            compute_budget.spend(64 * BINOMIAL_TERM)
            rest = geometric(term, ratio)
            if rest < level * total:
                return total + arb(0).union(rest)
        term *= ratio
        total += term
    return total if n - least <= SUMMED_MAX else None


# Where the rows of a sum over counts lie that matter, about: in plain doubles, by log-masses.
#
# Row a has the mass Pr[a] times that of b up to t_a. Nothing here is rigorous: whoever sums bounds what is left out.


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
