"""Poisson sampling with a cap: of a sample with more records than the cap so many are kept, all choices alike.

Claim, adding or removing a record: let the larger of the two data sets have N records, W = P[Bin(N - 1, rate) >= cap]
and rb = (cap/N) P[Bin(N, rate) > cap]/W. The union of the Poisson sample of the base at `rate`, with weight 1 - W, and
of that of the base under replacing a record at rb, with weight W, dominates. N is `records` or one more, and neither is
always the worse: with W1 <= W2 and r1 >= r2 for these two,
    1 - W2: the base at rate,   W1: the base under replacing at r1,   W2 - W1: the same at rate
dominates both. r1 is rounded up to a double, weights are balls.
Not tight. Lower ends: a mechanism that tells whether the record is in the batch, the Poisson sample at the rate
(1 - W1) rate + W1 r1 at which it is.
The theorem is ours. Proof: docs/proofs/sampling.md, section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, ctx

from ..derived.group_privacy import group_pair
from ..derived.public_mixture import PublicMixturePair, Weights
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.binomial import binomial_mass, binomial_tails, guard_bits
from ..mechanisms.facts import Theorem
from ..mechanisms.parameters import probability, whole
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .sampled import participation_in_sample, sampled_pair
from .terms import swapped_pair
from .theorems import CAPPED_POISSON, GROUP_IN_SAMPLE, SAMPLE_WITNESS


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
        from ..derived.group_participation import group_participation_pair
        from ..facets.participation_law import BinomialParticipation

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
