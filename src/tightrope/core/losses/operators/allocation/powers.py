"""The law of the sum of t independent copies by squaring, above and below, and the pairs of its mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from flint import arb

from ....numerics.balls import BITS_START, integer, lower_float, upper_float, working_precision
from ....numerics.double_double import double_double
from ....numerics.enclosures import FloatArray, exact
from ....numerics.rounding import TINIEST, UNIT, round_down, round_up
from ....values import compute_budget
from ....values.errors import Refusal, UnsupportedMechanism
from ....values.question import Direction
from ...atoms import Atoms
from ...capabilities import Resolution
from ...pair import TAIL_ERROR, Pair
from ..dyadic import DyadicPair
from ..polygon import SPARE_BITS, Corner, concave
from .composed_law import (
    QUANTILE,
    SUM_PRODUCT,
    SUM_ROW,
    Block,
    Extent,
    Fine,
    GradedRow,
    Light,
    MergedLaw,
    SplitLaw,
    SumLaw,
    blocks,
    grid_points,
)

# The law of one step: Y = dP/dQ under Q, above and below, from what a pair knows of itself.
#
# Above, from the profile at points x_0 < x_1 < ...: the stop-loss E(Y - x)_+ is H(x), or for the other order of the
# pair
# the put E(x - Y)_+ is x H'(1/x). Its chords, with slopes rounded up and made monotone, are those of a law at the
# points.
# Below, from tails: the cells between edges have masses m = Q[cell], v = P[cell]; every tail is rounded so that the
# events {Y > e} have at least the P-mass and at most the Q-mass of ours, and cells whose ratios do not rise are merged.
# Pairs that are lists of atoms are split, or put into cells, atom by atom.
# Guarantee: above and below, in convex order. Proof: docs/proofs/allocation.md, sections 7 and 8.

LOSS_FARTHEST = 600.0  # e^600 and its square are doubles
LOSS_HALVINGS = 40
STEP_POINT = 1e3  # units of work
TAIL_UNITS, TAIL_FLOOR = 1.01 * TAIL_ERROR / UNIT, 1e-312
FIRST_UNITS = 64.0
SURE = 2.0**-44  # relative radius of an atom that is used below
HALF = 0.5 - 2.0**-20  # of the mass on one side of an edge


class Step(NamedTuple):
    """The pair (P, Q) whose ratio Y is, and which end of it needs depth: REMOVE the large values, ADD the small."""

    pair: Pair
    direction: Direction

    def extent(self, fine: Fine, light: Light) -> Extent:
        """About where Y lies."""
        listed = self.pair.atoms()
        if listed is None:
            return self._shape(fine, light)
        loss = np.clip(listed.loss.value, -LOSS_FARTHEST, LOSS_FARTHEST)
        return _shape_of(np.exp(loss), listed.p.value, listed.q.value, fine.left, light)

    def start(self, places: list[Block]) -> tuple[MergedLaw, SplitLaw]:
        """Below and above."""
        listed, points = self.pair.atoms(), grid_points(places)
        compute_budget.spend(STEP_POINT * len(points))
        compute_budget.hold(64.0 * len(points))
        if listed is not None:
            return self._of_atoms(listed, places, points)
        return self._below(places, points), self._above(places, points)

    def _shape(self, fine: Fine, light: Light) -> Extent:
        """By halving intervals of the loss; only width depends on it."""
        infinite = float(self.pair.tails(double_double(np.array([np.inf]))).p_above[0])

        def loss(kind: int, level: float) -> float:
            low, high = -LOSS_FARTHEST, LOSS_FARTHEST
            for _ in range(LOSS_HALVINGS):
                middle = 0.5 * (low + high)
                tails = self.pair.tails(double_double(np.array([middle])))
                found = (tails.p_above[0] - infinite, tails.q_above[0], -tails.q_below[0])[kind]
                low, high = (middle, high) if found > level else (low, middle)
            return high

        low = loss(2, -light.mass)
        high = loss(0, light.value)
        outer, middle = (loss(1, level) for level in (1.0 - QUANTILE if fine.left else QUANTILE, 0.5))
        width = abs(np.exp(outer) - np.exp(middle))
        return Extent(float(np.exp(low)), float(np.exp(max(high, low + 1e-6))), float(np.exp(middle)), float(width))

    def _above(self, places: list[Block], points: FloatArray) -> SplitLaw:
        if self.direction is Direction.REMOVE:
            profile = self.pair.hockey_stick(exact(points).log())
            call = np.minimum(np.maximum.accumulate(np.maximum(profile.upper, 0.0)[::-1])[::-1], 1.0)
            # Mass beyond each point but the last; what is raised moves up.
            slopes = round_up((call[:-1] - call[1:]) / np.diff(points), 4.0) + TINIEST
            beyond = np.minimum(np.maximum.accumulate(slopes[::-1])[::-1], 1.0)
            masses = -np.diff(np.concatenate([[1.0], beyond, [0.0]]))
            return SplitLaw(_pieces(places, masses[None, :]), np.zeros(1), float(call[-1]), FIRST_UNITS)
        profile = self.pair.reversed().hockey_stick(-exact(points).log())
        put = np.maximum.accumulate(round_up(points * np.clip(profile.upper, 0.0, 1.0), 2.0) + TINIEST)
        slopes = round_up(np.diff(put, prepend=0.0) / np.diff(points, prepend=0.0), 4.0) + TINIEST
        within = np.minimum(np.maximum.accumulate(slopes), 1.0)
        masses = np.diff(np.append(within, 1.0))
        return SplitLaw(_pieces(places, masses[None, :]), within[:1], 0.0, FIRST_UNITS)

    def _below(self, places: list[Block], points: FloatArray) -> MergedLaw:
        with working_precision(BITS_START):
            leaked = self.pair.infinite_mass()
            least, most = lower_float(1 - leaked), upper_float(1 - leaked)
            gone = max(upper_float(leaked), 0.0)
        edges = np.append(-np.inf, np.log(0.5 * (points[1:] + points[:-1])))
        tails = self.pair.tails(double_double(edges))
        q_above, q_below = _more(tails.q_above), _less(tails.q_below)
        p_above, p_below = np.maximum(_less(tails.p_above) - gone, 0.0), _more(tails.p_below)
        p_below[0] = 0.0  # at the value 0
        kept = (np.minimum(q_above, q_below) <= HALF) & (np.minimum(p_above, p_below) <= 0.5 * least - (0.5 - HALF))
        places_of = np.append(0, np.flatnonzero(kept) + 1)  # cell 0 is the value 0, cell i the label i - 1
        m, middle = _cells(
            np.minimum.accumulate(q_below[kept][::-1])[::-1], np.maximum.accumulate(q_above[kept][::-1])[::-1], 1.0, 0.0
        )
        up = self.direction is Direction.ADD
        v, _ = _cells(
            np.maximum.accumulate(p_below[kept]),
            np.minimum.accumulate(p_above[kept]),
            most if up else least,
            4.0 * UNIT if up else -4.0 * UNIT,
        )
        rows = np.zeros((2, len(points) + 1))
        rows[:, places_of] = _rising(m, v)
        if rows[1, 0] > 0.0:  # an edge at the value 0 was not kept
            rows[:, 1] += rows[:, 0]
            rows[:, 0] = 0.0
        units = FIRST_UNITS + len(points) + 4.0 / middle  # cells that are merged are sums
        return MergedLaw(_pieces(places, rows[:, 1:]), rows[:, 0], 0.0, units)

    def _of_atoms(self, listed: Atoms, places: list[Block], points: FloatArray) -> tuple[MergedLaw, SplitLaw]:
        """Each is split, or put into the cell of the nearest point."""
        rise = self.direction is Direction.REMOVE
        loss = listed.loss.upper if rise else listed.loss.lower
        # What no double holds goes to the end that is safe, or is left out.
        far = loss > LOSS_FARTHEST if rise else loss < -LOSS_FARTHEST
        beyond, zero = listed.infinite_ends()[1], float(listed.lost.upper) + listed.left_out
        if rise:
            beyond += float(np.sum(listed.p.upper[far]))
        else:
            beyond, zero = 0.0, zero + float(np.sum(listed.q.upper[far]))
        with np.errstate(under="ignore"):
            value = np.exp(np.clip(loss[~far], -LOSS_FARTHEST, LOSS_FARTHEST))
        value = round_up(value, FIRST_UNITS) if rise else round_down(value, FIRST_UNITS)
        p, q = listed.p[~far], listed.q[~far]
        many = FIRST_UNITS + 2.0 * len(loss)
        masses, more, low = _split(points, value, q.upper)
        above = SplitLaw(
            _pieces(places, masses[None, :]),
            np.array([round_up(zero + low, many)]),
            round_up(beyond + more, many),
            many,
        )
        sure = (p.radius <= SURE * p.value) & (q.radius <= SURE * q.value)
        cells = np.searchsorted(0.5 * (points[1:] + points[:-1]), value[sure])
        rows = np.stack([_gathered(cells, enclosure.value[sure], len(points)) for enclosure in (q, p)])
        lost = max(float(listed.lost.lower), 0.0)
        return MergedLaw(_pieces(places, rows), np.array([lost, 0.0]), 0.0, many + 2.0 * SURE / UNIT), above


def _shape_of(value: FloatArray, p: FloatArray, q: FloatArray, left: bool, light: Light) -> Extent:
    if not len(value):
        return Extent(1.0, 2.0, 1.0, 1.0)
    order = np.argsort(value)
    value, below, above = value[order], np.cumsum(q[order]), np.cumsum(p[order][::-1])[::-1]
    levels = (light.mass, (QUANTILE if left else 1.0 - QUANTILE) * below[-1], 0.5 * below[-1])
    low, outer, middle = (float(value[min(int(np.searchsorted(below, level)), len(value) - 1)]) for level in levels)
    high = float(value[max(int(np.searchsorted(-above, -light.value)) - 1, 0)])
    return Extent(low, max(high, round_up(low, 2.0**40)), middle, abs(outer - middle))


def _split(points: FloatArray, value: FloatArray, mass: FloatArray) -> tuple[FloatArray, float, float]:
    """Masses at the points, value beyond the last, and mass at 0."""
    under, over = value < points[0], value >= points[-1]
    inside = ~(under | over)
    at = np.searchsorted(points, value[inside], side="right") - 1
    width = points[at + 1] - points[at]
    values = _gathered(at, mass[inside] * ((points[at + 1] - value[inside]) / width), len(points))
    values += _gathered(at + 1, mass[inside] * ((value[inside] - points[at]) / width), len(points))
    values[0] += float(np.sum(mass[under] * (value[under] / points[0])))
    values[-1] += float(np.sum(mass[over]))
    zero = float(np.sum(mass[under] * ((points[0] - value[under]) / points[0])))
    return values, float(np.sum(mass[over] * (value[over] - points[-1]))), zero


def _cells(below: FloatArray, above: FloatArray, total: float, slack: float) -> tuple[FloatArray, float]:
    """Masses between edges at which one of the two sides is less than half; the middle cell takes the rest."""
    pivot = int(np.sum(below <= above))
    prefix, suffix = np.append(0.0, below[:pivot]), np.append(above[pivot:], 0.0)
    middle = max((total - prefix[-1]) - suffix[0] + slack, 0.0)
    return np.concatenate([np.diff(prefix), [middle], -np.diff(suffix)]), middle


def _rising(m: FloatArray, v: FloatArray) -> FloatArray:
    """Cells whose ratio v/m is not above that of all before are merged with them."""
    values, places = np.stack([m, v]), np.flatnonzero((m > 0.0) | (v > 0.0))
    with np.errstate(all="ignore"):
        ratio = v[places] / m[places]
    if np.all(ratio[1:] >= ratio[:-1]):
        return values
    pools: list[tuple[float, float, int]] = []  # m, v, first place
    for place in places.tolist():
        mass, value = float(m[place]), float(v[place])
        while pools and _falls(pools[-1][0], pools[-1][1], mass, value):
            before = pools.pop()
            mass, value, place = mass + before[0], value + before[1], before[2]
        pools.append((mass, value, place))
    values[:] = 0.0
    for mass, value, place in pools:
        values[:, place] = mass, value
    return values


def _falls(mass: float, value: float, next_mass: float, next_value: float) -> bool:
    """Whether the ratio does; without mass it is infinite."""
    if not next_mass:
        return False
    return not mass or next_value / next_mass < value / mass


def _gathered(places: npt.NDArray[np.int64], numbers: FloatArray, size: int) -> FloatArray:
    return np.bincount(places, numbers, size).astype(np.float64)


def _more(tail: FloatArray) -> FloatArray:
    return np.minimum(round_up(tail, TAIL_UNITS) + TAIL_FLOOR, 1.0)


def _less(tail: FloatArray) -> FloatArray:
    return np.maximum(round_down(tail, TAIL_UNITS) - TAIL_FLOOR, 0.0)


def _pieces(places: list[Block], columns: FloatArray) -> tuple[GradedRow, ...]:
    found, at = [], 0
    for exponent, start, count in places:
        found.append(GradedRow(exponent, start, np.ascontiguousarray(columns[:, at : at + count])))
        at += count
    return tuple(found)


# Finite pairs from the laws of a sum: one above, one below.
#
# With x = S/t the ratio of the two laws: above, an atom of mass m at x has Q-mass m and P-mass m x, and value without
# mass is P-mass of infinite loss; below, a cell has Q-mass m and P-mass v/t. In whole numbers over 2^bits: the corners
# of the trade-off are rounded up in P and down in Q above, the other way below. For the other order the two exchange
# places.
# Guarantee: `above` dominates, `below` is dominated. Proof: docs/proofs/allocation.md, section 9.

MEAN_BITS_MAX = 1 << 11
ENDS_POINT = 3e4  # units of work, for both pairs
ROUNDED_MAX = 2.0**-5  # relative: beyond, a law in float64 says little

Whole = tuple[int, int]  # mantissa, exponent


def above(law: SplitLaw, steps: int, direction: Direction) -> DyadicPair:
    """Atoms, from the largest loss on."""
    _demand(law)
    compute_budget.spend(0.5 * ENDS_POINT * len(law.points))
    masses = round_up(law.columns[0], 2.0 * law.units)
    infinite = round_up(law.beyond / steps, 2.0 * law.units) if direction is Direction.REMOVE else 0.0
    zero = float(round_up(law.zero[0], 2.0 * law.units))
    bits = _bits([*masses, *(masses * law.points / steps), infinite, zero])
    rows = []
    for mass, point in zip(masses.tolist(), law.points.tolist(), strict=True):
        if mass:
            rows.append(
                (
                    _whole(_product(mass, point), bits, steps, up=direction is Direction.REMOVE),
                    _whole(_number(mass), bits, 1, up=direction is Direction.ADD),
                )
            )
    if direction is Direction.REMOVE:
        rows = [(_whole(_number(infinite), bits, 1, up=True), 0), *reversed(rows)]
    else:
        rows = [(_whole(_number(zero), bits, 1, up=True), 0), *((q, p) for p, q in rows)]
    return concave(_clipped(rows, 1 << bits), bits)


def below(law: MergedLaw, steps: int, infinite: arb, direction: Direction) -> DyadicPair:
    """Events of the cells with the largest losses; infinite: P-mass of infinite loss for REMOVE."""
    _demand(law)
    compute_budget.spend(0.5 * ENDS_POINT * len(law.points))
    (m, v), (zero, _) = law.columns, law.zero
    units = 2.0 * law.units + 4.0
    remove = direction is Direction.REMOVE
    m, v = (round_up(m, units), round_down(v, units)) if remove else (round_down(m, units), round_up(v, units))
    with np.errstate(all="ignore"):
        order = np.argsort(np.where(m > 0.0, v / m, np.inf if remove else -np.inf), kind="stable")
    order = order[::-1] if remove else order
    bits = _bits([*m, *(v / steps), zero])
    if remove:
        p = max(integer((infinite * arb(2) ** bits).lower().floor()) or 0, 0)
    else:
        p = _whole(_number(float(round_down(zero, units))), bits, 1, up=False)
    q, one, corners = 0, 1 << bits, [(0, p)]
    for mass, value in zip(m[order].tolist(), v[order].tolist(), strict=True):
        masses, values = _whole(_number(mass), bits, 1, up=remove), _whole(_number(value), bits, steps, up=not remove)
        p, q = (p + values, q + masses) if remove else (p + masses, q + values)
        if p >= one or q >= one:
            break
        corners.append((q, p))
    return concave(corners, bits)


def _clipped(rows: Iterable[Corner], one: int) -> list[Corner]:
    """Corners (q, p) of the sums of rows (p, q); where p reaches one, the curve ends on its edge."""
    p = q = 0
    found = []
    for more_p, more_q in rows:
        if p + more_p >= one:
            found.append((min(q + more_q * (one - p) // more_p, one), one))
            break
        p, q = p + more_p, min(q + more_q, one)
        found.append((q, p))
    return found


def _demand(law: SumLaw) -> None:
    if not law.units * UNIT <= ROUNDED_MAX:
        raise UnsupportedMechanism("so many steps round too often in float64; ask for fewer", Refusal.TOO_MUCH_WORK)


def _bits(masses: Iterable[float]) -> int:
    """Over which the least that is not 0 keeps some bits."""
    least = min((mass for mass in masses if mass > 0.0), default=1.0)
    return min(SPARE_BITS + max(-math.frexp(least)[1], 0), MEAN_BITS_MAX)


def _number(value: float) -> Whole:
    mantissa, exponent = math.frexp(value)
    return int(math.ldexp(mantissa, 53)), exponent - 53


def _product(one: float, other: float) -> Whole:
    (first, low), (second, high) = _number(one), _number(other)
    return first * second, low + high


def _whole(number: Whole, bits: int, parts: int, up: bool) -> int:
    """number 2^bits / parts, rounded to a whole number."""
    mantissa, exponent = number
    shift = exponent + bits
    top, bottom = (mantissa << shift, parts) if shift >= 0 else (mantissa, parts << -shift)
    return -(-top // bottom) if up else top // bottom


POINTS_PER_DEVIATION, NEAR_MIN = 1 / 8, 12.0  # of the points that are wanted
FAR_REMOVE, FAR_ADD = 1.5, 0.5  # points per doubling, of those per deviation; for add little depends on them
SUMS_SHARE = 0.6  # of the work that is left
LIGHT_SHARE, OTHER_SIDE = 1 / 32, 1e-15  # of the tail, on the side that counts, and in any case

L = TypeVar("L", bound=SumLaw)


def mean_pairs(step: Pair, steps: int, direction: Direction, fine: Resolution) -> tuple[Pair, Pair]:
    """A pair below and one above; step is (P, Q), of which one of so many copies of Q becomes P."""
    reach = math.sqrt(-2.0 * math.log(fine.tail))
    remove = direction is Direction.REMOVE
    deep = LIGHT_SHARE * fine.tail
    light = Light(OTHER_SIDE / steps, deep) if remove else Light(deep / steps, OTHER_SIDE)
    near = max(fine.points * POINTS_PER_DEVIATION, NEAR_MIN)
    grid = Fine(near, (FAR_REMOVE if remove else FAR_ADD) * near, reach, left=not remove)
    base = Step(step, direction)
    extent = base.extent(grid, light)
    grid = _affordable(extent, grid, steps)
    merged, split = base.start(blocks(extent, grid))
    lower = below(power(merged, steps, grid, light), steps, step.infinite_mass(), direction)
    return lower, above(power(split, steps, grid, light), steps, direction)


def _affordable(extent: Extent, grid: Fine, steps: int) -> Fine:
    """A grid whose sums take a part of the work that is left; what is coarser is valid too."""
    allowed = SUMS_SHARE * compute_budget.left()
    while grid.near > NEAR_MIN:
        places = blocks(extent, grid)
        # About what all sums of a doubling take: rows with themselves, and with what is finer.
        total = sum(SUM_ROW + 3.0 * SUM_PRODUCT * place.size**2 for place in places)
        if 3.0 * total * steps.bit_length() + ENDS_POINT * sum(place.size for place in places) <= allowed:
            return grid
        grid = grid._replace(near=max(0.7 * grid.near, NEAR_MIN), far=0.7 * grid.far)
    return grid


def power(law: L, steps: int, grid: Fine, light: Light) -> L:
    """So many copies, by squaring."""
    result: L | None = None
    while True:
        if steps & 1:
            result = law if result is None else result.plus(law, grid, light)
        steps >>= 1
        if not steps:
            assert result is not None
            return result
        law = law.plus(law, grid, light)
