"""Groups of records in a sample: as many steps of a chain as records are in it.

Each of the group's records is in the sample or not; j of them are with probability w_j. For every event the sampled
mechanism has the power sum w_j g^(j)(x) at most, g^(j) the chain of j steps of the base, and shifted log-concave noise
has it: one event is the best for all j. The pair of this power is (sum w_j M_j, M_0), M_j the noise at j shifts.
Where a family knows its mixture (operators.shift_mixture) that is the pair; else it is known between two finite ones.
Guarantee: upper and lower. Proof: docs/proofs/group.md, section 6.
Reference: Ganesh 2024, Tight group-level DP guarantees for DP-SGD with sampling via mixture of Gaussians mechanisms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from flint import arb

from ..errors import UnsupportedMechanism
from ..facets.cumulant import cumulant_above
from ..facets.moments import Moments
from ..facets.participation_law import ParticipationLaw
from ..operators import has_bracket_only, remake, shift_mixture
from ..pair import LossRange, Pair
from ..relation import Direction

if TYPE_CHECKING:
    from ..facets.resolution import Resolution


def group_participation_pair(remove: Pair, hits: ParticipationLaw, direction: Direction) -> Pair:
    """The pair of a group in a sample; `remove` is that of removing one record from the base."""
    return shift_mixture(remove, hits, direction) or GroupParticipationPair(remove, hits, direction)


@dataclass(frozen=True)
class GroupParticipationPair(Pair):
    """base: of removing one record, whatever the direction."""

    base: Pair
    hits: ParticipationLaw
    direction: Direction

    def bases(self) -> tuple[Pair, ...]:
        return (self.base,)

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair]:
        from .group_privacy_bracket import bracket_mixture

        below, above = bracket_mixture(self.base, self.hits, fine)
        return (below, above) if self.direction is Direction.REMOVE else (below.reversed(), above.reversed())

    def _not_known(self, *at: Any, **named: Any) -> NoReturn:
        raise UnsupportedMechanism("the law of this group is known between two finite ones; engine='joint' has it")

    tails = ball_tails = hockey_stick = ball_hockey_stick = _not_known

    def reversed(self) -> Pair:
        return GroupParticipationPair(self.base, self.hits, self.direction.opposite)

    def infinite_mass(self) -> arb:
        from .group_privacy import group_pair

        if self.direction is Direction.ADD:  # one law is a mixture with the other in it
            return arb(0)
        masses = [group_pair(self.base, j).infinite_mass() for j in range(1, self.hits.most + 1)]
        return sum((weight * mass for weight, mass in zip(self.hits.weights()[1:], masses, strict=True)), arb(0))

    def loss_range(self) -> LossRange:
        """Slopes are sums of w_j e^l, l a loss of j steps."""
        from .group_privacy import group_pair

        low = high = self.hits.weights()[0]
        for j, weight in enumerate(self.hits.weights()[1:], 1):
            ends = group_pair(self.base, j).loss_range()
            low, high = low + weight * ends.lowest.exp(), high + weight * ends.highest.exp()
        lost = not self.base.reversed().infinite_mass().is_zero()
        lowest = (self.hits.weights()[0].union(low) if lost else low).log()
        highest = high.log() if self.base.infinite_mass().is_zero() else lowest.union(high.log())
        return LossRange(lowest, highest) if self.direction is Direction.REMOVE else LossRange(-highest, -lowest)

    def moments(self) -> GroupParticipationMoments:
        return GroupParticipationMoments(self)


@remake.register(GroupParticipationPair)
def _(pair: GroupParticipationPair, bases: tuple[Pair, ...]) -> Pair:
    return group_participation_pair(bases[0], pair.hits, pair.direction)


class GroupParticipationMoments(Moments[GroupParticipationPair]):
    def log_moment_above(self, order: float) -> arb | None:
        """e^K <= sum of w_j e^K_j, K_j of j steps: a divergence is convex in each of its laws.

        Proof: docs/proofs/renyi.md, section 4.
        """
        from .group_privacy import group_pair

        base = self.pair.base if self.pair.direction is Direction.REMOVE else self.pair.base.reversed()
        if not base.infinite_mass().is_zero():
            return None
        none, *weights = self.pair.hits.weights()
        moments = [arb(cumulant_above(group_pair(base, j), order)).exp() for j in range(1, self.pair.hits.most + 1)]
        return sum((weight * moment for weight, moment in zip(weights, moments, strict=True)), none).log()


@has_bracket_only.register(GroupParticipationPair)
def _(pair: GroupParticipationPair) -> bool:
    return True
