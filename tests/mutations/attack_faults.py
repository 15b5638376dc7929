"""Faults that the tests of attackers' rates must kill."""

from __future__ import annotations

from tests.metrics import test_tradeoff as rates
from tightrope.core.metrics import power
from tightrope.core.metrics.law import Law
from tightrope.core.metrics.power import Secants

from .contour_faults import Fault, Patch


def chords_for_lower_ends(patch: Patch) -> None:
    """Between two points a convex function lies below its chord, not above."""

    def inside(self: Secants, interval: int, x: object) -> object:
        alpha, low, _ = self._left(interval)
        first, last = low + alpha * x, self.knots[interval].low + self.alphas[interval] * x
        return first.lower() if first < last else last.lower()

    patch.setattr(Secants, "_inside", inside)


def forget_the_direction(patch: Patch) -> None:
    """A record that is reconstructed is in the data: the other direction says nothing of it."""
    patch.setattr(Law, "toward", lambda self, direction: self)


def forget_what_q_alone_has(patch: Patch) -> None:
    """H leaves 1 with the slope of what P and Q share; mass that only Q has is not lost."""
    plain = power._PowerSearch._valley

    def valley(self: power._PowerSearch, lower: bool) -> object:
        self.start = self.law.one_sided(0.0)
        return plain(self, lower)

    patch.setattr(power._PowerSearch, "_valley", valley)


FAULTS: tuple[Fault, ...] = (
    Fault("chords for lower ends", chords_for_lower_ends, lambda patch: rates.test_closed_forms(*rates.FAMILIES[0])),
    Fault("direction forgotten", forget_the_direction, lambda patch: rates.test_finite_laws("lossy", 1)),
    Fault("slope at nothing", forget_what_q_alone_has, lambda patch: rates.test_finite_laws("lossy", 1)),
)
