"""Weights of how often a record, or how many of a group, are in a batch: exact, or rounded to the safe side.

A larger number in the batch has the larger profile (docs/proofs/group.md, Theorem 1), so that mass may move up, never
down. Proof: docs/proofs/checker_laws.md, "Batches".
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from flint import arb

from ..law import CheckedLaw, exact, precision
from .batches import GluedLaw, Part, UnionLaw, sample_of
from .finite import LeakyResponseLaw
from .gaussian import GaussianLaw
from .mixture import GaussianMixtureLaw

GRAIN = 256  # bits of a weight
WORK_BITS = 700
GROUP_MAX = 64
MULTIPLICITY_MAX = 64
RECORDS_MAX = 10**7


def binomial(size: int, rate: Fraction) -> list[Fraction]:
    """Exactly."""
    return [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]


def hypergeometric(records: int, size: int, batch: int) -> list[Fraction] | None:
    """How many of `size` are in a batch, exactly; None where the batch may need them."""
    if batch > records - size:
        return None
    found = [Fraction(1)]
    for i in range(size):
        found[0] *= Fraction(records - batch - i, records - i)
    for j in range(min(size, batch)):
        found.append(found[-1] * Fraction((size - j) * (batch - j), (j + 1) * (records - size - batch + j + 1)))
    return found


def draws(batch: int, share: Fraction) -> list[Fraction]:
    """At or above P[Bin(batch, share) >= k] for k = 1, 2, ..., as far as they are not tiny."""
    with precision(WORK_BITS):
        odds, mass = exact(share / (1 - share)), (exact(1 - share).log() * batch).exp()
        above, found = 1 - mass, []
        for k in range(1, min(batch, MULTIPLICITY_MAX) + 1):
            found.append(rounded(above, up=True))
            mass = mass * (batch - k + 1) / k * odds
            above = (above - mass).max(arb(0))
        return found if len(found) == batch else [*found, found[-1]]


def rounded(number: arb, up: bool) -> Fraction:
    """The multiple of 2^-GRAIN at or beyond a ball, in [0, 1]."""
    scaled = number * arb(2) ** GRAIN
    whole = (scaled.upper().ceil() if up else scaled.lower().floor()).unique_fmpz()
    if whole is None:
        raise ValueError("weights are not known to enough digits")
    return min(max(Fraction(int(whole), 1 << GRAIN), Fraction(0)), Fraction(1))


def grouped_sample(square: Fraction, rate: Fraction, size: int, added: bool) -> GaussianMixtureLaw:
    """Gaussian noise on a Poisson sample that holds a binomial number of the group."""
    if size > GROUP_MAX:
        raise ValueError(f"groups of more than {GROUP_MAX} in samples")
    weights = binomial(size, rate)
    return GaussianMixtureLaw(square, tuple(map(Fraction, range(size + 1))), tuple(weights), added)


def told(parts: list[tuple[Fraction, CheckedLaw | None]]) -> tuple[Part, ...] | None:
    """With what is left of 1 as one that tells everything; None where a law is unknown."""
    if any(law is None for _, law in parts):
        return None
    rest = 1 - sum((weight for weight, _ in parts), Fraction(0))
    found = [(weight, law) for weight, law in parts if weight and law is not None]
    return (*found, (rest, LeakyResponseLaw(Fraction(0), Fraction(1)))) if rest else tuple(found)


def in_batch(base: CheckedLaw, batch: int, records: int, size: int = 1) -> CheckedLaw | None:
    """Without replacement, so many records are replaced: by how many of them are in the batch."""
    weights = hypergeometric(records, size, batch) if 0 < batch < records else None
    if weights is None or size > GROUP_MAX:
        return None
    taken = 1 - weights[0]
    law = _glued(base, [(weight / taken, base.shifted(j)) for j, weight in enumerate(weights) if j], taken, taken)
    return GluedLaw(law.sample, law.below, (base, batch, records)) if law and size == 1 else law


def drawn(base: CheckedLaw, batch: int, records: int) -> CheckedLaw | None:
    """So many draws, each of any record, one of which is replaced."""
    if not 1 < batch <= RECORDS_MAX or not 1 < records <= RECORDS_MAX:
        return None
    above = draws(batch, Fraction(1, records))
    parts = [
        ((least - more) / above[0], base.shifted(k + 1))
        for k, (least, more) in enumerate(zip(above, [*above[1:], Fraction(0)], strict=True))
    ]
    with precision(WORK_BITS):
        rate = rounded(1 - (exact(1 - Fraction(1, records)).log() * batch).exp(), up=False)
    if len(above) < batch:  # the last is what is left over
        parts.pop()
    return _glued(base, parts, above[0], rate)


def _glued(
    base: CheckedLaw, parts: list[tuple[Fraction, CheckedLaw | None]], rate: Fraction, least: Fraction
) -> GluedLaw | None:
    """The union of the parts at a rate; neighbours show whether the record is in the batch, at the least rate."""
    found = told(parts)
    if found is None or base.reversed() != base:
        return None
    union = found[0][1] if len(found) == 1 else UnionLaw(found)
    above = sample_of(union, rate, False)
    both = [sample_of(base, least, added) for added in (False, True)]
    if above is None or both[0] is None or both[1] is None:
        return None
    return GluedLaw(above, (both[0], both[1]))


def capped(base: CheckedLaw, rate: Fraction, cap: int, records: int) -> CheckedLaw | None:
    """A Poisson sample of which at most `cap` records are kept; neighbours of `records` have one more or one less."""
    if not isinstance(base, GaussianLaw) or not 0 < rate < 1 or not 1 <= cap <= records or records > RECORDS_MAX:
        return None
    with precision(WORK_BITS):

        def reaches(size: int, least: int) -> arb:
            """P[Bin(size, rate) >= least], an incomplete beta function."""
            return arb(0) if least > size else exact(rate).beta_lower(arb(least), arb(size - least + 1), regularized=1)

        small, large = reaches(records - 1, cap), reaches(records, cap)
        below = exact(rate)
        kept = rate
        if not small.is_zero():
            exactly = exact(Fraction(cap, records)) * reaches(records, cap + 1) / small
            kept = min(rounded(exactly, up=True), rate)
            below = below - small * (exact(rate) - exactly)
        few, many, alone = rounded(small, up=False), rounded(large, up=True), rounded(below, up=False)
    twice = base.shifted(2)
    parts = told(
        [
            (1 - many, sample_of(base, rate, False)),
            (few, sample_of(twice, kept, False)),
            (many - few, sample_of(twice, rate, False)),
        ]
    )
    witness = sample_of(base, alone, False)
    return None if parts is None or witness is None else UnionLaw(parts, (witness,))
