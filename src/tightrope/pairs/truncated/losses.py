"""All finite losses of truncated noise, and of others like it: a few atoms, and a stretch with a density.

M(z) = sum of m e^{z l} over atoms of mass m at the loss l, plus the moment of the stretch. Under the tilt c the atoms
weigh a in all and the stretch 1 - a, so that |phi(t)| <= a + (1 - a) |f(t)|, f the transform of the stretch.
Guarantee: exact, upper for decay. Proof: docs/proofs/truncated.md, "Moments" and "Decay".
Reference: Meiser, Mohammadi 2018, Sec. 5.1, 5.2 and 7.1 (the noise); Zhu, Dong, Wang 2021, Sec. 4 (its transform).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from flint import acb, arb, ctx

from ...errors import UnsupportedMechanism
from ...facets.cgf import CfDecay, Cgf, Cumulants
from ...kernels.ball import BITS_START, complex_log, lower_float, upper_float, working_precision
from ..node_powers import PowerTilted
from .density_segment import DensitySegment, PartShape, bits_of
from .segment_decay import SegmentDecay

NODE_POINTS = 15000  # a node takes 50 to 200 microseconds; where thousands are needed a lattice is as fast
LEAST_VARIANCE = 1e-300
SPARE_STEP = 64  # bits: what is worked out at one precision serves many tilts


class Spread(NamedTuple):
    """K, the mean, and central moments 2 and 4 of a tilted loss."""

    log: arb
    mean: arb
    second: arb
    fourth: arb


@dataclass(frozen=True)
class Losses:
    """atoms: mass under the first law, and loss."""

    atoms: tuple[tuple[arb, arb], ...]
    segment: DensitySegment | None

    def moment(self, z: acb) -> acb:
        """M(z)."""
        value = acb(0) if self.segment is None else self.segment.moment(z)
        return sum((mass * (z * loss).exp() for mass, loss in self.atoms), value)

    def spare_bits(self, tilt: float, time: float) -> int:
        """Bits that M(tilt + i time) loses, about."""
        size = sum((abs(loss) for _, loss in self.atoms), arb(1))
        known = 24 + bits_of((abs(arb(tilt)) + time + 1) * size)
        most = known if self.segment is None else max(known, self.segment.spare_bits(tilt, time))
        return SPARE_STEP * math.ceil(most / SPARE_STEP)

    def spread(self, tilt: float) -> Spread:
        """How the tilted loss lies, atoms and stretch together."""
        none = arb(0)
        parts = [
            PartShape(mass.log() + tilt * loss, loss, none, none, none, none) for mass, loss in self.atoms if mass > 0
        ]
        if self.segment is not None:
            parts.append(self.segment.shape(tilt))
        top = max((part.log.mid() for part in parts), key=float)
        weights = [(part.log - top).exp() for part in parts]
        total = sum(weights, none)
        shares = [(weight / total, part) for weight, part in zip(weights, parts, strict=True)]
        mean = sum((share * (part.centre + part.beyond) for share, part in shares), none)
        second, fourth = none, none
        for share, part in shares:
            d = part.centre + part.beyond - mean
            square = d * d
            second += share * (part.second + square)
            fourth += share * (part.fourth + 4 * d * part.third + 6 * square * part.second + square * square)
        return Spread(top + total.log(), mean, second, fourth)


class Exact(Protocol):
    """What knows all its finite losses."""

    def exact_losses(self) -> Losses:
        """At the working precision."""


@dataclass(frozen=True)
class LossesBallTilted:
    """The tilted loss in balls."""

    pair: Exact
    tilt: float

    @property
    def log_mgf(self) -> arb:
        with working_precision(ctx.prec + self.pair.exact_losses().spare_bits(self.tilt, 0.0)):
            return self.pair.exact_losses().moment(acb(self.tilt)).real.log()

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        reach = float((arb(step) * nodes).mid())
        with working_precision(ctx.prec + self.pair.exact_losses().spare_bits(self.tilt, reach)):
            losses = self.pair.exact_losses()
            whole = losses.moment(acb(self.tilt)).real
            return [losses.moment(acb(self.tilt, arb(step) * index)) / whole for index in range(nodes)]


@dataclass(frozen=True)
class LossesDecay:
    """share: that of the stretch. early: how the whole loss falls at small times, where that is known."""

    share: arb
    fall: SegmentDecay
    early: Early | None
    bits: int

    def log_bound(self, radius: float) -> float:
        with working_precision(self.bits):
            value = self._log_by_fall(arb(radius))
            if self.early is not None:
                gone, later = self.early.until(arb(radius))
                value = value.min(self._log_by_fall(later).max((-gone).log1p() / 2))
            return min(0.0, upper_float(value))

    def _log_by_fall(self, radius: arb) -> arb:
        return (self.share * (self.fall.beyond(radius) - 1)).log1p()


@dataclass(frozen=True)
class Early:
    """1 - |phi(t)|^2 >= q(t^2), q(x) = V x - W x^2, V the variance and W = E(L - L')^4/24 = (mu_4 + 3 V^2)/12."""

    second: arb
    quarter: arb

    def until(self, radius: arb) -> tuple[arb, arb]:
        """At or below q from the radius on up to a later time: it is concave, so its ends tell."""
        square = radius * radius
        later = (self.second / self.quarter - square).lower()
        if not later > square:
            return arb(0), radius
        return self._gone(square).min(self._gone(later)).max(arb(0)), later.sqrt().lower()

    def _gone(self, square: arb) -> arb:
        """q."""
        return square * (self.second - self.quarter * square)


@dataclass(frozen=True)
class LossesCgf(Cgf):
    """K of truncated noise."""

    pair: Exact

    def cumulants(self, tilt: float) -> Cumulants:
        with working_precision(BITS_START):
            spare = self.pair.exact_losses().spare_bits(tilt, 0.0)
        with working_precision(BITS_START + spare):
            log, mean, second, _ = (float(value.mid()) for value in self.pair.exact_losses().spread(tilt))
        if not math.isfinite(log + mean + second):
            raise UnsupportedMechanism("its losses cannot be told apart under this tilt; try engine='lattice'")
        return Cumulants(log, mean, max(second, LEAST_VARIANCE))

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return NODE_POINTS

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> PowerTilted:
        from ...kernels.enclosure import enclosed, exact

        law = LossesBallTilted(self.pair, tilt)
        with working_precision(BITS_START):
            return PowerTilted(enclosed([law.log_mgf])[0], exact(self.cumulants(tilt).mean), law)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> LossesBallTilted:
        return LossesBallTilted(self.pair, tilt)

    def horizon(self) -> float:
        with working_precision(BITS_START):
            stretch = self.pair.exact_losses().segment
            ends = None if stretch is None else stretch.horizon()
            return math.inf if ends is None else lower_float(ends)

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        with working_precision(BITS_START):
            bits = BITS_START + self.pair.exact_losses().spare_bits(tilt, 0.0)
        with working_precision(bits):
            losses = self.pair.exact_losses()
            if losses.segment is None:
                return Cgf.ball_cf_decay(self, tilt)
            share = losses.segment.moment(acb(tilt)).real / losses.moment(acb(tilt)).real
            _, _, second, fourth = losses.spread(tilt)
            early = Early(second, (fourth + 3 * second * second) / 12) if losses.segment.horizon() is None else None
            return LossesDecay(share, losses.segment.cf_decay(tilt), early, bits)


def log_moment(losses: Callable[[], Losses], z: acb) -> acb:
    """K(z) by the formula."""
    spare = losses().spare_bits(float(z.real.mid()), abs(float(z.imag.mid())))
    with working_precision(ctx.prec + spare):
        value = losses().moment(z)
        return acb(value.real.log()) if z.imag.is_zero() else complex_log(value)
