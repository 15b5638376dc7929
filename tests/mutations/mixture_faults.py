"""Faults of mixtures of shifts."""

from __future__ import annotations

from typing import Any

from tests.pairs.gaussian_mixture import test_cgf as cgf_tests
from tests.pairs.gaussian_mixture import test_pair as pair_tests
from tightrope.facets.hits import BinomialHits, HypergeometricHits
from tightrope.pairs.gaussian_mixture.many_hits import ManyHits
from tightrope.pairs.sampled_gaussian.decay import MixedCell

from .contour_faults import Fault, Patch


def forget_what_lies_far_out(patch: Patch) -> None:
    patch.setattr(ManyHits, "beyond", lambda *arguments: 0.0)


def turn_by_every_hit_there_may_be(patch: Patch) -> None:
    """Takes the largest number of hits for their mean."""
    patch.setattr(MixedCell, "turn", lambda self, ops, angle: self.share_right * 4 * ops.sin(angle))


def draw_batches_like_samples(patch: Patch) -> None:
    def weights(self: HypergeometricHits) -> Any:
        return BinomialHits(self.size, self.batch / self.records).weights()

    patch.setattr(HypergeometricHits, "weights", weights)


FAULTS = (
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
        lambda patch: pair_tests.test_tails_and_profile_against_mpmath(*pair_tests.CASES[-1], "remove"),
    ),
)
