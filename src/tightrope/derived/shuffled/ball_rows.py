"""Sums over counts in balls, row by row.

Given a, the counts b with a score above 0 are those below t_a, which rises by at most 1 from row to row: each row
follows from the one before by products and sums of positive numbers.
    delta = E(score)_+ / n,   P(E) and Q(E) of the event E that the score is above 0
t_a is kept as a whole number over 2^bits; where it cannot be told from a whole number, P(E) and Q(E) are hulls.
Guarantee: exact; rows left out are inside the balls. Proof: docs/proofs/shuffle.md, section 3.
"""

from __future__ import annotations

from typing import NamedTuple

from flint import arb, ctx

from ... import compute_budget
from ...kernels.ball import integer, working_precision
from .binomial import geometric, mass
from .law import Chances, Counts, Scores
from .window import Rows, rows

GUARD_BITS = 64  # of logarithms of factorials, and of the place of the first row
DROP_PER_BIT, DROP_MORE = 0.65, 5.0  # nats that rows left out lie below the largest one
BALL_ROW = 3e3  # units of work


class BallTold(NamedTuple):
    """P(E), Q(E) and delta at one epsilon."""

    p: arb
    q: arb
    delta: arb


class Places(NamedTuple):
    """t_a of a row and the rise to the next, over 2^bits; each known up to `error` in all rows."""

    t: int
    rise: int
    error: int
    bits: int


class Sums(NamedTuple):
    """Over the rows: Pr[E], E[a; E], E[(M - k) c], the mass next to ties, and what was left out of Pr[E]."""

    one: arb
    first: arb
    edge: arb
    tied: arb
    out: arb


def told(law: Counts, epsilon: arb) -> BallTold:
    """At an exact epsilon >= 0, at the working precision."""
    bits = ctx.prec
    with working_precision(bits + GUARD_BITS):
        edge, p = law.epsilon.ball(), law.p()
        if epsilon >= edge:
            return BallTold(arb(0), arb(0), arb(0))
        scores, chances, w = law.scores(epsilon), law.chances(), law.w()
        unknown = arb(0).union(arb(1))
        if not scores.tau > 0:
            return BallTold(unknown, unknown, arb(0).union(scores.highest.max(arb(0))))
        window = rows(law.draws, chances, scores, DROP_PER_BIT * bits + DROP_MORE)
        places = _places(scores, window, bits, bool(epsilon.is_zero()))
        sums = None if places is None else _summed(law.draws, chances, places, window)
        if places is None or sums is None:
            return BallTold(unknown, unknown, arb(0).union(scores.highest))
        second = chances.r * (law.draws * sums.one - sums.first - sums.edge)  # E[b; E]
        kept = w * law.draws + law.same
        out, ties = arb(0).union(sums.out), arb(0).union(sums.tied) * 2 * places.error * arb(2) ** -bits
        more = p * (out + arb(0).union(sums.tied))
        return BallTold(
            ((p - w) * sums.first + kept * sums.one + (1 - w) * second) / law.users + more,
            ((1 - w) * sums.first + kept * sums.one + (p - w) * second) / law.users + more,
            (scores.tau * sums.first - scores.gone * sums.one - scores.y * (second - ties)) / law.users
            + scores.highest * out,
        )


def _places(scores: Scores, window: Rows, bits: int, even: bool) -> Places | None:
    """None where a rise cannot be told from none. even: at epsilon 0 the score is above 0 where a > b."""
    if even:
        return Places(window.first << bits, 1 << bits, 0, bits)
    one = arb(2) ** bits
    t, rise = (window.first * scores.tau - scores.gone) / scores.y * one, scores.tau / scores.y * one
    start, step = integer(t.mid().floor()), integer(rise.mid().floor())
    off, more = integer(t.rad().ceil().upper()), integer(rise.rad().ceil().upper())
    if start is None or step is None or off is None or more is None:
        return None
    error = off + 2 + (window.last - window.first + 1) * (more + 2)
    return Places(start, step, error, bits) if step > 4 * error else None


def _summed(draws: int, chances: Chances, places: Places, window: Rows) -> Sums | None:
    """None where what is left out has no bound."""
    compute_budget.spend(BALL_ROW * max(window.last - window.first + 1, 0))
    t, rise, error, bits = places
    odds, share = chances.m / chances.not_m, chances.r / chances.not_r
    a, left = window.first, draws - window.first
    k, tied = (t - error - 1) >> bits, arb(0)
    opens = window.opens or k < 0  # a row before would have t < 0 for certain
    while k < 0 and a <= window.last:
        if t + error > 0:
            tied += mass(draws, a, chances.m, chances.not_m) * mass(left, 0, chances.r, chances.not_r)
        a, left, t = a + 1, left - 1, t + rise
        k = (t - error - 1) >> bits
    if a > window.last:
        return Sums(arb(0), arb(0), arb(0), tied, arb(0)) if window.last == draws else None
    outer = mass(draws, a, chances.m, chances.not_m)
    k = min(k, left)
    c = mass(left, k, chances.r, chances.not_r)
    below = arb(1) if k == left else c
    out = arb(0)
    if k < left and not (opens and k == 0):
        fall = k * chances.not_r / ((left - k + 1) * chances.r)
        if not fall < 1:
            return None
        below = c * (1 + arb(0).union(fall / (1 - fall)))
    if not opens:
        out += below * geometric(outer, a * chances.not_m / ((draws - a + 1) * chances.m))
    one, first, edge = arb(0), arb(0), arb(0)
    while True:
        weight = outer * below
        one += weight
        first += weight * a
        if k < left:
            edge += outer * c * (left - k)
            if (t + error - 1) >> bits != k:
                tied += outer * c * (left - k) / (k + 1) * share
        if a >= window.last:
            break
        ratio = arb(draws - a) / (a + 1)
        a, t = a + 1, t + rise
        outer *= ratio * odds
        if k < left:
            c = c * (left - k) / left / chances.not_r
            below += chances.r * c
        left -= 1
        if k < left and (t - error - 1) >> bits > k:
            c = c * (left - k) / (k + 1) * share
            below += c
            k += 1
        if k >= left:
            k, c, below = left, arb(0), arb(1)
    if a < draws:
        out += geometric(outer, arb(draws - a) / (a + 1) * odds)
    return Sums(one, first, edge, tied, out)
