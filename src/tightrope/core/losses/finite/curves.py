"""The finite law whose profile is the lower convex hull of (0, 1) and some points, flat after the last.

A corner is a loss l, a rational number, and H(e^l), a sum of exponentials of such. With x_j = e^(l_j), x_0 = 0, H(x_0)
= 1 and the slopes s_j = (H(x_(j-1)) - H(x_j)) / (x_j - x_(j-1)), which fall, the atom at l_j has the masses
    Q = s_j - s_(j+1),    P = x_j Q,
infinite loss has H(x_n), and Q alone has 1 - s_1. Which points are corners is decided exactly.
Guarantee: exact. Proof: docs/proofs/points.md, sections 1 and 4.
Reference: Zhu, Dong, Wang 2021, Lemma 9 (profiles).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from typing import NamedTuple

from flint import arb, ctx

from ...numerics.balls import BITS_MAX, BITS_START, working_precision
from ...values.errors import InvalidParameter
from ..atoms import Atom, FiniteLaw, Lattice, LatticeStep, common_step, ratio_ball
from ..pair import LossRange
from .laws import ListedLaw, RationalLaw

# The finite pair whose trade-off function is a given polyline.
#
# f(x) is the least P[accept] = false negatives of a test of Q against P with Q[reject] = false positives <= x. Where f
# falls by s over a width d of x, there is an atom with P-mass s and Q-mass d; 1 - f(0) is the mass of infinite loss,
# and
# Q has what lies behind the point where f reaches 0.
# What is given are lower bounds. Every f is convex with f(0) <= 1 and f(1) = 0, so f(x_i) >= y_i means
#     f(x) >= y_i (1 - x) / (1 - x_i) for x <= x_i,    f(x) >= 1 - (1 - y_i) x / x_i for x >= x_i.
# Guarantee: dominates, in exact fractions. Proof: docs/proofs/tradeoff.md.
# Reference: Dong, Roth, Su 2022, Thm 2.10 (Blackwell), Prop. 2.4 (symmetry); Zhu, Dong, Wang 2021, Prop. 10.

Point = tuple[Fraction, Fraction]  # false positive rate, false negative rate

NOTHING, ALL = Fraction(0), Fraction(1)


def lines_below(points: Sequence[Point]) -> tuple[Point, ...]:
    """The convex hull below f, where f lies above the lines between the points, which rise in x."""
    start = max((y / (1 - x) for x, y in points if x < 1), default=NOTHING)
    end = max((x / (1 - y) for x, y in points if y < 1), default=NOTHING)
    return hull([(NOTHING, start), *((x, y) for x, y in points if x), (end, NOTHING), (ALL, NOTHING)])


def points_below(points: Sequence[Point]) -> tuple[Point, ...]:
    """The convex hull below f, where f lies above the points; between them it is convex, and no more is known."""
    points = sorted(points)
    # From each place on f lies above the line flat (1 - x) to (1, 0) before it, and 1 - steep x from (0, 1) behind it.
    flats = [*accumulate((y / (1 - x) if x < 1 else NOTHING for x, y in reversed(points)), max, initial=NOTHING)][::-1]
    falls = [*accumulate(((1 - y) / x for x, y in points if x), min)]
    steeps = [*([None] * (len(points) - len(falls))), *falls]  # behind x = 0 it may fall at once
    found = [(NOTHING, flats[0]), (ALL, NOTHING)]
    for (x, _), right, flat, steep in zip(points, [*(x for x, _ in points[1:]), ALL], flats[1:], steeps, strict=True):
        found.append((x, flat * (1 - x) if steep is None else max(flat * (1 - x), 1 - steep * x)))
        if steep is not None and steep > flat:
            meeting = (1 - flat) / (steep - flat)
            if x < meeting < right:
                found.append((meeting, flat * (1 - meeting)))
    return hull(found)


def mirrored(points: Sequence[Point]) -> list[Point]:
    """What points of f say of its inverse."""
    return [(y, x) for x, y in points if y]


def symmetric(f: Sequence[Point]) -> tuple[Point, ...]:
    """max(f, its inverse), convex again: what holds where f bounds both directions."""
    falling = [*f[: next(index for index, (_, y) in enumerate(f) if not y) + 1]]
    inverse = [*((y, x) for x, y in reversed(falling)), *([(ALL, NOTHING)] if f[0][1] < 1 else [])]
    places = sorted({x for x, _ in (*f, *inverse)})
    values = list(zip(places, _read(f, places), _read(inverse, places), strict=True))
    found = [(x, max(one, two)) for x, one, two in values]
    for (left, one, two), (right, first, second) in pairwise(values):
        if (one - two) * (first - second) < 0:
            crossing = left + (right - left) * (one - two) / (one - two - first + second)
            found.append((crossing, _between((left, one), (right, first), crossing)))
    return hull(found)


def law_of(f: Sequence[Point]) -> RationalLaw:
    """The pair with this trade-off function, a convex polyline from x = 0 to (1, 0)."""
    steps = [(NOTHING, 1 - f[0][1]), *((right[0] - left[0], left[1] - right[1]) for left, right in pairwise(f))]
    return RationalLaw(tuple(p for _, p in steps), tuple(q for q, _ in steps))


def holds(f: Sequence[Point], points: Sequence[Point]) -> bool:
    """Whether f lies at or above all of the points."""
    places = [x for x, _ in points]
    return all(value >= y for value, (_, y) in zip(_read(f, places), points, strict=True))


def hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """The lower convex hull, corners only; of several points at one x the lowest counts."""
    lowest = dict(sorted(points, key=lambda point: (point[0], -point[1])))
    found: list[Point] = []
    for point in lowest.items():
        while len(found) > 1 and _between(found[-2], point, found[-1][0]) <= found[-1][1]:
            found.pop()
        found.append(point)
    return tuple(found)


def _read(f: Sequence[Point], places: Sequence[Fraction]) -> Iterator[Fraction]:
    """The values of a polyline at rising places within it."""
    index = 0
    for x in places:
        while index + 2 < len(f) and f[index + 1][0] < x:
            index += 1
        yield f[index][1] if f[index][0] == x else _between(f[index], f[index + 1], x)


def _between(left: Point, right: Point, x: Fraction) -> Fraction:
    return left[1] + (right[1] - left[1]) * (x - left[0]) / (right[0] - left[0])


# Sums of c e^r with rational c and r: what points of a profile are made of, and their exact sign.
#
# Exponentials of distinct rationals are independent over the rationals, so that a sum is zero only where every
# collected
# coefficient is; else enough digits tell its sign.
# Guarantee: exact. Reference: Baker 1975, Transcendental number theory, Thm 1.4 (Lindemann, Weierstrass).


@dataclass(frozen=True, slots=True)
class Exponentials:
    """The sum of c e^r over its terms (r, c), by rising r, no c being 0."""

    terms: tuple[tuple[Fraction, Fraction], ...]

    def __add__(self, other: Exponentials) -> Exponentials:
        return _gathered((*self.terms, *other.terms))

    def __neg__(self) -> Exponentials:
        return Exponentials(tuple((r, -c) for r, c in self.terms))

    def __sub__(self, other: Exponentials) -> Exponentials:
        return self + -other

    def __mul__(self, other: Exponentials) -> Exponentials:
        return _gathered((r + s, c * d) for r, c in self.terms for s, d in other.terms)

    def ball(self) -> arb:
        """At the working precision; exactly zero where it is."""
        return sum((ratio_ball(c) * ratio_ball(r).exp() if r else ratio_ball(c) for r, c in self.terms), arb(0))

    def sign(self) -> int | None:
        """-1, 0 or 1; None where BITS_MAX are too few to tell, and it is not zero."""
        if not self.terms:
            return 0
        bits = BITS_START
        while bits <= BITS_MAX:
            with working_precision(bits):
                ball = self.ball()
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
            bits *= 2
        return None


def exponential(exponent: Fraction, factor: Fraction = Fraction(1)) -> Exponentials:
    """factor e^exponent; with the exponent 0, a number."""
    return Exponentials(((exponent, factor),) if factor else ())


def _gathered(terms: Iterable[tuple[Fraction, Fraction]]) -> Exponentials:
    found: dict[Fraction, Fraction] = {}
    for r, c in terms:
        found[r] = found.get(r, Fraction(0)) + c
    return Exponentials(tuple((r, c) for r, c in sorted(found.items()) if c))


ONE, NONE = exponential(Fraction(0)), exponential(Fraction(0), Fraction(0))
LOST_BITS_SPARE = 16


class Corner(NamedTuple):
    """A point (e^loss, delta) of a profile."""

    loss: Fraction
    delta: Exponentials

    def mirrored(self) -> Corner:
        """The same of the mirror, 1 - a + a H(1/a)."""
        return Corner(-self.loss, ONE - exponential(-self.loss) * (ONE - self.delta))

    @property
    def alpha(self) -> Exponentials:
        return exponential(self.loss)


def number(value: Fraction) -> Exponentials:
    """A rational number."""
    return exponential(Fraction(0), value)


@dataclass(frozen=True)
class CurveLaw(ListedLaw):
    """Corners by rising loss, their slopes falling; symmetric where the mirror has the same corners."""

    corners: tuple[Corner, ...]
    symmetric: bool
    flipped: bool = False  # P and Q exchanged

    def atoms(self) -> list[Atom]:
        with working_precision(ctx.prec + self._lost_bits):
            found = self._masses()
        if not self.flipped:
            return [Atom(alpha * q, q, loss) for alpha, q, loss in found]
        return [Atom(q, alpha * q, -loss) for alpha, q, loss in reversed(found)]

    def _masses(self) -> list[tuple[arb, arb, arb]]:
        """(e^l, Q, l) of every atom."""
        alphas = [corner.alpha.ball() for corner in self.corners]
        deltas = [corner.delta.ball() for corner in self.corners]
        falls = (
            (d - e) / (y - x)
            for (x, y), (d, e) in zip(pairwise([arb(0), *alphas]), pairwise([arb(1), *deltas]), strict=True)
        )
        masses = [one - two for one, two in pairwise([*falls, arb(0)])]
        return [(x, q, ratio_ball(c.loss)) for x, q, c in zip(alphas, masses, self.corners, strict=True)]

    @cached_property
    def _lost_bits(self) -> int:
        """How many digits the differences of slopes lose, of whatever precision."""
        bits = 2 * BITS_START
        while True:
            with working_precision(bits):
                kept = min((q.rel_accuracy_bits() for _, q, _ in self._masses()), default=bits)
            if kept > BITS_START or bits >= BITS_MAX:
                return max(bits - kept, 0) + LOST_BITS_SPARE
            bits *= 2

    def size(self) -> int:
        return len(self.corners)

    def loss_range(self) -> LossRange:
        losses = [ratio_ball(corner.loss) for corner in self.corners] or [arb(0)]
        return LossRange(-losses[-1], -losses[0]) if self.flipped else LossRange(losses[0], losses[-1])

    def infinite_mass(self) -> arb:
        return (self._lost if self.flipped else self._infinite).ball()

    def lost_mass(self) -> arb:
        return (self._infinite if self.flipped else self._lost).ball()

    @property
    def _infinite(self) -> Exponentials:
        return self.corners[-1].delta if self.corners else ONE

    @property
    def _lost(self) -> Exponentials:
        """1 - s_1."""
        return ONE - (ONE - self.corners[0].delta) * exponential(-self.corners[0].loss) if self.corners else ONE

    def reversed(self) -> FiniteLaw:
        return self if self.symmetric else CurveLaw(self.corners, False, not self.flipped)

    def lattice(self) -> Lattice | None:
        losses = [-corner.loss if self.flipped else corner.loss for corner in self.corners]
        step = common_step(LatticeStep(abs(loss - losses[0]), False) for loss in losses)
        return None if step is None else Lattice(step, losses[0])

    def conditioned_on_finite_loss(self) -> FiniteLaw | None:
        """(H - w)/(1 - w) at the same corners, w the infinite mass, where that is rational and Q has it as well."""
        if self._infinite != self._lost or any(r for r, _ in self._infinite.terms):
            return None
        mass = sum((c for _, c in self._infinite.terms), Fraction(0))
        if mass == 1:
            return None
        left = number(1 / (1 - mass))
        return CurveLaw(
            tuple(Corner(c.loss, (c.delta - self._infinite) * left) for c in self.corners), self.symmetric, self.flipped
        )


class _Placed(NamedTuple):
    """A corner, and its place in balls."""

    corner: Corner
    alpha: arb
    delta: arb


def lower_hull(points: Iterable[Corner]) -> tuple[tuple[Corner, ...], bool]:
    """The corners of the hull of (0, 1) and the points as far as it falls, and whether no point was left out unsure."""
    sure = True
    hull: list[_Placed] = []
    with working_precision(BITS_START):
        placed = [_Placed(corner, corner.alpha.ball(), corner.delta.ball()) for corner in points]
        for point in sorted(placed, key=lambda corner: corner.corner.loss):
            while hull and hull[-1].corner.loss == point.corner.loss and _falls(hull, point) == 1:
                hull.pop()
            falls = _falls(hull, point)
            sure &= falls is not None
            if falls != 1:
                continue
            while hull:
                bend = _bend(hull, point)
                sure &= bend is not None
                if bend == 1:
                    break
                hull.pop()
            hull.append(point)
    return tuple(corner.corner for corner in hull), sure


def _falls(hull: Sequence[_Placed], point: _Placed) -> int | None:
    """1 where the point lies below the last corner."""
    if not hull:
        return _sign(1 - point.delta, lambda: ONE - point.corner.delta)
    return _sign(hull[-1].delta - point.delta, lambda: hull[-1].corner.delta - point.corner.delta)


def _bend(hull: Sequence[_Placed], after: _Placed) -> int | None:
    """1 where the last corner lies below the line from the one before it to the next."""
    last = hull[-1]
    x0, d0 = (hull[-2].alpha, hull[-2].delta) if len(hull) > 1 else (arb(0), arb(1))
    roughly = (d0 - last.delta) * (after.alpha - x0) - (d0 - after.delta) * (last.alpha - x0)

    def exactly() -> Exponentials:
        x0, d0 = (hull[-2].corner.alpha, hull[-2].corner.delta) if len(hull) > 1 else (NONE, ONE)
        (_, d1), (_, d2) = last.corner, after.corner
        return (d0 - d1) * (after.corner.alpha - x0) - (d0 - d2) * (last.corner.alpha - x0)

    return _sign(roughly, exactly)


def _sign(roughly: arb, exactly: Callable[[], Exponentials]) -> int | None:
    if roughly > 0 or roughly < 0:
        return 1 if roughly > 0 else -1
    return exactly().sign()


# The largest profile of a channel: of all pairs of its rows, in either order.
#
# A row has the masses of the reports of one true value. The trade-off of the largest profile is the hull of those of
# all
# pairs, whose corners are events {ratio above t}: finitely many, in exact fractions. Corners that lie below the hull of
# the same numbers in float64 by more than their roundings are left out before fractions are compared.
# Guarantee: exact. Proof: docs/proofs/points.md, section 5 (maximum), docs/proofs/channel.md (what is left out).

NEARLY_EQUAL = 1e-12  # relative: far above that of two quotients and of a chord between them
DIGITS_LOST = 1e-290  # below, quotients in float64 have lost digits
FINE_MAX = 5000  # corners with so small a mass: all of them are compared in fractions of a thousand digits

Rows = Sequence[tuple[Fraction, ...]]
Way = tuple[int, int]  # the rows that are P and Q
ChannelCorner = tuple[Fraction, Fraction]  # Q(A), 1 - P(A)


class Channel(NamedTuple):
    """law: of the largest profile; ways: ordered pairs of rows that have all of its corners between them."""

    law: RationalLaw
    ways: tuple[RationalLaw, ...]


class _Reached(NamedTuple):
    """{ratio above t}, Q(A) and P(A) in float64, and as counts out of those of the whole rows."""

    q: float
    p: float
    way: Way
    counts: tuple[int, int]


def channel_of(rows: Rows) -> Channel:
    """The largest profile of these laws over the same reports, each against each."""
    rows = list(dict.fromkeys(rows))
    whole = [math.lcm(*(mass.denominator for mass in row)) for row in rows]
    counts = [[int(mass * unit) for mass in row] for row, unit in zip(rows, whole, strict=True)]
    events = [
        _Reached(q / whole[way[1]], p / whole[way[0]], way, (p, q))
        for one, two in combinations(range(len(rows)), 2)
        for more, less in _corners(counts[one], counts[two])
        for way, p, q in (((one, two), more, less), ((two, one), whole[two] - less, whole[one] - more))
        if p
    ]
    if sum(event.q <= DIGITS_LOST or event.p <= DIGITS_LOST for event in events) > FINE_MAX:
        raise InvalidParameter(f"channel has too many probabilities below {DIGITS_LOST:g}: give fewer rows or columns")
    owners: dict[ChannelCorner, set[Way]] = {}
    for event in _high(events):
        one, two = event.way
        corner = Fraction(event.counts[1], whole[two]), 1 - Fraction(event.counts[0], whole[one])
        owners.setdefault(corner, set()).add(event.way)
    start, end = (Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))
    vertices = hull([start, end, *owners])
    wanted = [owners[vertex] for vertex in vertices if vertex not in (start, end)]
    return Channel(law_of(vertices), tuple(RationalLaw(rows[one], rows[two]) for one, two in _cover(wanted)))


def _corners(p: Sequence[int], q: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Counts of P and Q in {ratio above t}, from those of infinite ratio alone to all that there are.

    What is left of each are the counts of Q and P in the events of the reverse.
    """
    cells = list(zip(p, q, strict=True))
    first, second = sum(more for more, less in cells if not less), 0
    yield first, second
    for close in _runs([cell for cell in cells if cell[1]]):
        for more, less in _merged(close):
            first, second = first + more, second + less
            yield first, second


