"""The pair of a loss that is known by its log moment function only.

(Q, P) has E_Q[e^{-z l}] = E_P[e^{(-1 - z) l}], so K(-1 - z) is its log moment function. There are no tails and no
profile: the contour reads K, engines that need more refuse.
Guarantee: what holds for every loss with the claimed K. Proof: docs/proofs/moments.md.
Reference: Zhu, Dong, Wang 2021, Sec. 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from flint import acb, arb

from ...errors import UnsupportedMechanism
from ...facets.moments import Moments
from ...operators import is_opaque
from ...pair import LossRange, Pair
from .claims import Claims

if TYPE_CHECKING:
    from .cgf import MomentCgf


@dataclass(frozen=True)
class MomentPair(Pair):
    """The claims; flipped: P and Q exchanged."""

    claims: Claims
    flipped: bool = False

    def place(self, z: acb) -> acb:
        """Where K is asked for that of this pair at z."""
        return -1 - z if self.flipped else z

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        self._demand_reach()
        raise UnsupportedMechanism(
            "moments of its loss are all that is known, and a contour alone reads them: claim how they fall (decay), "
            "widen the strip, or compose it with noise that has a cgf, such as Gaussian"
        )

    tails = hockey_stick = ball_tails = ball_hockey_stick = _not_known

    def _demand_reach(self) -> None:
        """A contour runs through some tilt above 0."""
        if not self.tilts[1] > 0.0:
            side, own, other = ("left of -1", "add", "remove") if self.flipped else ("right of 0", "remove", "add")
            raise UnsupportedMechanism(
                f"log_moment is not claimed {side}, which direction='{own}' needs at epsilon 0 and above, and "
                f"direction='{other}' below 0; widen strip"
            )

    @property
    def tilts(self) -> tuple[float, float]:
        """The strip of this direction, approximately."""
        low, high = self.claims.strip
        return (-1.0 - high, -1.0 - low) if self.flipped else (low, high)

    def reversed(self) -> MomentPair:
        return MomentPair(self.claims, not self.flipped)

    def infinite_mass(self) -> arb:
        """Zero where that is claimed, else read off K."""
        claimed, place = (self.claims.infinite_mass, 0) if not self.flipped else (self.claims.lost_mass, -1)
        return -self.claims.at(acb(place)).real.expm1() if claimed else arb(0)

    def loss_range(self) -> LossRange:
        """Nothing is known."""
        return LossRange(arb.nan(), arb.nan())

    def cgf(self) -> MomentCgf:
        return self._cgf

    @cached_property
    def _cgf(self) -> MomentCgf:
        from .cgf import MomentCgf

        self._demand_reach()
        return MomentCgf(self)

    def moments(self) -> ClaimedMoments:
        return ClaimedMoments(self)


class ClaimedMoments(Moments[MomentPair]):
    def log_moment(self, z: acb) -> acb:
        return self.pair.claims.at(self.pair.place(z))


@is_opaque.register(MomentPair)
def _(pair: MomentPair) -> bool:
    return True
