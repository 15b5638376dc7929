"""Transformations by their names and arguments: the law of a sample, or of a group; None where it is not known."""

from __future__ import annotations

from fractions import Fraction

from ..law import CheckedLaw
from .arguments import neighbours_named, probability, whole
from .batches import GluedLaw, ReplacedSampleLaw, sample_of
from .finite import LeakyResponseLaw
from .gaussian import GaussianLaw, SampledGaussianLaw
from .sizes import capped, drawn, grouped_sample, in_batch


def poisson(base: CheckedLaw, rate: object, neighbours: object = "add_remove") -> CheckedLaw | None:
    """((1 - r) Q + r P, Q) for remove, and its reverse for add; replaced records of Gaussian noise."""
    share = probability(rate)
    if not share:
        return LeakyResponseLaw(Fraction(0))
    if neighbours_named(neighbours) == "add_remove":
        return sample_of(base, share, False) if share < 1 else base
    if not isinstance(base, GaussianLaw):
        return None
    return ReplacedSampleLaw(SampledGaussianLaw(base.square, share)) if share < 1 else base.shifted(2)


def without_replacement(
    base: CheckedLaw, batch: object, records: object, neighbours: object = "replace"
) -> CheckedLaw | None:
    """The glued pair where a record is replaced; a Poisson sample where one comes or goes."""
    size, all_of_them = whole(batch), whole(records)
    if size > all_of_them or base.reversed() != base:
        return None
    if neighbours_named(neighbours) == "add_remove":
        return sample_of(base, Fraction(size, all_of_them), False) if size < all_of_them else base
    return in_batch(base, size, all_of_them) if size < all_of_them else base


def with_replacement(base: CheckedLaw, batch: object, records: object) -> CheckedLaw | None:
    """One draw is a batch of one."""
    if whole(batch) == 1:
        return without_replacement(base, batch, records)
    return drawn(base, whole(batch), whole(records))


def truncated_poisson(base: CheckedLaw, rate: object, cap: object, records: object) -> CheckedLaw | None:
    """Where no sample is ever cut it is a Poisson sample."""
    if whole(cap) > whole(records):
        return poisson(base, rate)
    return capped(base, probability(rate), whole(cap), whole(records))


def group(law: CheckedLaw, size: object) -> CheckedLaw | None:
    """So many records, all of them added, removed or replaced."""
    many = whole(size)
    if isinstance(law, SampledGaussianLaw) and many > 1:
        return grouped_sample(law.square, law.rate, many, law.added)
    if isinstance(law, GluedLaw) and law.batch is not None and many > 1:
        return in_batch(*law.batch, many)
    return law.shifted(many)
