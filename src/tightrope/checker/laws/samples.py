"""Transformations by their names and arguments: the law of a sample, or of a group; None where it is not known."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from ..law import CheckedLaw
from .allocated import ALLOCATED_STEPS_MAX, AllocatedEpochLaw
from .arguments import neighbours_named, probability, whole
from .batches import GluedLaw, ReplacedSampleLaw, sample_of
from .bounded import BoundedLaw
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
    if isinstance(base, (BoundedLaw, ReplacedSampleLaw)) or size > all_of_them or base.reversed() != base:
        return None  # what has records of its own that are replaced shows another thing without them
    if neighbours_named(neighbours) == "add_remove":
        return _batch(base, size, all_of_them)
    return in_batch(base, size, all_of_them) if size < all_of_them else base


def _batch(base: CheckedLaw, size: int, records: int) -> CheckedLaw | None:
    """A sample; of batches of all records only the larger neighbour holds one, at the rate n/(n + 1)."""
    if isinstance(base, GaussianLaw) and size < records:
        return SampledGaussianLaw(base.square, Fraction(size, records), batch=True)
    if size < records:
        return sample_of(base, Fraction(size, records), False)
    shown = sample_of(base, Fraction(records, records + 1), False)
    return None if shown is None else BoundedLaw(base, (shown,), once=False)


def with_replacement(base: CheckedLaw, batch: object, records: object) -> CheckedLaw | None:
    """One draw is a batch of one."""
    if whole(batch) == 1:
        return without_replacement(base, batch, records)
    return None if isinstance(base, BoundedLaw) else drawn(base, whole(batch), whole(records))


def truncated_poisson(base: CheckedLaw, rate: object, cap: object, records: object) -> CheckedLaw | None:
    """Where no sample is ever cut it is a Poisson sample."""
    if whole(cap) > whole(records):
        return poisson(base, rate)
    return capped(base, probability(rate), whole(cap), whole(records))


def random_allocation(base: CheckedLaw, steps: object, uses: object = 1) -> CheckedLaw | None:
    """One of so many steps has the record."""
    back = base.reversed()
    if whole(uses) != 1 or whole(steps) > ALLOCATED_STEPS_MAX or back is None or isinstance(base, BoundedLaw):
        return None
    if base.tails(arb(1)) is None or not (base.infinite().is_zero() and back.infinite().is_zero()):
        return None  # a step that tells all, or for certain that the record is not there
    return AllocatedEpochLaw(base, whole(steps)) if whole(steps) > 1 else base


def shuffled_batches(base: CheckedLaw, steps: object) -> CheckedLaw | None:
    """Given the order one batch differs; neighbours show the sum over all batches."""
    twice = base.shifted(2)
    if not isinstance(twice, GaussianLaw):
        return None
    return BoundedLaw(twice, (GaussianLaw(twice.square / whole(steps)),), once=False)


def group(law: CheckedLaw, size: object) -> CheckedLaw | None:
    """So many records, all of them added, removed or replaced; of samples those whose records come independently."""
    many = whole(size)
    if isinstance(law, SampledGaussianLaw) and many > 1 and not law.batch:
        return grouped_sample(law.square, law.rate, many, law.added)
    if isinstance(law, GluedLaw) and law.batch is not None and many > 1:
        return in_batch(*law.batch, many)
    return law.shifted(many)
