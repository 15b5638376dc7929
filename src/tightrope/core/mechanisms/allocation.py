"""Random allocation (balls and bins): each record takes part in so many of the steps, all choices alike.

Claim, adding or removing a record, one use: let (P, Q) dominate a step, with the record and without it, and let
Y_i = dP/dQ be independent under Q. Then (mean over i of Q x ... x P x ... x Q, Q x ... x Q) dominates the run, with
L = (Y_1 + ... + Y_steps)/steps for remove; H(a) = E(L - a)_+ + P[Q = 0]. For add H(a) = E(1 - a L)_+ with (Q, P) the
pair of that direction. A step may be chosen by what was seen before it. Tight where the base is.
Claim, several uses: L is the mean over all sets of `uses` steps of the products of their Y_i. Of Gaussian noise that is
what is bounded, from both sides. Of other noise the composition of `uses` blocks of steps, whose sizes differ by one at
most, with one use in each: the run is a mixture of such, so that this dominates. It is not attained.
All steps: the composition of so many uses of the base. Groups, in one use of Gaussian noise: allocation.py.
Reference: Feldman, Shenfeld 2025 and 2026; Chua et al. 2025 (balls and bins). Proof: docs/proofs/allocation.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from ..losses.operators.product import product_pair
from ..losses.operators.public_mixture import ExactWeights, PublicMixturePair
from ..losses.operators.registered import hidden_participation, shifted_pair
from ..losses.pair import Pair
from ..numerics.counting import divisions_law, squares_law
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation
from .base import Mechanism
from .composition import Transformation, repeat
from .parameters import whole
from .theorems import (
    ALLOCATED_SETS,
    ALLOCATION,
    EVERY_STEP,
    GROUP_SCATTERED,
    SAMPLE_WITNESS,
    SHUFFLED_BATCHES,
    WITNESS,
    Theorem,
)

# Groups of records that are scattered over the steps of an epoch of Gaussian noise, by which of them share a step.
#
# Claim: k records draw one of t steps each, independently. Given which of them share a step, and with r steps that have
# some of them, j_1, ..., j_r records, the product of r allocations to floor(t/r) steps, the i-th of the base where j_i
# records differ, dominates. More steps with records, or more records in a step, dominate fewer. So does noise at the
# root of the sum of the squares, where all steps are told. The union of such pairs, with the law of the divisions of k
# balls in t boxes, dominates the epoch.
# Guarantee: as the union and the allocation. Proof: docs/proofs/allocation.md, section 6.
# Reference: ours.

SPREAD_MAX = 32  # records of a group whose division among the batches is worked out
SHARE_MIN = 1e-6  # of a number of joint hits that counts by itself
BLOCK = Fraction(
    9, 8
)  # of the largest to the least of rarer ones, which count as the largest; each time by so much more
# Of all that are left: divisions that count together as one that is above each, where there are more of them than
# shares here. What is rarer still is told.
CLASS_SHARES = (Fraction(3, 4), Fraction(3, 4), *[Fraction(199, 200)] * 3)
RARE = Fraction(1, 10**10)  # together: as rare as to be told in any case

Division = tuple[int, ...]  # records in each of the steps that have some, falling
_NONE: Division = ()


def scattered_pair(base: Mechanism, size: int, steps: int, direction: Direction) -> Pair:
    """The pair of a group of 2 to SPREAD_MAX records, each in one of so many steps, two or more, of Gaussian noise."""
    from ..losses.operators.allocation.allocated import allocated_pair

    GROUP_SCATTERED.demand(base)
    law = sorted(divisions_law(size, steps), key=lambda row: (_square(row[0]), row[0]))
    shares: list[Fraction] = []
    pairs: list[Pair] = []
    for share, parts in _classes(law):
        value = steps // len(parts)
        factors = ((base.group_pair(j, direction), parts.count(j)) for j in sorted(set(parts)))
        pairs.append(product_pair((allocated_pair(pair, value, direction), count) for pair, count in factors))
        shares.append(share)
    told = 1 - sum(shares, Fraction(0))
    if told:
        rest = list(_rest(law, told))
        for share, square in square_blocks(rest):
            pairs.append(product_pair([(base.group_pair(1, direction), square)]))
            shares.append(share)
    return pairs[0] if len(pairs) == 1 else PublicMixturePair(ExactWeights(tuple(shares)), tuple(pairs))


def _classes(law: Sequence[tuple[Division, Fraction]]) -> Iterator[tuple[Fraction, Division]]:
    """Shares of the law from its start, and a division above each of those in it."""
    rows, left = iter(law), Fraction(1)
    for least in CLASS_SHARES if len(law) > len(CLASS_SHARES) else [Fraction(0)] * len(law):
        share, above = Fraction(0), _NONE
        while not share or share < least * left:
            parts, own = next(rows)
            share, above = share + own, tuple(max(pair) for pair in zip_longest(above, parts, fillvalue=0))
        yield share, above
        left -= share
        if left <= RARE:
            return


def _rest(law: Iterable[tuple[Division, Fraction]], told: Fraction) -> Iterator[tuple[int, Fraction]]:
    """The end of the law with this share, by the sums of squares."""
    found: dict[int, Fraction] = {}
    passed = Fraction(0)
    for parts, own in law:
        if passed >= 1 - told:
            found[_square(parts)] = found.get(_square(parts), Fraction(0)) + own
        passed += own
    yield from found.items()


def _square(parts: Division) -> int:
    return sum(part * part for part in parts)


def square_blocks(law: Iterable[tuple[int, Fraction]]) -> list[tuple[Fraction, int]]:
    """The shares of the law of a number, which rises, and the number each of them counts as: at or above its own."""
    found: list[tuple[Fraction, int]] = []
    share, first, last, wide = Fraction(0), 0, 0, BLOCK
    for square, own in law:
        if share >= SHARE_MIN or (share and square > wide * first):
            wide *= BLOCK if share < SHARE_MIN else 1
            found.append((share, last))
            share = Fraction(0)
        first = square if not share else first
        share, last = share + own, square
    return [*found, (share, last)]


@dataclass(frozen=True, slots=True, repr=False)
class RandomAllocation(Transformation):
    """The base mechanism at each of so many steps; every record is in `uses` of them, chosen by itself at random.

    One epoch over batches that are filled so: each step runs on those records whose step it is. The base has its
    sensitivity under adding or removing a record: C for records clipped to norm C. A composition is one step.
    """

    call = "random_allocation"
    example = "Gaussian(sigma=1).random_allocation(steps=100)"
    relation = Relation.ADD_REMOVE
    formula = (
        "Y_i = dP/dQ of step i, independent under Q, L their mean over the steps; remove: H(a) = E(L - a)_+ + w, "
        "add: H(a) = E(1 - a L)_+, w the mass of P where Q has none. Several uses: L is the mean over all sets of "
        "`uses` steps of the products of their Y_i, for Gaussian noise; for other noise composition of `uses` blocks "
        "of steps, one use in each"
    )
    theorem = (
        "Feldman, Shenfeld 2025 and 2026; Chua, Ghazi, Harrison et al. 2025 (balls and bins); "
        "[proof](proofs/allocation.md)"
    )
    tightness = (
        "One use, as many uses as steps, and any uses of Gaussian noise: tight where the base is, also under "
        "composition (a new allocation each time); else lower ends are those of its real neighbours. Several uses of "
        "other noise, more than 256, or of more than 131072 steps: not tight, and lower ends speak of the dominating "
        "pair."
    )
    relations = (
        "A record is added or removed; the base has its sensitivity under that (C for records clipped to norm C). "
        "Replacing one is not covered, nor is one order of the records for several epochs, nor batches of fixed size."
    )
    steps: int
    uses: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", whole("steps", self.steps, least=1))
        object.__setattr__(self, "uses", whole("uses", self.uses, least=1))
        if self.uses > self.steps:
            raise InvalidParameter(
                f"uses must be at most steps, {self.steps}, not {self.uses}: a record is in a step once at most"
            )
        (EVERY_STEP if self.uses == self.steps else ALLOCATION).demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        """All records at each step need no size."""
        if self.uses == self.steps:
            return EVERY_STEP
        return ALLOCATED_SETS if self._by_sets else ALLOCATION

    @property
    def everywhere(self) -> bool:
        return self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.base.known_in_groups if self.uses == self.steps else self.base.everywhere

    @property
    def _everywhere(self) -> Mechanism | None:
        """Where every record is in every step: the composition, the base itself where there is one step."""
        return repeat(self.base, self.steps) if self.uses == self.steps else None

    @property
    def _by_sets(self) -> bool:
        """Whether several uses have the pair of all sets, and not that of blocks: so has what is below them."""
        from ..losses.operators.allocation.several_steps import sets_known

        if self.uses in (1, self.steps) or not ALLOCATED_SETS.holds(self.base):
            return False
        pairs = (
            pair for direction in Direction for pair in (self.base.pair(direction), *self.base.witnesses(direction))
        )
        return all(sets_known(pair, self.steps, self.uses) for pair in pairs)

    @property
    def tight(self) -> bool:
        return self.base.tight and (self.uses in (1, self.steps) or self._by_sets)

    @property
    def attained(self) -> bool:
        every = self._everywhere
        if every is not None:
            return every.attained
        return (self.uses == 1 or self._by_sets) and SAMPLE_WITNESS.holds(self.base)

    @property
    def attained_once(self) -> bool:
        every = self._everywhere
        return self.attained if every is None else every.attained_once

    def pair(self, direction: Direction) -> Pair:
        every = self._everywhere
        return self._allocated(self.base.pair(direction), direction) if every is None else every.pair(direction)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        """The same floor at every step, with the record and without it; of blocks nothing is known below the pair."""
        every = self._everywhere
        if every is not None:
            return every.witnesses(direction)
        if self.uses > 1 and not self._by_sets:
            return (self.pair(direction),)
        return tuple(self._allocated(floor, direction) for floor in self.base.witnesses(direction))

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        """Neighbours that are real at one point only have no law that steps could mix."""
        every = self._everywhere
        return self.witnesses(direction) if every is None else every.witnesses_once(direction)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """Of Gaussian noise, one use: by which of the group share a step. Of all steps: the group at each.

        Else a chain: whatever the other records, each link of it has this pair. Proof: docs/proofs/allocation.md,
        section 6.
        """
        every = self._everywhere
        if every is not None:
            return every.group_pair(size, direction)
        if self.uses == 1 and 1 < size <= SPREAD_MAX and GROUP_SCATTERED.holds(self.base):
            return scattered_pair(self.base, size, self.steps, direction)
        return Transformation.group_pair(self, size, direction)

    def group_tight(self, size: int) -> bool:
        every = self._everywhere
        return size == 1 and self.tight if every is None else every.group_tight(size)

    def _allocated(self, base: Pair, direction: Direction) -> Pair:
        """One of all steps; several by all of their sets, or by a block of steps for each of them."""
        from ..losses.operators.allocation.allocated import allocated_pair
        from ..losses.operators.allocation.several_steps import blocks_pair, several_pair

        if self.uses == 1:
            return allocated_pair(base, self.steps, direction)
        make = several_pair if self._by_sets else blocks_pair
        return make(base, self.steps, self.uses, direction)


# One epoch over shuffled batches: the data in a random order, cut into so many batches, one step on each.
#
# Claim, replacing a record: with C the sensitivity of the base, Gaussian noise, under adding or removing a record, one
# Gaussian of sensitivity 2 C dominates the epoch, whatever the order: given the order one batch differs.
# We know of no better theorem, and a number for Poisson samples is no bound: real neighbours lose more.
# Groups of k replaced records: given the order, j_t of them are in batch t, and a Gaussian of sensitivity 2 C times the
# root of the sum of j_t^2 dominates; the union of these over the law of k balls in steps - 1 boxes does.
# Lower ends: all other records show the opposite of the first one, whose replacement shows the same as they. What the
# largest coordinate and the sum of all batches tell of these two data sets are pairs of real neighbours.
# Reference: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang 2024, How private are DP-SGD implementations? (the
# largest coordinate, of a record against nothing), and Scalable DP-SGD: shuffling vs. Poisson subsampling (several
# epochs). Proof: docs/proofs/shuffled_batches.md.

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
