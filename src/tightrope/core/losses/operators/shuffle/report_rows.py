"""Sums over counts in balls, row by row.

Given a, the counts b with a score above 0 are those below t_a, which rises by at most 1 from row to row: each row
follows from the one before by products and sums of positive numbers.
    delta = E(score)_+ / n,   P(E) and Q(E) of the event E that the score is above 0
t_a is kept as a whole number over 2^bits; where it cannot be told from a whole number, P(E) and Q(E) are hulls.
Guarantee: exact; rows left out are inside the balls. Proof: docs/proofs/shuffle.md, section 3.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from ....numerics.balls import BITS_START, integer, lower_float, upper_float, working_precision
from ....numerics.enclosures import FloatArray
from ....numerics.rounding import FEW, TINIEST, UNIT, round_down, round_up
from ....values import compute_budget
from .report_law import Chances, Counts, Rows, Scores, geometric, mass, rows

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


# Whether an event of the counts is rarer than every double, by Chernoff's bound.
#
# Pr[score > 0] <= E e^(theta score) for every theta > 0, and the score is a sum over independent draws; P(E) <= p
# Pr[E].
# Guarantee: upper. Proof: docs/proofs/shuffle.md, section 3.

LOG_TINIEST = -745.0  # below log of the smallest double
SECTIONS = 80  # of a golden section


def gone(law: Counts, scores: Scores, chances: Chances) -> bool:
    """Whether p Pr[score > 0] is below every double."""
    # One draw of the three symbols, and what the others take away: scores of the symbols are those against "other".
    away = scores.gone / law.draws

    def log_bound(theta: arb) -> arb:
        first, second = chances.m * (theta * scores.tau).exp(), chances.m * (-theta * scores.y).exp()
        return law.draws * ((first + second + (1 - 2 * chances.m)).log() - theta * away) + law.epsilon.ball()

    low, high = -math.log(float(scores.y)) - 60.0, -math.log(float(scores.tau)) + 8.0
    for _ in range(SECTIONS):
        one, other = low + 0.382 * (high - low), low + 0.618 * (high - low)
        left, right = (float(log_bound(arb(value).exp()).mid()) for value in (one, other))
        low, high = (low, other) if left < right else (one, high)
        if min(left, right) < LOG_TINIEST - 50.0:
            break
    return bool(log_bound(arb(0.5 * (low + high)).exp()) < LOG_TINIEST)


# The same sums in float64, all rows at once.
#
# Masses of rows and of edges are running products of ratios from the row with the largest share on, whose logarithm is
# a
# ball; the masses below the edges are running sums. All are sums and products of positive numbers, so their relative
# error is a number of units that grows with the rows; what is subtracted, is subtracted end by end.
# Guarantee: lower and upper. Proof: docs/proofs/shuffle.md, section 3.

DROP = 48.0  # nats that rows left out lie below the largest one
UNITS_PER_ROW = 32.0  # ratios, their products and sums: fewer than 16 roundings for each row
PRODUCT_MIN, PRODUCT_ABOVE = 1e-250, 1e250  # of running products: far from where doubles end
ROWS_MIN = 200  # fewer are as quick in balls
ROWS_MAX = 1 << 21
FLOAT_ROW = 250.0  # units of work


class FloatTold(NamedTuple):
    """Ends of delta; of one event E, next to the best, ends of P(E), and P(E) - alpha Q(E) is at least lower."""

    lower: float
    upper: float
    p_low: float
    p_high: float


class _Line(NamedTuple):
    """k of each row, for a t that is off by less than `eta`; M r - t of each row, off by less than `slip`."""

    k: FloatArray
    behind: FloatArray
    eta: float
    slip: float


class _Chain(NamedTuple):
    """Rows from the first with k >= 0 on. Up to two scales and to `units`: Pr[a] of all of them, and of those with
    k < M Pr[b = k], and Pr[b <= k] from below and from above.
    """

    a: FloatArray
    outer: FloatArray
    c: FloatArray
    low: FloatArray
    high: FloatArray
    units: float
    peak: int  # the row where the scales are 1
    opens: bool  # nothing lies below the first row


def float_told(law: Counts, epsilon: float, events: bool = True) -> FloatTold | None:
    """At an epsilon in [0, largest loss); None where balls must tell. Without events P(E) is anything."""
    with working_precision(BITS_START), np.errstate(all="ignore"):
        scores, chances = law.scores(arb(epsilon)), law.chances()
        if not (scores.tau > 0 and chances.not_r > 1e-100 and chances.m > 1e-100):
            return None
        window = rows(law.draws, chances, scores, DROP)
        size = window.last - window.first + 1
        if window.top < LOG_TINIEST and gone(law, scores, chances):
            return FloatTold(0.0, TINIEST, 0.0, TINIEST)
        if not ROWS_MIN <= size <= ROWS_MAX:
            return None
        compute_budget.spend(FLOAT_ROW * size)
        line = _line(law.draws, scores, chances, window)
        chain = None if line is None else _chain(law.draws, chances, window, line)
        return None if line is None or chain is None else _told(law, scores, chances, window, line, chain, events)


def _line(draws: int, scores: Scores, chances: Chances, window: Rows) -> _Line | None:
    """k from whole numbers over 2^bits, so that it rises by 0 or 1."""
    size = window.last - window.first + 1
    bits = 61 - size.bit_length()
    t, rise = (window.first * scores.tau - scores.gone) / scores.y, scores.tau / scores.y
    start = integer(t.mid().floor())
    if start is None:
        return None
    over = float(2**bits)
    rest, step = int(float((t - start) * over)), min(int(float(rise * over)), 2**bits)
    if step <= 64 * size:  # a rise that t cannot show
        return None
    index = np.arange(size, dtype=np.int64)
    k = start + (rest + index * step - 1 >> bits)
    behind, fall = float((draws - window.first) * chances.r - t), float(chances.r + rise)
    steps = index.astype(np.float64)
    return _Line(
        k.astype(np.float64), behind - steps * fall, 4.0 * size / over, FEW * UNIT * (abs(behind) + fall * size + 1.0)
    )


def _chain(draws: int, chances: Chances, window: Rows, line: _Line) -> _Chain | None:
    k, a = line.k, np.arange(window.first, window.last + 1, dtype=np.float64)
    skipped = int(np.searchsorted(k, 0.0))
    opens = window.opens or skipped > 0  # a row before would have t < 0 for certain
    k, a = k[skipped:], a[skipped:]
    left = draws - a
    open_rows = int(np.searchsorted(-(left - k), 0.0))  # those with k < M
    if open_rows < 2:
        return None
    odds, share = float(chances.m / chances.not_m), float(chances.r / chances.not_r)
    r, once = float(chances.r), float(1 / chances.not_r)
    outer_ratio = (draws - a[:-1]) / (a[:-1] + 1.0) * odds
    k, left = k[:open_rows], left[:open_rows]
    rises = k[1:] > k[:-1]
    down = (left[:-1] - k[:-1]) / left[:-1] * once
    ratio = down * np.where(rises, (left[:-1] - 1.0 - k[:-1]) / (k[:-1] + 1.0) * share, 1.0)
    peak = min(max(window.peak - int(a[0]), 0), open_rows - 1)
    outer, c = _products(outer_ratio, peak), _products(ratio, peak)
    if not (
        np.all((c > PRODUCT_MIN) & (c < PRODUCT_ABOVE)) and np.all((outer > PRODUCT_MIN) & (outer < PRODUCT_ABOVE))
    ):
        return None
    low = high = c[0]
    if not (opens and k[0] == 0.0):
        fall = int(k[0]) * chances.not_r / ((int(left[0] - k[0]) + 1) * chances.r)
        if not fall < 1:
            return None
        high = round_up(c[0] * upper_float(1 / (1 - fall)), FEW)
    more = np.append(0.0, np.cumsum(r * down * c[:-1] + np.where(rises, c[1:], 0.0)))
    units = UNITS_PER_ROW * len(a) + 4.0 * FEW
    return _Chain(a, outer, c, round_down(low + more, units), round_up(high + more, units), units, peak, opens)


def _products(ratio: FloatArray, start: int) -> FloatArray:
    """Running products in both directions, 1 at the start."""
    back = np.cumprod(1.0 / ratio[:start][::-1])[::-1]
    return np.concatenate([back, [1.0], np.cumprod(ratio[start:])])


def _told(
    law: Counts, scores: Scores, chances: Chances, window: Rows, line: _Line, chain: _Chain, events: bool
) -> FloatTold:
    """Rows with k < M first, the others, where b is anything, after them."""
    a, outer, c, low, high, units, peak, opens = chain
    skipped, some = len(line.k) - len(a), len(c)
    k, behind = line.k[skipped : skipped + some], line.behind[skipped:]
    left, r = law.draws - a, float(chances.r)
    share = float(chances.r / chances.not_r)
    above, below = round_up(outer, units), round_down(outer, units)
    edge = r * (left[:some] - k) * c
    tied = line.eta * round_up(c * (1.0 + (left[:some] - k) / (k + 1.0) * share), units)
    near, far = behind[:some] - line.slip, behind[:some] + line.slip
    blur = FEW * UNIT * (edge + abs(behind[:some]) * high)
    most = round_up(edge, units) - near * np.where(near > 0.0, low, high) + tied + blur
    least = round_down(edge, units) - far * np.where(far > 0.0, high, low) - blur
    full_most = -behind[some:] + (line.slip + line.eta)
    full_least = -behind[some:] - line.slip
    row = int(a[peak])
    scale = mass(law.draws, row, chances.m, chances.not_m)
    inner = scale * mass(law.draws - row, int(k[peak]), chances.r, chances.not_r)

    def total(weights: FloatArray, open_rows: FloatArray, full_rows: FloatArray) -> arb:
        parts = float(np.dot(weights[:some], open_rows)), float(np.dot(weights[some:], full_rows))
        return inner * arb(parts[0]) + scale * arb(parts[1])

    n, up, down = law.users, 1 + units * UNIT, 1 - units * UNIT
    out = _left_out(law.draws, chances, window, scale * arb(float(above[0])), scale * arb(float(above[-1])))
    bottom = arb(0) if opens else arb(float(high[0])) * inner / scale * out[0]
    positive = up * total(above, most, full_most)
    if skipped:  # the last row before may have t > 0 by less than eta
        before = mass(law.draws, int(a[0]) - 1, chances.m, chances.not_m)
        positive += arb(line.eta) * before * mass(int(left[0]) + 1, 0, chances.r, chances.not_r)
    delta_high = scores.y * positive / n + scores.highest * (bottom + out[1])
    gained = total(below, np.maximum(least, 0.0), np.maximum(full_least, 0.0))
    lost = total(above, np.maximum(-least, 0.0), np.maximum(-full_least, 0.0))
    delta_low = scores.y * (down * gained - up * lost) / n
    lower, upper = max(lower_float(delta_low), 0.0), upper_float(delta_high)
    if not events:
        return FloatTold(lower, upper, 0.0, 1.0)
    # E[b; b <= k], from below and from above.
    full = r * left[:some]
    second_low = np.maximum(full * low - round_up(edge, units) - FEW * UNIT * full * high, 0.0)
    second_high = np.minimum(round_up(full * high, FEW) - round_down(edge, units) + blur, k * high)
    p, w, ones, bs = law.p(), law.w(), np.ones(len(a) - some), r * left[some:]
    kept = w * law.draws + law.same
    p_low = (p - w) * total(below, low * a[:some], a[some:]) + kept * total(below, low, ones)
    p_high = (p - w) * total(above, high * a[:some], a[some:]) + kept * total(above, high, ones)
    p_low += (1 - w) * total(below, second_low, bs)
    p_high += (1 - w) * total(above, second_high, bs)
    return FloatTold(lower, upper, max(lower_float(down * down * p_low / n), 0.0), upper_float(up * up * p_high / n))


def _left_out(draws: int, chances: Chances, window: Rows, first: arb, last: arb) -> tuple[arb, arb]:
    """At or above Pr[a] of the rows before the first and after the last, whose masses are at most these."""
    before = geometric(first, window.first * chances.not_m / ((draws - window.first + 1) * chances.m))
    after = geometric(last, (draws - window.last) * chances.m / ((window.last + 1) * chances.not_m))
    return before, after
