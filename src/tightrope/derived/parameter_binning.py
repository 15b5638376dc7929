"""Many uses between few kinds, pooled: each a combination of two laws of the loss.

Of pairs A and B and weights v_i >= 0 use i has the law (1 - v_i) A + v_i B of its loss: for v_i <= 1 a public choice
between the two, beyond 1 a law only where B has at least (1 - 1/v_i) times the density of A. M_i = M_A + v_i (M_B -
M_A) for the moments, so the cgf of all uses costs as much as those of the kinds. Tails and profile are those of a
product, and refuse.
Guarantee: exact for these laws; what they bound is said by who makes them. Proof: docs/proofs/pools.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from flint import arb

from ..errors import UnsupportedMechanism
from ..operators import is_opaque
from ..pair import LossRange, Pair

if TYPE_CHECKING:
    from ..facets.cgf import Cgf


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
        from .parameter_binning_cgf import ParameterBinningCgf

        return ParameterBinningCgf(self)


@is_opaque.register(ParameterBinningPair)
def _(pair: ParameterBinningPair) -> bool:
    return True
