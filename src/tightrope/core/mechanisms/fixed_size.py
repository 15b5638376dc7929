"""Sampling without replacement: a batch of fixed size, all such batches alike.

Claim, replacing a record: if the symmetric pair (P, Q) dominates the base where a record is replaced, the glued pair
(derived.fixed_size_subsampled) at the rate g = batch/records dominates. Its profile is attained at every alpha by
A = ((1 - g) Q + g P, Q) or by its reverse B, so one use has no better bound. Which of the two is the worse may change
from use to use: a composition of A alone is too small, also in the worse direction, and that of glued pairs is not
attained. Lower ends choose among A and B.
Claim, adding or removing a record: with the same base pair, A dominates for remove and B for add, as if the batch were
a Poisson sample at the rate g. Tight, also under composition.
g is the double at or above batch/records, for floors the one at or below.
Reference: Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Thm 11 and Prop. 30; Lebeda, Regehr, Kamath,
Steinke 2024 (one direction). Proof: docs/proofs/sampling.md, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from ..losses.operators.group_privacy import group_participation_pair
from ..losses.operators.public_mixture import PublicMixturePair, Weights
from ..losses.operators.registered import finite_law, shift_mixture, shifted_pair
from ..losses.pair import Pair
from ..losses.participation_law import BinomialParticipation, HypergeometricParticipation, ParticipationLaw, quotient
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..numerics.counting import binomial_mass, binomial_tails, guard_bits
from ..values.errors import InvalidParameter
from ..values.question import Direction, Relation, relation_named
from .base import Mechanism
from .composition import IDENTITY, Transformation, replaced_pair, replacement_witnesses
from .parameters import whole
from .poisson import rates, sampled_pair
from .theorems import (
    GROUP_IN_BATCH,
    GROUP_IN_SAMPLE,
    ONE_DRAW,
    SAMPLE_WITNESS,
    WITH_REPLACEMENT,
    WITHOUT_REPLACEMENT,
    WITNESS,
    Theorem,
)

# Sampling with replacement: so many draws, each of any record.
#
# Claim, replacing a record: with b_k = P[Bin(batch, 1/records) = k], eta = 1 - b_0 and the symmetric pairs (P_k, Q_k)
# of
# the base where k records are replaced, the glued pair (derived.fixed_size_subsampled) at rate eta of the union of
# these
# pairs with the weights b_k/eta dominates: H(alpha) = sum b_k H_k(1 + (alpha - 1)/eta) for alpha >= 1, and the mirror
# below. H_k grows with k. Rare multiplicities, below RARELY together, are counted in blocks as the largest of the
# block;
# those below HARDLY as infinite loss.
# Not tight. Lower ends: noise around the number of copies of the record, for few draws and where the family knows such
# mixtures; else a mechanism that tells whether the record was drawn.
# Reference: Balle, Barthe, Gaboardi 2018, Thm 10. Proof: docs/proofs/sampling.md, section 4.

RARELY, HARDLY = 1e-40, 1e-320  # together, multiplicities in blocks, and those that count as infinite loss
SINGLE_MAX = 256  # multiplicities that are counted one by one
COPIES_MAX = 16  # draws of a lower end that counts copies: more take long, and are rarely told from one
GROUP_PRIVACY_MAX = 4  # the same where a group of records is a chain of neighbours, which takes long


@dataclass(frozen=True)
class Multiplicities(Weights):
    """How often records of a group are drawn, given that one is, in blocks up to each of the tops; then the rest."""

    batch: int
    records: int
    tops: tuple[int, ...]
    size: int = 1

    def balls(self) -> Sequence[arb]:
        with working_precision(ctx.prec + guard_bits(self.batch)):
            rate, hit = arb(self.size) / self.records, _hit(self.batch, self.records, self.size)
            found, before = [], 0
            for top in self.tops:
                if top == before + 1:
                    found.append(binomial_mass(self.batch, rate, top) / hit)
                else:
                    ends = (binomial_tails(self.batch, rate, value + 1).above for value in (before, top))
                    found.append((next(ends) - next(ends)) / hit)
                before = top
            rest = binomial_tails(self.batch, rate, before + 1).above / hit
        return found if rest.is_zero() else [*found, rest]


@dataclass(frozen=True, slots=True, repr=False)
class WithReplacement(Transformation):
    """The base mechanism on so many draws with replacement; a composition on the same ones.

    The base has its sensitivity under replacing a record: 2 C for records clipped to norm C. A record drawn several
    times counts as often.
    """

    call = "with_replacement"
    example = "Gaussian(sigma=1, sensitivity=2).with_replacement(batch=100, records=10000)"
    relation = Relation.REPLACE
    formula = (
        "b_k = P[Bin(batch, 1/records) = k], eta = 1 - b_0: H(a) = sum over k >= 1 of b_k H_k(1 + (a - 1)/eta) for "
        "a >= 1, H_k the base where k records are replaced, and 1 - a + a H(1/a) below"
    )
    theorem = "Balle, Barthe, Gaboardi 2018, Thm 10; [proof](proofs/sampling.md)"
    tightness = (
        "Not tight. Lower ends are attained: noise around the number of copies of a record, or a mechanism that tells "
        "whether the record was drawn."
    )
    relations = "A record is replaced; the base has its sensitivity under that (2 C for records clipped to norm C)."
    batch: int
    records: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", whole("records", self.records, least=1))
        object.__setattr__(self, "batch", whole("batch", self.batch, least=0))
        self.rests_on.demand(self.base, self.batch)
        share = Fraction(1, self.records)
        if self.batch and self.records > 1 and _singles(self.batch, share, SINGLE_MAX + 1) > SINGLE_MAX:
            raise InvalidParameter(
                f"batch must be a smaller multiple of records, not {self.batch}: one record of {self.records} would be "
                f"drawn more than {SINGLE_MAX} times"
            )

    @property
    def rests_on(self) -> Theorem:
        return ONE_DRAW if self.batch <= 1 else WITH_REPLACEMENT

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset({self.records})

    @property
    def everywhere(self) -> bool:
        return self.batch == 0 or self.base.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.everywhere

    @property
    def tight(self) -> bool:
        return self.batch == 0

    @property
    def attained(self) -> bool:
        """A base under replacing may need two records of their own, and draws show one against any other."""
        if not (SAMPLE_WITNESS if self.batch else WITNESS).holds(self.base, self.batch):
            return False
        return self.base.relation is None or self.records == 1 or self.batch == 0

    def pair(self, direction: Direction) -> Pair:
        return self._drawn(1)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        return self.replaced_pair(size)

    def replaced_pair(self, size: int) -> Pair:
        """By how many draws are of the group, else a chain. Proof: docs/proofs/group.md, section 7."""
        known = size == 1 or self.base.nameless.one_event(2)
        return self._drawn(size) if known else Transformation.replaced_pair(self, size)

    def _drawn(self, size: int) -> Pair:
        """The pair where so many of the records are replaced."""
        if self.batch == 0:
            return IDENTITY.pair(Direction.REMOVE)
        if self.records <= size:
            return replaced_pair(self.base, self.batch)
        from ..losses.operators.dyadic import dyadic_pair
        from ..losses.operators.fixed_size import fixed_size_subsampled_pair

        one, two = replaced_pair(self.base), replaced_pair(self.base, 2)
        known = shifted_pair(one, 2) is not None or finite_law(two) is not None
        tops = _tops(self.batch, Fraction(size, self.records), SINGLE_MAX if known else GROUP_PRIVACY_MAX)
        weights = Multiplicities(self.batch, self.records, tops, size)
        pairs = tuple(replaced_pair(self.base, top) for top in tops)
        with working_precision(BITS_START):
            if len(weights.listed()) > len(tops):
                pairs = (*pairs, dyadic_pair([(1, 0), (0, 1)], 0))  # nothing in common
            rate = min(upper_float(_hit(self.batch, self.records, size)), 1.0)
        union = pairs[0] if len(pairs) == 1 else PublicMixturePair(weights, pairs)
        return union if rate == 1.0 else fixed_size_subsampled_pair(union, rate)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        if self.batch == 0:
            return (IDENTITY.pair(direction),)
        if self.records == 1:
            return replacement_witnesses(self.base, self.batch)
        with working_precision(BITS_START):
            rate = max(lower_float(_hit(self.batch, self.records)), 0.0)
        found: list[Pair] = []
        for floor in replacement_witnesses(self.base):
            for way in Direction:
                few = self.batch <= COPIES_MAX
                law = BinomialParticipation(self.batch, rates(1, self.records)[0]) if few else None
                found.append((law and shift_mixture(floor, law, way)) or sampled_pair(floor, rate, way))
        return tuple(dict.fromkeys(found))


def _hit(batch: int, records: int, size: int = 1) -> arb:
    """eta, at the working precision."""
    return -(batch * (-arb(size) / records).log1p()).expm1()


def _singles(batch: int, share: Fraction, most: int) -> int:
    """The multiplicity beyond which all others are rare, or one more than the most."""
    with working_precision(BITS_START):
        rate = quotient(share)
        low, high = 0, min(batch, most)
        while low < high:
            middle = (low + high) // 2
            rare = binomial_tails(batch, rate, middle + 1).above < RARELY
            low, high = (low, middle) if rare else (middle + 1, high)
    return max(low, 1)


def _tops(batch: int, share: Fraction, most: int) -> tuple[int, ...]:
    """One by one, then in blocks twice as far each."""
    tops = list(range(1, min(_singles(batch, share, most), most, batch) + 1))
    with working_precision(BITS_START):
        rate = quotient(share)
        while tops[-1] < batch and not binomial_tails(batch, rate, tops[-1] + 1).above < HARDLY:
            tops.append(min(2 * tops[-1], batch))
    return tuple(tops)


# Groups of records that are replaced, in a batch: a union over how many of them are in it, glued at 0.
#
# Claim: let j of a group's records be in the batch with probability w_j, whichever of the two groups it is, and let
# (P_j, Q_j) dominate the base where j records are replaced. With eta = 1 - w_0, the glued pair
# (derived.fixed_size_subsampled) at rate eta of the union of these with the weights w_j/eta dominates: H(alpha) = sum
# w_j
# H_j(1 + (alpha - 1)/eta) for alpha >= 1, and the mirror below.
# Reference: Balle, Barthe, Gaboardi 2018, Thm 10 (one record, drawn several times). Proof: docs/proofs/group.md,
# section 7.

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
    from ..losses.operators.fixed_size import fixed_size_subsampled_pair

    GROUP_IN_BATCH.demand(base)
    weights = PositiveParticipation(hits)
    pairs = tuple(replaced_pair(base, j) for j in range(1, hits.most + 1))
    with working_precision(BITS_START):
        rate = min(upper_float(weights.hit()), 1.0)
    union = pairs[0] if len(pairs) == 1 else PublicMixturePair(weights, pairs)
    return union if rate == 1.0 else fixed_size_subsampled_pair(union, rate)


@dataclass(frozen=True, slots=True, repr=False)
class WithoutReplacement(Transformation):
    """The base mechanism on a batch of so many records, drawn without replacement; a composition on the same one.

    The base has its sensitivity under replacing a record, whatever the neighbours: 2 C for records clipped to norm C.
    records is the size of the data. Replacing keeps it; adding or removing leads to records + 1 or records - 1, where a
    batch is as large as before.
    """

    call = "without_replacement"
    example = "Gaussian(sigma=1, sensitivity=2).without_replacement(batch=100, records=10000)"
    formula = (
        "g = batch/records. Replace: H(a) = g Hb(1 + (a - 1)/g) for a >= 1, and 1 - a + a H(1/a) below. "
        "Add or remove: as `.poisson(g)` of the base under replacing"
    )
    theorem = (
        "Balle, Barthe, Gaboardi 2018, Thm 9; Zhu, Dong, Wang 2021, Thm 11 and Prop. 30; [proof](proofs/sampling.md)"
    )
    tightness = (
        "Replace: attained by one use, at each epsilon by one order of a real pair of laws; composed, the upper end is "
        "that of the glued pair, and the lower end chooses among the two orders. Add or remove: tight, also composed."
    )
    relations = (
        "A record is replaced, or added or removed (`neighbours`); in both cases the base has its sensitivity under "
        "replacing one (2 C for records clipped to norm C)."
    )
    batch: int
    records: int
    neighbours: str = "replace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", whole("records", self.records, least=1))
        object.__setattr__(self, "batch", whole("batch", self.batch, least=0))
        relation_named(self.neighbours)
        if self.batch > self.records:
            raise InvalidParameter(f"batch must be at most records, {self.records}, not {self.batch}")
        self.rests_on.demand(self.base, self.batch)

    @property
    def rests_on(self) -> Theorem:
        return WITHOUT_REPLACEMENT

    @property
    def sizes(self) -> frozenset[int]:
        return frozenset({self.records})

    @property
    def everywhere(self) -> bool:
        """Where records come and go the rate is that of data of this size alone."""
        return self.batch == 0 or (self.relation is Relation.REPLACE and self.base.everywhere)

    @property
    def known_in_groups(self) -> bool:
        return self.batch == 0 or self.base.everywhere

    @property
    def relation(self) -> Relation:
        return Relation(self.neighbours)

    @property
    def tight(self) -> bool:
        """Of the whole data: as the base where records are replaced; there is no smaller set that holds a batch."""
        if self.relation is Relation.REPLACE:
            return self.base.tight and (self.batch == 0 or (self.batch == self.records and self._one_order))
        lone = self.base.relation is None or self.batch == 0  # as of attained
        return self.base.tight and self.batch < self.records and self._one_order and lone

    @property
    def _one_order(self) -> bool:
        """Whether the base is the same in both orders; else its pair is the larger of two, which none attains twice."""
        return replacement_witnesses(self.base) == (replaced_pair(self.base),)

    @property
    def attained(self) -> bool:
        """A base under replacing may need two records of their own, and a batch shows one against any other."""
        whole_data = self.batch == self.records
        if self.base.relation is not None and not (whole_data or self.batch == 0):
            return False
        if not (SAMPLE_WITNESS if self.batch else WITNESS).holds(self.base, self.batch):
            return False
        return self.relation is Relation.REPLACE or not whole_data

    def pair(self, direction: Direction) -> Pair:
        base, rate = replaced_pair(self.base), rates(self.batch, self.records)[1]
        if self.relation is Relation.ADD_REMOVE or rate in (0.0, 1.0):
            return sampled_pair(base, rate, direction)
        from ..losses.operators.fixed_size import fixed_size_subsampled_pair

        return fixed_size_subsampled_pair(base, rate)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """Of records that come and go: as many of the group as are in the batch.

        The steps of a chain would have batches of ever smaller data, at rates of their own.
        Proof: docs/proofs/group.md, section 6.
        """
        if self.relation is Relation.REPLACE:
            return self.replaced_pair(size)
        if self.batch == 0 or size == 1:
            return Transformation.group_pair(self, size, direction)

        GROUP_IN_SAMPLE.demand(self.base)
        return group_participation_pair(
            replaced_pair(self.base), HypergeometricParticipation(self.records, size, self.batch), direction
        )

    def replaced_pair(self, size: int) -> Pair:
        """Of noise that is shifted: by how many of the replaced records are in the batch, which must have others to
        fill it. Proof: docs/proofs/group.md, section 7."""
        few = 0 < self.batch <= self.records - size and size <= PARTICIPATION_PARTS_MAX
        if size == 1 or not few or not self.base.nameless.one_event(2):
            return Transformation.replaced_pair(self, size)

        return fixed_size_participation_pair(self.base, HypergeometricParticipation(self.records, size, self.batch))

    def group_tight(self, size: int) -> bool:
        if size == 1 or self.relation is Relation.REPLACE:
            return size == 1 and self.tight
        return self.tight and self.base.nameless.one_event(size)

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        rate = rates(self.batch, self.records)[0]
        if rate == 0.0:
            return (IDENTITY.pair(direction),)
        pairs = replacement_witnesses(self.base)
        ways = Direction if self.relation is Relation.REPLACE else (direction,)
        return tuple(dict.fromkeys(sampled_pair(floor, rate, way) for way in ways for floor in pairs))
