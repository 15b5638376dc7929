"""Gaussian noise around 0 and around a shift.

Guarantee: masses in float64 to MASS_ERROR, balls exact. Proof: docs/proofs/truncated.md, lemma 3 and "Tails".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import acb, arb

from ...numerics.balls import BITS_START, erfc, floors, working_precision
from ...numerics.double_double import DoubleDouble, double_double
from ...numerics.enclosures import Enclosure, FloatArray
from ...numerics.normal import normal_tails
from ...values.errors import UnsupportedMechanism
from ..gaussian import GaussianPair
from .segments import (
    DensitySegment,
    End,
    Losses,
    NormalDecay,
    NormalSegment,
    PartShape,
    Place,
    SegmentDecay,
    ShiftedNoise,
    from_balls,
    split,
)

# Gaussian noise rounded up to whole numbers: the moments of its cells by those of what they are cells of.
#
# With s = sigma^-2, d = D s and A(y) the integral of e^{-yu - su^2/2} over [-1/2, 1/2], the cell around m has
# P^(1+z) Q^(-z) = (integral of p^(1+z) q^(-z) over the cell) e^{(1+z) L(a) - z L(b) - L(a - zd)}, L = log A,
# a = (m - D) s, b = ms. The square term of L leaves q(z) = e^{-kappa z(1+z) d^2/2}, the same for all cells, with
# kappa = L''(0) within s^2/512 of 1/12 - s/360; the rest is e^E with |E| <= 0.19 (|z| + |z|^2) d^2 w^2/2,
# w = max(|a|, |b|) + |z| d <= 1.
# The transform of cells returns: it is bounded up to the time 4 pi/(3 d) only, from |f| <= 1/2 (sum of |p_k + p_(k+m)
# e^{it(L_(k+m) - L_k)}|), which pairs cells that are about half a turn apart.
# Guarantee: exact, upper for decay. Proof: docs/proofs/truncated.md, "Cells of Gaussian noise".

BENT = 0.19  # |L''(y) - L''(0)| <= BENT |y|^2 for |y| <= 1
NEAR_CELLS = 0.25  # cells with w up to here are near
CELL_SIGMA_MIN = 40.0  # below, too few of them are
SHIFTS_MAX = 1.0  # of D, in units of sigma
FAST = 0.1  # angle from one cell to the next: before, they are as good as a density; from there on they are paired
PIECES = 4  # times from one piece to the next


@dataclass(frozen=True)
class CellSegment(DensitySegment):
    """The cells of a normal stretch between whole numbers."""

    base: NormalSegment
    sigma: arb
    shift: arb

    @property
    def turn(self) -> arb:
        """d, the loss from one cell to the next, about."""
        return self.shift / (self.sigma * self.sigma)

    def moment(self, z: acb) -> acb:
        blur = self.error(z.real, abs(z))
        around = arb(0, 1) * blur
        return self._common(z) * self.base.moment(z) + acb(around, arb(0) if z.imag.is_zero() else around)

    def _common(self, z: acb) -> acb:
        """q(z)."""
        s = 1 / (self.sigma * self.sigma)
        kappa = arb(1) / 12 - s / 360 + arb(0, 1) * (s * s / 512)
        return (-kappa * z * (z + 1) * (self.turn * self.turn / 2)).exp()

    def error(self, c: arb, size: arb) -> arb:
        """At or above |M(z) - q(z) M_base(z)| for |z| = size and Re z = c."""
        s, d, mu = 1 / (self.sigma * self.sigma), self.turn, self.base.mu
        grown = (d * d * (size * size + 1) / 24).exp()  # at or above |q|
        whole = (c * (c + 1) * mu * mu / 2).exp() / self.base.kept
        centre, more = abs(c + 1) * self.shift, self.shift * (1 + size) + arb(0.5)
        bend = BENT * (size + size * size) * d * d / 2
        near = bend * (bend * NEAR_CELLS**2).exp() * 2 * s * (1 + s * (centre * centre + more * more))
        free = ((NEAR_CELLS / s - more - centre.max(self.shift)) / self.sigma).max(arb(0))
        far = 2 * (-free * free / 2).exp() * (1 / (whole * self.base.kept)).max(arb(1))
        return whole * (grown * near + (1 + grown) * far)

    def shape(self, tilt: float) -> PartShape:
        """That of the base, which is as good for choices."""
        return self.base.shape(tilt)

    def cf_decay(self, tilt: float) -> SegmentDecay:
        c = arb(tilt)
        mine = self._common(acb(tilt)).real * self.base.moment(acb(tilt)).real - self.error(c, abs(c))
        share = self.base.moment(acb(tilt)).real / mine
        return CellDecay(self, self.base.cf_decay(tilt), c, mine, share)

    def horizon(self) -> arb:
        return 4 * arb.pi() / (3 * self.turn)

    def spare_bits(self, tilt: float, time: float) -> int:
        return self.base.spare_bits(tilt, time)


@dataclass(frozen=True)
class CellDecay(SegmentDecay):
    """least: at or below the mass of the tilted cells. share: what they were before over that."""

    cells: CellSegment
    base: NormalDecay
    tilt: arb
    least: arb
    share: arb

    def beyond(self, radius: arb) -> arb:
        """Up to the horizon."""
        s = 1 / (self.cells.sigma * self.cells.sigma)
        if not (self.least > 0 and (1 + self.tilt) * s < 4):
            return arb(1)
        fast = FAST / self.cells.turn
        largest, paired = arb(0), self._paired(radius.max(fast), s)
        while radius < fast:
            following = (PIECES * radius).min(fast)
            falls = self.base.beyond(radius)
            largest = largest.max(self._slow(falls, following))
            if self._slow(falls, fast) <= paired:
                break
            radius = following
        return largest.max(paired).min(arb(1))

    def _slow(self, falls: arb, last: arb) -> arb:
        """Up to a time, where the base has fallen so far."""
        d, size = self.cells.turn, abs(self.tilt) + last
        error = self.cells.error(self.tilt, size) / self.least
        return falls * self.share * (d * d * last * last / 24).exp() + error

    def _paired(self, radius: arb, s: arb) -> arb:
        """From a time on: cells m apart, m next to pi/(t d), are within a third of half a turn of being opposite."""
        apart = arb.pi() / (radius * self.cells.turn) + arb(0.5)
        return arb(0.5) + s + apart * self.base.peak * self.share / self.cells.sigma


TABLE_MAX = 100_000
CELLS_BY_SERIES_FROM = 16.0
INVERSE_ROOT_TWO_PI = 0.3989422804014327
# Gauss-Legendre with 14 nodes on [-1, 1], the positive half: below 1e-17 relative on every use here.
_LEGENDRE = np.polynomial.legendre.leggauss(14)
NODES: tuple[float, ...] = tuple(float(node) for node in _LEGENDRE[0][7:])
WEIGHTS: tuple[float, ...] = tuple(float(weight) for weight in _LEGENDRE[1][7:])


@dataclass(frozen=True)
class GaussianNoise(ShiftedNoise):
    """l(x) = D (2x - D) / (2 sigma^2)."""

    sigma: float
    shift: Fraction
    whole: bool

    def moving(self, shift: Fraction) -> GaussianNoise:
        return GaussianNoise(self.sigma, shift, self.whole)

    def masses(self, start: DoubleDouble, stop: DoubleDouble) -> FloatArray:
        """A difference of tails where it cannot cancel, Gauss-Legendre around the middle where it could.

        Narrow means width w <= 1 and m w <= 2 for the middle m, in sigmas; with v in [-1, 1] the mass is
        phi(m) (w/2) times the integral of cosh(m w v / 2) e^(-(w v)^2 / 8).
        """
        a, b = start / self.sigma, stop / self.sigma
        with np.errstate(all="ignore"):
            width = np.nan_to_num((b - a).collapse(), nan=0.0, posinf=np.inf)
            middle = (a + b) / 2.0
            reach = np.abs(middle.collapse())
            narrow = (width <= 1.0) & (reach * width <= 2.0)
            a_above, a_below = normal_tails(a)
            b_above, b_below = normal_tails(b)
            right, left = a.hi >= 0.0, b.hi <= 0.0
            wide = np.where(right, a_above - b_above, np.where(left, b_below - a_below, 1.0 - a_below - b_above))
            density = ((middle * middle) * -0.5).exp().collapse() * INVERSE_ROOT_TWO_PI
            total = np.zeros_like(width)
            for node, weight in zip(NODES, WEIGHTS, strict=True):
                total += weight * np.cosh(0.5 * node * reach * width) * np.exp(-0.125 * (node * width) ** 2)
            return np.where(narrow, density * width * total, wide)

    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        return GaussianPair(((self.sigma, float(self.shift), 1),)).hockey_stick(epsilon)

    def crossing(self, t: DoubleDouble) -> DoubleDouble:
        shift = split(self.shift)
        square = double_double(self.sigma) * double_double(self.sigma)
        even = t * square / shift + shift / 2.0
        if not self.whole:
            return even
        far = 40.0 * self.sigma + float(self.shift)  # beyond, both laws are below the smallest double
        before = np.clip(even.floor(), -far, far)
        return double_double(
            np.where(self._cell_exceeds(np.floor(before), t), np.floor(before), np.floor(before) + 1.0)
        )

    def sure_crossings(self, t: FloatArray) -> list[Place | None]:
        if not self.whole or not self._by_series:
            return [None] * len(t)
        crossing = self.crossing(double_double(t)).hi
        # The true crossing is the one whose two cells have losses on either side of t, with room for rounding.
        margin = 1e-12 * np.abs(t)
        before, after = self._cell_loss(crossing - 1.0).collapse(), self._cell_loss(crossing).collapse()
        sure = (before < t - margin) & (after > t + margin) & (np.abs(crossing) < 40.0 * self.sigma)
        return [arb(float(x)) if known else None for x, known in zip(crossing, sure, strict=True)]

    @property
    def _by_series(self) -> bool:
        return self.sigma >= CELLS_BY_SERIES_FROM and float(self.shift) <= self.sigma**2

    def _cell_exceeds(self, before: FloatArray, t: DoubleDouble) -> np.ndarray:
        """Whether the cell (before, before + 1] has a loss above t."""
        if self._by_series:
            return np.asarray((self._cell_loss(before) - t).collapse() > 0.0)
        place = np.clip(before - self._table_start, 0, len(self._table.hi) - 1).astype(np.int64)
        return np.asarray((self._table[place] - t).collapse() > 0.0)

    def _cell_loss(self, before: FloatArray) -> DoubleDouble:
        """l(m) + log(A(y - D s) / A(y)) for the middle m of the cell, s = sigma^-2, y = m s.

        A(y) is the integral of cosh(y u) e^(-s u^2 / 2) over [0, 1/2]; A(y1) - A(y2) is that of
        2 sinh((y1 + y2) u / 2) sinh((y1 - y2) u / 2) e^(-s u^2 / 2), so the correction, at most 1/(12 sigma^2) of l(m),
        has full relative precision.
        """
        middle, shift = before + 0.5, split(self.shift)
        inverse = 1.0 / (double_double(self.sigma) * double_double(self.sigma))
        main = (double_double(middle) * 2.0 - shift) * shift * inverse / 2.0
        s, size = 1.0 / self.sigma**2, float(self.shift)
        fall, base = np.zeros_like(middle), np.zeros_like(middle)
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            for u in (0.25 * (1.0 + node), 0.25 * (1.0 - node)):
                bump = weight * np.exp(-0.5 * s * u * u)
                fall += bump * 2.0 * np.sinh((2.0 * middle - size) * s * u / 2.0) * np.sinh(size * s * u / 2.0)
                base += bump * np.cosh(middle * s * u)
        return main + np.log1p(-fall / base)

    @property
    def _table_start(self) -> int:
        return -math.ceil(41.0 * self.sigma)

    @cached_property
    def _table(self) -> DoubleDouble:
        """Losses of all cells that either law can see in float64, for a small sigma."""
        cells = range(self._table_start, math.ceil(41.0 * self.sigma) + int(self.shift) + 1)
        if len(cells) > TABLE_MAX:
            raise UnsupportedMechanism(
                f"more than {TABLE_MAX} outputs matter; divide the query, sigma, bounds and sensitivity"
            )
        with working_precision(BITS_START):
            balls = [self._ball_cell_loss(before) for before in cells]
            return from_balls(balls)

    def ball_mass(self, start: Place, stop: Place) -> arb:
        if start == math.inf or stop == -math.inf:
            return arb(0)
        unit = arb(self.sigma) * arb(2).sqrt()
        if isinstance(stop, float):
            return arb(1) if isinstance(start, float) else erfc(start / unit) / 2
        if isinstance(start, float):
            return erfc(-stop / unit) / 2 if stop < 0 else 1 - erfc(stop / unit) / 2
        a, b = start / unit, stop / unit
        if a > 0:
            return (erfc(a) - erfc(b)) / 2
        if b < 0:
            return (erfc(-b) - erfc(-a)) / 2
        return (b.erf() - a.erf()) / 2

    def ball_crossings(self, t: arb) -> list[Place]:
        even = t * arb(self.sigma) ** 2 / self.ball_shift + self.ball_shift / 2
        if not self.whole:
            return [even]
        found: list[Place] = []
        for before in floors(even):
            loss = self._ball_cell_loss(before)
            if not loss <= t:
                found.append(arb(before))
            if not loss > t:
                found.append(arb(before + 1))
        return found or [(even - 1).union(even + 1)]

    def _ball_cell_loss(self, before: int) -> arb:
        # Neighbouring erfc agree in about log2(x / sigma^2) bits more than their size tells.
        with working_precision(BITS_START + 64 + 4 * max(abs(before).bit_length(), 1)):
            start, stop = arb(before), arb(before + 1)
            return (self.ball_moved_mass(start, stop) / self.ball_mass(start, stop)).log()

    def ball_loss_at(self, x: Place) -> arb:
        if isinstance(x, float):
            return arb.pos_inf() if x > 0 else arb.neg_inf()
        shift = self.ball_shift
        return shift * (2 * x - shift) / (2 * arb(self.sigma) ** 2)

    def ball_losses(self, start: Place, stop: Place, kept: arb) -> Losses:
        """No atoms: l(x) rises with x."""
        low, high = (end if isinstance(end, float) else self.ball_loss_at(end) for end in (start, stop))
        return Losses((), NormalSegment(self.ball_size(), low, high, kept))

    def count_corners(self, first: Fraction | None, last: Fraction | None) -> float:
        return math.inf if first is None or last is None else float(last - first)

    def corners(self, first: End, last: End) -> list[Fraction]:
        return [Fraction(k) for k in range(int(first), int(last) + 1)]

    @property
    def has_moments(self) -> bool:
        return not self.whole or (self.sigma >= CELL_SIGMA_MIN and float(self.shift) <= SHIFTS_MAX * self.sigma)

    def rounded(self, stretch: DensitySegment) -> DensitySegment:
        if not self.whole:
            return stretch
        assert isinstance(stretch, NormalSegment)
        return CellSegment(stretch, arb(self.sigma), self.ball_shift)

    def ball_size(self) -> arb:
        return self.ball_shift / arb(self.sigma)

    def zcdp_rho(self) -> arb:
        return (self.ball_shift / arb(self.sigma)) ** 2 / 2

    def gdp_mu(self) -> arb:
        return self.ball_size()
