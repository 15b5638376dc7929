"""The solver of multipliers: no clock ends it where nobody asked for seconds, and an end by the clock is known."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import optimize

from tightrope.audit.certificates import Multipliers, multipliers
from tightrope.audit.claims import ClaimSlope, SlopeClaim
from tightrope.audit.one_run import GuessEvent
from tightrope.core.values import compute_budget

CLAIM = SlopeClaim((ClaimSlope(0.0, 0.3, 0.3), ClaimSlope(0.8, 0.08, 0.08)))


def solved() -> Multipliers | None:
    return multipliers(GuessEvent(3, 3, 2), CLAIM)


def test_the_clock_ends_what_was_asked_for_in_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    solver = optimize.linprog

    def watched(*arguments: Any, **options: Any) -> Any:
        given.append(options["options"])
        return solver(*arguments, **options)

    monkeypatch.setattr(optimize, "linprog", watched)
    monkeypatch.setattr(compute_budget, "monotonic", time.monotonic)
    assert solved() is not None
    with compute_budget.allowance(compute_budget.Rating(10.0)):
        assert solved() is not None
    assert given == [None, None]
    with compute_budget.allowance(1000.0):
        assert solved() is not None
        assert not compute_budget.late()
    assert 100.0 < given[-1]["time_limit"] < 1000.0


def test_an_end_by_the_clock_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimize, "linprog", lambda *arguments, **options: SimpleNamespace(status=1))
    monkeypatch.setattr(compute_budget, "monotonic", time.monotonic)
    with compute_budget.allowance(1000.0):
        assert solved() is None
        assert compute_budget.late()
