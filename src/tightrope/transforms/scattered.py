"""Groups of records that are scattered over the steps of an epoch of Gaussian noise, by which of them share a step.

Claim: k records draw one of t steps each, independently. Given which of them share a step, and with r steps that have
some of them, j_1, ..., j_r records, the product of r allocations to floor(t/r) steps, the i-th of the base where j_i
records differ, dominates. More steps with records, or more records in a step, dominate fewer. So does noise at the
root of the sum of the squares, where all steps are told. The union of such pairs, with the law of the divisions of k
balls in t boxes, dominates the epoch.
Guarantee: as the union and the allocation. Proof: docs/proofs/allocation.md, section 6.
Reference: ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import zip_longest

from ..derived.product import product_pair
from ..mechanisms.base import Mechanism
from ..pair import Pair
from ..relation import Direction
from .theorems import GROUP_SCATTERED

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
    from ..derived.allocated.pair import allocated_pair
    from ..derived.public_mixture import ExactWeights, PublicMixturePair
    from ..kernels.occupancy import divisions_law

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
