"""Gaussian noise rounded up to whole numbers: the moments of its cells by those of what they are cells of.

With s = sigma^-2, d = D s and A(y) the integral of e^{-yu - su^2/2} over [-1/2, 1/2], the cell around m has
P^(1+z) Q^(-z) = (integral of p^(1+z) q^(-z) over the cell) e^{(1+z) L(a) - z L(b) - L(a - zd)}, L = log A,
a = (m - D) s, b = ms. The square term of L leaves q(z) = e^{-kappa z(1+z) d^2/2}, the same for all cells, with
kappa = L''(0) within s^2/512 of 1/12 - s/360; the rest is e^E with |E| <= 0.19 (|z| + |z|^2) d^2 w^2/2,
w = max(|a|, |b|) + |z| d <= 1.
The transform of cells returns: it is bounded up to the time 4 pi/(3 d) only, from |f| <= 1/2 (sum of |p_k + p_(k+m)
e^{it(L_(k+m) - L_k)}|), which pairs cells that are about half a turn apart.
Guarantee: exact, upper for decay. Proof: docs/proofs/truncated.md, "Cells of Gaussian noise".
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import acb, arb

from .density_segment import DensitySegment, NormalSegment, PartShape
from .segment_decay import NormalDecay, SegmentDecay

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
