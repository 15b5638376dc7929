"""Faults that the tests of the sparse vector technique must kill: each drops or weakens one term."""

from __future__ import annotations

import pytest
from flint import arb

from tests.mechanisms import test_sparse_vector as tests
from tightrope.core.losses import sparse_vector as pair
from tightrope.core.losses import sparse_vector as shape
from tightrope.core.losses.sparse_vector import AverageDecay

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def halve_the_top(patch: Patch) -> None:
    """Believes that an event moves half as fast."""
    plain = shape._steepest
    patch.setattr(shape, "_steepest", lambda answers, rising: plain(answers, rising) / 2)


def forget_the_threshold(patch: Patch) -> None:
    plain = shape.ends
    for module in (shape, pair):
        patch.setattr(module, "ends", lambda threshold, answers, rising: plain(threshold / 100, answers, rising))


def exchange_the_directions(patch: Patch) -> None:
    plain = shape.ends
    patch.setattr(shape, "ends", lambda x, s, rising: plain(x, s, rising if rising is None else not rising))


def forget_the_pieces(patch: Patch) -> None:
    """Believes that nothing but atoms returns."""
    patch.setattr(AverageDecay, "beyond", lambda self, radius: arb(0))


def sharp_threshold(_: Patch) -> None:
    tests.test_true_answers(tests.SHARP, (-0.5,), (1,))


def far_queries(_: Patch) -> None:
    tests.test_true_answers(tests.USUAL, (20.0, 20.0, 0.0), (-1, -1, 1))


def rising_queries(_: Patch) -> None:
    tests.test_true_answers(tests.RISING, (20.0, 20.0, 0.0), (1, 1, 0))


FAULTS = (
    Fault("top of a sparse vector halved", halve_the_top, sharp_threshold),
    Fault("threshold of a sparse vector forgotten", forget_the_threshold, far_queries),
    Fault("directions of rising queries exchanged", exchange_the_directions, rising_queries),
    Fault("pieces of a sparse vector forgotten", forget_the_pieces, lambda _: tests.test_transforms_fall(0.0)),
)
