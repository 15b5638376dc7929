"""Sampling with replacement: so many draws, each of any record.

Claim, replacing a record: with b_k = P[Bin(batch, 1/records) = k], eta = 1 - b_0 and the symmetric pairs (P_k, Q_k) of
the base where k records are replaced, the glued pair (derived.fixed_size_subsampled) at rate eta of the union of these
pairs with the weights b_k/eta dominates: H(alpha) = sum b_k H_k(1 + (alpha - 1)/eta) for alpha >= 1, and the mirror
below. H_k grows with k. Rare multiplicities, below RARELY together, are counted in blocks as the largest of the block;
those below HARDLY as infinite loss.
Not tight. Lower ends: noise around the number of copies of the record, for few draws and where the family knows such
mixtures; else a mechanism that tells whether the record was drawn.
Reference: Balle, Barthe, Gaboardi 2018, Thm 10. Proof: docs/proofs/sampling.md, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from ..derived.public_mixture import PublicMixturePair, Weights
from ..errors import InvalidParameter
from ..facets.participation_law import BinomialParticipation, quotient
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.binomial import binomial_mass, binomial_tails, guard_bits
from ..mechanisms.facts import Theorem
from ..mechanisms.parameters import whole
from ..operators import finite_law, shift_mixture, shifted_pair
from ..pair import Pair
from ..relation import Direction, Relation
from .base import Transformation
from .composition import IDENTITY
from .sampled import rates, sampled_pair
from .terms import replaced_pair, replacement_witnesses
from .theorems import ONE_DRAW, SAMPLE_WITNESS, WITH_REPLACEMENT, WITNESS

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
        from ..derived.dyadic import dyadic_pair
        from ..derived.fixed_size_subsampled import fixed_size_subsampled_pair

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
