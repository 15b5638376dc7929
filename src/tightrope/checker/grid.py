"""An interval for delta of a composition, from an even grid of the loss, in whole numbers: any step and tilt is sound.

Above, the P- and Q-mass of a cell between two points of the grid go to these points so that both are kept (chords).
Below, the outcomes around a point are one event, and so are all whose points add up to enough. Masses are tilted by
e^(tilt l), so that the sums near epsilon, however rare, are the large ones; then they are whole numbers over a power of
two, rounded to their side at every product. Proof: docs/proofs/checker_grids.md; lattice.md, lemmas 1, 2, 4 and 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from flint import arb, fmpz, fmpz_poly

from .choices import chosen
from .clock import now
from .law import CheckedLaw, Term, precision

MASS_BITS, FINER_BITS = 96, 8  # of a mass, and how many more where the step is halved
CUT = 1 << 32  # tilted mass that either end of a window may have, of 2^bits
GRID_SIZE_MAX = 1 << 21  # of a product: some 100 bytes for each number


class TooMuch(Exception):
    """A law has no tails, or it does not fit, or there is no time for it."""


class TiltedSums(NamedTuple):
    """Tilted masses at the labels start, start + 1, ...: `above` dominates, p is at most that of events, q at least.

    What leaves the window leaves the events, of P and of Q, and is counted as lost above.
    """

    bits: int
    start: int
    above: list[fmpz]
    p: list[fmpz]
    q: list[fmpz]
    lost: fmpz

    def times(self, other: TiltedSums, cut: int) -> TiltedSums:
        above = [-(-value >> self.bits) for value in _product(self.above, other.above)]
        p = [value >> self.bits for value in _product(self.p, other.p)]
        q = [-(-value >> self.bits) for value in _product(self.q, other.q)]
        lost = self.lost * sum(other.above, fmpz(0)) + sum(self.above, self.lost) * other.lost
        return TiltedSums(self.bits, self.start + other.start, above, p, q, -(-lost >> self.bits)).within(cut)

    def within(self, cut: int) -> TiltedSums:
        """Without the ends that have at most the cut each; one label at least stays."""
        size = len(self.above)
        first = next((i for i, total in enumerate(accumulate(self.above)) if total > cut), size - 1)
        last = size - next((i for i, total in enumerate(accumulate(reversed(self.above))) if total > cut), 0)
        last = max(last, first + 1)
        lost = sum(self.above[:first], self.lost) + sum(self.above[last:], fmpz(0))
        above, p, q = (column[first:last] for column in (self.above, self.p, self.q))
        return TiltedSums(self.bits, self.start + first, above, p, q, lost)


def enclosed(
    terms: Sequence[Term],
    epsilon: arb,
    level: arb,
    hints: tuple[arb | None, arb | None],
    deadline: float,
    finer: int = 0,
) -> tuple[arb, arb] | None:
    """Lower and upper end of delta(epsilon); None where a law has no tails, or where it would take too much.

    The deadline is one of clock.now. About how large delta is, a step and a tilt are hints, and any are sound; the
    step is halved so many times.
    """
    bits = MASS_BITS + FINER_BITS * finer
    with precision(bits + 64):
        plan = chosen(terms, epsilon, level, hints, finer)
        if plan is None:
            return None
        ranges, step, tilt = plan
        if not (step > 0 and tilt >= 0):  # the one thing that is asked of these choices
            return None
        unit = [fmpz(1) << bits]
        first, scale, result = -epsilon, arb(2) ** -bits, TiltedSums(bits, 0, unit, unit, unit, fmpz(0))
        finite = within = arb(0)  # the logs of the chances that all losses are finite, and that none is above its grid
        try:
            for (law, count), ends in zip(terms, ranges, strict=True):
                one, zero, norm, beyond = _cells(law, ends, step, tilt, bits, deadline)
                result = result.times(_power(one, count, deadline), CUT)
                first, scale = first + count * zero, scale * norm**count
                finite, within = finite + count * (-law.infinite()).log1p(), within + count * (-beyond).log1p()
        except TooMuch:
            return None
        lower = scale * _sum_below(result, first, step, tilt) - finite.expm1()
        upper = scale * _sum_above(result, first, step, tilt) - within.expm1()
        return lower.lower(), upper.min(arb(1)).upper()


def _cells(
    law: CheckedLaw, ends: tuple[arb, arb], step: arb, tilt: arb, bits: int, deadline: float
) -> tuple[TiltedSums, arb, arb, arb]:
    """One use: its masses, the loss of label 0, what they were divided by, and the P-mass of all losses above the grid.

    A cell (x, x + h] with the masses p, q becomes p_left + p_right = p, e^-x p_left + e^-(x + h) p_right = q.
    P-mass before the grid counts at its first point above, and for nothing below.
    """
    low, top = ends
    size = int(_floor((top - low) / step)) + 1
    if not 0 < size <= GRID_SIZE_MAX // 8:
        raise TooMuch
    zero, rise, lift = top - size * step, step.exp(), (tilt * step).exp()
    tails = []
    for half in range(2 * size + 1):  # at the points of the grid, and between them
        if half % 1024 == 0 and now() > deadline:
            raise TooMuch
        tails.append(law.tails(zero + half * step / 2) or (arb("nan"), arb("nan")))
    tilted, odds = arb(1), zero.exp()  # e^(tilt h i) and e^x at label i
    above, p, q = [1 - law.infinite() - tails[0][0], *[arb(0)] * size], [], []
    for i in range(size + 1):
        (more_p, more_q), (less_p, less_q) = tails[max(2 * i - 1, 0)], tails[min(2 * i + 1, 2 * size)]
        p.append(tilted * (more_p - less_p))
        q.append(tilted * odds * (more_q - less_q))
        if i < size:
            (more_p, more_q), (less_p, less_q) = tails[2 * i], tails[2 * i + 2]
            mass, other = tilted * (more_p - less_p), tilted * odds * (more_q - less_q)
            above[i] += (rise * other - mass) / (rise - 1)
            above[i + 1] += lift * rise * (mass - other) / (rise - 1)
        tilted, odds = tilted * lift, odds * rise
    norm = sum(above, arb(0)).mid()
    if not norm > 0:  # of balls that are wider than they are high
        raise TooMuch
    unit = norm / arb(2) ** bits
    up = [[-_floor(-value / unit) for value in column] for column in (above, q)]
    sums = TiltedSums(bits, 0, up[0], [max(_floor(value / unit), fmpz(0)) for value in p], up[1], fmpz(0))
    return sums, zero, norm, law.infinite() + tails[-1][0]


def _power(law: TiltedSums, uses: int, deadline: float) -> TiltedSums:
    """All uses, by squaring; what is used m times may lose 1/m of the cut."""
    law = result = law.within(CUT // uses)
    for place in reversed(range(uses.bit_length() - 1)):
        if now() > deadline:
            raise TooMuch
        result = result.times(result, CUT >> place)
        result = result.times(law, CUT >> place) if uses >> place & 1 else result
    return result


def _product(one: list[fmpz], other: list[fmpz]) -> list[fmpz]:
    size = len(one) + len(other) - 1
    if size > GRID_SIZE_MAX:
        raise TooMuch
    left = fmpz_poly(one)
    values: list[fmpz] = (left * (left if one is other else fmpz_poly(other))).coeffs()
    return values + [fmpz(0)] * (size - len(values))  # a polynomial forgets zeros at its end


def _sum_above(law: TiltedSums, first: arb, step: arb, tilt: arb) -> arb:
    """The sum of t_j e^(-tilt h j) (1 - e^-y_j)_+, y_j = first + h j being the loss beyond epsilon.

    For lost mass the factor is at most e^(tilt first), since (1 - e^-y)_+ <= e^(tilt y).
    """
    start = max(int(_floor(-first / step)) + 1 - law.start, 0)  # y <= 0 before it
    kept, fall = fmpz_poly(law.above[start:]), (-tilt * step).exp()
    away = (first + (law.start + start) * step).max(arb(0))
    value = kept(fall) - (-away).exp() * kept((-(tilt + 1) * step).exp())
    return fall ** (law.start + start) * value + law.lost * (tilt * first).exp()


def _sum_below(law: TiltedSums, first: arb, step: arb, tilt: arb) -> arb:
    """The largest sum over j >= c of e^(-tilt h j) (p_j - e^-y_j q_j), and no less than 0."""
    fall, rise = (-tilt * step).exp(), step.exp()
    odds = (-first - (law.start + len(law.p) - 1) * step).exp()
    best = total = arb(0)
    for p, q in zip(reversed(law.p), reversed(law.q), strict=True):
        total = fall * total + p - odds * q
        best, odds = (fall * best).max(total), odds * rise
    return fall**law.start * best


def _floor(ball: arb) -> fmpz:
    value = ball.lower().floor().unique_fmpz()
    if value is None:
        raise TooMuch
    return value
