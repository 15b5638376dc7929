"""One epoch over shuffled batches: the data in a random order, cut into so many batches, one step on each.

Claim, replacing a record: with C the sensitivity of the base, Gaussian noise, under adding or removing a record, one
Gaussian of sensitivity 2 C dominates the epoch, whatever the order: given the order one batch differs.
We know of no better theorem, and a number for Poisson samples is no bound: real neighbours lose more.
Groups of k replaced records: given the order, j_t of them are in batch t, and a Gaussian of sensitivity 2 C times the
root of the sum of j_t^2 dominates; the union of these over the law of k balls in steps - 1 boxes does.
Lower ends: all other records show the opposite of the first one, whose replacement shows the same as they. What the
largest coordinate and the sum of all batches tell of these two data sets are pairs of real neighbours.
Reference: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024, How private are DP-SGD implementations? (the
largest coordinate, of a record against nothing), and Scalable DP-SGD: shuffling vs. Poisson subsampling (several
epochs). Proof: docs/proofs/shuffled_batches.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..derived.product import product_pair
from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism
from ..mechanisms.facts import Theorem
from ..mechanisms.parameters import whole
from ..operators import hidden_participation, shifted_pair
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .scattered import SPREAD_MAX, square_blocks
from .theorems import SHUFFLED_BATCHES, WITNESS

BATCHES_MAX = 10**12


@dataclass(frozen=True, slots=True, repr=False)
class ShuffledBatches(Transformation):
    """One epoch of the base over `steps` batches, which are parts of the shuffled data; every record is in one of them.

    The base is Gaussian noise, and has its sensitivity under adding or removing a record: C for records clipped to C.
    Neighbours differ by a record that is replaced. Several epochs are several uses, each with an order of its own.
    The batches are of one size, but for the last, which may be smaller.
    """

    call = "shuffled_batches"
    example = "Gaussian(sigma=1).shuffled_batches(steps=100)"
    relation = Relation.REPLACE
    formula = (
        "at most N(2 C, sigma^2) against N(0, sigma^2) per epoch, C the sensitivity; at least the largest coordinate: "
        "P[M <= m] = Phi((m - 2 C)/sigma) Phi(m/sigma)^(steps - 1), Q[M <= m] = Phi(m/sigma)^steps; and the sum: "
        "N(2 C, steps sigma^2) against N(0, steps sigma^2)"
    )
    theorem = (
        "given the order one batch differs (upper end); Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024 "
        "(lower end, of a record against nothing); [proof](proofs/shuffled_batches.md)"
    )
    tightness = (
        "Not tight, but for one step: we know of no theorem on amplification by shuffling for several steps, so the "
        "upper end has none, and lower ends are those of real neighbours. `.poisson(rate=1/steps) * steps` is no bound "
        "for shuffled batches: they can lose much more, since every record is used for certain (Chua et al. 2024)."
    )
    relations = (
        "A record is replaced; the base has its sensitivity under adding or removing one (C for records clipped to "
        "norm C). Upper ends of single records hold for whatever order that was chosen without looking at the data, "
        "also one for all epochs; lower ends and groups for an order drawn anew in each epoch."
    )
    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        if self.steps > BATCHES_MAX:
            raise InvalidParameter(f"steps must be at most {BATCHES_MAX:,}, not {self.steps}")
        self.rests_on.demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        return SHUFFLED_BATCHES

    @property
    def everywhere(self) -> bool:
        return self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.base.known_in_groups

    @property
    def tight(self) -> bool:
        return self.steps == 1 and self.base.tight

    @property
    def attained(self) -> bool:
        return WITNESS.holds(self.base)

    def needs_others(self, batch: int | None) -> bool:
        """One in every other batch."""
        return self.steps > 1 and (batch is None or batch < self.steps)

    def pair(self, direction: Direction) -> Pair:
        return self._moved(1)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """By how many pairs of the group share a batch. Proof: docs/proofs/shuffled_batches.md, section 4."""
        boxes = self.steps - 1 if self.steps > 1 else 1
        if boxes == 1 or not 1 < size <= SPREAD_MAX:
            return self._moved(size**2)
        from ..derived.public_mixture import ExactWeights, PublicMixturePair
        from ..kernels.occupancy import squares_law

        shares, squares = zip(*square_blocks(squares_law(size, boxes).items()), strict=True)
        return PublicMixturePair(ExactWeights(shares), tuple(self._moved(square) for square in squares))

    def replaced_pair(self, size: int) -> Pair:
        return self.group_pair(size, Direction.REMOVE)

    def group_tight(self, size: int) -> bool:
        return self.steps == 1 and self.base.group_tight(2 * size)

    def group_witness(self, size: int) -> Mechanism:
        return GroupedEpoch(self.base, self.steps, size)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        return self._witnesses(1)

    def _witnesses(self, size: int) -> tuple[Pair, ...]:
        """What a group of so many shows."""
        if self.steps == 1:
            return (self._moved(size**2),)
        shown = hidden_participation(self._moved(1), self.steps, size)
        return tuple(dict.fromkeys(order for pair in shown for order in (pair, pair.reversed())))

    def _moved(self, square: int) -> Pair:
        """The base at 2 C times the root of this."""
        moved = shifted_pair(self.base.pair(Direction.REMOVE), 2)
        if moved is None:
            raise InvalidParameter("shuffled batches: the sensitivity of the base is too large")
        return product_pair([(moved, square)])


@dataclass(frozen=True, slots=True, repr=False)
class GroupedEpoch(ShuffledBatches):
    """The same, where so many records are replaced: what its lower ends speak of."""

    size: int

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        return self._witnesses(self.size)
