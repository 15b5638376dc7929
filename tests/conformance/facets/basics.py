"""What every pair has: tails, profiles, ends, masses, and the pair with its laws exchanged."""

from __future__ import annotations

import numpy as np
from flint import arb

from tests.oracle.precision import ball, precision
from tests.oracle.truth import Truth
from tightrope.core.losses.capabilities import has_bounded_loss
from tightrope.core.losses.pair import TAIL_ERROR
from tightrope.core.numerics.balls import working_precision
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import around, exact

from .asked import BITS, Asked, holds, meets, narrow


def tails(asked: Asked) -> bool:
    """Few places: test_tails has the many."""
    places = [t + 1e-7 for t in asked.epsilons()]
    found = asked.pair.tails(double_double(np.array(places)))
    for index, t in enumerate(places):
        for name, values, truth in zip(found._fields, found, asked.truth.tails(t), strict=True):
            with precision(200):
                error = abs(arb(float(values[index])) - truth)
                assert error <= truth * TAIL_ERROR + 1e-300, f"{name} at the loss {t!r} is off by {error.str(3)}"
    return True


def ball_tails(asked: Asked) -> bool:
    for t in asked.epsilons():
        place = t + 1e-7
        with working_precision(BITS):
            found = asked.pair.ball_tails(arb(place))
        for name, value, truth in zip(found._fields, found, asked.truth.tails(place), strict=True):
            meets(value, truth, f"{name} at the loss {place!r}")
            assert narrow(value), f"{name} at the loss {place!r} is wide: {value}"
    return True


def hockey_stick(asked: Asked) -> bool:
    points = np.array(asked.epsilons())
    for radius in (0.0, 1e-9):
        found = asked.pair.hockey_stick(around(points, np.full_like(points, radius)) if radius else exact(points))
        for index, epsilon in enumerate(points):
            truth = asked.truth.delta(float(epsilon))
            assert holds(found[index], truth), f"delta({epsilon} +- {radius}) is {found[index]}, not {truth.str(17)}"
    return True


def ball_hockey_stick(asked: Asked) -> bool:
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            found, wide = asked.pair.ball_hockey_stick(arb(epsilon)), asked.pair.ball_hockey_stick(arb(epsilon, 1e-9))
        truth = asked.truth.delta(epsilon)
        meets(found, truth, f"delta({epsilon!r})")
        assert narrow(found), f"delta({epsilon!r}) is wide: {found}"
        meets(wide, truth, f"delta({epsilon!r} +- 1e-9)")
    return True


def reversed_pair(asked: Asked) -> bool:
    """H of (Q, P) at alpha is 1 - alpha + alpha H(1/alpha)."""
    assert asked.pair.reversed().reversed() == asked.pair
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            found = asked.pair.reversed().ball_hockey_stick(arb(-epsilon))
            truth = -arb(-epsilon).expm1() + arb(-epsilon).exp() * asked.truth.delta(epsilon)
            meets(found, truth, f"delta({-epsilon!r}) of (Q, P)")
    return True


def infinite_mass(asked: Asked) -> bool:
    with working_precision(BITS):
        found, truth = asked.pair.infinite_mass(), asked.truth.infinite_mass()
        meets(found, ball(truth), "the infinite mass")
        assert truth != 0 or asked.row.blur or found.is_zero()
        assert narrow(found)
    return True


def loss_range(asked: Asked) -> bool:
    """The infimum is minus the supremum of the other direction."""
    if asked.law.alone()[0] == 1:
        return False  # no output is of both laws
    other = Truth(asked.law, asked.rate, "add" if asked.direction == "remove" else "remove")
    highest, lowest = asked.truth.supremum(), other.supremum()
    with working_precision(BITS):
        found = asked.pair.loss_range()
        assert highest is None if found.highest == arb.pos_inf() else found.highest.overlaps(_known(highest))
        assert lowest is None if found.lowest == arb.neg_inf() else found.lowest.overlaps(-_known(lowest))
    return True


def bounded(asked: Asked) -> bool:
    """May say no where the loss is bounded, never yes where it is not."""
    found = has_bounded_loss(asked.pair)
    other = Truth(asked.law, asked.rate, "add" if asked.direction == "remove" else "remove")
    for truth in (asked.truth, other):
        assert not found or (truth.infinite_mass() == 0 and truth.supremum() is not None)
    return found


def hockey_stick_cost(asked: Asked) -> bool:
    assert asked.pair.hockey_stick_cost() >= 1
    return True


def _known(end: arb | None) -> arb:
    assert end is not None, "an end where there is none"
    return end
