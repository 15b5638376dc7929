"""Faults that the tests of sampling must kill: one order alone, weights of other sizes, rates on the wrong side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flint import arb

from tests.losses.operators import test_fixed_size_subsampled as glued_tests
from tests.losses.operators import test_public_mixture as union_tests
from tests.mechanisms import test_replaced_groups as groups
from tests.mechanisms import test_truncated_poisson as capped
from tests.mechanisms import test_with_replacement as drawn
from tests.mechanisms import test_without_replacement as batches
from tightrope.core.losses.operators import fixed_size as fixed_size_subsampled
from tightrope.core.losses.operators.poisson import poisson_pair
from tightrope.core.losses.operators.public_mixture import PublicMixturePair
from tightrope.core.losses.pair import Pair
from tightrope.core.mechanisms import fixed_size as fixed_size_participation
from tightrope.core.mechanisms import fixed_size as with_replacement
from tightrope.core.mechanisms import fixed_size as without_replacement
from tightrope.core.mechanisms import poisson
from tightrope.core.mechanisms import poisson as truncated_poisson
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def one_order_alone(patch: Patch) -> None:
    """A batch without replacement as the Poisson sample of one direction."""
    patch.setattr(
        fixed_size_subsampled,
        "fixed_size_subsampled_pair",
        lambda base, rate: poisson_pair(base, rate, Direction.REMOVE),
    )


def glue_the_same_twice(patch: Patch) -> None:
    """Below 0 the losses of the pair above."""
    patch.setattr(
        fixed_size_subsampled.FixedSizeSubsampledPair, "lower", fixed_size_subsampled.FixedSizeSubsampledPair.upper
    )


def forget_a_weight(patch: Patch) -> None:
    """All parts of a union count alike in balls."""
    patch.setattr(PublicMixturePair, "_sum", lambda self, balls: sum(balls, arb(0)) / len(balls))


def draw_once_at_most(patch: Patch) -> None:
    """A record that was drawn several times counts as one."""
    plain = with_replacement.replaced_pair
    patch.setattr(with_replacement, "replaced_pair", lambda base, size=1: plain(base))


def keep_a_full_batch_open(patch: Patch) -> None:
    """The record is put on top of a full batch, and none leaves it."""
    patch.setattr(truncated_poisson, "swapped_pair", lambda base: base.pair(Direction.REMOVE))


def one_size_only(patch: Patch) -> None:
    """The data with one record less are the only neighbours."""
    plain = truncated_poisson.Filled.balls

    def without_more(self: truncated_poisson.Filled) -> Sequence[arb]:
        first, *rest = plain(self)
        return [first + rest[-1], *rest[:-1], arb(0)]

    patch.setattr(truncated_poisson.Filled, "balls", without_more)


def hit_once_at_most(patch: Patch) -> None:
    """Of a group in a batch one record counts."""
    plain = fixed_size_participation.replaced_pair
    patch.setattr(fixed_size_participation, "replaced_pair", lambda base, size=1: plain(base))


def never_cut_a_group(patch: Patch) -> None:
    """A group in a sample with a cap as in one without."""
    patch.setattr(truncated_poisson.Reached, "balls", lambda self: [arb(1), arb(0)])


def only_remove_the_group(patch: Patch) -> None:
    """Others do not come in its place."""

    def removed(self: poisson.Poisson, size: int) -> Pair | None:
        return self._grouped(size, Direction.REMOVE) if size > 1 else None

    patch.setattr(poisson.Poisson, "replaced_pair", removed)


def _group(row: int) -> None:
    groups.test_all_groups_lie_below_the_upper_end(groups.ROWS[row])


def round_the_rate_to_nearest(patch: Patch) -> None:
    """A fraction as one double for both ends."""
    patch.setattr(without_replacement, "rates", lambda batch, records: (batch / records,) * 2)


def _capped(patch: Any) -> None:
    for direction in ("remove", "add"):
        capped.test_both_sizes_are_covered(direction, 0.05, 15, 99)


def _pair(patch: Any) -> None:
    glued_tests.test_both_arithmetics_and_the_tails_tell_one_law("Gaussian", 0.2)


FAULTS = (
    Fault("one order of a batch alone", one_order_alone, lambda _: batches.test_one_order_alone_is_too_small()),
    Fault("the same side glued twice", glue_the_same_twice, _pair),
    Fault("parts of a union count alike", forget_a_weight, lambda _: union_tests.test_it_is_the_law_of_all_outputs()),
    Fault("several draws count as one", draw_once_at_most, lambda _: drawn.test_the_formula(3, 2)),
    Fault("nobody leaves a full batch", keep_a_full_batch_open, _capped),
    Fault("one size of the data only", one_size_only, _capped),
    Fault("one record of a group counts", hit_once_at_most, lambda _: _group(3)),
    Fault(
        "a group is never cut",
        never_cut_a_group,
        lambda _: groups.test_a_cap_that_is_reached_always_makes_batches_of_fixed_size(),
    ),
    Fault("a group leaves and none comes", only_remove_the_group, lambda _: _group(0)),
    Fault(
        "a fraction as one double",
        round_the_rate_to_nearest,
        lambda _: batches.test_adding_and_removing_is_a_poisson_sample_of_the_base("remove"),
    ),
)
