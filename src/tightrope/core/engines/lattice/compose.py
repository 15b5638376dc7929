"""Composition of tilted laws on one grid: a window from Chernoff bounds, one transform per law, one product, one
inverse.

The circular sum shows every total label modulo the window. For a law T = prod T_i^(*k_i), any d > 0 and the label m_i,
    T[sum - sum k_i m_i > R] <= prod (sum_j T_i(j) e^(d (j - m_i)))^k_i e^(-d R),   the other side alike;
what lies outside the window is bounded so, and is either added to `lost` (UP) or taken off every entry (DOWN).
Guarantee: keeps the side of its parts. Proof: docs/proofs/lattice.md, lemmas 4 and 6.
Reference: Meiser, Mohammadi 2018, Lemma 7; Chernoff 1952, Thm 1.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ...numerics.convolution import POINT_UNITS, TreeFactor, fast_length, fft_convolve, gather, spectrum, upper_sum
from ...numerics.enclosures import FloatArray
from ...numerics.rounding import THOUSANDS, TINIEST, UNIT, next_down, next_up, round_down, round_up
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ..tuning import BLOCK_USES, CHERNOFF_SHARES, GRID_GROWTH, KNOWN_MIN, SUM_UNITS, WINDOW_MAX

# Tilted laws on an even grid, each entry rounded to one side.
#
# Entry i stands for the mass e^(log_scale - slope i) masses_i at the label start + i step (integers, in units of a
# power of
# two). An UP law is at or above the true one entry by entry, apart from tilted mass `lost` that it does not show;
# a DOWN law is at or below.
# Guarantee: every function here keeps the side. Proof: docs/proofs/lattice.md, lemmas 1, 3 and 7.
# Reference: Meiser, Mohammadi 2018, Def. 8 (squaring); Koskela, Jaelkoe, Honkela 2020, Sec. 5 (grids).


class Side(enum.Enum):
    """Which way every rounding goes."""

    UP = 1
    DOWN = -1

    def push(self, units: float | FloatArray) -> FloatArray:
        """The factor that outweighs a relative error of so many UNITs."""
        one = np.ones(())
        return round_up(one, units) if self is Side.UP else round_down(one, units)


@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """A law as described above; `lost` is 0 for DOWN, whose missing mass is on the safe side."""

    masses: FloatArray
    start: int
    step: int
    slope: float
    log_scale: Fraction
    lost: float
    side: Side
    origin: int  # a label of the grid that P and Q share, however each was cut: coarser cells are counted from it

    @property
    def total(self) -> float:
        """At or above the tilted mass, the lost part included."""
        return upper_sum(self.masses) + round_up(self.lost, 4.0)


def tilted(masses: FloatArray, start: int, step: int, slope: float, side: Side) -> LatticeLaw:
    """Tilts masses that already lie on their side: times e^(slope i), scaled to sum to about 1."""
    if not (np.all(np.isfinite(masses)) and np.any(masses > 0.0)):
        raise UnsupportedMechanism("its masses are below every double, or not known")
    index = np.arange(len(masses), dtype=np.float64)
    with np.errstate(all="ignore"):
        rough = np.where(masses > 0.0, np.log(np.maximum(masses, 5e-324)) + slope * index, -np.inf)
        weights = np.exp(rough - np.max(rough))
        centre = round(float(np.dot(weights, index) / np.sum(weights)))
        scale = float(np.max(rough) + np.log(np.sum(weights)) - slope * centre)
        exponent = slope * (index - centre) - scale
        half = np.exp(0.5 * np.where(masses > 0.0, exponent, 0.0))  # two factors: one alone may overflow
        tilts = masses * half * half * side.push(INPUT_UNITS + 2.0 * abs(slope * (index - centre)) + 2.0 * abs(scale))
    lost = VANISHED if side is Side.UP else 0.0
    return LatticeLaw(tilts, start, step, slope, Fraction(scale) + Fraction(slope) * centre, lost, side, start)


# Roundings of one tilted entry: the mass itself, two exponentials, two products, the factor.
INPUT_UNITS = 20.0
VANISHED = 1e-290  # tilted mass that may vanish below the smallest double


def trimmed(law: LatticeLaw, tolerance: float) -> LatticeLaw:
    """Without the ends that hold at most the tolerance: dropped (DOWN) or counted as lost (UP)."""
    front = int(np.searchsorted(np.cumsum(law.masses), tolerance / 4.0))
    back = int(np.searchsorted(np.cumsum(law.masses[::-1]), tolerance / 4.0))
    kept = law.masses[front : len(law.masses) - back]
    if not len(kept):
        return law
    cut = upper_sum(law.masses[:front]) + upper_sum(law.masses[len(law.masses) - back :])
    return replace(
        law,
        masses=kept,
        start=law.start + front * law.step,
        log_scale=law.log_scale - Fraction(law.slope) * front,
        lost=round_up(law.lost + cut, 4.0) if law.side is Side.UP else 0.0,
    )


def coarsened_by_chords(law: LatticeLaw, factor: int, width: float) -> LatticeLaw:
    """Every mass is split between its two neighbours on a grid `factor` times coarser, so that P and Q are both kept.

    At distance b steps above the left neighbour the right one gets the share (1 - e^(-b h)) / (1 - e^(-factor h)),
    the left one e^(-b h) (1 - e^(-(factor - b) h)) / (1 - e^(-factor h)).
    width: the step h of the law as a loss.
    """
    offsets = np.arange(factor, dtype=np.float64)
    right = np.expm1(-offsets * width) / np.expm1(-factor * width)
    left = np.expm1(-(factor - offsets) * width) / np.expm1(-factor * width)
    padded = np.pad(law.masses, (0, -len(law.masses) % factor)).reshape(-1, factor)
    # Above the left neighbour by b steps, the tilt changes by -b slope on the left and (factor - b) slope on the right;
    # the rest of the left share, e^(-b h), has the same kind of exponent, and its rounding grows with h as well.
    push = law.side.push(40.0 + 4.0 * factor * (1.0 + abs(law.slope) + width))
    coarse = np.zeros(len(padded) + 1)
    coarse[:-1] = padded @ (left * np.exp(-offsets * (width + law.slope)))
    coarse[1:] += padded @ (right * np.exp((factor - offsets) * law.slope))
    return _normalised(replace(law, masses=coarse * push, step=law.step * factor, slope=law.slope * factor))


def coarsened_by_merging(law: LatticeLaw, factor: int) -> LatticeLaw:
    """Every run of `factor` cells becomes one cell, labelled by its middle; P and Q are merged alike."""
    half = factor // 2
    lead = (law.start - law.origin) // law.step % factor
    front = half + lead
    padded = np.pad(law.masses, (front, -(len(law.masses) + front) % factor)).reshape(-1, factor)
    # Cell a holds the entries factor a - half + b; its label is the mean of theirs.
    middle = (factor - 1) / 2.0
    moves = np.exp((middle - np.arange(factor)) * law.slope)
    push = law.side.push(40.0 + 4.0 * factor * (1.0 + abs(law.slope)))
    shift = law.step * (2 * half - factor + 1)  # twice the way from entry factor a down to that mean; steps are even
    return _normalised(
        replace(
            law,
            masses=(padded @ moves) * push,
            start=law.start - lead * law.step - shift // 2,
            origin=law.origin - shift // 2,
            step=law.step * factor,
            slope=law.slope * factor,
            log_scale=law.log_scale + Fraction(law.slope) * (lead + Fraction(shift, 2 * law.step)),
            lost=round_up(law.lost * math.exp(law.slope * factor), 8.0),
        )
    )


def _normalised(law: LatticeLaw) -> LatticeLaw:
    """Scaled to sum to about 1 again; the scale is kept exactly."""
    total = float(np.sum(law.masses))
    if not 0.0 < total < math.inf:
        raise UnsupportedMechanism("its tilted masses leave the range of doubles; ask another way")
    scale = math.log(total)
    factor = math.exp(-scale)
    units = 8.0 + 2.0 * abs(scale)
    lost = round_up(law.lost * factor, 2.0 * units)
    return replace(
        law, masses=law.masses * factor * law.side.push(units), log_scale=law.log_scale + Fraction(scale), lost=lost
    )


Part = tuple[LatticeLaw, int]


class MassWindow(NamedTuple):
    """Total labels first ... first + length - 1, and the tilted mass outside of them at most."""

    first: int
    length: int
    outside: float


@dataclass(frozen=True, slots=True)
class Total:
    """The composed law inside its window: entries exact up to `radius`, aliases of `outside` on top."""

    masses: FloatArray
    radius: float
    outside: float
    lost: float
    start: int
    step: int
    slope: float
    log_scale: Fraction
    side: Side
    origin: int

    def law(self) -> LatticeLaw:
        """The entries pushed to their side, to be composed further."""
        if self.side is Side.UP:
            masses = round_up(self.masses + self.radius, 4.0)
        else:
            masses = round_down(np.maximum(self.masses - round_up(self.radius + self.outside, 4.0), 0.0), 4.0)
        lost = round_up(self.lost + self.outside, 4.0) if self.side is Side.UP else 0.0
        return LatticeLaw(masses, self.start, self.step, self.slope, self.log_scale, lost, self.side, self.origin)


def compose(parts: Sequence[Part], tolerance: float, least: int = 1, room: float = 1.0) -> Total:
    """All parts composed; about the tolerance of the tilted law falls outside of the window, of at least that length.

    room: how much more than the tolerance may lie outside where half the transform is enough then.
    """
    return _composed(parts, _window(parts, tolerance, least, room))


def compose_alike(parts: Sequence[Part], total: Total) -> Total:
    """All parts composed in the window of another total, whose labels are on the same grid."""
    ahead = total.start - sum(count * law.start for law, count in parts)
    if ahead % total.step:
        raise AssertionError("laws of one composition share their grid")
    window = MassWindow(ahead // total.step, len(total.masses), 0.0)
    return _composed(parts, window._replace(outside=_outside(parts, window)))


def longest(parts: Sequence[Part]) -> int:
    """Entries of the longest law."""
    return max(len(law.masses) for law, _ in parts)


def _composed(parts: Sequence[Part], window: MassWindow) -> Total:
    first, length, outside = window
    gathered = gather([TreeFactor(law.masses, count) for law, count in parts], length)
    compute_budget.hold(8.0 * length * len(gathered.factors))
    compute_budget.spend(POINT_UNITS * length * (len(gathered.factors) + 1))
    power = fft_convolve([(spectrum(factor.masses, length), factor.uses) for factor in gathered.factors])
    start = sum(count * law.start for law, count in parts) + first * parts[0][0].step
    slope = parts[0][0].slope
    log_scale = sum((count * law.log_scale for law, count in parts), Fraction(0)) - Fraction(slope) * first
    return Total(
        masses=np.roll(power.masses, -(first % length)),
        radius=round_up(power.radius + gathered.radius, 4.0),
        outside=outside,
        lost=_lost(parts),
        start=start,
        step=parts[0][0].step,
        slope=slope,
        log_scale=log_scale,
        side=parts[0][0].side,
        origin=sum(count * law.origin for law, count in parts),
    )


class Evolved(NamedTuple):
    """The same uses as fewer, wider laws; the lengths of the grids on the way, and the tilted mass that rounding made
    there."""

    parts: list[Part]
    grids: list[int]
    noise: float


def evolve(
    law: LatticeLaw, count: int, levels: int, tolerance: float, coarsen: Callable[[LatticeLaw, int], LatticeLaw]
) -> Evolved:
    """BLOCK_USES uses at a time become one law on a grid GRID_GROWTH times coarser.

    The first two levels are taken in one: atoms must blur before a law is known by its entries. What is left over at
    each level is carried along as one law. tolerance: tilted mass outside a window, all uses together.
    """
    carry: LatticeLaw | None = None
    grids: list[int] = []
    noise = 0.0
    law = trimmed(law, max(tolerance / count, KNOWN_MIN))
    for power in (2, *[1] * (levels - 2)) if levels >= 2 else (1,) * levels:
        blocks, rest = divmod(count, BLOCK_USES**power)
        left = [(law, rest)] if rest else []
        if carry is not None:
            left.append((carry, 1))
        if left:
            carry = coarsen(trimmed(compose(left, tolerance).law(), tolerance), GRID_GROWTH**power)
        if blocks:
            share = max(tolerance / blocks, KNOWN_MIN)
            block = compose([(law, BLOCK_USES**power)], share)
            grids.append(len(block.masses))
            noise += blocks * block.radius * len(block.masses)
            law = coarsen(trimmed(block.law(), share), GRID_GROWTH**power)
        count = blocks
    parts = [(law, count)] if count else []
    return Evolved(parts if carry is None else [*parts, (carry, 1)], grids, noise)


def _lost(parts: Sequence[Part]) -> float:
    """M sum k_i lost_i / m_i with M = prod m_i^k_i: bounds the mass of sums with at least one lost label."""
    if all(law.lost == 0.0 for law, _ in parts):
        return 0.0
    totals = [law.total for law, _ in parts]
    log_size = sum(count * math.log(total) for (_, count), total in zip(parts, totals, strict=True))
    share = sum(count * law.lost / total for (law, count), total in zip(parts, totals, strict=True))
    return round_up(math.exp(log_size + THOUSANDS * UNIT * abs(log_size) + 1e-9) * share, THOUSANDS)


def _window(parts: Sequence[Part], tolerance: float, least: int, room: float) -> MassWindow:
    """The shortest window whose sides hold all but the tolerance, centred in the length that the transform takes."""
    top = sum(count * (len(law.masses) - 1) for law, count in parts)
    bounds = _Sides.of(parts, tolerance)
    low = max(bounds.centre - bounds.reach(-1, tolerance / 2.0), 0)
    high = min(bounds.centre + bounds.reach(1, tolerance / 2.0), top)
    size = max(min(high - low + 1, WINDOW_MAX), longest(parts), least)
    length = fast_length(size)
    if top < length:
        return MassWindow(0, length, 0.0)
    if room > 1.0 and max(longest(parts), least) <= length // 2:
        shorter = bounds.around(low, high, length // 2, top)
        if shorter.outside <= room * tolerance:
            return shorter
    return bounds.around(low, high, length, top)


def _outside(parts: Sequence[Part], window: MassWindow) -> float:
    top = sum(count * (len(law.masses) - 1) for law, count in parts)
    if window.first <= 0 and top < window.first + window.length:
        return 0.0
    return _Sides.of(parts, 1e-18).outside(window.first, window.first + window.length - 1, top)


@dataclass(frozen=True, slots=True)
class _Sides:
    """Chernoff's log moments around the centre: for each side, pairs (d, sum k_i log M_i(d)), rounded up."""

    centre: int
    above: tuple[tuple[float, float], ...]
    below: tuple[tuple[float, float], ...]
    table: _Table

    @staticmethod
    def of(parts: Sequence[Part], tolerance: float) -> _Sides:
        lumps = [_lumped(law.masses) for law, _ in parts]
        centre = sum(count * lump.middle for lump, (_, count) in zip(lumps, parts, strict=True))
        variance = sum(count * lump.variance for lump, (_, count) in zip(lumps, parts, strict=True))
        best = math.sqrt(2.0 * math.log(2.0 / tolerance) / max(variance, 1e-12))
        table = _Table.of(lumps, [count for _, count in parts])
        tilts = [best * share for share in CHERNOFF_SHARES]
        above, below = (tuple((d, table.log_moment(sign * d)) for d in tilts) for sign in (1, -1))
        return _Sides(centre, above, below, table)

    def reach(self, sign: int, tolerance: float) -> int:
        """Distance from the centre beyond which at most the tolerance lies."""
        bounds = self.above if sign > 0 else self.below
        distance = min((log_moment - math.log(tolerance)) / d for d, log_moment in bounds)
        return math.ceil(min(distance, 1e15))

    def around(self, low: int, high: int, length: int, top: int) -> MassWindow:
        """The window of this length around the middle of low and high, within 0 to top."""
        first = max(min(low - (length - (high - low + 1)) // 2, top - length + 1), 0)
        return MassWindow(first, length, self.outside(first, first + length - 1, top))

    def outside(self, low: int, high: int, top: int) -> float:
        """Tilted mass of the sums below low or above high, of those from 0 to top."""
        above = self._beyond(self.above, high - self.centre) if high < top else 0.0
        below = self._beyond(self.below, self.centre - low) if low > 0 else 0.0
        return above + below

    def _beyond(self, bounds: tuple[tuple[float, float], ...], distance: int) -> float:
        exponent = min(log_moment - d * distance + 4.0 * UNIT * abs(d * distance) for d, log_moment in bounds)
        if exponent > 0.0:  # all that there is may be less, about 1 for tilted laws; d = 0 says how much
            exponent = min(exponent, self.table.log_moment(0.0))
        return round_up(math.exp(exponent), THOUSANDS)  # where no double holds it, an OverflowError ends this engine


class _Lumps(NamedTuple):
    """A law with fewer atoms whose exponential moments are at least as large: (distance from the middle, mass)."""

    middle: int
    variance: float
    distance: FloatArray
    masses: FloatArray


def _lumped(masses: FloatArray) -> _Lumps:
    """Each mass is shared between the ends of its run so that the mean stays; a convex function can only gain."""
    index = np.arange(len(masses), dtype=np.float64)
    total = float(np.sum(masses))
    mean = float(np.dot(masses, index)) / total
    variance = float(np.dot(masses, (index - mean) ** 2)) / total
    run, middle = max(int(math.sqrt(variance) / 8.0), 1), round(mean)
    share = np.arange(run) / run
    padded = np.pad(masses, (0, -len(masses) % run)).reshape(-1, run)
    lumps = np.zeros(len(padded) + 1)
    lumps[:-1] = padded @ (1.0 - share)
    lumps[1:] += padded @ share
    distance = np.arange(len(lumps), dtype=np.float64) * run - middle
    return _Lumps(middle, variance, distance, round_up(lumps, 2.0 * run + 8.0))


class _Table(NamedTuple):
    """Lumps of all laws, a row for each, filled up with nothing."""

    distance: FloatArray
    masses: FloatArray
    counts: list[int]

    @staticmethod
    def of(lumps: Sequence[_Lumps], counts: list[int]) -> _Table:
        longest = max(len(lump.masses) for lump in lumps)
        compute_budget.hold(32.0 * longest * len(lumps))
        distance, masses = np.zeros((2, len(lumps), longest))
        for row, each in enumerate(lumps):
            distance[row, : len(each.masses)] = each.distance
            masses[row, : len(each.masses)] = each.masses
        return _Table(distance, masses, counts)

    def log_moment(self, d: float) -> float:
        """At or above sum k_i log sum_j T_i(j) e^(d (j - m_i)); inf where that overflows."""
        compute_budget.spend(10.0 * self.masses.size)
        exponent = self.distance * d
        most = float(np.max(abs(exponent)))
        if most > 700.0:
            return math.inf
        sums: FloatArray = (self.masses * np.exp(exponent)).sum(axis=1)
        moments = round_up(sums, 2.0 * most + 16.0 + self.masses.shape[1])
        parts = [count * math.log(moment) for count, moment in zip(self.counts, moments, strict=True)]
        return math.fsum(parts) + 1e-14 * math.fsum(map(abs, parts))


# delta from composed laws: a weighted sum above, the best suffix below.
#
# Above: delta <= w + sum over l_j > eps of e^(log_scale - slope j) (1 - e^(eps - l_j)) (T_j + radius) + e^(log_scale -
# theta eps) (lost + outside),
# because (1 - e^-x)_+ <= e^(theta x). Below: for every cut c the event {label >= c} gives delta >= w + P - e^eps Q;
# aliases are taken off P
# at the largest weight, everything lost or outside is added to Q likewise.
# Guarantee: upper and lower, rounding included. Proof: docs/proofs/lattice.md, lemmas 2, 4 and 8.
# Reference: Meiser, Mohammadi 2018, Thm 1; Zhu, Dong, Wang 2021, Lemma 5.


class UpperSum(NamedTuple):
    """The sum as computed and what is added to it."""

    value: float
    rounding: float
    lost: float
    outside: float

    @property
    def upper(self) -> float:
        """At or above the mass that it stands for."""
        return round_up(max(self.value, 0.0) + self.rounding + self.lost + self.outside, 8.0)


class LowerSum(NamedTuple):
    """P minus e^eps Q of the best suffix as computed, and what is taken off."""

    value: float
    rounding: float
    lost: float
    outside: float

    @property
    def lower(self) -> float:
        """At or below the mass that it stands for; the empty event is always there."""
        slack = round_up(self.rounding + self.lost + self.outside, 8.0)
        low = self.value - slack
        return max(low - 4.0 * UNIT * (abs(self.value) + slack), 0.0) if math.isfinite(low) else 0.0


def ends(infinite: tuple[float, float], low: LowerSum, high: UpperSum) -> tuple[float, float]:
    """Doubles around delta, from its finite part and the mass of infinite loss; 1 where nothing is known."""
    total = infinite[1] + high.upper
    lower = max(next_down(infinite[0] + low.lower), 0.0) if infinite[0] else low.lower
    return float(lower), float(next_up(total)) if total < 1.0 else 1.0


def upper_sum_at(total: Total, epsilon: float, unit: float) -> UpperSum:
    """Bounds the finite part of delta from above."""
    compute_budget.spend(SUM_UNITS * len(total.masses))
    asked = Fraction(epsilon) / Fraction(unit)
    first = max(math.floor((asked - total.start) / total.step) + 1, 0)
    base = exp_above(total.log_scale - Fraction(total.slope) * (asked - total.start) / total.step)
    if first >= len(total.masses):
        return UpperSum(0.0, 0.0, weighted(base, total.lost), weighted(base, total.outside))
    masses = total.masses[first:]
    beyond = float((total.start + first * total.step - asked) * Fraction(unit))
    gains = -np.expm1(-(beyond + np.arange(len(masses)) * (total.step * unit)))
    weights, units = weights_from(total, first, Fraction(0))
    value, rounding = dot(weights * gains, masses, units + 16.0, total.radius)
    return UpperSum(value, rounding, weighted(base, total.lost), weighted(base, total.outside))


def lower_sum_at(p: Total, q: Total, epsilon: float, first: int = 0) -> LowerSum:
    """Bounds the finite part of delta from below by the suffix that is best as far as can be seen, from first on."""
    compute_budget.spend(2.0 * SUM_UNITS * (len(p.masses) - first))
    p_weights, p_units = weights_from(p, first, Fraction(0))
    q_weights, q_units = weights_from(q, first, Fraction(epsilon))
    p_masses, q_masses = p.masses[first:], q.masses[first:]
    with np.errstate(all="ignore"):
        gains = p_weights * (p_masses - p.radius) - q_weights * (q_masses + q.radius)
        suffix = np.cumsum(gains[::-1])[::-1]
    cut = int(np.argmax(np.where(np.isfinite(suffix), suffix, -np.inf)))
    p_value, p_rounding = dot(p_weights[cut:], p_masses[cut:], p_units[cut:], p.radius)
    q_value, q_rounding = dot(q_weights[cut:], q_masses[cut:], q_units[cut:], q.radius)
    units = float(p_units[cut] + q_units[cut])
    outside = weighted(float(p_weights[cut]), p.outside) + weighted(float(q_weights[cut]), q.outside)
    return LowerSum(
        value=p_value - q_value,
        rounding=p_rounding + q_rounding,
        lost=round_up(weighted(float(q_weights[cut]), q.lost), units),
        outside=round_up(outside, units),
    )


def infinite_mass(masses: Sequence[tuple[float, int]], upward: bool) -> float:
    """1 - prod (1 - w_i)^k_i, rounded to its side."""
    if any(mass >= 1.0 for mass, count in masses if count):
        return 1.0
    exponent = math.fsum(count * math.log1p(-mass) for mass, count in masses)
    mass = -math.expm1(exponent)
    return min(round_up(mass, 32.0) + (TINIEST if mass else 0.0), 1.0) if upward else round_down(mass, 32.0)


def weights_from(total: Total, first: int, shift: Fraction) -> tuple[FloatArray, FloatArray]:
    """e^(log_scale + shift - slope j) from j = first on, and their relative error in UNITs."""
    top = float(total.log_scale + shift - Fraction(total.slope) * first)
    falls: FloatArray = total.slope * np.arange(len(total.masses) - first, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(top - falls), 16.0 + 2.0 * abs(top) + 4.0 * falls


def dot(weights: FloatArray, masses: FloatArray, units: FloatArray, radius: float) -> tuple[float, float]:
    """sum w m, and how far it can be from the exact sum over exact weights and masses within their radius."""
    with np.errstate(all="ignore"):
        terms = weights * masses
        sizes = np.abs(terms)
        value = _signed_sum(terms)
        relative = (units + 2100.0 + len(terms) / 1024.0) * UNIT
        rounding = upper_sum(sizes * relative) + radius * upper_sum(round_up(weights, units)) + 1e-300
    return (
        (value, round_up(rounding, THOUSANDS)) if math.isfinite(value) and math.isfinite(rounding) else (0.0, math.inf)
    )


def _signed_sum(terms: FloatArray) -> float:
    """Rows of 1024 first, as in upper_sum."""
    rows = terms[: len(terms) // 1024 * 1024].reshape(-1, 1024).sum(axis=1)
    return float(rows.sum() + terms[len(rows) * 1024 :].sum())


def weighted(weight: float, mass: float) -> float:
    """Nothing stays nothing, also where the weight overflows."""
    return weight * mass if mass else 0.0


def exp_above(exponent: Fraction) -> float:
    """e^x rounded up; inf where it overflows."""
    value = float(exponent) if abs(exponent) < 10**6 else math.copysign(10**6, exponent)
    if value > 709.0:
        return math.inf
    return round_up(math.exp(value), 8.0 + 2.0 * abs(value)) + TINIEST
