"""Faults that the tests of targets must kill: values decided by the wrong end, questions that lose what they ask."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planning import test_calibration as calibrations
from tests.planning import test_readings as readings
from tightrope.core.metrics.law import Law
from tightrope.core.planning import goal as probe
from tightrope.core.planning.goal import Goal, Tried

from .contour_faults import Fault, Patch


def meet_by_lower_ends(patch: Patch) -> None:
    """A value meets the target unless it is shown to miss it."""
    plain = Goal._asked

    def asked(self: Goal, *arguments: Any) -> Tried:
        found = plain(self, *arguments)
        return replace(found, meets=not found.misses)

    patch.setattr(Goal, "_asked", asked)


def miss_by_upper_ends(patch: Patch) -> None:
    """A value misses the target unless it is shown to meet it."""
    plain = Goal._asked

    def asked(self: Goal, *arguments: Any) -> Tried:
        found = plain(self, *arguments)
        return replace(found, misses=not found.meets)

    patch.setattr(Goal, "_asked", asked)


def forget_delta_least(patch: Patch) -> None:
    """mu is asked everywhere."""
    plain = probe.MetricProbe

    def everywhere(**given: Any) -> probe.MetricProbe:
        return plain(**{**given, "arguments": {"delta_least": 0.0}})

    patch.setattr(probe, "MetricProbe", everywhere)


def ask_another_reading(patch: Patch) -> None:
    """A posterior is asked as the rate behind it."""
    plain = probe.MetricProbe.bound

    def rate(self: probe.MetricProbe, prepared: Any, question: Any) -> Any:
        if self.quantity != "posterior":
            return plain(self, prepared, question)
        return plain(replace(self, quantity="tpr", arguments={"fpr": self.arguments["fpr"]}), prepared, question)

    patch.setattr(probe.MetricProbe, "bound", rate)


def keep_the_first_accuracy(patch: Patch) -> None:
    """A law that is asked again answers as widely as before."""
    patch.setattr(Law, "again", lambda self, question: self)


def closed_form(given: dict[str, float]) -> None:
    """One Gaussian, against its closed form."""
    with pytest.MonkeyPatch.context() as patch:
        readings.test_a_gaussian_has_the_closed_form(given, patch)


FAULTS = (
    Fault(
        "values that meet by lower ends",
        meet_by_lower_ends,
        lambda patch: calibrations.test_upper_ends_are_followed_where_bounds_are_wide(),
    ),
    Fault(
        "values that miss by upper ends",
        miss_by_upper_ends,
        lambda patch: calibrations.test_where_nothing_is_shown_to_miss_upper_ends_decide(),
    ),
    Fault(
        "mu asked where delta is small",
        forget_delta_least,
        lambda patch: readings.test_mu_where_delta_is_large_helps_sampling(),
    ),
    Fault(
        "a posterior taken for a rate",
        ask_another_reading,
        lambda patch: closed_form({"posterior": 0.2, "prior": 0.1, "fpr": 0.001}),
    ),
    Fault(
        "answers as wide as the first",
        keep_the_first_accuracy,
        lambda patch: closed_form({"reconstruction": 0.01, "baseline": 1e-4}),
    ),
)
