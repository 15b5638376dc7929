"""Faults that the tests of integer noise must kill: each drops one term."""

from __future__ import annotations

import pytest
from flint import arb

from tests.pairs.integer_noise import test_noise as noise_tests
from tests.pairs.integer_noise import test_pair as pair_tests
from tightrope.pairs.integer_noise import noise
from tightrope.pairs.integer_noise.pair import IntegerNoisePair

from .contour_faults import Fault

Patch = pytest.MonkeyPatch


def drop_aliases(patch: Patch) -> None:
    patch.setattr(noise, "_aliases", lambda *asked: arb(0))


def drop_far_nodes(patch: Patch) -> None:
    patch.setattr(noise, "_left_out", lambda *asked: arb(0))


def forget_one_infinite_loss(patch: Patch) -> None:
    patch.setattr(
        IntegerNoisePair, "infinite_mass", lambda self: self.noise.tail(self.noise.last - self.sensitivity + 2)
    )


FAULTS = (
    Fault("aliases of masses and tails", drop_aliases, noise_tests.test_nodes_are_a_choice),
    Fault("nodes of tails left out", drop_far_nodes, noise_tests.test_nodes_are_a_choice),
    Fault(
        "one infinite loss less",
        forget_one_infinite_loss,
        lambda _: pair_tests.test_many_coins_are_the_same_law_as_few(),
    ),
)
