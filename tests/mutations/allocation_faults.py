"""Faults that the tests of random allocation must kill: other blocks, one order alone, claims that are inherited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.losses.operators.allocation import test_pair as pairs
from tests.losses.operators.allocation import test_several as sets
from tests.mechanisms import test_random_allocation as allocation
from tightrope.core.losses.operators import registered as operators
from tightrope.core.losses.operators.allocation import allocated, statistic
from tightrope.core.mechanisms import allocation as scattered
from tightrope.core.mechanisms.allocation import RandomAllocation
from tightrope.core.numerics import convolution as fft_mixture
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def one_order_alone(patch: Patch) -> None:
    """Adding a record as if it were removed."""
    plain = allocated.allocated_pair
    patch.setattr(allocated, "allocated_pair", lambda base, steps, direction: plain(base, steps, Direction.REMOVE))


def one_step_more(patch: Patch) -> None:
    """The mean of one ratio more than there are steps."""
    plain = allocated.allocated_pair
    patch.setattr(allocated, "allocated_pair", lambda base, steps, direction: plain(base, steps + 1, direction))


def one_block_for_all_uses(patch: Patch) -> None:
    """Several uses as one."""
    plain = RandomAllocation._allocated
    patch.setattr(
        RandomAllocation,
        "_allocated",
        lambda self, base, direction: plain(RandomAllocation(base=self.base, steps=self.steps), base, direction),
    )


def all_blocks_long(patch: Patch) -> None:
    """Steps that do not divide are given to every block."""
    plain = RandomAllocation._allocated

    def rounded(self: Any, base: Any, direction: Direction) -> Any:
        steps = -(-self.steps // self.uses) * self.uses
        return plain(RandomAllocation(base=self.base, steps=steps, uses=self.uses), base, direction)

    patch.setattr(RandomAllocation, "_allocated", rounded)


def take_all_moments_from_the_base(patch: Patch) -> None:
    """Also where infinite losses of a step are finite ones of the mean."""
    patch.setattr(allocated.AllocatedPair, "_moments_below_base", lambda self: True)


def base_as_a_pair_below(patch: Patch) -> None:
    """The base as a pair below."""
    patch.setitem(operators.simpler_ends.resolved, allocated.AllocatedPair, lambda pair: ((pair.base,), pair.base))


def inherit(name: str) -> Callable[[Patch], None]:
    """A claim of the base as that of its allocation."""
    return lambda patch: patch.setattr(RandomAllocation, name, property(lambda self: getattr(self.base, name)))


def groups_in_all_steps(patch: Patch) -> None:
    """Records that share no step, each with all steps for itself."""
    plain = allocated.allocated_pair
    patch.setattr(allocated, "allocated_pair", lambda base, steps, direction: plain(base, 2, direction))


def the_last_of_a_class(patch: Patch) -> None:
    """A class of divisions as one of them."""
    patch.setattr(scattered, "zip_longest", lambda above, parts, fillvalue: ((each,) for each in parts))


def no_slack_of_labels(patch: Patch) -> None:
    """Labels as if they were the logarithms themselves."""
    plain = statistic._log_most

    def without(law: Any, labels: Any, window: Any) -> Any:
        return plain(law, labels, window) - law.steps * labels.step / 2.0

    patch.setattr(statistic, "_log_most", without)


def one_covering_more(patch: Patch) -> None:
    """Every way to cover steps counted once too often."""
    plain = statistic.coverings
    patch.setattr(statistic, "coverings", lambda *at: {nu: ways + 1 for nu, ways in plain(*at).items()})


def one_step_uncovered(patch: Patch) -> None:
    """The sets of one step less, with a step that nobody covers."""
    plain = statistic.coverings

    def shifted(steps: int, size: int, sets: int) -> Any:
        return {(nu[0] + 1, *nu[1:]): ways for nu, ways in plain(steps - 1, size, sets).items()}

    patch.setattr(statistic, "coverings", shifted)


def nothing_beyond_the_last_point(patch: Patch) -> None:
    """What lies beyond the last point forgotten."""
    plain = statistic.normal_tails
    patch.setattr(statistic, "normal_tails", lambda z: tuple(0.0 * side for side in plain(z)))


def nothing_outside_of_the_window(patch: Patch) -> None:
    """What lies outside of the window forgotten, also where it wraps around."""
    patch.setattr(statistic._Moment, "_log_outside", lambda self, tilt: -1000.0)


def no_transform_error(patch: Patch) -> None:
    """Transforms as if they were exact."""
    patch.setattr(fft_mixture, "_whole", lambda half, length: 0.0)


def _moments(_: Any) -> None:
    sets.test_moments_of_each_value_beside_enumerated_cells()


def _groups(_: Any) -> None:
    allocation.test_groups_of_gaussian_noise(3, 2.0, 1.0)


def _classes(_: Any) -> None:
    allocation.test_classes_of_divisions_are_above_each(8, 235)


def _uses(_: Any) -> None:
    allocation.test_several_uses_are_below_their_blocks(5, 2)


FAULTS = (
    Fault(
        "an allocation of one order alone",
        one_order_alone,
        lambda _: allocation.test_enumerated_steps(allocation.LEAKY, 2),
    ),
    Fault(
        "a step too many in the mean",
        one_step_more,
        lambda _: allocation.test_enumerated_steps(allocation.RESPONSE, 2),
    ),
    Fault(
        "moments of a base with zeros",
        take_all_moments_from_the_base,
        lambda _: pairs.test_moments_where_infinite_losses_become_finite(),
    ),
    Fault(
        "the base as a pair below",
        base_as_a_pair_below,
        lambda _: pairs.test_simpler_pairs_below_and_above(),
    ),
    Fault("several uses as one block", one_block_for_all_uses, _uses),
    Fault("no slack of labels", no_slack_of_labels, _moments),
    Fault("one covering more", one_covering_more, _moments),
    Fault("one step uncovered", one_step_uncovered, _moments),
    Fault("nothing beyond the last point", nothing_beyond_the_last_point, _moments),
    Fault(
        "nothing outside of the window",
        nothing_outside_of_the_window,
        lambda _: sets.test_what_wraps_around_or_lies_outside_counts(),
    ),
    Fault("no transform error", no_transform_error, lambda _: sets.test_weighted_sums_are_within_their_radius()),
    Fault("blocks that are all long", all_blocks_long, _uses),
    Fault("parts of a group with all steps each", groups_in_all_steps, _groups),
    Fault("a class of divisions as one of them", the_last_of_a_class, _classes),
    Fault("several uses inherit tight", inherit("tight"), _uses),
    Fault("several uses inherit attained", inherit("attained"), _uses),
    Fault(
        "points of several neighbours as one law",
        inherit("attained_once"),
        lambda _: allocation.test_all_steps_are_a_composition(),
    ),
)
