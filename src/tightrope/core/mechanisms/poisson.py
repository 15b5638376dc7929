"""Poisson sampling: each record takes part independently with probability rate.

Claim, adding or removing a record: if (P, Q) dominates the base for remove, ((1 - rate) Q + rate P, Q) dominates the
sampled mechanism for remove, and the reverse of that pair for add.
Claim, replacing a record: with M(c) the Gaussian noise of the base around c and C its sensitivity under adding or
removing, ((1 - rate) M(0) + rate M(C), (1 - rate) M(0) + rate M(-C)) dominates, and is tight. For any other base the
chain of the sampled remove and add pairs does: one record out, another in.
Of a composition (P, Q) is the product pair: one sample is drawn, and every part runs on it. That is not the composition
of sampled parts, which draws a new sample for each.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11. Proof: docs/proofs/joint.md, docs/proofs/sampling.md, section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from ..losses.operators.group_privacy import group_pair, group_participation_pair, group_privacy_pair
from ..losses.operators.poisson import poisson_pair, rate_ends
from ..losses.operators.public_mixture import PublicMixturePair, Weights
from ..losses.operators.registered import sampled_replacement, shifted_pair
from ..losses.pair import Pair
from ..losses.participation_law import BinomialParticipation, ParticipationLaw
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.counting import binomial_mass, binomial_tails, guard_bits
from ..values.question import Direction, Relation, relation_named
from .base import Mechanism
from .composition import IDENTITY, Transformation, swapped_pair
from .parameters import probability, whole
from .theorems import (
    ALL_RECORDS,
    CAPPED_POISSON,
    GROUP_IN_SAMPLE,
    POISSON,
    POISSON_REPLACED,
    SAMPLE_WITNESS,
    WITNESS,
    Theorem,
)

# What the ways of sampling share: the words for neighbours, and rates that are fractions.


def rates(batch: int, records: int) -> tuple[float, float]:
    """Doubles at or below and at or above batch/records."""
    return rate_ends(Fraction(batch, records))


def sampled_pair(base: Pair, rate: float, direction: Direction) -> Pair:
    """The Poisson sample, at any rate from 0 to 1."""
    if rate == 0.0:
        return IDENTITY.pair(direction)
    return base if rate == 1.0 else poisson_pair(base, rate, direction)


def participation_in_sample(base: Mechanism, hits: ParticipationLaw, direction: Direction) -> Pair:
    """The pair of a group of records that come or go, by how many of them are in the sample."""

    GROUP_IN_SAMPLE.demand(base)
    pair = base.pair(direction)
    return group_participation_pair(pair if direction is Direction.REMOVE else pair.reversed(), hits, direction)


@dataclass(frozen=True, slots=True, repr=False)
class Poisson(Transformation):
    """The base mechanism on a Poisson sample of the records; all of a composition on the same one.

    The base has its sensitivity under adding or removing a record, whatever the neighbours: C for records clipped to C.
    Adding or removing: tight as the base, since the neighbours that attain all parts attain the mixture, which is made
    of the same two laws. Replacing: tight for Gaussian noise; else lower ends are those of a record against one that
    shows nothing.
    """

    call = "poisson"
    example = "Gaussian(sigma=1).poisson(rate=0.01)"
    formula = (
        "remove: ((1 - rate) Q + rate P, Q); add: (P, (1 - rate) P + rate Q), (P, Q) the base pair of that direction. "
        "Replace, Gaussian noise M: ((1 - rate) M(0) + rate M(C), (1 - rate) M(0) + rate M(-C)); "
        "other bases: power g_remove(g_add(x))"
    )
    theorem = (
        "Zhu, Dong, Wang 2021, Thms 10 and 11; [proof](proofs/poisson.md), [of one sample for several](proofs/joint.md)"
        ", [of replacing](proofs/sampling.md)"
    )
    tightness = (
        "Tight where the base is, also under composition: the neighbours that attain the base attain the mixture. "
        "Replace: tight for Gaussian noise; else lower ends are those of a record against one that shows nothing."
    )
    relations = (
        "A record is added or removed, or replaced (`neighbours`); in both cases the base has its sensitivity under "
        "adding or removing one (C for records clipped to norm C)."
    )
    rate: float
    neighbours: str = "add_remove"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability("rate", self.rate))
        relation_named(self.neighbours)
        self.rests_on.demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        """All records as they are need no size; of replaced ones a cell of parallel may lose many."""
        if self.relation is Relation.REPLACE and self.rate != 0.0:
            return POISSON_REPLACED
        return ALL_RECORDS if self.rate in (0.0, 1.0) else POISSON

    @property
    def everywhere(self) -> bool:
        return self.rate == 0.0 or self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        if self.rate in (0.0, 1.0):
            return self.rate == 0.0 or self.base.known_in_groups
        return GROUP_IN_SAMPLE.holds(self.base)

    @property
    def relation(self) -> Relation:
        return Relation(self.neighbours)

    @property
    def tight(self) -> bool:
        if self.relation is Relation.ADD_REMOVE:
            return self.base.tight
        return self.base.tight and (self.rate == 0.0 or self._replaced is not None)

    @property
    def attained(self) -> bool:
        return self._alike.holds(self.base)

    @property
    def attained_once(self) -> bool:
        if self.relation is Relation.REPLACE:
            return self.attained
        return self.base.attained_once and (self.rate in (0.0, 1.0) or not self.base.needs_others(None))

    @property
    def _alike(self) -> Theorem:
        """Whether a record in the sample shows what it shows in the data, whoever else is sampled."""
        return WITNESS if self.rate in (0.0, 1.0) else SAMPLE_WITNESS

    @property
    def _replaced(self) -> Pair | None:
        """The pair of a replaced record where that is one of its family."""
        base = self.base.pair(Direction.REMOVE)
        return shifted_pair(base, 2) if self.rate == 1.0 else sampled_replacement(base, self.rate)

    def pair(self, direction: Direction) -> Pair:
        if self.relation is Relation.ADD_REMOVE or self.rate == 0.0:
            return self._sampled(self.base.pair(direction), direction)
        if self.rate == 1.0:
            return swapped_pair(self.base)
        return self._replaced or group_privacy_pair([(self._sampled(self.base.pair(way), way), 1) for way in Direction])

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """As many of the group as are in the sample; all out, and as many others in, where they are replaced.

        Proof: docs/proofs/group.md, sections 6 and 7.
        """
        if self.relation is Relation.REPLACE:
            return self.replaced_pair(size)
        return self._grouped(size, direction)

    def replaced_pair(self, size: int) -> Pair:
        if size == 1:
            return self.pair(Direction.REMOVE)
        return group_privacy_pair([(self._grouped(size, way), 1) for way in Direction])

    def _grouped(self, size: int, direction: Direction) -> Pair:
        """Of a group that is added or removed."""
        if self.rate in (0.0, 1.0) or size == 1:
            return self._sampled(self.base.group_pair(size, direction), direction)

        return participation_in_sample(self.base, BinomialParticipation(size, self.rate), direction)

    def group_tight(self, size: int) -> bool:
        """Where one event is the best for every number of hits: the noise of the chain attains it."""
        if size == 1:
            return self.tight
        if self.relation is Relation.REPLACE and self.base.pair(Direction.REMOVE) != self.base.pair(Direction.ADD):
            return False  # each record may meet either order of its laws
        if self.relation is Relation.ADD_REMOVE and self.rate in (0.0, 1.0):
            return self.base.group_tight(size)
        return self.base.nameless.one_event(size)

    @property
    def _witnessed_by_pair(self) -> bool:
        return self.neighbours == Relation.ADD_REMOVE.value and self.base._witnessed_by_pair

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        if self.relation is Relation.REPLACE:
            if self.tight:
                return (self.pair(direction),)
            both = [self._sampled(floor, way) for way in Direction for floor in self.base.witnesses(way)]
            return tuple(dict.fromkeys(both))
        return tuple(self._sampled(floor, direction) for floor in self.base.witnesses(direction))

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        """A sample of each point: the power (1 - rate) x + rate g(x) has the same neighbours."""
        if self.relation is Relation.REPLACE:
            return self.witnesses(direction)
        return tuple(self._sampled(floor, direction) for floor in self.base.witnesses_once(direction))

    def _sampled(self, base: Pair, direction: Direction) -> Pair:
        if self.rate == 0.0:
            return IDENTITY.pair(direction)
        return base if self.rate == 1.0 else poisson_pair(base, self.rate, direction)


# Poisson sampling with a cap: of a sample with more records than the cap so many are kept, all choices alike.
#
# Claim, adding or removing a record: let the larger of the two data sets have N records, W = P[Bin(N - 1, rate) >= cap]
# and rb = (cap/N) P[Bin(N, rate) > cap]/W. The union of the Poisson sample of the base at `rate`, with weight 1 - W,
# and
# of that of the base under replacing a record at rb, with weight W, dominates. N is `records` or one more, and neither
# is
# always the worse: with W1 <= W2 and r1 >= r2 for these two,
#     1 - W2: the base at rate,   W1: the base under replacing at r1,   W2 - W1: the same at rate
# dominates both. r1 is rounded up to a double, weights are balls.
# Not tight. Lower ends: a mechanism that tells whether the record is in the batch, the Poisson sample at the rate
# (1 - W1) rate + W1 r1 at which it is.
# The theorem is ours. Proof: docs/proofs/sampling.md, section 6.


@dataclass(frozen=True)
class Filled(Weights):
    """1 - W at the largest size, W at the least where it is not 0, and the difference; sizes of the larger data set."""

    rate: float
    cap: int
    least: int
    most: int

    def balls(self) -> Sequence[arb]:
        small, large = (binomial_tails(size - 1, arb(self.rate), self.cap) for size in (self.least, self.most))
        between = large.above - small.above if small.above < 0.5 else small.below - large.below
        if self.most == self.least + 1:
            between = arb(self.rate) * binomial_mass(self.least - 1, arb(self.rate), self.cap - 1)
        return [large.below, between] if small.above.is_zero() else [large.below, small.above, between]

    def kept(self) -> arb:
        """rb at the least size, at the working precision; W is not 0 there."""
        with working_precision(ctx.prec + guard_bits(self.least)):
            rate = arb(self.rate)
            more = binomial_tails(self.least, rate, self.cap + 1).above
            return arb(self.cap) / self.least * more / binomial_tails(self.least - 1, rate, self.cap).above


@dataclass(frozen=True)
class Reached(Weights):
    """P[Bin(records, rate) < least] and the rest."""

    rate: float
    records: int
    least: int

    def balls(self) -> Sequence[arb]:
        tails = binomial_tails(self.records, arb(self.rate), self.least)
        return [tails.below, tails.above]


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedPoisson(Transformation):
    """The base mechanism on a Poisson sample of at most `cap` records; a composition on the same one.

    The base has its sensitivity under adding or removing a record: C for records clipped to norm C. records is the size
    of the data; neighbours have records + 1 or records - 1.
    """

    call = "truncated_poisson"
    example = "Gaussian(sigma=1).truncated_poisson(rate=0.01, cap=150, records=10000)"
    relation = Relation.ADD_REMOVE
    formula = (
        "W = P[Bin(N - 1, rate) >= cap], rb = (cap/N) P[Bin(N, rate) > cap]/W, N the larger size: "
        "H(a) = (1 - W) H_rate(a) + W H2_rb(a), H_r and H2_r Poisson samples at r of the base and of the base under "
        "replacing; one pair for both sizes, records and records + 1"
    )
    theorem = "ours; [proof](proofs/sampling.md)"
    tightness = (
        "Not tight. Lower ends are attained by a mechanism that tells whether the record is in the batch; both ends "
        "meet as the cap becomes rare."
    )
    relations = (
        "A record is added or removed; the base has its sensitivity under that (C for records clipped to norm C)."
    )
    rate: float
    cap: int
    records: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", probability("rate", self.rate))
        object.__setattr__(self, "cap", whole("cap", self.cap, least=1))
        object.__setattr__(self, "records", whole("records", self.records, least=1))
        self.rests_on.demand(self.base)

    @property
    def rests_on(self) -> Theorem:
        return CAPPED_POISSON

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset({self.records})

    @property
    def everywhere(self) -> bool:
        """Where a sample may be cut the weights are those of data of this size."""
        return self.rate == 0.0 or (self.base.everywhere and self._filled() is None)

    @property
    def known_in_groups(self) -> bool:
        return self.rate == 0.0 or GROUP_IN_SAMPLE.holds(self.base)

    def _filled(self, size: int = 1) -> Filled | None:
        """What dominates every step of so many records; None where no sample is ever cut."""
        most = self.records + size
        if self.cap >= most or self.rate == 0.0:
            return None
        return Filled(self.rate, self.cap, max(self.records - size + 1, 1), most)

    @property
    def tight(self) -> bool:
        return self.base.tight and self._filled() is None

    @property
    def attained(self) -> bool:
        return SAMPLE_WITNESS.holds(self.base)

    def pair(self, direction: Direction) -> Pair:
        return self._pair(direction, self._filled())

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """As many of the group as are sampled, each in the place of another where the sample may be cut.

        At rate 1 the steps of a chain, between data of other sizes: one pair for all of them.
        Proof: docs/proofs/group.md, section 8.
        """
        if size > 1 and self.rate > 0.0:
            GROUP_IN_SAMPLE.demand(self.base)
        if size == 1 or self.rate in (0.0, 1.0):
            return group_pair(self._pair(direction, self._filled(size)), size)

        hits = BinomialParticipation(size, self.rate)
        alone = participation_in_sample(self.base, hits, direction)
        if self.cap >= self.records + size:
            return alone
        weights = Reached(self.rate, self.records, self.cap - size + 1)
        return PublicMixturePair(weights, (alone, group_participation_pair(swapped_pair(self.base), hits, direction)))

    def _pair(self, direction: Direction, weights: Filled | None) -> Pair:
        base = self.base.pair(direction)
        if weights is None:
            return sampled_pair(base, self.rate, direction)
        rates = [self.rate, self.rate]
        with working_precision(BITS_START):
            if len(weights.listed()) > len(rates):
                rates.insert(1, min(upper_float(weights.kept()), self.rate))
        bases = (base, *[swapped_pair(self.base)] * (len(rates) - 1))
        pairs = (sampled_pair(pair, rate, direction) for pair, rate in zip(bases, rates, strict=True))
        return PublicMixturePair(weights, tuple(pairs))

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        rate, weights = self.rate, self._filled()
        if weights is not None:
            with working_precision(BITS_START):
                if len(weights.listed()) > 2:
                    full = weights.listed()[1]
                    rate = max(lower_float((1 - full) * arb(rate) + full * weights.kept()), 0.0)
        return tuple(sampled_pair(floor, rate, direction) for floor in self.base.witnesses(direction))
