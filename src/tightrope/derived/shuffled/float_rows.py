"""The same sums in float64, all rows at once.

Masses of rows and of edges are running products of ratios from the row with the largest share on, whose logarithm is a
ball; the masses below the edges are running sums. All are sums and products of positive numbers, so their relative
error is a number of units that grows with the rows; what is subtracted, is subtracted end by end.
Guarantee: lower and upper. Proof: docs/proofs/shuffle.md, section 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from flint import arb

from ... import compute_budget
from ...kernels.ball import BITS_START, integer, lower_float, upper_float, working_precision
from ...kernels.directed import FEW, TINIEST, round_down, round_up
from ...kernels.enclosure import FloatArray
from ...kernels.ulps import UNIT
from .binomial import geometric, mass
from .far import LOG_TINIEST, gone
from .law import Chances, Counts, Scores
from .window import Rows, rows

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
