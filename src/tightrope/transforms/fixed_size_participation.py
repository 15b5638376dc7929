"""Groups of records that are replaced, in a batch: a union over how many of them are in it, glued at 0.

Claim: let j of a group's records be in the batch with probability w_j, whichever of the two groups it is, and let
(P_j, Q_j) dominate the base where j records are replaced. With eta = 1 - w_0, the glued pair
(derived.fixed_size_subsampled) at rate eta of the union of these with the weights w_j/eta dominates: H(alpha) = sum w_j
H_j(1 + (alpha - 1)/eta) for alpha >= 1, and the mirror below.
Reference: Balle, Barthe, Gaboardi 2018, Thm 10 (one record, drawn several times). Proof: docs/proofs/group.md,
section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb

from ..derived.public_mixture import PublicMixturePair, Weights
from ..facets.participation_law import ParticipationLaw
from ..kernels.ball import BITS_START, upper_float, working_precision
from ..mechanisms.base import Mechanism
from ..pair import Pair
from .terms import replaced_pair
from .theorems import GROUP_IN_BATCH

PARTICIPATION_PARTS_MAX = 256  # parts of a union


@dataclass(frozen=True)
class PositiveParticipation(Weights):
    """The law of a number of hits, given that there is one."""

    hits: ParticipationLaw

    def balls(self) -> Sequence[arb]:
        some = self.hit()
        return [weight / some for weight in self.hits.weights()[1:]]

    def hit(self) -> arb:
        """eta."""
        return -self.hits.log_none().expm1()


def fixed_size_participation_pair(base: Mechanism, hits: ParticipationLaw) -> Pair:
    """The pair of a batch of the base with so many hits, each a record that is replaced; one hit at least may be."""
    from ..derived.fixed_size_subsampled import fixed_size_subsampled_pair

    GROUP_IN_BATCH.demand(base)
    weights = PositiveParticipation(hits)
    pairs = tuple(replaced_pair(base, j) for j in range(1, hits.most + 1))
    with working_precision(BITS_START):
        rate = min(upper_float(weights.hit()), 1.0)
    union = pairs[0] if len(pairs) == 1 else PublicMixturePair(weights, pairs)
    return union if rate == 1.0 else fixed_size_subsampled_pair(union, rate)
