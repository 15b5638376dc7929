"""Faults that the tests of groups must kill: steps in another order, events and brackets on the wrong side."""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from tests.losses.operators import test_group_privacy as chains
from tightrope import Exponential
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.operators import group_bracket as group_privacy_bracket
from tightrope.core.losses.operators import group_bracket as group_privacy_hockey_stick
from tightrope.core.losses.operators.group_privacy import GroupPrivacyPair
from tightrope.core.losses.pair import Pair

from .contour_faults import Fault, Patch


def take_the_next_event(patch: Patch) -> None:
    """The power of a larger size, without the chord to it."""

    def power(events: Sequence[tuple[arb, arb]], size: arb) -> arb:
        beyond = [p.lower() for p, q in events if q.is_finite() and not q <= size]
        return beyond[0].mid() if beyond else events[-1][0].lower().mid()

    patch.setattr(group_privacy_hockey_stick, "_chord", power)


def ask_the_innermost_step_for_all(patch: Patch) -> None:
    """Tangents whose thresholds add up to more than epsilon."""
    plain = group_privacy_hockey_stick._above

    def above(steps: Sequence[Pair], thresholds: Sequence[arb], epsilon: arb) -> arb:
        return plain(
            steps, [thresholds[0], *(each * 0.5 for each in thresholds[1:])], epsilon + sum(thresholds[1:]) / 2
        )

    patch.setattr(group_privacy_hockey_stick, "_above", above)


def exchange_the_steps(patch: Patch) -> None:
    """The first of two links innermost."""
    plain = group_privacy_bracket._after
    patch.setattr(group_privacy_bracket, "_after", lambda outer, inner, up: plain(inner, outer, up))


def exchange_the_brackets(patch: Patch) -> None:
    plain = group_privacy_bracket.around

    def around(pair: Pair, fine: Resolution) -> tuple[Pair, Pair]:
        below, above = plain(pair, fine)
        return above, below

    patch.setattr(group_privacy_bracket, "around", around)


def leak_once(patch: Patch) -> None:
    """The infinite loss of one step for all of them."""
    patch.setattr(GroupPrivacyPair, "infinite_mass", lambda self: self.links[0][0].infinite_mass())


FAULTS = (
    Fault("event beyond the size", take_the_next_event, lambda _: chains.test_finite_laws_are_chained_exactly(3)),
    Fault(
        "thresholds beyond epsilon",
        ask_the_innermost_step_for_all,
        lambda _: chains.test_finite_laws_are_chained_exactly(3),
    ),
    Fault("steps of a chain exchanged", exchange_the_steps, lambda _: chains.test_finite_laws_are_chained_exactly(5)),
    Fault(
        "brackets of a chain exchanged",
        exchange_the_brackets,
        lambda _: chains.test_a_shift_is_what_the_general_way_finds(Exponential(epsilon=0.5), 3),
    ),
    Fault("one step leaks", leak_once, lambda _: chains.test_infinite_losses_of_a_law_that_is_not_finite()),
)
