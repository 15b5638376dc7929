"""Faults that the tests of readings must kill: laws exchanged, an envelope or a tail forgotten, lines too high."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from flint import arb

from tests.conversions.test_finite_divergence import test_what_is_given_up_comes_back_as_a_bound as given_up
from tests.metrics import test_mu_and_rho as numbers
from tests.metrics import test_truth as truth
from tightrope.core.conversions import smallest_rho
from tightrope.core.conversions.divergence import Tail
from tightrope.core.metrics import gdp, tradeoff
from tightrope.core.metrics import gdp as gaussian_scan
from tightrope.core.metrics import law as laws
from tightrope.core.metrics import power as convex
from tightrope.core.metrics import tradeoff as attacks
from tightrope.core.metrics.ask import READINGS, MetricRow
from tightrope.core.metrics.law import Law
from tightrope.core.values.bound import Bound
from tightrope.core.values.question import Direction, Relation

from .contour_faults import Fault, Patch


def answered(patch: Patch, **answers: Callable[..., Bound]) -> None:
    """Rows of the table with another function."""
    rows = {name: MetricRow(answer, READINGS[name].checks) for name, answer in answers.items()}
    patch.setattr(import_module("tightrope.core.metrics.ask"), "READINGS", {**READINGS, **rows})


def exchange_the_laws(patch: Patch) -> None:
    """Who asks for one direction gets the other."""
    plain = laws.asked_directions

    def other(relation: Relation | None, asked: Direction | None) -> Any:
        return plain(relation, None if asked is None else next(each for each in Direction if each is not asked))

    patch.setattr(laws, "asked_directions", other)


def take_the_larger_of_both(patch: Patch) -> None:
    """The power of the better direction at each rate, without the envelope."""

    def better(law: Law, fpr: float) -> Bound:
        return max((tradeoff.tpr(law.toward(each), fpr) for each in law.directions), key=lambda bound: bound.lower)

    answered(patch, tpr=better)


def take_chords_for_lower_bounds(patch: Patch) -> None:
    """H above the chord between two points."""

    def inside(self: convex.Secants, interval: int, x: arb) -> arb:
        alpha, low, _ = self._left(interval)
        return convex.min_of(low + alpha * x, self.knots[interval].low + self.alphas[interval] * x)

    patch.setattr(convex.Secants, "_inside", inside)


def stop_at_the_last_point(patch: Patch) -> None:
    """H beyond the last point forgotten."""
    patch.setattr(convex.Secants, "_beyond", lambda self, x: arb("inf"))


def exchange_prior_and_rate(patch: Patch) -> None:
    answered(patch, posterior=lambda law, prior, fpr: tradeoff.posterior(law, fpr, prior))


def take_the_other_odds(patch: Patch) -> None:
    answered(patch, bayes_accuracy=lambda law, prior: attacks.bayes_accuracy(law, 1.0 - prior))


def rebuild_what_is_not_there(patch: Patch) -> None:
    """Absence as the hypothesis to be proven."""
    answered(patch, reconstruction=lambda law, baseline: tradeoff.tpr(law.toward(Direction.ADD), baseline))


def mirror_the_same_law(patch: Patch) -> None:
    """Below 0 the pairs are asked as they are."""
    plain = Law._case
    patch.setattr(Law, "_case", lambda self, reverse: plain(self, False))


def forget_the_touching_line(patch: Patch) -> None:
    """Between two points no more mu than at them."""
    patch.setattr(gaussian_scan, "shift_above_line", lambda intercept, slope, ends: ends)


def forget_what_lies_beyond(patch: Patch) -> None:
    """mu of the first points for all."""
    patch.setattr(gdp, "stays_above", lambda mu, t, lines: True)


def count_small_deltas(patch: Patch) -> None:
    """delta_least is not looked at."""
    answered(patch, gdp=lambda law, delta_least: gdp.gdp(law, 0.0))


def cut_the_first_cell(patch: Patch) -> None:
    """Between order 1 and the next no more than there."""
    plain = smallest_rho.highest

    def highest(start: arb, at_start: arb, stop: arb, at_stop: arb) -> arb:
        return at_stop / (stop * (stop + 1)) if start.is_zero() else plain(start, at_start, stop, at_stop)

    patch.setattr(smallest_rho, "highest", highest)


def take_the_ends_of_orders(patch: Patch) -> None:
    """D_o/o of a cell by its ends."""

    def highest(start: arb, at_start: arb, stop: arb, at_stop: arb) -> arb:
        last = at_stop / (stop * (stop + 1))
        return last if start.is_zero() else (at_start / (start * (start + 1))).max(last)

    patch.setattr(smallest_rho, "highest", highest)


def give_up_mass_for_nothing(patch: Patch) -> None:
    """What the finite pair above leaves to infinite losses costs nothing."""
    patch.setattr(Tail, "beyond", lambda self, last, mass: arb(0))


def forget_the_rest(patch: Patch) -> None:
    """Beyond the last point the profile is taken to end."""
    patch.setattr(Tail, "beyond", lambda self, last, mass: self._flat(last.max(arb(0)), mass))


FAULTS = (
    Fault("laws of a reading exchanged", exchange_the_laws, lambda patch: truth.test_finite_laws(0)),
    Fault("larger power without its envelope", take_the_larger_of_both, lambda patch: truth.test_finite_laws(0)),
    Fault("chord for a lower bound of H", take_chords_for_lower_bounds, lambda patch: truth.test_closed_forms(0)),
    Fault("H beyond the last point forgotten", stop_at_the_last_point, lambda patch: truth.test_closed_forms(0)),
    Fault("prior and rate exchanged", exchange_prior_and_rate, lambda patch: truth.test_closed_forms(0)),
    Fault("odds of the prior upside down", take_the_other_odds, lambda patch: truth.test_finite_laws(0)),
    Fault("record rebuilt that is absent", rebuild_what_is_not_there, lambda patch: truth.test_finite_laws(0)),
    Fault("mirror of the same law", mirror_the_same_law, lambda patch: truth.test_finite_laws(0)),
    Fault("line between two epsilons forgotten", forget_the_touching_line, lambda patch: numbers.test_finite_laws(0)),
    Fault("mu of a few epsilons for all", forget_what_lies_beyond, lambda patch: numbers.test_finite_laws(1)),
    Fault("delta_least forgotten", count_small_deltas, lambda patch: numbers.test_finite_laws(2)),
    Fault("orders next to 1 left out", cut_the_first_cell, lambda patch: numbers.test_finite_laws(0)),
    Fault("orders by the ends of a cell", take_the_ends_of_orders, lambda patch: numbers.test_finite_laws(0)),
    Fault("mass given up for nothing", give_up_mass_for_nothing, lambda patch: given_up(2.0, 1e-2)),
    Fault("moments beyond the last point forgotten", forget_the_rest, lambda patch: given_up(2.0, 1e-2)),
)
