"""Faults of mixtures of shifts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.losses.gaussian_mixture import test_cgf as cgf_tests
from tests.losses.gaussian_mixture import test_pair as pair_tests
from tests.mechanisms import test_gaussian_mixture as mechanism_tests
from tightrope.core.losses.gaussian_mixture import mixture_pair as numbers
from tightrope.core.losses.gaussian_mixture.mixture_likelihood import MixtureLikelihood
from tightrope.core.losses.participation_law import BinomialParticipation, HypergeometricParticipation
from tightrope.core.losses.sampled_gaussian.likelihood import MixedCell, UnevenCell
from tightrope.core.mechanisms.gaussian import GaussianMixture
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def forget_what_lies_far_out(patch: Patch) -> None:
    patch.setattr(MixtureLikelihood, "beyond", lambda *arguments: 0.0)


def turn_by_every_hit_there_may_be(patch: Patch) -> None:
    """Takes the largest number of hits for their mean."""
    patch.setattr(MixedCell, "turn", lambda self, ops, angle: self.share_right * 4 * ops.sin(angle))


def draw_batches_like_samples(patch: Patch) -> None:
    def weights(self: HypergeometricParticipation) -> Any:
        return BinomialParticipation(self.size, self.batch / self.records).weights()

    patch.setattr(HypergeometricParticipation, "weights", weights)


def grow_off_the_axis_as_with_the_least_variance(patch: Patch) -> None:
    def log_modulus(self: UnevenCell, ops: Any, spread: Any, half: Any, power: float) -> Any:
        return ops.log1p(self.least * half * half * -4.0) * (0.5 * power)

    patch.setattr(UnevenCell, "log_modulus", log_modulus)


def divide_weights_by_their_sum(patch: Patch) -> None:
    def law(self: GaussianMixture) -> dict[float, Fraction]:
        total = sum(map(Fraction, self.weights), Fraction(0))
        parts = sorted((abs(shift), weight) for shift, weight in zip(self.shifts, self.weights, strict=True) if weight)
        return {shift: Fraction(weight) / total for shift, weight in parts}

    patch.setattr(GaussianMixture, "_law", law)


def stop_before_places_are_sharp(patch: Patch) -> None:
    patch.setattr(numbers, "ROOT_STEPS", 3)
    patch.setattr(numbers, "RATIO_PLAIN", 1e300)


FAULTS = (
    Fault(
        "modulus of uneven shifts too small",
        grow_off_the_axis_as_with_the_least_variance,
        lambda patch: cgf_tests.test_growth_on_a_cell(),
    ),
    Fault(
        "weights other than those given",
        divide_weights_by_their_sum,
        lambda patch: mechanism_tests.test_what_it_equals(Direction.REMOVE),
    ),
    Fault(
        "places of uneven shifts too coarse",
        stop_before_places_are_sharp,
        lambda patch: pair_tests.test_tails_and_profile_against_mpmath(*pair_tests.CASES[-2], "remove"),
    ),
    Fault(
        "far end of a group forgotten",
        forget_what_lies_far_out,
        lambda patch: cgf_tests.test_what_lies_far_out(3.0, 8.0),
    ),
    Fault(
        "turn of a group too large",
        turn_by_every_hit_there_may_be,
        lambda patch: cgf_tests.test_decay(*cgf_tests.CASES[3]),
    ),
    Fault(
        "batches drawn like samples",
        draw_batches_like_samples,
        lambda patch: pair_tests.test_tails_and_profile_against_mpmath(*pair_tests.CASES[4], "remove"),
    ),
)
