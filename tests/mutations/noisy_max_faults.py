"""Faults that the tests of the noisy maximum must kill: spans too short, wrong pairs, floors that nobody has."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from tests.mechanisms import test_noisy_max as told
from tightrope.core.losses.finite import finite_pair as candidates
from tightrope.core.losses.laplace import LaplacePair
from tightrope.core.losses.logistic import LogisticPair
from tightrope.core.losses.pair import Pair
from tightrope.core.mechanisms import exponential as noisy_max
from tightrope.core.mechanisms.exponential import NoisyMax
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def move_one_way(patch: Patch) -> None:
    """As if all scores moved the same way."""
    patch.setattr(NoisyMax, "pair", lambda self, direction: LaplacePair(self.scale, self.sensitivity))


def bound_the_range(patch: Patch) -> None:
    """The pair of bounded range for exponential noise, which has none."""
    patch.setattr(NoisyMax, "pair", lambda self, direction: LogisticPair(float(self._span)))


def round_the_span(patch: Patch) -> None:
    """To the nearest double, which may lie below."""

    def pairs(self: NoisyMax) -> tuple[Pair, Pair]:
        pair = LogisticPair(float(self._span))
        return pair, pair

    patch.setattr(NoisyMax, "_pairs", pairs)


def leave_the_relation_open(patch: Patch) -> None:
    """Scores that move one way, whatever is done to records."""
    patch.setattr(NoisyMax, "relation", None)


def move_a_little_further(patch: Patch) -> None:
    """Masses of floors rounded outward."""
    patch.setattr(candidates, "_upward", candidates._downward)


def take_one_against_one(patch: Patch) -> None:
    """The tail of two against two without its last term."""

    def tail(y: arb) -> arb:
        fall = (-y).exp()
        return fall * (arb(5) / 6 - fall / 3)

    patch.setattr(candidates, "TAILS", {**candidates.TAILS, "laplace": tail})


def attain_every_point_at_once(patch: Patch) -> None:
    """The pair itself as what real neighbours show, also where divergences and several uses are asked."""

    def floors(self: NoisyMax, direction: Direction) -> tuple[Pair, ...]:
        return (self.pair(direction),)

    patch.setattr(NoisyMax, "witnesses", floors)


def _floors(noise: str) -> None:
    told.test_floors_are_scores_that_move_by_no_more_than_the_span(noise=noise, span=Fraction(7, 3))


def _searches() -> None:
    for share in range(4):
        told.test_no_scores_show_more_than_the_pair(share)


def round_a_group_up(patch: Patch) -> None:
    """Scores of a group that move by more than its records do."""
    patch.setattr(noisy_max, "_times_below", lambda value, size: size * value)


FAULTS = (
    Fault(
        "groups that move too far",
        round_a_group_up,
        lambda _: told.test_a_group_moves_real_scores_as_often_as_it_has_records(),
    ),
    Fault("scores that move one way", move_one_way, lambda _: _searches()),
    Fault("a range of exponential noise", bound_the_range, lambda _: _searches()),
    Fault(
        "a span rounded to the nearest",
        round_the_span,
        lambda _: told.test_gumbel_noise_of_a_span_that_is_no_double(3.0),
    ),
    Fault(
        "monotone under replacing",
        leave_the_relation_open,
        lambda _: told.test_monotone_is_about_adding_or_removing(),
    ),
    Fault("floors that move further", move_a_little_further, lambda _: _floors("exponential")),
    Fault("two against two", take_one_against_one, lambda _: _floors("laplace")),
    Fault(
        "every point at once",
        attain_every_point_at_once,
        lambda _: told.test_one_use_is_attained_and_many_have_real_floors(),
    ),
)
