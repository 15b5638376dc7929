"""Faults that the attack on bucket lists must kill: each drops or weakens one step of the proof."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from tests.engines.buckets import test_attack as attacks
from tightrope.core.engines.buckets import bucket_composition as compose
from tightrope.core.engines.buckets import bucket_composition as leaf
from tightrope.core.engines.buckets import read
from tightrope.core.engines.buckets.bucket_list import Measure, TreeBuckets
from tightrope.core.numerics.enclosures import Enclosure, FloatArray

from .contour_faults import Fault, Patch


def correct_the_corner_in_full(patch: Patch) -> None:
    """C(-n) = Q(-n), as if capped events were no lower than their label."""

    def full(real: Measure, masses: Measure, alternative: Measure, slack: float) -> Measure:
        return alternative

    patch.setattr(compose, "with_plain_corner", full)
    patch.setattr(leaf, "with_plain_corner", full)


def let_mass_above_n_fall(patch: Patch) -> None:
    """What leaves the list at the top goes to -n."""
    plain = compose._convolved

    def lost(x: Measure, y: Measure, *rest: Any) -> Measure:
        return replace(plain(x, y, *rest), infinity=x.infinity + y.infinity - x.infinity * y.infinity)

    patch.setattr(compose, "_convolved", lost)


def leave_the_corner_empty(patch: Patch) -> None:
    """What fell below -n is gone from Q."""
    plain = compose._completed

    def empty(measure: Measure, step: float) -> Measure:
        found = plain(measure, step)
        return found if measure.closed else replace(found, values=np.concatenate(([0.0], found.values[1:])))

    patch.setattr(compose, "_completed", empty)


def square_without_u(patch: Patch) -> None:
    """Squaring rounds labels up once more, which u must count."""
    plain = compose.square
    patch.setattr(compose, "square", lambda child: replace(plain(child), u=child.u // 2))


def correct_from_the_first_bucket(patch: Patch) -> None:
    plain = read.first_index
    patch.setattr(read, "first_index", lambda buckets, epsilon: plain(buckets, epsilon) - buckets.u)


def forget_the_shift(patch: Patch) -> None:
    """Reads a list around its centre as one around 0."""
    plain = read._labels

    def unmoved(buckets: TreeBuckets, epsilon: float) -> tuple[int, FloatArray, FloatArray, float]:
        return plain(replace(buckets, shift=Fraction(0)), epsilon)

    patch.setattr(read, "_labels", unmoved)


def forget_the_whole(patch: Patch) -> None:
    """P_B in e^shift of its size, but filled up to a mass of 1."""
    plain = leaf._open

    def unscaled(measure: Measure, whole: Enclosure, shift: float) -> Measure:
        return replace(plain(measure, whole, shift), log_whole=0.0)

    patch.setattr(leaf, "_open", unscaled)


def _killed(block: int) -> Any:
    return lambda patch: attacks.test_no_plan_is_wrong(block)


FAULTS = (
    Fault("corner corrected in full", correct_the_corner_in_full, _killed(0)),
    Fault("mass above n falls to -n", let_mass_above_n_fall, _killed(7)),
    Fault("corner of Q left empty", leave_the_corner_empty, _killed(0)),
    Fault("u not raised by squaring", square_without_u, _killed(1)),
    Fault("first u buckets corrected", correct_from_the_first_bucket, _killed(0)),
    Fault("shift forgotten by the reader", forget_the_shift, _killed(0)),
    Fault("mass of the shifted law forgotten", forget_the_whole, _killed(0)),
)
