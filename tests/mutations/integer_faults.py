"""Faults that the tests of integer noise must kill: each drops one term."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.losses.integer_noise import test_cgf as cgf_tests
from tests.losses.integer_noise import test_noise as noise_tests
from tests.losses.integer_noise import test_pair as pair_tests
from tightrope.core.losses.integer_noise import integer_cgf as decay
from tightrope.core.losses.integer_noise import integer_cgf as moments
from tightrope.core.losses.integer_noise import noise
from tightrope.core.losses.integer_noise import noise as bend
from tightrope.core.losses.integer_noise.integer_pair import IntegerNoisePair
from tightrope.core.losses.integer_noise.skellam_noise import SkellamNoise

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


def end_with_the_window(patch: Patch) -> None:
    patch.setattr(moments, "left_out", lambda *asked: arb(0))


def look_at_the_middles_of_pieces(patch: Patch) -> None:
    """Believes that a transform does not grow between the times at which it is looked at."""
    patch.setattr(decay, "PIECE_RISE", 3.0)
    patch.setattr(decay.SweptDecay, "log_bound", _without_slopes)


def _without_slopes(self: decay.SweptDecay, radius: float) -> float:
    place = max(0, int(np.searchsorted(self.starts, radius)) - 1)
    return min(0.0, float(np.log(max(self.later[place] - 3.0, 1e-9))))


def bend_as_at_an_outer_output(patch: Patch) -> None:
    plain = SkellamNoise.bend
    patch.setattr(SkellamNoise, "bend", lambda self, k: plain(self, k + 8))


def forget_what_lies_between_whole_shifts(patch: Patch) -> None:
    patch.setattr(bend.Bend, "rho", lambda self: self.most / 2)


def end_at_the_shift(patch: Patch) -> None:
    patch.setattr(SkellamNoise, "lines", lambda self, shift, most: ((arb(self.variance), arb(0)),))


def count_the_output_itself_once_more(patch: Patch) -> None:
    plain = SkellamNoise.loss
    patch.setattr(SkellamNoise, "loss", lambda self, k, shift: plain(self, k, shift) + 1e-3)


FAULTS = (
    Fault(
        "losses of cells too large",
        count_the_output_itself_once_more,
        lambda _: pair_tests.test_outputs_that_nobody_lists_lie_between_two_finite_pairs(tr.Skellam(1e12, 10**5)),
    ),
    Fault("an outer bend for all", bend_as_at_an_outer_output, lambda _: cgf_tests.test_moments_by_the_bend(4.0, 1)),
    Fault(
        "half of the bend", forget_what_lies_between_whole_shifts, lambda _: cgf_tests.test_moments_by_the_bend(30.0, 2)
    ),
    Fault("losses that end", end_at_the_shift, lambda _: cgf_tests.test_moments_by_the_bend(0.3, 1)),
    Fault(
        "nothing beyond the window",
        end_with_the_window,
        lambda _: cgf_tests.test_what_lies_beyond_a_window_is_bounded(),
    ),
    Fault(
        "decay between times",
        look_at_the_middles_of_pieces,
        lambda patch: cgf_tests.test_decay_holds_up_to_the_horizon(cgf_tests.COINS, patch),
    ),
    Fault("aliases of masses and tails", drop_aliases, noise_tests.test_nodes_are_a_choice),
    Fault("nodes of tails left out", drop_far_nodes, noise_tests.test_nodes_are_a_choice),
    Fault(
        "one infinite loss less",
        forget_one_infinite_loss,
        lambda _: pair_tests.test_many_coins_are_the_same_law_as_few(),
    ),
)
