"""Faults that the tests of bucket lists in hand must kill: settings that get lost, and numbers without their doubt."""

from __future__ import annotations

from tests.core import test_settings as settings
from tests.core import test_value as values
from tightrope.core.buckets import BucketList, BucketTerms
from tightrope.core.engines.buckets import engine
from tightrope.core.engines.buckets import read as reading
from tightrope.core.values.question import Question

from .contour_faults import Fault, Patch


def correct_anyway(patch: Patch) -> None:
    """error_correction=False answers by definition 9."""
    patch.setattr(reading, "UNCORRECTED", reading.CORRECTED)
    patch.setattr(engine, "UNCORRECTED", reading.CORRECTED)


def lose_settings(patch: Patch) -> None:
    """The engine is asked without what was fixed."""
    patch.setattr(Question, "settings", property(lambda self: {}))


def show_centres(patch: Patch) -> None:
    """B without its rounding."""
    plain = BucketList.masses.fget
    assert plain is not None

    def centred(self: BucketList) -> BucketTerms:
        found: BucketTerms = plain(self)
        return BucketTerms(found.centre, found.centre)

    patch.setattr(BucketList, "masses", property(centred))


def square_at_every_step(patch: Patch) -> None:
    """a * 2 forgets the rule of figure 10."""
    plain = BucketList.__mul__
    patch.setattr(BucketList, "__mul__", lambda self, count: plain(self.squared(), count))


FAULTS = (
    Fault("correction that was switched off", correct_anyway, lambda patch: values.test_leaves(values.SKEWED)),
    Fault(
        "settings that do not reach the engine",
        lose_settings,
        lambda patch: settings.test_settings_reach_the_engine_and_the_certificate(),
    ),
    Fault("bucket masses without their rounding", show_centres, lambda patch: values.test_leaves(values.LEAKY)),
    Fault(
        "squaring without need",
        square_at_every_step,
        lambda patch: values.test_figure_10(values.CLOSE, 1.5, 4),
    ),
)
