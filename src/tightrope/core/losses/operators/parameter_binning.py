"""Many uses between few kinds, pooled: each a combination of two laws of the loss.

Of pairs A and B and weights v_i >= 0 use i has the law (1 - v_i) A + v_i B of its loss: for v_i <= 1 a public choice
between the two, beyond 1 a law only where B has at least (1 - 1/v_i) times the density of A. M_i = M_A + v_i (M_B -
M_A) for the moments, so the cgf of all uses costs as much as those of the kinds. Tails and profile are those of a
product, and refuse.
Guarantee: exact for these laws; what they bound is said by who makes them. Proof: docs/proofs/pools.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from flint import acb, arb

from ...numerics.balls import BITS_START, upper_float, working_precision
from ...numerics.contour_sum import Shares, multiply, pooled, shifted
from ...numerics.enclosures import count_enclosure, exact
from ...numerics.quadrature import TiltedLaw, transform
from ...numerics.rounding import MILLIONS, round_down
from ...values import compute_budget
from ...values.errors import UnsupportedMechanism
from ..cgf import BallTilted, CfDecay, Cgf, Cumulants, Tilted, cgf_of
from ..pair import LossRange, Pair
from .registered import is_opaque

if TYPE_CHECKING:
    from ...numerics.contour_sum import Factor
    from ...numerics.enclosures import Enclosure
    from ...numerics.quadrature import Transform


class ParameterBin(NamedTuple):
    """Uses (1 - v) low + v high for (v, count) weights; low, high and top are places in a list of kinds.

    top: its moments are at or above those of each use. share: at or below the c such that each use, under any tilt,
    has at least c times the law of `high`; None where all v <= 1.
    """

    low: int
    high: int
    top: int
    weights: tuple[tuple[float, int], ...]
    share: float | None = None

    @property
    def uses(self) -> int:
        """How many uses."""
        return sum(count for _, count in self.weights)


@dataclass(frozen=True)
class ParameterBinningPair(Pair):
    """The product over the uses of all cells; the kinds have no infinite loss."""

    kinds: tuple[Pair, ...]
    cells: tuple[ParameterBin, ...]

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Places of the kinds that are combined."""
        return tuple(sorted({place for cell in self.cells for place in (cell.low, cell.high)}))

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("uses in pools are known by their moments only; engine='contour' composes them")

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def reversed(self) -> ParameterBinningPair:
        return ParameterBinningPair(tuple(kind.reversed() for kind in self.kinds), self.cells)

    def infinite_mass(self) -> arb:
        return arb(0)

    def loss_range(self) -> LossRange:
        ends = [kind.loss_range() for kind in self.kinds]
        lowest, highest = arb(0), arb(0)
        for cell in self.cells:
            low, high = ends[cell.low], ends[cell.high]
            lowest += cell.uses * low.lowest.min(high.lowest)
            highest += cell.uses * low.highest.max(high.highest)
        return LossRange(lowest, highest)

    def cgf(self) -> Cgf:

        return ParameterBinningCgf(self)


@is_opaque.register(ParameterBinningPair)
def _(pair: ParameterBinningPair) -> bool:
    return True


# The cgf of pooled uses: sum of n log M_A + sum_i log(1 + v_i (M_B/M_A - 1)) over cells, by a series in M_B/M_A - 1.
#
# Guarantee: float64 with the radii of kernels.bin_factor, or balls; refuses where the series may not converge.
# Proof: docs/proofs/pools.md, section 3.

TOO_FAR = "its kinds are too far apart for pools; engine='lattice' does without them"
BALL_SERIES = 40  # terms of a series that falls like powers of 1/2
BINNING_HALF = 0.5
NODE_TRANSFORM_BYTES = 128.0  # of one node of one transform


