"""Faults that the tests of hits, joint, trees of transforms and periods must kill: each drops one error term."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from flint import arb

from tests import test_below_zero as below_zero
from tests.engines.contour import test_budget as budget
from tests.engines.contour import test_period as periods
from tests.engines.hits import test_visible as visible_tests
from tests.engines.joint import test_bracket as brackets
from tests.engines.joint import test_engine as joints
from tests.engines.lattice import test_tree as trees
from tests.losses import test_atoms as finite_tests
from tightrope.core.accountant import Case
from tightrope.core.engines.contour import sums as float_sum
from tightrope.core.engines.contour import way as period
from tightrope.core.engines.contour.sums import ContourBound
from tightrope.core.engines.hits import engine as visible
from tightrope.core.engines.joint import bracket
from tightrope.core.engines.joint import engine as once
from tightrope.core.engines.lattice import proof as whole
from tightrope.core.engines.selection import Evaluation
from tightrope.core.losses import atoms as finite
from tightrope.core.numerics import convolution as fft_tree
from tightrope.core.numerics.balls import BITS_START, upper_float, working_precision

from .contour_faults import Fault, Patch


def see_all_hits(patch: Patch) -> None:
    """Forgets outputs that look like a hit and are none, and the other way round."""
    plain = visible.visible_participation_parts
    patch.setattr(
        visible, "visible_participation_parts", lambda terms: dataclasses.replace(plain(terms), hidden=arb(0))
    )


def forget_the_blur(patch: Patch) -> None:
    plain = visible.visible_participation_parts
    patch.setattr(visible, "visible_participation_parts", lambda terms: dataclasses.replace(plain(terms), blur=arb(0)))


def forget_what_is_not_listed(patch: Patch) -> None:
    plain = visible.listed
    patch.setattr(visible, "listed", lambda *arguments: (plain(*arguments)[0], arb(0)))


def round_q_up(patch: Patch) -> None:
    """The pair above would not dominate."""
    patch.setattr(bracket, "_whole", lambda ball: int((ball * 1.001).upper().ceil().unique_fmpz()))


def round_cells_up(patch: Patch) -> None:
    """Cells below claim more of P than there is."""
    patch.setattr(whole, "_float_below", whole._float_above)
    patch.setattr(whole, "below", lambda ball: whole.above(ball) + 1)


def map_without_rounding(patch: Patch) -> None:
    """The epsilon of the sample for one of the product: both ends a part in 10^6 too high."""
    plain = once.OnceEvaluator._outer

    def high(self: once.OnceEvaluator, epsilon: float) -> tuple[float, float]:
        low, up = plain(self, epsilon)
        return low * (1 + 1e-6), up * (1 + 1e-6)

    patch.setattr(once.OnceEvaluator, "_outer", high)


def carry_nothing(patch: Patch) -> None:
    """Radii of the factors do not reach the product."""
    patch.setattr(fft_tree, "carried", lambda factors: 0.0)


def join_without_noise(patch: Patch) -> None:
    """The rounding of the short transforms is forgotten."""
    plain = fft_tree._joined

    def clean(group: Sequence[fft_tree.TreeFactor]) -> fft_tree.TreeFactor:
        return plain(group)._replace(radius=fft_tree.carried(group))

    patch.setattr(fft_tree, "_joined", clean)


def drop_the_rest_of_a_period(patch: Patch) -> None:
    patch.setattr(ContourBound, "_truncation", arb(0))


def take_the_loss_before(patch: Patch) -> None:
    """The last loss below epsilon for the first one above."""
    plain = period.Period.first

    def early(self: period.Period, epsilon: float) -> period.First:
        found = plain(self, epsilon)
        step = self.step.ball()
        return period.First(found.point - step, found.beyond, found.moved)

    patch.setattr(period.Period, "first", early)


def forget_how_far_beyond(patch: Patch) -> None:
    plain = period.Period.first
    patch.setattr(period.Period, "first", lambda self, epsilon: plain(self, epsilon)._replace(beyond=arb(0)))


def forget_what_was_moved(patch: Patch) -> None:
    """The upper end of delta at the loss beside epsilon, for that at epsilon."""
    plain = ContourBound.delta

    def bare(self: ContourBound, epsilon: float) -> Evaluation:
        found = plain(self, epsilon)
        with working_precision(BITS_START):
            return dataclasses.replace(found, upper=found.upper - upper_float(self.nodes.sum(epsilon).moved))

    patch.setattr(ContourBound, "delta", bare)


def forget_what_is_left_out(patch: Patch) -> None:
    patch.setattr(finite.Atoms, "infinite_ends", lambda self: (0.0, float(self.infinite.upper)))


def forget_the_radius_of_the_scale(patch: Patch) -> None:
    patch.setattr(float_sum, "_ball", lambda value, radius: arb(value))


def mirror_the_same_direction(patch: Patch) -> None:
    """Below 0 the pair itself for its reverse."""
    patch.setattr(Case, "mirrored", lambda self, several: dataclasses.replace(self, mirror=True))


FAULTS = (
    Fault(
        "hits mistaken for misses forgotten",
        see_all_hits,
        lambda patch: visible_tests.test_two_removals(*visible_tests.TWICE[1]),
    ),
    Fault(
        "blur of an addition forgotten", forget_the_blur, lambda patch: visible_tests.test_two_additions(0.09, 0.3, 0.1)
    ),
    Fault(
        "numbers of hits not listed forgotten", forget_what_is_not_listed, visible_tests.test_hits_that_are_not_listed
    ),
    Fault("Q of a pair above rounded up", round_q_up, lambda patch: brackets.test_the_product_lies_between(0, False)),
    Fault("P of cells below rounded up", round_cells_up, lambda patch: brackets.test_the_product_lies_between(0, True)),
    Fault(
        "sampled epsilon rounded up at both ends",
        map_without_rounding,
        joints.test_epsilon_of_one_use_is_where_delta_says,
    ),
    Fault(
        "radii of factors dropped", carry_nothing, lambda patch: trees.test_every_entry_is_within_its_radius(1, patch)
    ),
    Fault(
        "noise of short transforms dropped",
        join_without_noise,
        lambda patch: trees.test_short_transforms_carry_their_noise(patch),
    ),
    Fault(
        "rest of a period dropped in float64",
        drop_the_rest_of_a_period,
        lambda patch: periods.test_a_period_that_is_cut_far_too_early(patch, False),
    ),
    Fault(
        "rest of a period dropped in balls",
        drop_the_rest_of_a_period,
        lambda patch: periods.test_a_period_that_is_cut_far_too_early(patch, True),
    ),
    Fault(
        "loss before epsilon taken",
        take_the_loss_before,
        lambda patch: periods.test_discrete_gaussians_on_and_off_their_losses(4.0, 1, 16, True),
    ),
    Fault(
        "distance to the first loss forgotten",
        forget_how_far_beyond,
        lambda patch: periods.test_discrete_gaussians_on_and_off_their_losses(4.0, 1, 16, True),
    ),
    Fault(
        "what epsilon was moved by forgotten above in float64",
        forget_what_was_moved,
        lambda patch: periods.test_a_loss_that_cannot_be_told_from_epsilon(patch, -1, False),
    ),
    Fault(
        "what epsilon was moved by forgotten above in balls",
        forget_what_was_moved,
        lambda patch: periods.test_a_loss_that_cannot_be_told_from_epsilon(patch, -1, True),
    ),
    Fault(
        "atoms left out forgotten",
        forget_what_is_left_out,
        lambda patch: finite_tests.test_what_is_left_out_counts_as_infinite(0),
    ),
    Fault(
        "radius of the scale forgotten",
        forget_the_radius_of_the_scale,
        lambda patch: budget.test_a_scale_within_a_radius(patch, 1e-6),
    ),
    Fault(
        "pairs below 0 not reversed",
        mirror_the_same_direction,
        lambda patch: below_zero.test_finite_laws_by_exact_fractions(1, "remove"),
    ),
)