def _runs(cells: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The cells by falling ratio, those together whose ratios float64 may not tell apart."""
    found: list[tuple[int, int]] = []
    before = math.inf
    for ratio, cell in sorted(((_ratio(*cell), cell) for cell in cells), reverse=True):
        if found and ratio < before * (1.0 - NEARLY_EQUAL):
            yield found
            found = []
        found.append(cell)
        before = ratio
    if found:
        yield found


def _ratio(more: int, less: int) -> float:
    """In float64; 0 and inf where that is not known to the last digits."""
    try:
        value = more / less
    except OverflowError:
        return math.inf
    return value if value > DIGITS_LOST else 0.0


def _merged(cells: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """Those of one ratio as one, by falling ratio."""
    if len(cells) == 1:
        return cells
    by_ratio: dict[Fraction, tuple[int, int]] = {}
    for more, less in cells:
        before = by_ratio.get(Fraction(more, less), (0, 0))
        by_ratio[Fraction(more, less)] = before[0] + more, before[1] + less
    return [by_ratio[ratio] for ratio in sorted(by_ratio, reverse=True)]


def _high(events: Sequence[_Reached]) -> Iterator[_Reached]:
    """Those that are not below the hull of all for certain."""
    line = [(0.0, 0.0)]
    for q, p in sorted(
        {event[:2] for event in events if event.q > DIGITS_LOST and event.p > DIGITS_LOST} | {(1.0, 1.0)}
    ):
        while len(line) > 1 and (line[-1][1] - line[-2][1]) * (q - line[-2][0]) <= (p - line[-2][1]) * (
            line[-1][0] - line[-2][0]
        ):
            line.pop()
        if q > line[-1][0]:
            line.append((q, p))
    place, chords = 0, list(pairwise(line))
    for event in sorted(events):
        q, p = event.q, event.p
        while place + 1 < len(chords) and chords[place][1][0] < q:
            place += 1
        (q0, p0), (q1, p1) = chords[place]
        if p >= (p0 + (q - q0) / (q1 - q0) * (p1 - p0)) * (1.0 - NEARLY_EQUAL) or q <= DIGITS_LOST or p <= DIGITS_LOST:
            yield event


def _cover(wanted: Sequence[set[Way]]) -> list[Way]:
    """Pairs of rows that have all of the corners between them: at each step the one with most of those left."""
    found: list[Way] = []
    left = list(wanted)
    while left:
        counts: dict[Way, int] = {}
        for ways in left:
            for way in ways:
                counts[way] = counts.get(way, 0) + 1
        best = max(sorted(counts), key=counts.__getitem__)
        found.append(best)
        left = [ways for ways in left if best not in ways]
    return found