@dataclass(frozen=True)
class ParameterBinningCgf(Cgf):
    """K of all uses of all cells."""

    pair: ParameterBinningPair

    @cached_property
    def kinds(self) -> tuple[Cgf, ...]:
        """Those of all kinds."""
        return tuple(cgf_of(kind) for kind in self.pair.kinds)

    @cached_property
    def _uses(self) -> Mapping[int, float]:
        """How many uses of each kind there are, about."""
        found = dict.fromkeys(self.pair.used, 0.0)
        for cell in self.pair.cells:
            moved = math.fsum(weight * count for weight, count in cell.weights)
            found[cell.low] += cell.uses - moved
            found[cell.high] += moved
        return found

    def cumulants(self, tilt: float) -> Cumulants:
        """To first order in the distance of two kinds, which is all that a choice needs."""
        parts = [(self.kinds[place].cumulants(tilt), uses) for place, uses in self._uses.items()]
        return Cumulants(*(math.fsum(uses * part[index] for part, uses in parts) for index in range(3)))

    def log_mgf_above(self, tilt: float) -> float:
        """Those of the tops."""
        tops = {cell.top for cell in self.pair.cells}
        above = {place: arb(self.kinds[place].log_mgf_above(tilt)) for place in tops}
        with working_precision(BITS_START):
            return upper_float(sum((cell.uses * above[cell.top] for cell in self.pair.cells), arb(0)))

    def points(self, tilt: float, reach: float, log_tolerance: float) -> int:
        return sum(self.kinds[place].points(tilt, reach, self._tolerance(log_tolerance)) for place in self.pair.used)

    def _tolerance(self, log_tolerance: float) -> float:
        return log_tolerance + math.log(max(cell.uses for cell in self.pair.cells))

    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> Tilted:

        laws: dict[int, TiltedLaw] = {}
        for place in self.pair.used:
            law = self.kinds[place].tilted(tilt, reach, self._tolerance(log_tolerance))
            assert isinstance(law, TiltedLaw)
            laws[place] = law
        return ParameterBinningTilted(laws, self.pair.cells)

    def ball_tilted(self, tilt: float, reach: float, log_tolerance: float) -> BallTilted:
        tolerance = self._tolerance(log_tolerance)
        laws = {place: self.kinds[place].ball_tilted(tilt, reach, tolerance) for place in self.pair.used}
        return ParameterBinningBallTilted(laws, self.pair.cells)

    def cf_decay(self, tilt: float) -> CfDecay:
        return ParameterBinningDecay(
            {place: self.kinds[place].cf_decay(tilt) for place in self._falling}, self.pair.cells
        )

    def ball_cf_decay(self, tilt: float) -> CfDecay:
        return ParameterBinningDecay(
            {place: self.kinds[place].ball_cf_decay(tilt) for place in self._falling}, self.pair.cells
        )

    @cached_property
    def _falling(self) -> set[int]:
        """The kinds that bound |phi| of some cell."""
        return {
            place for cell in self.pair.cells for place in (cell.high, *((cell.low,) if cell.share is None else ()))
        }


@dataclass(frozen=True)
class ParameterBinningDecay:
    """|phi| of all uses: of a choice the larger of the two, else 1 - share (1 - |phi_high|), as often."""

    kinds: Mapping[int, CfDecay]
    cells: tuple[ParameterBin, ...]

    def log_bound(self, radius: float) -> float:
        bounds = {place: decay.log_bound(radius) for place, decay in self.kinds.items()}
        total = 0.0
        for cell in self.cells:
            one = bounds[cell.high]
            if cell.share is None:
                one = max(one, bounds[cell.low])
            else:
                one = math.log1p(round_down(cell.share * math.expm1(one), MILLIONS))
            total += cell.uses * min(one, 0.0)
        return round_down(total, MILLIONS)


