"""Composition of tilted laws on one grid: a window from Chernoff bounds, one transform per law, one product, one
inverse.

The circular sum shows every total label modulo the window. For a law T = prod T_i^(*k_i), any d > 0 and the label m_i,
    T[sum - sum k_i m_i > R] <= prod (sum_j T_i(j) e^(d (j - m_i)))^k_i e^(-d R),   the other side alike;
what lies outside the window is bounded so, and is either added to `lost` (UP) or taken off every entry (DOWN).
Guarantee: keeps the side of its parts. Proof: docs/proofs/lattice.md, lemmas 4 and 6.
Reference: Meiser, Mohammadi 2018, Lemma 7; Chernoff 1952, Thm 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ... import compute_budget
from ...kernels.directed import THOUSANDS, round_down, round_up
from ...kernels.enclosure import FloatArray
from ...kernels.fft import convolve, fast_length, spectrum
from ...kernels.fft_tree import POINT_UNITS, TreeFactor, gather
from ...kernels.ulps import UNIT
from .law import LatticeLaw, Side, trimmed
from .tuning import BLOCK_USES, CHERNOFF_SHARES, GRID_GROWTH, KNOWN_MIN, WINDOW_MAX

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
    power = convolve([(spectrum(factor.masses, length), factor.uses) for factor in gathered.factors])
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