@dataclass(frozen=True)
class ParameterBinningTilted:
    """The tilted laws of the kinds, in float64."""

    laws: Mapping[int, TiltedLaw]
    cells: tuple[ParameterBin, ...]

    @cached_property
    def drift(self) -> Enclosure:
        """As if all uses were the lower kind of their cell."""

        return sum((self.laws[cell.low].drift * count_enclosure(cell.uses) for cell in self.cells), exact(0.0))

    @cached_property
    def log_mgf(self) -> Enclosure:
        """The sum over all cells."""

        lows = (self.laws[cell.low].log_mgf * count_enclosure(cell.uses) for cell in self.cells)
        return sum(lows, exact(0.0)) + self._lift

    @cached_property
    def _lift(self) -> Enclosure:
        """sum of log(1 + v_i (rho - 1))."""
        import numpy as np

        total = exact(0.0)
        for cell in self.cells:
            rise = (self.laws[cell.high].log_mgf - self.laws[cell.low].log_mgf).expm1()
            shares, counts = (exact(np.array(column, dtype=np.float64)) for column in zip(*cell.weights, strict=True))
            total = total + ((shares * rise).log1p() * counts).sum()
        return total

    def factor(self, step: float, nodes: int, count: int) -> Factor:
        import numpy as np

        if count != 1:
            raise UnsupportedMechanism(TOO_FAR)
        compute_budget.hold(NODE_TRANSFORM_BYTES * nodes * len(self.cells))
        times = step * np.arange(nodes, dtype=np.float64)
        kept: dict[int, Transform] = {}
        found: list[Factor] = []
        for cell in self.cells:  # in rising order: what lies below is not needed again
            places = cell.low, cell.high
            kept = {place: kept.get(place) or transform(self.laws[place], step, nodes) for place in places}
            low, high = self.laws[cell.low], self.laws[cell.high]
            between = high.log_mgf - low.log_mgf, high.drift - low.drift
            one = pooled(kept[cell.low], kept[cell.high], *between, times, Shares.of(cell.weights))
            if one is None:
                raise UnsupportedMechanism(TOO_FAR)
            found.append(one)
        return shifted(multiply(found), self._lift)


@dataclass(frozen=True)
class ParameterBinningBallTilted:
    """The same in balls, by the same series."""

    laws: Mapping[int, BallTilted]
    cells: tuple[ParameterBin, ...]

    @property
    def log_mgf(self) -> arb:
        """The sum over all cells."""
        return sum((cell.uses * self.laws[cell.low].log_mgf + self._lift(cell) for cell in self.cells), arb(0))

    def _lift(self, cell: ParameterBin) -> arb:
        rise = (self.laws[cell.high].log_mgf - self.laws[cell.low].log_mgf).expm1()
        return sum((count * (arb(weight) * rise).log1p() for weight, count in cell.weights), arb(0))

    def phi(self, step: float | arb, nodes: int) -> list[acb]:
        transforms = {place: law.phi(step, nodes) for place, law in self.laws.items()}
        values = [acb(1)] * nodes
        for cell in self.cells:
            ratio = (self.laws[cell.high].log_mgf - self.laws[cell.low].log_mgf).exp()
            sums = [
                sum((count * arb(weight) ** order for weight, count in cell.weights), arb(0))
                for order in range(BALL_SERIES)
            ]
            lift, largest = self._lift(cell), arb(max(weight for weight, _ in cell.weights))
            for place, (low, high) in enumerate(zip(transforms[cell.low], transforms[cell.high], strict=True)):
                log = _log_product((ratio * high - low) / low, sums, largest)
                values[place] *= low**cell.uses * (log - lift).exp()
        return values


def _log_product(rest: acb, sums: list[arb], largest: arb) -> acb:
    """sum of log(1 + v_i rest), given the sums of powers of v; what the series leaves out is in the ball."""
    size = arb(abs(rest).upper())
    if not largest * size < BINNING_HALF:
        raise UnsupportedMechanism(TOO_FAR)
    log = acb(0)
    for order in range(BALL_SERIES - 1, 0, -1):
        log = (log + (-1) ** (order + 1) * sums[order] / order) * rest
    error = arb(0, (2 * sums[1] * size * (largest * size) ** (BALL_SERIES - 1)).upper())
    return log + acb(error, error)
